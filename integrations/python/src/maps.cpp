// oneprobe.Map: bounded_map for keys of 64 bits, of 16 and of 32 bytes, and values of 64 bits.
//
// What a value of 64 bits means is known in Python only: the table of C++ holds the bits. The same
// holds for texts, which are keys of bytes with zeros behind them.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "keys.hpp"
#include "module.hpp"
#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/default_plan.hpp"
#include "oneprobe/map/file.hpp"
#include "plans.hpp"
#include "texts.hpp"

namespace oneprobe::python {
namespace {

using namespace py::literals;

enum class number_type : std::uint8_t { int64, uint64, float64 };

constexpr const char* name_of(number_type type) {
  return type == number_type::int64 ? "int64" : type == number_type::uint64 ? "uint64" : "float64";
}
std::optional<number_type> number_type_of(const std::string& name) {
  for (const number_type type : {number_type::int64, number_type::uint64, number_type::float64})
    if (name == name_of(type)) return type;
  return std::nullopt;
}

std::uint64_t bits_of(py::handle number, number_type type) {
  if (type == number_type::float64) {
    const double value = PyFloat_AsDouble(number.ptr());
    if (value == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return std::bit_cast<std::uint64_t>(value);
  }
  // Once: whatever has an index may give another one the next time.
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(number.ptr()));
  if (!index) throw py::error_already_set();
  const std::uint64_t bits = integer_of(index);
  // The same bits are another number in the other type: say so instead of storing that.
  const bool negative = index < py::int_(0);
  const bool large = !negative && bits >> 63 != 0;
  if (type == number_type::int64 ? large : negative)
    throw py::value_error(std::string("an ") + name_of(type) + " must be " +
                          (large ? "below 2^63" : "0 and up") + "; found " +
                          std::string(py::str(index)));
  return bits;
}
py::object number_of(std::uint64_t bits, number_type type) {
  switch (type) {
    case number_type::int64:
      return py::int_(static_cast<std::int64_t>(bits));
    case number_type::uint64:
      return py::int_(bits);
    case number_type::float64:
      break;
  }
  return py::float_(std::bit_cast<double>(bits));
}
/// numpy converts; numbers that do not fit are refused there or by the check of their sign.
py::array numbers_of(const py::object& numbers, number_type type) {
  const py::object numpy = py::module_::import("numpy");
  const py::array array = numpy.attr("asarray")(numbers);
  const char kind = array.dtype().kind();
  const bool whole = kind == 'i' || kind == 'u' || kind == 'b';
  if (!whole && (type != number_type::float64 || kind != 'f') && array.size() != 0)
    throw py::type_error(std::string("numbers must be convertible to ") + name_of(type) +
                         "; found " + std::string(py::str(array.dtype())));
  if (kind == 'u' && array.itemsize() == 8 && type == number_type::int64 && array.size() != 0 &&
      py::cast<bool>(numpy.attr("any")(
          array.attr("__gt__")(py::int_(std::numeric_limits<std::int64_t>::max())))))
    throw py::value_error("an int64 must be below 2^63");
  if (kind == 'i' && type == number_type::uint64 && array.size() != 0 &&
      py::cast<bool>(numpy.attr("any")(array.attr("__lt__")(0))))
    throw py::value_error("an uint64 must be 0 and up");
  return plain_array(array.attr("astype")(name_of(type), "copy"_a = false));
}

/// So many keys are looked up at a time: what was found stays in the nearest cache.
constexpr std::size_t chunk_keys = 2048;

/// The keys of a sequence of objects, one by one.
template <class Codec>
py::array array_of_each(const Codec& codec, const py::object& keys) {
  refuse_single(keys);
  std::vector<typename Codec::key> all;
  for (const py::handle each : keys) all.push_back(codec.one(each));
  return py::array(codec.dtype(), static_cast<py::ssize_t>(all.size()), all.data());
}

/// How keys of one type come from Python and go back.
template <class Key>
struct key_codec;

template <>
struct key_codec<std::uint64_t> {
  using key = std::uint64_t;
  number_type type;

  std::string name() const { return name_of(type); }
  std::uint64_t one(py::handle number) const { return bits_of(number, type); }
  py::array many(const py::object& keys) const { return numbers_of(keys, type); }
  py::dtype dtype() const { return py::dtype(name()); }
  /// An array of keys as Python gets it.
  py::object shown(const py::array& keys) const { return keys; }
};

template <std::size_t Size>
struct key_codec<std::array<std::byte, Size>> {
  using key = std::array<std::byte, Size>;

  std::string name() const { return "bytes" + std::to_string(Size); }
  key one(py::handle object) const {
    if (PyIndex_Check(object.ptr()) || PyUnicode_Check(object.ptr()))
      throw py::type_error("a key of this map must be bytes; found " + type_name(object));
    return with_bytes(object, [](std::string_view bytes) {
      if (bytes.size() != Size)
        throw py::value_error("a key of this map must be " + std::to_string(Size) +
                              " bytes; found " + std::to_string(bytes.size()));
      key found;
      std::memcpy(found.data(), bytes.data(), Size);
      return found;
    });
  }
  py::array many(const py::object& keys) const {
    if (py::isinstance<py::array>(keys)) {
      const auto array = py::reinterpret_borrow<py::array>(keys);
      const char kind = array.dtype().kind();
      if ((kind == 'S' || kind == 'V') && array.itemsize() == Size) return plain_array(array);
      if (kind != 'O')
        throw py::type_error("an array of keys of this map must be of S" + std::to_string(Size) +
                             " or V" + std::to_string(Size) + "; found " +
                             std::string(py::str(array.dtype())));
    }
    return array_of_each(*this, keys);
  }
  py::dtype dtype() const { return py::dtype("V" + std::to_string(Size)); }
  py::object shown(const py::array& keys) const { return keys; }
};

/// Texts of at most so many bytes in UTF-8, with zeros behind them.
template <std::size_t Size>
struct text_codec {
  using key = std::array<std::byte, Size>;

  std::string name() const { return "str" + std::to_string(Size); }
  key one(py::handle object) const {
    if (!PyUnicode_Check(object.ptr()))
      throw py::type_error("a key of this map must be str; found " + type_name(object));
    py::ssize_t length = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(object.ptr(), &length);
    if (text == nullptr) throw py::error_already_set();
    const auto size = static_cast<std::size_t>(length);
    refuse_longer(size);
    if (size != 0 && text[size - 1] == '\0')
      throw py::value_error("a key of this map must not end with a NUL");
    key found{};
    std::memcpy(found.data(), text, size);
    return found;
  }
  py::array many(const py::object& keys) const {
    if (py::isinstance<py::array>(keys)) {
      const auto array = py::reinterpret_borrow<py::array>(keys);
      const char kind = array.dtype().kind();
      if (kind == 'U') return encoded(plain_array(array));
      if (kind != 'O')
        throw py::type_error("an array of keys of this map must be of text; found " +
                             std::string(py::str(array.dtype())));
    }
    return array_of_each(*this, keys);
  }
  py::dtype dtype() const { return py::dtype("S" + std::to_string(Size)); }
  py::object shown(const py::array& keys) const {
    const py::module_ numpy = py::module_::import("numpy");
    // Of nothing it would make floats.
    if (keys.size() == 0) return numpy.attr("array")(py::list(), "U1");
    return numpy.attr("char").attr("decode")(keys, "utf-8");
  }

 private:
  py::array encoded(const py::array& wide) const {
    py::array found(dtype(), wide.size());
    const auto size = static_cast<std::size_t>(wide.size());
    texts all(static_cast<const char*>(wide.data()), size,
              static_cast<std::size_t>(wide.itemsize()) / character_bytes);
    std::size_t longest = 0;
    {
      char* const first = static_cast<char*>(found.mutable_data());
      const py::gil_scoped_release others_run;
      all.for_each(0, size, [&](std::size_t i, std::string_view utf8) {
        longest = std::max(longest, utf8.size());
        utf8 = utf8.substr(0, Size);
        char* const behind = std::copy(utf8.begin(), utf8.end(), first + i * Size);
        std::fill(behind, first + (i + 1) * Size, '\0');
      });
    }
    // numpy names the text that is none in its error.
    if (!all.are_unicode()) py::module_::import("numpy").attr("char").attr("encode")(wide, "utf-8");
    refuse_longer(longest);
    return found;
  }
  static void refuse_longer(std::size_t size) {
    if (size > Size)
      throw py::value_error("a key of this map must be at most " + std::to_string(Size) +
                            " bytes in UTF-8; found " + std::to_string(size));
  }
};

/// A map as Python holds it, whatever its keys are.
class shared_map {
 public:
  virtual ~shared_map() = default;

  virtual std::string key_name() const = 0;
  std::string value_name() const { return name_of(values_); }

  virtual insertion insert(py::handle key, py::handle value) = 0;
  virtual insertion assign(py::handle key, py::handle value) = 0;
  virtual std::optional<std::uint64_t> find(py::handle key) = 0;
  virtual bool erase(py::handle key) = 0;
  virtual py::array assign_many(const py::object& keys, const py::object& values) = 0;
  virtual py::tuple find_many(const py::object& keys, const py::object& otherwise) = 0;
  virtual py::array contains_many(const py::object& keys) = 0;
  virtual std::uint64_t erase_many(const py::object& keys) = 0;
  virtual py::tuple contents() = 0;
  virtual void clear() = 0;

  virtual std::uint64_t size() = 0;
  virtual table_stats stats() = 0;
  virtual table_path explain(py::handle key) = 0;
  virtual const table_plan& plan() const = 0;
  virtual std::uint64_t seed() const = 0;
  virtual std::uint64_t nbytes() const = 0;
  virtual void save(const py::object& path, std::uint64_t schema) = 0;
  virtual py::bytes bytes(std::uint64_t schema) = 0;

  py::object value_back(std::uint64_t bits) const { return number_of(bits, values_); }

 protected:
  explicit shared_map(number_type values) : values_(values) {}

  number_type values_;
  std::shared_mutex mutex_;
};

template <class Codec>
class map_of final : public shared_map {
  using Key = typename Codec::key;

 public:
  using table = bounded_map<Key, std::uint64_t>;

  map_of(table held, Codec keys, number_type values)
      : shared_map(values), table_(std::move(held)), keys_(keys) {}

  std::string key_name() const override { return keys_.name(); }

  insertion insert(py::handle key, py::handle value) override {
    const Key found = keys_.one(key);
    const std::uint64_t bits = bits_of(value, values_);
    const auto lock = lock_to_change(mutex_);
    return table_.insert(found, bits).outcome;
  }
  insertion assign(py::handle key, py::handle value) override {
    const Key found = keys_.one(key);
    const std::uint64_t bits = bits_of(value, values_);
    const auto lock = lock_to_change(mutex_);
    return table_.insert_or_assign(found, bits).outcome;
  }
  std::optional<std::uint64_t> find(py::handle key) override {
    const Key wanted = keys_.one(key);
    const auto lock = lock_to_look(mutex_);
    const auto* const found = std::as_const(table_).find(wanted);
    if (found == nullptr) return std::nullopt;
    return found->value;
  }
  bool erase(py::handle key) override {
    const Key wanted = keys_.one(key);
    const auto lock = lock_to_change(mutex_);
    return table_.erase(wanted) == erase_outcome::erased;
  }

  py::array assign_many(const py::object& keys, const py::object& values) override {
    const py::array key_array = keys_.many(keys);
    const py::array value_array = numbers_of(values, values_);
    if (key_array.size() != value_array.size())
      throw py::value_error("keys and values must be as many; found " +
                            std::to_string(key_array.size()) + " and " +
                            std::to_string(value_array.size()));
    py::array_t<bool> kept(key_array.size());
    bool* const first_kept = kept.mutable_data();
    const std::span<const Key> all = span_of(key_array);
    const auto* const bits = static_cast<const std::uint64_t*>(value_array.data());
    {
      const py::gil_scoped_release others_run;
      const std::unique_lock lock(mutex_);
      for (std::size_t i = 0; i < all.size(); ++i)
        first_kept[i] = table_.insert_or_assign(all[i], bits[i]).outcome != insertion::full;
    }
    return kept;
  }
  py::tuple find_many(const py::object& keys, const py::object& otherwise) override {
    const py::array key_array = keys_.many(keys);
    const std::uint64_t absent = bits_of(otherwise, values_);
    py::array values(py::dtype(value_name()), key_array.size());
    py::array_t<bool> found(key_array.size());
    auto* const bits = static_cast<std::uint64_t*>(values.mutable_data());
    bool* const first_found = found.mutable_data();
    look_up(key_array, [=](std::size_t i, const typename table::value_type* element) {
      first_found[i] = element != nullptr;
      bits[i] = element != nullptr ? element->value : absent;
    });
    return py::make_tuple(values, found);
  }
  py::array contains_many(const py::object& keys) override {
    const py::array key_array = keys_.many(keys);
    py::array_t<bool> found(key_array.size());
    bool* const first_found = found.mutable_data();
    look_up(key_array, [=](std::size_t i, const typename table::value_type* element) {
      first_found[i] = element != nullptr;
    });
    return found;
  }
  std::uint64_t erase_many(const py::object& keys) override {
    const py::array key_array = keys_.many(keys);
    const std::span<const Key> all = span_of(key_array);
    const py::gil_scoped_release others_run;
    const std::unique_lock lock(mutex_);
    std::uint64_t erased = 0;
    for (const Key& key : all) erased += table_.erase(key) == erase_outcome::erased ? 1u : 0u;
    return erased;
  }

  py::tuple contents() override {
    // Nothing of Python is called under the lock: it could run anything, and that could wait for
    // us.
    std::vector<Key> all_keys;
    std::vector<std::uint64_t> all_values;
    {
      const auto lock = lock_to_look(mutex_);
      all_keys.reserve(static_cast<std::size_t>(table_.size()));
      all_values.reserve(all_keys.capacity());
      for (const auto& element : std::as_const(table_)) {
        all_keys.push_back(element.key);
        all_values.push_back(element.value);
      }
    }
    const auto size = static_cast<py::ssize_t>(all_keys.size());
    const py::array keys(keys_.dtype(), size, all_keys.data());
    const py::array values(py::dtype(value_name()), size, all_values.data());
    return py::make_tuple(keys_.shown(keys), values);
  }
  void clear() override {
    const auto lock = lock_to_change(mutex_);
    table_.clear();
  }

  std::uint64_t size() override {
    const auto lock = lock_to_look(mutex_);
    return table_.size();
  }
  table_stats stats() override {
    const py::gil_scoped_release others_run;
    const std::shared_lock lock(mutex_);
    return table_.stats();
  }
  table_path explain(py::handle key) override {
    const Key wanted = keys_.one(key);
    const auto lock = lock_to_look(mutex_);
    return table_.explain(wanted);
  }
  const table_plan& plan() const override { return table_.plan(); }
  std::uint64_t seed() const override { return table_.hash().seed(); }
  std::uint64_t nbytes() const override { return table_.memory().size(); }

  void save(const py::object& path, std::uint64_t schema) override {
    const std::string name = path_of(path);
    std::optional<save_failure> failure;
    {
      const py::gil_scoped_release others_run;
      const std::shared_lock lock(mutex_);
      failure = oneprobe::save(table_, name, {.schema = schema});
    }
    raise_failure(failure);
  }
  py::bytes bytes(std::uint64_t schema) override {
    const auto lock = lock_to_look(mutex_);
    std::vector<std::byte> bytes;
    save_to(table_, bytes, {.schema = schema});
    return python_bytes(bytes);
  }

 private:
  static std::span<const Key> span_of(const py::array& keys) {
    return {static_cast<const Key*>(keys.data()), static_cast<std::size_t>(keys.size())};
  }
  template <class Answer>
  void look_up(const py::array& keys, Answer answer) {
    const std::span<const Key> all = span_of(keys);
    const py::gil_scoped_release others_run;
    const std::shared_lock lock(mutex_);
    std::vector<const typename table::value_type*> found(std::min(chunk_keys, all.size()));
    for (std::size_t first = 0; first < all.size(); first += chunk_keys) {
      const std::span<const Key> chunk =
          all.subspan(first, std::min(chunk_keys, all.size() - first));
      std::as_const(table_).bulk_find(chunk, std::span(found).first(chunk.size()));
      for (std::size_t i = 0; i < chunk.size(); ++i) answer(first + i, found[i]);
    }
  }

  table table_;
  Codec keys_;
};

/// Calls `use` with the codec of keys of this name.
template <class Use>
auto with_codec(const std::string& name, Use use) {
  const std::optional<number_type> number = number_type_of(name);
  if (number && *number != number_type::float64) return use(key_codec<std::uint64_t>{*number});
  if (name == "bytes16") return use(key_codec<std::array<std::byte, 16>>{});
  if (name == "bytes32") return use(key_codec<std::array<std::byte, 32>>{});
  if (name == "str16") return use(text_codec<16>{});
  if (name == "str32") return use(text_codec<32>{});
  throw py::value_error(
      "key must be 'int64', 'uint64', 'bytes16', 'bytes32', 'str16' or 'str32'; found '" + name +
      "'");
}

number_type value_type_of(const std::string& name) {
  const std::optional<number_type> type = number_type_of(name);
  if (!type)
    throw py::value_error("value must be 'int64', 'uint64' or 'float64'; found '" + name + "'");
  return *type;
}

using map_pointer = std::unique_ptr<shared_map>;

map_pointer make_map(const table_plan& plan, const std::string& key, const std::string& value,
                     std::optional<std::uint64_t> seed) {
  const number_type values = value_type_of(value);
  return with_codec(key, [&](auto codec) -> map_pointer {
    using map = map_of<decltype(codec)>;
    return std::make_unique<map>(typename map::table(plan, seeded_hash(seed_or_random(seed))),
                                 codec, values);
  });
}

/// `read` is given the std::type_identity of the table, and loads one.
template <class Read>
map_pointer load_map(const std::string& key, const std::string& value, Read read) {
  const number_type values = value_type_of(value);
  return with_codec(key, [&](auto codec) -> map_pointer {
    using map = map_of<decltype(codec)>;
    return std::make_unique<map>(value_of(read(std::type_identity<typename map::table>())), codec,
                                 values);
  });
}
map_pointer map_from_bytes(const py::bytes& bytes, const std::string& key, const std::string& value,
                           std::uint64_t schema) {
  return load_map(key, value, [&]<class Table>(std::type_identity<Table>) {
    return load_from<Table>(bytes_of(bytes), {.schema = schema});
  });
}

py::object value_or_key_error(shared_map& map, const py::object& key) {
  const std::optional<std::uint64_t> found = map.find(key);
  if (found) return map.value_back(*found);
  PyErr_SetObject(PyExc_KeyError, key.ptr());
  throw py::error_already_set();
}

py::dict stats_of(shared_map& map) {
  const table_stats stats = map.stats();
  return py::dict(
      "size"_a = stats.counts.size, "overflow"_a = stats.counts.overflow,
      "planned_elements"_a = stats.planned_elements, "overflow_reserve"_a = stats.overflow_reserve,
      "load_factor"_a = stats.load_factor, "pressure"_a = stats.pressure,
      "overflow_pressure"_a = stats.overflow_pressure, "hit_accesses"_a = stats.hit_accesses,
      "miss_accesses"_a = stats.miss_accesses, "bytes_per_element"_a = stats.bytes_per_element,
      "memory_bytes"_a = stats.memory.total());
}
py::dict explain(shared_map& map, const py::object& key) {
  const table_path path = map.explain(key);
  return py::dict("contains"_a = path.contains(), "accesses"_a = path.accesses,
                  "overflow_accesses"_a = path.overflow_accesses, "lines"_a = path.lines,
                  "unread_lines"_a = path.unread_lines, "level"_a = path.level);
}

std::string repr(shared_map& map) {
  return "<oneprobe.Map: " + map.key_name() + " to " + map.value_name() + ", " +
         std::to_string(map.size()) + " of " + std::to_string(map.plan().elements) + " elements, " +
         std::to_string(map.nbytes()) + " bytes>";
}

}  // namespace

void add_maps(py::module_& module) {
  py::class_<shared_map>(module, "Map", R"(A dict of fixed size with a bound on every operation.

    flows = oneprobe.Map(1_000_000)
    flows[42] = 7
    flows.get(43, 0)
    values, found = flows.find_many(np.arange(1000))

Keys are 'int64' or 'uint64' numbers, bytes of one length, 'bytes16' or 'bytes32', or texts of at
most so many bytes in UTF-8, 'str16' or 'str32'; values are 'int64', 'uint64' or 'float64'. A lookup visits a few buckets whatever the keys are, the map never
grows, and when it is full it raises FullError and keeps what it has. Any number of threads may use
it; methods ending in _many let other threads run meanwhile.)")
      .def(
          py::init([](std::uint64_t elements, const std::string& key, const std::string& value,
                      std::optional<std::uint64_t> seed) {
            if (elements < 1) throw py::value_error("elements must be from 1 up; found 0");
            return make_map(default_table_plan(elements, 16), key, value, seed);
          }),
          R"(An empty map for so many elements that come and go. Without a seed a random one is drawn.)",
          "elements"_a, py::kw_only(), "key"_a = "int64", "value"_a = "int64",
          "seed"_a = py::none())
      .def_static(
          "from_plan",
          [](const planned_table& plan, const std::string& key, const std::string& value,
             std::optional<std::uint64_t> seed) { return make_map(plan.plan(), key, value, seed); },
          "An empty map that follows a plan of plan_table().", "plan"_a, py::kw_only(),
          "key"_a = "int64", "value"_a = "int64", "seed"_a = py::none())
      .def("__getitem__", &value_or_key_error, "key"_a)
      .def(
          "__setitem__",
          [](shared_map& map, const py::object& key, const py::object& value) {
            if (map.assign(key, value) == insertion::full)
              throw table_is_full("the map is full: " + std::to_string(map.size()) +
                                  " elements; nothing was changed");
          },
          "key"_a, "value"_a)
      .def(
          "__delitem__",
          [](shared_map& map, const py::object& key) {
            if (map.erase(key)) return;
            PyErr_SetObject(PyExc_KeyError, key.ptr());
            throw py::error_already_set();
          },
          "key"_a)
      .def(
          "__contains__",
          [](shared_map& map, const py::object& key) { return map.find(key).has_value(); }, "key"_a)
      .def(
          "get",
          [](shared_map& map, const py::object& key, const py::object& otherwise) {
            const std::optional<std::uint64_t> found = map.find(key);
            return found ? map.value_back(*found) : otherwise;
          },
          "The value of a key, or the default.", "key"_a, "default"_a = py::none())
      .def(
          "insert",
          [](shared_map& map, const py::object& key, const py::object& value) {
            return oneprobe::name_of(map.insert(key, value));
          },
          R"(Inserts a key that is not there. Returns 'inserted'; 'present', if the key was there and
nothing was changed; 'overflowed', if it is in the overflow; or 'full', if there was no room.)",
          "key"_a, "value"_a)
      .def(
          "discard", [](shared_map& map, const py::object& key) { return map.erase(key); },
          "Takes out a key. Says whether it was there.", "key"_a)
      .def("assign_many", &shared_map::assign_many,
           R"(Gives values to keys, new ones or not. Returns a
numpy array of bool: False for a key that there was no room for.)",
           "keys"_a, "values"_a)
      .def("find_many", &shared_map::find_many,
           R"(The values of many keys, and which of them are there:
two numpy arrays. Keys that are not there have the default.)",
           "keys"_a, "default"_a = 0)
      .def("contains_many", &shared_map::contains_many,
           "Which of many keys are there, as a numpy array of bool.", "keys"_a)
      .def("discard_many", &shared_map::erase_many,
           "Takes out many keys. Returns how many were there.", "keys"_a)
      .def("contents", &shared_map::contents,
           "All keys and all values, as two numpy arrays in one order.")
      .def(
          "keys", [](shared_map& map) -> py::object { return map.contents()[0]; },
          "All keys, as a numpy array.")
      .def(
          "values", [](shared_map& map) -> py::object { return map.contents()[1]; },
          "All values, as a numpy array in the order of keys().")
      .def(
          "items",
          [](shared_map& map) {
            const py::tuple all = map.contents();
            return py::module_::import("builtins")
                .attr("zip")(all[0].attr("tolist")(), all[1].attr("tolist")());
          },
          "Pairs of all keys and their values, as they are now.")
      .def("__iter__", [](shared_map& map) { return py::iter(map.contents()[0].attr("tolist")()); })
      .def("clear", &shared_map::clear, "Takes out everything.")
      .def("save", &shared_map::save,
           R"(Writes a file that C++ reads as bounded_map<Key, Value> with keys
and values of these sizes. The schema is a number of your own for what they mean.)",
           "path"_a, py::kw_only(), "schema"_a = 0)
      .def_static(
          "load",
          [](const py::object& path, const std::string& key, const std::string& value,
             std::uint64_t schema) {
            const std::string name = path_of(path);
            return load_map(key, value, [&]<class Table>(std::type_identity<Table>) {
              const py::gil_scoped_release others_run;
              return load<Table>(name, {.schema = schema});
            });
          },
          R"(A map from a file, everything verified. A file knows the size of its keys and values, not
what they are: say it. LoadError says what is wrong with the file.)",
          "path"_a, py::kw_only(), "key"_a = "int64", "value"_a = "int64", "schema"_a = 0)
      .def("to_bytes", &shared_map::bytes, "The bytes that save() writes.", py::kw_only(),
           "schema"_a = 0)
      .def_static("from_bytes", &map_from_bytes, "As load(), from such bytes.", "data"_a,
                  py::kw_only(), "key"_a = "int64", "value"_a = "int64", "schema"_a = 0)
      .def("stats", &stats_of, "What is in the map and what lookups cost now, as a dict.")
      .def("explain", &explain, "What a lookup of this key costs, as a dict.", "key"_a)
      .def_property_readonly("key", &shared_map::key_name, "The type of its keys.")
      .def_property_readonly("value", &shared_map::value_name, "The type of its values.")
      .def_property_readonly("seed", &shared_map::seed, "The seed of its hash.")
      .def_property_readonly(
          "elements", [](const shared_map& map) { return map.plan().elements; },
          "How many elements it was planned for.")
      .def_property_readonly("nbytes", &shared_map::nbytes, "The bytes of its memory.")
      .def("__len__", &shared_map::size)
      .def("__bool__", [](shared_map& map) { return map.size() != 0; })
      .def("__repr__", &repr)
      .def(py::pickle(
          [](shared_map& map) {
            return py::make_tuple(map.bytes(0), map.key_name(), map.value_name());
          },
          [](const py::tuple& state) {
            return map_from_bytes(state[0].cast<py::bytes>(), state[1].cast<std::string>(),
                                  state[2].cast<std::string>(), 0);
          }));
}

}  // namespace oneprobe::python
