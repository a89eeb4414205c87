// Messages that come twice: which of them a rotating filter recognises, by how late they come. Four
// generations of one minute each remember at least three minutes and less than four.
//
//   rotating_window [MESSAGES_PER_MINUTE]
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <oneprobe/filter/blocked.hpp>
#include <oneprobe/filter/rotating.hpp>
#include <oneprobe/key_hash.hpp>

namespace {

using namespace oneprobe;
using namespace std::chrono_literals;
using time_point = std::chrono::steady_clock::time_point;

constexpr std::uint32_t generations = 4;
constexpr double stated_error = 1e-3;
constexpr std::uint64_t minutes = 60;
constexpr std::size_t longest_delay = 7;  // minutes

struct tally {
  std::uint64_t sent = 0;
  std::uint64_t recognised = 0;
};

/// Message number i comes once, at an even pace; here one that came up to seven minutes before is
/// sent a second time with each.
std::array<tally, longest_delay> run(rotating_filter<blocked_filter>& recent,
                                     std::uint64_t per_minute) {
  const time_point start{};
  window_clock<> windows(1min, start);
  std::array<tally, longest_delay> by_delay{};
  for (std::uint64_t message = 0; message < minutes * per_minute; ++message) {
    // In your program: recent.rotate(windows.ended()), which asks the clock.
    recent.rotate(windows.ended(start + message * 60'000'000'000ns / per_minute));
    recent.insert(message);

    const std::uint64_t delay = 1 + mix_bits(message) % (longest_delay * per_minute);
    if (delay > message) continue;
    tally& bin = by_delay[(delay - 1) / per_minute];
    ++bin.sent;
    bin.recognised += recent.may_contain(message - delay) ? 1u : 0u;
  }
  return by_delay;
}

void show(std::uint64_t per_minute) {
  // A fixed seed, so that this program prints the same every time.
  rotating_filter<blocked_filter> recent(
      {.elements_per_window = per_minute, .fpr = stated_error, .generations = generations},
      seeded_hash(20081));
  const auto by_delay = run(recent, per_minute);
  std::printf("sent again after   recognised\n");
  for (std::size_t i = 0; i < longest_delay; ++i)
    std::printf(
        "%zu to %zu minutes  %9.2f %%\n", i, i + 1,
        100 * static_cast<double>(by_delay[i].recognised) / static_cast<double>(by_delay[i].sent));
  const filter_stats stats = recent.stats();
  std::printf("error stated %.0e, now %.1e; %.2f MiB in all\n", stats.planned_fpr,
              stats.current_fpr, static_cast<double>(stats.memory.total()) / (1u << 20));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const long long per_minute = argc > 1 ? std::atoll(argv[1]) : 50'000;
    if (argc > 2 || per_minute < 100 || per_minute > 1'000'000) {
      std::fprintf(stderr, "usage: rotating_window [MESSAGES_PER_MINUTE], from 100 to 1000000\n");
      return 2;
    }
    show(static_cast<std::uint64_t>(per_minute));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rotating_window: %s\n", error.what());
    return 1;
  }
}
