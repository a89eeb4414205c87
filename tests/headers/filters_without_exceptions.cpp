// Filters in use by a program without exceptions and run-time type information. What a template
// does is compiled where it is used, not where its header is included.
#include <array>
#include <cstdint>
#include <string>

#include "oneprobe/filter/balanced.hpp"
#include "oneprobe/filter/blocked.hpp"
#include "oneprobe/filter/concurrent.hpp"
#include "oneprobe/filter/counting.hpp"
#include "oneprobe/filter/file.hpp"
#include "oneprobe/filter/fingerprint.hpp"
#include "oneprobe/filter/growing.hpp"
#include "oneprobe/filter/partitioned.hpp"
#include "oneprobe/filter/rotating.hpp"
#include "oneprobe/filter/standard.hpp"

namespace without_exceptions {

constexpr std::array<std::uint64_t, 3> numbers{1, 2, 3};

template <class Filter>
std::uint64_t use(Filter filter) {
  filter.insert(std::string("one"));
  filter.bulk_insert(numbers);
  std::array<bool, numbers.size()> answers{};
  filter.bulk_may_contain(numbers, answers);
  return filter.may_contain("one") && answers[0] ? filter.explain(1).accesses : 0;
}
template <class Filter>
std::uint64_t use_fixed(const std::string& path) {
  Filter filter(1000, 1e-3);
  const Filter copy = filter;
  filter.clear();
  if (filter.merge(copy) != oneprobe::merge_outcome::merged || save(filter, path)) return 0;
  const auto loaded = oneprobe::load<Filter>(path);
  return loaded ? use(filter) + use(*loaded) + loaded->stats().counts.size : 0;
}

std::uint64_t use_filters(const std::string& path) {
  return use_fixed<oneprobe::standard_filter>(path) +
         use_fixed<oneprobe::partitioned_filter>(path) + use_fixed<oneprobe::blocked_filter>(path) +
         use_fixed<oneprobe::counting_filter>(path) + use_fixed<oneprobe::balanced_filter>(path) +
         use_fixed<oneprobe::fingerprint_filter>(path) +
         use(oneprobe::concurrent_blocked_filter(1000, 1e-3)) +
         use(oneprobe::concurrent_balanced_filter(1000, 1e-3)) +
         use(oneprobe::growing_filter<oneprobe::balanced_filter>(1000, 1e-3)) +
         use(oneprobe::rotating_filter<oneprobe::blocked_filter>(
             oneprobe::rotating_plan{.elements_per_window = 1000, .fpr = 1e-3}));
}

}  // namespace without_exceptions
