// Bulk queries of absent keys and nothing else, to be sampled by tools/profile_fingerprint.py:
//
//   profile_fingerprint FPR CALLS
//
// Prints the bits of a remainder and the remainders of a bucket, and the ns per query of the best
// call.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "oneprobe/filter/fingerprint.hpp"

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const double fpr = std::atof(arguments[1]);
  const int calls = std::atoi(arguments[2]);
  constexpr std::size_t elements = 10'000'000, queries = 2'000'000;
  std::vector<std::uint64_t> keys(elements), absent(queries);
  std::iota(keys.begin(), keys.end(), std::uint64_t{0});
  std::iota(absent.begin(), absent.end(), std::uint64_t{elements});
  const auto answers = std::make_unique<bool[]>(queries);

  oneprobe::fingerprint_filter filter(elements, fpr);
  filter.bulk_insert(std::span<const std::uint64_t>(keys));
  double best_ns = 1e9;
  for (int i = 0; i < calls; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    filter.bulk_may_contain(std::span<const std::uint64_t>(absent),
                            std::span<bool>(answers.get(), queries));
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best_ns = std::min(best_ns, took.count() / queries);
  }
  const auto& fingerprint_bucket = filter.plan().fingerprint_bucket;
  std::printf("%u %u %.2f\n", fingerprint_bucket.remainder_bits, fingerprint_bucket.bucket_capacity,
              best_ns);
}
