// How a bad parameter is refused: at construction, with one sentence.
#pragma once

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

#if !defined(__cpp_exceptions)
#include <cstdlib>
#endif

namespace oneprobe::inline v0_1 {

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

/// A number as it stands in such a sentence: "1e-09", where std::to_string says "0.000000".
inline std::string in_words(double number) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.9g", number);
  return text.data();
}

}  // namespace oneprobe::inline v0_1
