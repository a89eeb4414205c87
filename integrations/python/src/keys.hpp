// Python's keys as hashes: what the filters and the maps of the module share.
//
//   one key      str (its UTF-8), bytes and other buffers, int from -2^63 to 2^64 - 1
//   many keys    a numpy array of integers, of bytes (S, V) or of text (U), or any sequence of keys
//
// A str has the hash of its UTF-8 bytes, as the tool and C++ hash text; an int that of the integer.
// Arrays are hashed on the way, while other threads of Python run: an array that we hold cannot be
// resized. Sequences of objects are hashed before that, since their keys may go away.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "oneprobe/detail/hash/range_hashes.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/hash_feed.hpp"
#include "oneprobe/key_hash.hpp"
#include "texts.hpp"

namespace oneprobe::python {

namespace py = pybind11;

inline std::string type_name(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

/// An int as 64 bits; negative ones keep their value modulo 2^64. Throws ValueError for others.
inline std::uint64_t integer_of(py::handle number) {
  const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(number.ptr()));
  if (!index) throw py::error_already_set();
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow == 0) return static_cast<std::uint64_t>(small);
  if (overflow > 0) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(index.ptr());
    if (PyErr_Occurred() == nullptr) return large;
    PyErr_Clear();
  }
  throw py::value_error("an int must be from -2^63 to 2^64 - 1; found " +
                        std::string(py::str(index)));
}

/// Calls `use` with the bytes of a str, of bytes or of another buffer.
template <class Use>
auto with_bytes(py::handle key, Use use) {
  if (PyUnicode_Check(key.ptr())) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(key.ptr(), &size);
    if (text == nullptr) throw py::error_already_set();
    return use(std::string_view(text, static_cast<std::size_t>(size)));
  }
  if (PyBytes_Check(key.ptr()))
    return use(std::string_view(PyBytes_AS_STRING(key.ptr()),
                                static_cast<std::size_t>(PyBytes_GET_SIZE(key.ptr()))));
  if (!PyObject_CheckBuffer(key.ptr()))
    throw py::type_error("a key must be str, bytes or int; found " + type_name(key));
  Py_buffer buffer;
  if (PyObject_GetBuffer(key.ptr(), &buffer, PyBUF_SIMPLE) != 0) throw py::error_already_set();
  struct release {
    Py_buffer& buffer;
    ~release() { PyBuffer_Release(&buffer); }
  } releasing{buffer};
  return use(
      std::string_view(static_cast<const char*>(buffer.buf), static_cast<std::size_t>(buffer.len)));
}

inline key_hash hash_of(const seeded_hash& hash, py::handle key) {
  if (PyIndex_Check(key.ptr())) return hash(integer_of(key));
  return with_bytes(key, [&](std::string_view bytes) { return hash(bytes); });
}

/// Refuses what is one key where many are asked for.
inline void refuse_single(py::handle keys) {
  if (PyUnicode_Check(keys.ptr()) || PyBytes_Check(keys.ptr()) || PyByteArray_Check(keys.ptr()))
    throw py::type_error("keys must be an array or a sequence of keys; found one " +
                         type_name(keys));
}

/// A one-dimensional array, its elements aligned, next to each other and in this machine's byte
/// order.
inline py::array plain_array(const py::array& array) {
  if (array.ndim() != 1)
    throw py::value_error("an array of keys must have one dimension; found " +
                          std::to_string(array.ndim()));
  const py::object numpy = py::module_::import("numpy");
  return numpy.attr("require")(array, array.dtype().attr("newbyteorder")("="),
                               py::make_tuple("C", "A"));
}

/// Integers of any width as 64 bits.
inline py::array integers_of(const py::array& array) {
  const char kind = array.dtype().kind();
  return plain_array(
      array.attr("astype")(kind == 'u' ? "uint64" : "int64", py::arg("copy") = false));
}

class many_keys {
 public:
  many_keys(const seeded_hash& hash, const py::object& keys) : hash_(hash) {
    refuse_single(keys);
    if (!py::isinstance<py::array>(keys)) {
      take_sequence(keys);
      return;
    }
    const auto array = py::reinterpret_borrow<py::array>(keys);
    const char kind = array.dtype().kind();
    switch (kind) {
      case 'i':
      case 'u':
      case 'b':
        array_ = integers_of(array);
        form_ = form::integers;
        break;
      case 'S':
      case 'U':
      case 'V':
        array_ = plain_array(array);
        form_ = kind == 'S' ? form::padded_bytes : kind == 'U' ? form::text : form::bytes;
        break;
      case 'O':
        take_sequence(keys);
        return;
      default:
        throw py::type_error("an array of keys must hold integers, bytes or text; found " +
                             std::string(py::str(array.dtype())));
    }
    size_ = static_cast<std::size_t>(array_.size());
    width_ = static_cast<std::size_t>(array_.itemsize());
    data_ = static_cast<const char*>(array_.data());
    if (form_ == form::text) texts_.emplace(data_, size_, width_ / character_bytes);
  }

  std::size_t size() const noexcept { return size_; }
  /// Calls `use` with their hashes.
  template <class Use>
  auto with_hashes(Use use) {
    if (form_ == form::integers) {
      const std::span integers(reinterpret_cast<const std::uint64_t*>(data_), size_);
      return use(range_hashes(hash_, integers).feed());
    }
    return use(hash_feed(
        size_, [this](std::size_t first, std::span<key_hash> out) { hash_into(first, out); }));
  }

 private:
  enum class form : std::uint8_t { hashed, integers, bytes, padded_bytes, text };

  void take_sequence(const py::object& keys) {
    const auto fast = py::reinterpret_steal<py::object>(
        PySequence_Fast(keys.ptr(), "keys must be an array or a sequence of keys"));
    if (!fast) throw py::error_already_set();
    hashed_.reserve(static_cast<std::size_t>(PySequence_Fast_GET_SIZE(fast.ptr())));
    // Asked for each time: the __index__ of a key may change the list.
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.ptr()); ++i) {
      const auto key = py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(fast.ptr(), i));
      hashed_.push_back(hash_of(hash_, key));
    }
    size_ = hashed_.size();
  }

  /// Not for integers.
  void hash_into(std::size_t first, std::span<key_hash> out) {
    const char* key = data_ + first * width_;
    switch (form_) {
      case form::hashed:
        std::copy_n(hashed_.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
        return;
      case form::integers:
        throw std::logic_error("integers are hashed by range_hashes");
      case form::bytes:
      case form::padded_bytes:
        for (key_hash& hash : out) {
          hash = hash_(form_ == form::bytes ? std::string_view(key, width_)
                                            : without_padding(key, width_));
          key += width_;
        }
        return;
      case form::text:
        texts_->for_each(first, out.size(), [&](std::size_t i, std::string_view utf8) {
          out[i - first] = hash_(utf8);
        });
    }
  }

  seeded_hash hash_;
  form form_ = form::hashed;
  std::size_t size_ = 0;
  std::vector<key_hash> hashed_{};
  py::array array_{};
  const char* data_ = nullptr;
  std::size_t width_ = 0;
  std::optional<texts> texts_{};
};

/// Locks that threads of Python take: a thread that must wait lets the others run meanwhile, so the
/// holder of the lock gets on. `Lock` is std::unique_lock to change, std::shared_lock to look.
template <template <class> class Lock>
Lock<std::shared_mutex> lock_for_call(std::shared_mutex& mutex) {
  Lock<std::shared_mutex> lock(mutex, std::try_to_lock);
  if (!lock.owns_lock()) {
    const py::gil_scoped_release others_run;
    lock.lock();
  }
  return lock;
}
inline auto lock_to_look(std::shared_mutex& mutex) {
  return lock_for_call<std::shared_lock>(mutex);
}
inline auto lock_to_change(std::shared_mutex& mutex) {
  return lock_for_call<std::unique_lock>(mutex);
}

}  // namespace oneprobe::python
