// What the trials share: counts from the command line, and tasks on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <thread>
#include <vector>

namespace trials {

/// A count such as 10000000 or 1e7; 0 if it is none.
inline std::uint64_t count_of(const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  return *end == '\0' && value >= 1 && value <= 1e12 ? static_cast<std::uint64_t>(value) : 0;
}

/// Reads `--name count` pairs after the verb into the counts of these names, and `--name word` into
/// the words. False if there is anything else.
inline bool read_counts(int argc, char** argv,
                        const std::map<std::string_view, std::uint64_t*>& counts,
                        const std::map<std::string_view, std::string_view*>& words = {}) {
  for (int i = 2; i < argc; i += 2) {
    if (const auto word = words.find(argv[i]); word != words.end() && i + 1 < argc) {
      *word->second = argv[i + 1];
      continue;
    }
    const auto named = counts.find(argv[i]);
    const std::uint64_t value = i + 1 < argc ? count_of(argv[i + 1]) : 0;
    if (named == counts.end() || value == 0) return false;
    *named->second = value;
  }
  return true;
}

inline std::uint64_t threads_here() { return std::max(1u, std::thread::hardware_concurrency()); }

/// Runs tasks 0 .. count - 1 on several threads.
template <class Task>
void in_parallel(std::size_t count, std::uint64_t threads, Task task) {
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> pool;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(threads, 256); ++i)
    pool.emplace_back([&] {
      for (std::size_t at = next++; at < count; at = next++) task(at);
    });
}

}  // namespace trials
