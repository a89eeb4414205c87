// What the parts of the module tell each other: how failures are raised, and which part adds what.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oneprobe/files.hpp"
#include "oneprobe/hash.hpp"

namespace oneprobe::python {

namespace py = pybind11;

/// Raised as oneprobe.LoadError, a ValueError: bytes that are no file of ours.
struct bad_file : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Raised as oneprobe.FullError, a RuntimeError.
struct table_is_full : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void raise_os_error(const std::string& sentence) {
  PyErr_SetString(PyExc_OSError, sentence.c_str());
  throw py::error_already_set();
}

/// REQUIRES: the interpreter.
template <class T>
T value_of(loaded<T> from) {
  if (from) return *std::move(from);
  if (from.failure().error == load_error::io) raise_os_error(from.failure().sentence);
  throw bad_file(from.failure().sentence);
}
inline void raise_failure(const std::optional<save_failure>& failure) {
  if (failure) raise_os_error(failure->sentence);
}

/// A str, bytes or os.PathLike, as the system has it.
inline std::string path_of(const py::object& path) {
  return py::bytes(py::module_::import("os").attr("fsencode")(path));
}
inline py::bytes python_bytes(std::span<const std::byte> bytes) {
  return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}
inline std::span<const std::byte> bytes_of(const py::bytes& bytes) {
  const std::string_view view = bytes;
  return std::as_bytes(std::span(view.data(), view.size()));
}
inline std::uint64_t seed_or_random(std::optional<std::uint64_t> seed) {
  return seed ? *seed : random_seed();
}

void add_filters(py::module_& module);
void add_maps(py::module_& module);
void add_plans(py::module_& module);
void add_models(py::module_& module);

}  // namespace oneprobe::python
