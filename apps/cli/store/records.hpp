// Records from a file or from standard input, one block after the other: lines of a key, a tab and
// a value, or records of fixed size.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "filter/key_lines.hpp"
#include "oneprobe/page_store/plan.hpp"
#include "store/record_text.hpp"

namespace oneprobe::cli {

inline constexpr option binary_records{
    "--binary", "", "records are key and value byte for byte, without anything between them"};

/// Calls `each(line, place)` with every line, and `block(bytes so far)` after those that one read
/// has brought.
template <class Each, class Block>
void for_each_line(key_file& file, Each each, Block block) {
  key_lines lines(file, key_separator::newline);
  std::uint64_t number = 0;
  for (key_text some; lines.next(some);) {
    for_each_key(some.view(), key_separator::newline, [&](std::string_view line) {
      each(line, text_place{file.name(), ++number});
    });
    block(lines.bytes());
  }
}

/// Calls `each(key, value)` with the bytes of every record, and `block(bytes so far)` after what
/// one read has brought: slow typing is answered at once.
template <class Each, class Block>
void read_lines(key_file& file, record_text& text, Each each, Block block) {
  for_each_line(
      file,
      [&](std::string_view line, text_place here) {
        const auto [key, value] = text.split(line, here);
        each(text.key_of(key, here), text.value_of(value, here));
      },
      block);
}

template <class Each, class Block>
void read_binary(key_file& file, const page_store_plan& plan, Each each, Block block) {
  const std::size_t size = plan.record_bytes();
  std::vector<char> bytes(std::max<std::size_t>(std::size_t{1} << 20, size));
  std::size_t used = 0;
  std::uint64_t all = 0;
  while (const std::size_t got = file.read(bytes.data() + used, bytes.size() - used)) {
    used += got;
    all += got;
    std::size_t at = 0;
    for (; used - at >= size; at += size) {
      const auto record = std::as_bytes(std::span(bytes).subspan(at, size));
      each(record.first(plan.key_bytes), record.subspan(plan.key_bytes));
    }
    std::memmove(bytes.data(), bytes.data() + at, used - at);
    used -= at;
    block(all);
  }
  if (used != 0)
    throw usage_error(fmt::format("{} ends within a record: it has {} bytes, and a record {}",
                                  file.name(), all, size));
}

}  // namespace oneprobe::cli
