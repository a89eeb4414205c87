// What the fuzzers of files share: demands on what is answered, and checksums made to fit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/io/checksum.hpp"
#include "oneprobe/detail/io/preamble.hpp"
#include "oneprobe/files.hpp"

namespace hostile_file {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

inline void require_sentence(const oneprobe::load_failure& failure) {
  require(!failure.sentence.empty() && failure.sentence.size() < 1000,
          "the sentence is no sentence");
  for (const char c : failure.sentence)
    require(c >= 0x20 && c < 0x7f, "the sentence is not one printable line");
}

template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t at) {
  return oneprobe::byte_reader(bytes.subspan(at, sizeof(Number))).template take<Number>();
}

/// Makes magic, lengths and checksums fit, as far as there are sections.
inline void seal(std::span<std::byte> bytes, std::size_t parameter_bytes) {
  const std::size_t head_bytes = oneprobe::preamble_bytes + parameter_bytes;
  if (bytes.size() < head_bytes) return;
  std::ranges::copy(oneprobe::file_magic, bytes.begin());
  const auto put = [&](std::size_t at, std::uint64_t value) {
    oneprobe::byte_writer(bytes.subspan(at, 8)).put(value);
  };
  const std::span<const std::byte> all(bytes);
  put(16, parameter_bytes);
  put(24, bytes.size() - head_bytes);
  put(32, oneprobe::checksum_of(all.subspan(oneprobe::preamble_bytes, parameter_bytes)));
  put(40, oneprobe::checksum_of(all.subspan(head_bytes)));
  put(56, oneprobe::checksum_of(all.first(56)));
}

}  // namespace hostile_file
