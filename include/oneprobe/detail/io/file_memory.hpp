// Memory for what is loaded: if there is none, that is a failure like any other. For the other
// headers that read files; there is nothing here to call.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include "oneprobe/files.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1::detail {

/// What sentences call bytes that come from no file.
inline constexpr std::string_view bytes_in_memory = "the memory";

inline load_failure no_memory(std::uint64_t bytes, std::string_view name) {
  return {load_error::io, std::string(name) + " cannot be read: there is no memory for its " +
                              std::to_string(bytes) + " bytes"};
}

inline loaded<line_memory> allocate(std::uint64_t bytes, std::string_view name,
                                    memory_options options = {}) {
#if defined(__cpp_exceptions)
  try {
    return line_memory(bytes, options);
  } catch (const std::bad_alloc&) {
    return no_memory(bytes, name);
  }
#else
  static_cast<void>(name);
  // Ends the program if there is none, as everywhere without exceptions.
  return line_memory(bytes, options);
#endif
}

}  // namespace oneprobe::inline v0_1::detail
