// One run of `oneprobe bench store`: builds, rounds of gets, and what was counted on the way.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/store_contender.hpp"

namespace oneprobe::cli {

struct store_contest_settings {
  std::uint64_t elements = 10'000'000;
  std::uint64_t gets = 1'000'000;      // of each kind in a round, from the page cache
  std::uint64_t direct_gets = 20'000;  // likewise, from the device
  unsigned rounds = 3;
  std::uint64_t seed = 1;
};

/// Gets of one kind, in all rounds.
struct store_gets {
  std::vector<double> wall_ns{};  // per get, by round
  std::vector<double> cpu_ns{};
  std::uint64_t asked = 0;
  read_counts counted{};

  double reads_per_get() const { return static_cast<double>(counted.reads) / asked_or_one(); }
  double pages_per_get() const { return static_cast<double>(counted.pages) / asked_or_one(); }

 private:
  double asked_or_one() const { return static_cast<double>(asked == 0 ? 1 : asked); }
};

/// The ways that pages are read, in the order in which they are measured.
inline constexpr std::array<page_reading, 3> store_readings{
    page_reading::mapped, page_reading::cached, page_reading::direct};

struct store_result {
  struct by_reading {
    std::string why_not{};  // it was not measured; empty: it was
    store_gets present{};
    store_gets absent{};
  };
  std::string name;
  double build_seconds = 0;
  std::uint64_t disk_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::array<by_reading, store_readings.size()> readings{};
  std::uint64_t wrong_answers = 0;
};

using store_list = std::vector<std::unique_ptr<store_contender>>;

std::unique_ptr<store_contender> make_our_store(const std::string& folder);

/// Throws usage_error if one of them cannot be built or opened.
std::vector<store_result> race_stores(
    const store_list& stores, const store_contest_settings& settings,
    const std::function<void(double done, std::string_view what)>& tell);

}  // namespace oneprobe::cli
