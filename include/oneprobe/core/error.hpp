// How a bad parameter is refused: at construction, with one sentence.
#pragma once

#include <stdexcept>
#include <string>

#if !defined(__cpp_exceptions)
#include <cstdio>
#include <cstdlib>
#endif

namespace oneprobe {

/// Throws std::invalid_argument. Programs built without exceptions get the sentence on stderr and
/// end: only construction comes here, never an operation.
[[noreturn]] inline void refuse_parameter(const std::string& sentence) {
#if defined(__cpp_exceptions)
  throw std::invalid_argument(sentence);
#else
  std::fprintf(stderr, "oneprobe: %s\n", sentence.c_str());
  std::abort();
#endif
}

}  // namespace oneprobe
