// The bulk calls of the library in C++, to set beside the same calls from Python.
//
//   cpp_bulk FILTER TEXT_FILTER TABLE KEYS
//
// The files are those that Python saved; keys are made as bulk_bench.py makes them. Each line of
// standard input names a call, which is made once and answered with a line: its seconds of CPU time
// and how many keys were found or added. The first line of all says which compiler it was.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/filter/any_filter.hpp"
#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/file.hpp"

namespace {

using namespace oneprobe;
using number_map = bounded_map<std::int64_t, std::int64_t>;

/// As many as the module looks up at a time: what was found stays in the nearest cache.
constexpr std::size_t chunk_keys = 2048;
constexpr std::size_t text_bytes = 16;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Results are made anew in each call, as Python makes its arrays.
template <class Keys>
std::uint64_t ask_filter(const any_filter& filter, const Keys& keys) {
  const auto answers = std::make_unique<bool[]>(keys.size());
  return std::visit(
      [&](const auto& held) {
        return held.bulk_may_contain(keys, std::span(answers.get(), keys.size()));
      },
      filter);
}
template <class Keys>
std::uint64_t fill_filter(any_filter& filter, const Keys& keys) {
  return std::visit(
      [&](auto& held) {
        held.clear();
        return held.bulk_insert(keys);
      },
      filter);
}

std::uint64_t ask_table(const number_map& table, std::span<const std::int64_t> keys) {
  const auto values = std::make_unique<std::int64_t[]>(keys.size());
  const auto there = std::make_unique<bool[]>(keys.size());
  std::vector<const number_map::value_type*> found(std::min(chunk_keys, keys.size()));
  std::uint64_t hits = 0;
  for (std::size_t first = 0; first < keys.size(); first += chunk_keys) {
    const auto chunk = keys.subspan(first, std::min(chunk_keys, keys.size() - first));
    table.bulk_find(chunk, std::span(found).first(chunk.size()));
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      there[first + i] = found[i] != nullptr;
      values[first + i] = found[i] != nullptr ? found[i]->value : 0;
      hits += found[i] != nullptr ? 1u : 0u;
    }
  }
  return hits;
}
std::uint64_t fill_table(number_map& table, std::span<const std::int64_t> keys) {
  table.clear();
  const auto kept = std::make_unique<bool[]>(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    kept[i] = table.insert_or_assign(keys[i], keys[i]).outcome != insertion::full;
  return static_cast<std::uint64_t>(std::count(kept.get(), kept.get() + keys.size(), true));
}

/// The keys as text: sixteen hexadecimal digits each, one after the other.
std::string texts_of(std::span<const std::uint64_t> keys) {
  std::string all(keys.size() * text_bytes, '0');
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t digit = 0; digit < text_bytes; ++digit)
      all[i * text_bytes + digit] = "0123456789abcdef"[keys[i] >> (60 - 4 * digit) & 15];
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return 2;
  loaded<any_filter> filter = load_any(arguments[1]);
  loaded<any_filter> text_filter = load_any(arguments[2]);
  loaded<number_map> table = load<number_map>(arguments[3]);
  if (!filter || !text_filter || !table) return 1;

  std::vector<std::uint64_t> keys(std::strtoull(arguments[4], nullptr, 10));
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = mix_bits(i);
  const std::vector<std::int64_t> numbers(keys.begin(), keys.end());
  const std::string all_texts = texts_of(keys);
  std::vector<std::string_view> texts;
  for (std::size_t i = 0; i < keys.size(); ++i)
    texts.push_back(std::string_view(all_texts).substr(i * text_bytes, text_bytes));

  const std::map<std::string, std::function<std::uint64_t()>> calls{
      {"may_contain_many", [&] { return ask_filter(*filter, keys); }},
      {"add_many", [&] { return fill_filter(*filter, keys); }},
      {"may_contain_many of texts", [&] { return ask_filter(*text_filter, texts); }},
      {"add_many of texts", [&] { return fill_filter(*text_filter, texts); }},
      {"find_many", [&] { return ask_table(*table, numbers); }},
      {"assign_many", [&] { return fill_table(*table, numbers); }},
  };
  std::printf("g++ %s\n", __VERSION__);
  std::fflush(stdout);
  for (std::string name; std::getline(std::cin, name);) {
    const auto call = calls.find(name);
    if (call == calls.end()) return 2;
    const double start = cpu_seconds();
    const std::uint64_t keys_found = call->second();
    std::printf("%.6f %llu\n", cpu_seconds() - start, static_cast<unsigned long long>(keys_found));
    std::fflush(stdout);
  }
  return 0;
}
