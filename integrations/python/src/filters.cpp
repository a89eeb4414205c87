// oneprobe.Filter: every kind of filter behind one class.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "handles/held_filter.hpp"
#include "keys.hpp"
#include "module.hpp"
#include "oneprobe/filter/file.hpp"
#include "plans.hpp"

namespace oneprobe::python {
namespace {

using namespace py::literals;

class shared_filter {
 public:
  explicit shared_filter(held_filter filter) : filter_(std::move(filter)) {}
  shared_filter(const filter_plan& plan, std::optional<std::uint64_t> seed)
      : filter_(plan, seeded_hash(seed_or_random(seed))) {}

  bool add(py::handle key) {
    const key_hash hash = hash_of(filter_.hash(), key);
    const auto lock = lock_to_change(mutex_);
    return filter_.insert(hash) == insert_outcome::added;
  }
  std::uint64_t add_many(const py::object& keys) {
    many_keys many(filter_.hash(), keys);
    const py::gil_scoped_release others_run;
    const std::unique_lock lock(mutex_);
    return many.with_hashes([&](const hash_feed& hashes) { return filter_.bulk_insert(hashes); });
  }

  bool contains(py::handle key) {
    const key_hash hash = hash_of(filter_.hash(), key);
    const auto lock = lock_to_look(mutex_);
    return filter_.may_contain(hash);
  }
  py::array_t<bool> contains_many(const py::object& keys) {
    many_keys many(filter_.hash(), keys);
    py::array_t<bool> answers(static_cast<py::ssize_t>(many.size()));
    bool* const first_answer = answers.mutable_data();
    const py::gil_scoped_release others_run;
    const std::shared_lock lock(mutex_);
    many.with_hashes([&](const hash_feed& hashes) {
      filter_.bulk_may_contain(hashes, {first_answer, hashes.size()});
    });
    return answers;
  }

  bool remove(py::handle key) {
    const key_hash hash = hash_of(filter_.hash(), key);
    const auto lock = lock_to_change(mutex_);
    if (!can_erase(filter_.plan()))
      throw py::type_error("only a counting filter can remove; this one is " +
                           std::string(name_of(filter_.plan().kind)));
    return filter_.erase(hash) == erase_outcome::erased;
  }

  void merge(shared_filter& other) {
    if (this == &other) return;
    // A copy first: two filters that are merged into each other would wait for ever.
    const held_filter others = other.copy_held();
    const py::gil_scoped_release others_run;
    const std::unique_lock lock(mutex_);
    switch (filter_.merge(others)) {
      case merge_outcome::merged:
        return;
      case merge_outcome::different_plan:
        throw std::invalid_argument("filters that are merged must have the same plan");
      case merge_outcome::different_seed:
        throw std::invalid_argument("filters that are merged must have the same seed");
    }
  }

  held_filter copy_held() {
    const auto lock = lock_to_look(mutex_);
    return filter_;
  }
  void clear() {
    const auto lock = lock_to_change(mutex_);
    filter_.clear();
  }

  void save(const py::object& path) {
    const std::string name = path_of(path);
    std::optional<save_failure> failure;
    {
      const py::gil_scoped_release others_run;
      const std::shared_lock lock(mutex_);
      failure = oneprobe::save(filter_, name);
    }
    raise_failure(failure);
  }
  py::bytes bytes() {
    const auto lock = lock_to_look(mutex_);
    std::vector<std::byte> bytes;
    save_to(filter_, bytes);
    return python_bytes(bytes);
  }
  static std::unique_ptr<shared_filter> load(const py::object& path) {
    const std::string name = path_of(path);
    loaded<held_filter> read = [&] {
      const py::gil_scoped_release others_run;
      return oneprobe::load<held_filter>(name);
    }();
    return std::make_unique<shared_filter>(value_of(std::move(read)));
  }
  static std::unique_ptr<shared_filter> from_bytes(const py::bytes& bytes) {
    return std::make_unique<shared_filter>(value_of(load_from<held_filter>(bytes_of(bytes))));
  }

  std::uint64_t size() {
    const auto lock = lock_to_look(mutex_);
    return filter_.counts().size;
  }
  filter_stats stats() {
    const py::gil_scoped_release others_run;
    const std::shared_lock lock(mutex_);
    return filter_.stats();
  }
  lookup_path explain(py::handle key) {
    const key_hash hash = hash_of(filter_.hash(), key);
    const auto lock = lock_to_look(mutex_);
    return filter_.explain(hash);
  }
  // A filter's plan and seed never change.
  const filter_plan& plan() const { return filter_.plan(); }
  std::uint64_t seed() const { return filter_.hash().seed(); }

 private:
  held_filter filter_;
  std::shared_mutex mutex_;
};

py::dict stats_of(shared_filter& filter) {
  const filter_stats stats = filter.stats();
  return py::dict("size"_a = stats.counts.size, "condition"_a = name_of(stats.condition),
                  "planned_elements"_a = stats.planned_elements,
                  "planned_fpr"_a = stats.planned_fpr, "current_fpr"_a = stats.current_fpr,
                  "bits_per_element"_a = stats.bits_per_element,
                  "fill_fraction"_a = stats.fill_fraction, "memory_bytes"_a = stats.memory.total(),
                  "overflow"_a = stats.counts.overflow, "forced"_a = stats.counts.forced,
                  "dropped"_a = stats.counts.dropped);
}

py::dict explain(shared_filter& filter, py::handle key) {
  const lookup_path path = filter.explain(key);
  const char* const stopped[] = {"matched", "ruled out", "overflow", "not in overflow"};
  return py::dict("may_contain"_a = path.may_contain(),
                  "stopped"_a = stopped[static_cast<unsigned>(path.stopped)],
                  "accesses"_a = path.accesses, "lines"_a = path.lines, "level"_a = path.level);
}

std::string repr(shared_filter& filter) {
  const filter_plan& plan = filter.plan();
  return "<oneprobe.Filter: " + std::string(name_of(plan.kind)) + ", " +
         std::to_string(filter.size()) + " of " + std::to_string(plan.elements) + " elements, " +
         std::to_string(plan.memory().total()) + " bytes>";
}

}  // namespace

void add_filters(py::module_& module) {
  py::class_<shared_filter>(
      module, "Filter",
      R"(A set of keys that may say yes for keys it does not hold, and never no for one it does.

    seen = oneprobe.Filter(1_000_000, 1e-4)
    seen.add("a key")
    "a key" in seen
    seen.add_many(np.arange(1000))

Keys are str, bytes or int. A str is the same key as its UTF-8 bytes, as it is for the oneprobe tool
and in C++; an int is the same as that integer in C++, modulo 2**64. Methods ending in _many take a
numpy array of integers, bytes or text, or a sequence of keys, and let other threads run meanwhile.
Any number of threads may use a filter.)")
      .def(
          py::init([](std::uint64_t elements, std::optional<double> fpr,
                      std::optional<double> bits_per_element, std::optional<std::uint64_t> bytes,
                      const std::optional<std::string>& kind, std::optional<double> accesses,
                      std::optional<std::uint32_t> counter_bits,
                      std::optional<std::uint64_t> seed) {
            filter_needs needs{.elements = elements,
                               .fpr = fpr,
                               .bits_per_element = bits_per_element,
                               .bytes = bytes,
                               .accesses = accesses,
                               .counter_bits = counter_bits,
                               .detail = plan_detail::plan_only};
            if (kind) needs.kind = filter_kind_of(*kind);
            const py::gil_scoped_release others_run;
            return std::make_unique<shared_filter>(planned(needs).plan(), seed);
          }),
          R"(An empty filter for so many elements, with this error, or with these bits per element or
bytes of memory. kind is 'standard', 'partitioned', 'blocked', 'counting', 'balanced' or
'fingerprint'; None takes the best of those made of cache lines. Without a seed a random one is
drawn. ValueError says which need cannot be met.)",
          "elements"_a, "fpr"_a = py::none(), py::kw_only(), "bits_per_element"_a = py::none(),
          "bytes"_a = py::none(), "kind"_a = py::none(), "accesses"_a = py::none(),
          "counter_bits"_a = py::none(), "seed"_a = py::none())
      .def_static(
          "from_plan",
          [](const planned_filter& plan, std::optional<std::uint64_t> seed) {
            return std::make_unique<shared_filter>(plan.plan(), seed);
          },
          "An empty filter that follows a plan of plan_filter().", "plan"_a, "seed"_a = py::none())
      .def("add", &shared_filter::add, "Adds a key. True if it was surely not there before.",
           "key"_a)
      .def("add_many", &shared_filter::add_many,
           "Adds many keys. Returns how many were surely not there before.", "keys"_a)
      .def("may_contain", &shared_filter::contains,
           "Whether the key may be there; never False for one that is.", "key"_a)
      .def("__contains__", &shared_filter::contains, "key"_a)
      .def("may_contain_many", &shared_filter::contains_many,
           "The answers for many keys, as a numpy array of bool.", "keys"_a)
      .def("remove", &shared_filter::remove,
           R"(Takes out a key that was added; of a counting filter.
False, and nothing changed, where it surely was not there. A key that was not added and may_contain
takes others with it.)",
           "key"_a)
      .def("merge", &shared_filter::merge,
           "Takes in another filter of the same plan and seed: then it says yes where either did.",
           "other"_a)
      .def(
          "copy",
          [](shared_filter& filter) { return std::make_unique<shared_filter>(filter.copy_held()); },
          "A filter of the same keys with memory of its own.")
      .def("clear", &shared_filter::clear, "Forgets all keys.")
      .def("save", &shared_filter::save,
           R"(Writes a file that the oneprobe tool and C++ read. What was
there is replaced once the new file is complete and on the disk.)",
           "path"_a)
      .def_static("load", &shared_filter::load,
                  R"(A filter from a file of any kind of filter, everything
verified. LoadError says what is wrong with the file.)",
                  "path"_a)
      .def("to_bytes", &shared_filter::bytes, "The bytes that save() writes.")
      .def_static("from_bytes", &shared_filter::from_bytes, "As load(), from such bytes.", "data"_a)
      .def("stats", &stats_of,
           R"(What is in the filter and how often it errs now, as a dict. Reads all
of its memory.)")
      .def("explain", &explain,
           "How a lookup comes to its answer, and how many accesses that costs, as a dict.",
           "key"_a)
      .def_property_readonly(
          "kind", [](const shared_filter& filter) { return name_of(filter.plan().kind); },
          "The name of its kind.")
      .def_property_readonly("seed", &shared_filter::seed, "The seed of its hash.")
      .def_property_readonly(
          "elements", [](const shared_filter& filter) { return filter.plan().elements; },
          "How many keys it was planned for.")
      .def_property_readonly(
          "planned_fpr", [](const shared_filter& filter) { return filter.plan().predicted.fpr; },
          "Its error with as many keys as it was planned for.")
      .def_property_readonly(
          "nbytes", [](const shared_filter& filter) { return filter.plan().memory().total(); },
          "The bytes of its memory.")
      .def("__len__", &shared_filter::size)
      .def("__bool__", [](shared_filter& filter) { return filter.size() != 0; })
      .def("__repr__", &repr)
      .def(
          "__copy__",
          [](shared_filter& filter) { return std::make_unique<shared_filter>(filter.copy_held()); })
      .def(
          "__deepcopy__",
          [](shared_filter& filter, const py::dict&) {
            return std::make_unique<shared_filter>(filter.copy_held());
          },
          "memo"_a)
      .def(py::pickle([](shared_filter& filter) { return filter.bytes(); },
                      [](const py::bytes& bytes) { return shared_filter::from_bytes(bytes); }));
}

}  // namespace oneprobe::python
