#include "oneprobe/model/summary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "binomial.hpp"
#include "check.hpp"
#include "level_walk.hpp"
#include "oneprobe/model/balls.hpp"
#include "oneprobe/model/bloom.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

double total(std::span<const std::uint64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 0.0, [](double sum, std::uint64_t size) {
    return sum + static_cast<double>(size);
  });
}

void check_filter(double cells, unsigned hashes) {
  detail::check_elements("cells", cells);
  detail::check_range("hashes", hashes, 1.0, largest_bits_set);
  if (hashes > cells) detail::refuse("hashes", "at most the cells", hashes);
}

struct filter_shape {
  double cells = 0;
  unsigned hashes = 0;
};

/// (1 - (1 - k/m)^l)^k for l = 0, 1, ...: computed once each.
class misdirections {
 public:
  explicit misdirections(filter_shape filter) : filter_(filter) {}

  double at(double elements_above) {
    constexpr double most_kept = exact_limit;
    if (elements_above > most_kept) return compute(elements_above);
    while (known_.size() <= static_cast<std::size_t>(elements_above))
      known_.push_back(compute(static_cast<double>(known_.size())));
    return known_[static_cast<std::size_t>(elements_above)];
  }

 private:
  double compute(double elements_above) const {
    return misdirection_probability(filter_.cells, filter_.hashes, elements_above);
  }
  filter_shape filter_;
  std::vector<double> known_;
};

/// SSH, Appendix III-B, C: f_i = sum_j P(|S_i-1| = j) sum_l>=1 P(l of them are left) (j - l) q_l,
/// where filters[i - 1] is what an element of level i is misdirected by.
summary_error walk_with_filters(std::uint64_t elements, std::span<const std::uint64_t> levels,
                                const std::vector<filter_shape>& filters) {
  std::vector<misdirections> q(filters.begin(), filters.end());
  summary_error error;
  error.failure_per_level.assign(filters.size(), 0.0);
  const crisis_result walked =
      detail::walk_levels(elements, levels, [&](const detail::level_outcome& outcome) {
        if (outcome.level >= filters.size()) return;
        double sum = 0, left = outcome.first_left;
        for (const double probability : outcome.left_probability) {
          if (left >= 1 && left < outcome.entering)
            sum += probability * (outcome.entering - left) * q[outcome.level].at(left);
          left += outcome.step;
        }
        error.failure_per_level[outcome.level] += outcome.weight * sum;
      });
  // Union bounds: beyond certainty they say nothing more.
  for (double& failure : error.failure_per_level) failure = std::min(failure, 1.0);
  error.failure_probability = std::min(
      1.0, std::accumulate(error.failure_per_level.begin(), error.failure_per_level.end(), 0.0));
  error.crisis_probability = walked.crisis_probability;
  error.bytes = total(levels) / 8;  // the occupancy bits
  return error;
}

void check_asymptotics(double elements, double exponent) {
  detail::check_range("elements", elements, 2.0, detail::most_elements);
  detail::check_above("exponent", exponent, 0.0, 100.0);
}

/// SSH, Appendix II: the smallest m >= c' y log_10/7 n, c' = (c + 2) / ln 2, that k = floor((m / y)
/// ln 2) divides. Below a few dozen elements there may be none; then k divides m and is smaller.
asymptotic_filter sufficient_filter(double elements, double stored, double exponent) {
  const double least =
      (exponent + 2) / std::numbers::ln2 * stored * std::log(elements) / std::log(10.0 / 7);
  const double hashes = std::max(1.0, std::floor(least / stored * std::numbers::ln2));
  for (double k = hashes; k < hashes + 64; ++k) {
    const double cells = k * std::ceil(std::max(least, k * stored / std::numbers::ln2) / k);
    if (std::floor(cells / stored * std::numbers::ln2) == k)
      return {.cells = cells, .hashes = static_cast<unsigned>(k)};
  }
  return {.cells = hashes * std::ceil(least / hashes), .hashes = static_cast<unsigned>(hashes)};
}

}  // namespace

double misdirection_probability(double cells, unsigned hashes, double elements_above) {
  check_filter(cells, hashes);
  detail::check_range("elements above", elements_above, 0.0, detail::most_elements);
  if (elements_above == 0) return 0;
  return std::pow(-std::expm1(elements_above * std::log1p(-(hashes / cells))), hashes);
}

double interpolation_failure(double elements, unsigned string_bits) {
  detail::check_range("string bits", string_bits, 1.0, 512.0);
  detail::check_elements("elements", elements);
  return -std::expm1(detail::log_all_different(elements, std::exp2(string_bits)));
}

double interpolation_false_positive(double elements, unsigned string_bits) {
  detail::check_range("string bits", string_bits, 1.0, 512.0);
  detail::check_elements("elements", elements);
  return std::min(1.0, std::ldexp(elements, -static_cast<int>(string_bits)));
}

summary_error interpolation_summary(std::uint64_t elements, std::span<const std::uint64_t> levels,
                                    unsigned string_bits) {
  const double n = static_cast<double>(elements);
  const double failure = interpolation_failure(n, string_bits);
  summary_error error = walk_with_filters(elements, levels, {});
  error.failure_probability = failure;
  error.false_positive_probability = interpolation_false_positive(n, string_bits);
  const double level_bits = static_cast<double>(std::bit_width(levels.size() - 1));
  error.bytes += n * (string_bits + level_bits) / 8;
  return error;
}

summary_error single_filter_summary(std::uint64_t elements, std::span<const std::uint64_t> levels,
                                    std::uint64_t cells, unsigned hashes) {
  const filter_shape filter{static_cast<double>(cells), hashes};
  check_filter(filter.cells, hashes);
  detail::check_level_sizes(levels);
  summary_error error =
      walk_with_filters(elements, levels, std::vector<filter_shape>(levels.size() - 1, filter));
  error.false_positive_probability =
      partitioned_error(filter.cells, static_cast<double>(elements), hashes);
  error.bytes += packed_bytes(filter.cells, static_cast<unsigned>(levels.size()) + 1);
  return error;
}

summary_error multi_filter_summary(std::uint64_t elements, std::span<const std::uint64_t> levels,
                                   std::span<const std::uint64_t> filter_bits,
                                   std::span<const unsigned> hashes) {
  detail::check_level_sizes(levels);
  const std::string as_many = "as many as levels (" + std::to_string(levels.size()) + ")";
  if (filter_bits.size() != levels.size())
    detail::refuse("number of filter sizes", as_many, static_cast<double>(filter_bits.size()));
  if (hashes.size() != levels.size())
    detail::refuse("number of hash counts", as_many, static_cast<double>(hashes.size()));
  std::vector<filter_shape> filters;
  for (std::size_t i = 0; i < filter_bits.size(); ++i) {
    filters.push_back({static_cast<double>(filter_bits[i]), hashes[i]});
    check_filter(filters.back().cells, filters.back().hashes);
  }
  const filter_shape first = filters.front();  // B_0 sorts out absent keys only
  filters.erase(filters.begin());
  summary_error error = walk_with_filters(elements, levels, filters);
  error.false_positive_probability =
      standard_error_finite(first.cells, static_cast<double>(elements), first.hashes);
  error.bytes += total(filter_bits) / 8;
  return error;
}

double hashes_of_least_error(double cells, double elements) {
  detail::check_elements("cells", cells);
  detail::check_range("elements", elements, 1e-9, detail::most_elements);
  return std::numbers::ln2 * cells / elements;
}

double packed_bytes(double cells, unsigned values) {
  detail::check_elements("cells", cells);
  detail::check_range("values", values, 2.0, 4294967295.0);
  const double bits_per_cell = std::bit_width(values - 1);
  double per_byte = 0;
  for (double combinations = values; combinations <= 256; combinations *= values) ++per_byte;
  return cells / std::max(per_byte, 8 / bits_per_cell);
}

song_error song_summary(double elements, double buckets, unsigned choices, unsigned counter_bits) {
  detail::check_elements("elements", elements);
  detail::check_elements("buckets", buckets);
  detail::check_choices(choices);
  detail::check_range("counter bits", counter_bits, 1.0, 64.0);
  return {.bytes = buckets * counter_bits / 8,
          .false_positive_probability = block_error_approximate(buckets, choices, elements)};
}

double counting_summary_bytes(std::span<const std::uint64_t> filter_bits,
                              std::span<const unsigned> counter_bits) {
  if (filter_bits.empty()) detail::refuse("number of filters", "at least 1", 0);
  if (counter_bits.size() != filter_bits.size())
    detail::refuse("number of counter widths",
                   "as many as filters (" + std::to_string(filter_bits.size()) + ")",
                   static_cast<double>(counter_bits.size()));
  double bits = 0;
  for (std::size_t i = 0; i < filter_bits.size(); ++i) {
    detail::check_elements("each filter size", static_cast<double>(filter_bits[i]));
    detail::check_range("counter bits", counter_bits[i], 1.0, 64.0);
    bits += static_cast<double>(filter_bits[i]) * counter_bits[i];
  }
  return bits / 8;
}

unsigned summary_counter_bits(double filter_bits, double expected_elements, unsigned hashes,
                              double allowed) {
  check_filter(filter_bits, hashes);
  return counter_bits_for(filter_bits, expected_elements, hashes, allowed);
}

counter_law counters_reaching(const count_distribution& elements, double filter_bits,
                              unsigned hashes, counted how, unsigned most_value) {
  check_filter(filter_bits, hashes);
  // One ball for each element, in a bin that it falls into with the chance that any hash does.
  const double hit = -std::expm1(hashes * std::log1p(-1 / filter_bits));
  counter_law law;
  for (unsigned value = 1; value <= most_value; ++value) {
    double expected = 0, any = 0;
    for (std::size_t i = 0; i < elements.probability.size(); ++i) {
      const auto count = static_cast<double>(elements.first + i * elements.step);
      if (count == 0 || elements.probability[i] <= 0) continue;
      const double reaches = how == counted::once
                                 ? bin_has_at_least(count, 1 / hit, value)
                                 : bin_has_at_least(count * hashes, filter_bits, value);
      expected += elements.probability[i] * filter_bits * reaches;
      any += elements.probability[i] * -std::expm1(filter_bits * std::log1p(-reaches));
    }
    law.expected.push_back(expected);
    law.any.push_back(any);
  }
  return law;
}

std::vector<double> largest_counter_at_least(const counter_law& law, double builds) {
  std::vector<double> result;
  for (const double any : law.any)
    result.push_back(-std::expm1(builds * std::log1p(-std::min(any, 1.0))));
  return result;
}

asymptotic_filter asymptotic_single_filter(double elements, double exponent) {
  check_asymptotics(elements, exponent);
  return sufficient_filter(elements, elements, exponent);
}

std::vector<asymptotic_filter> asymptotic_multi_filter(double elements, double c1, double c2,
                                                       unsigned levels, double exponent) {
  check_asymptotics(elements, exponent);
  detail::check_choices(levels);
  const unsigned last = detail::last_concentrated_level(elements, c1, c2, exponent);
  std::vector<asymptotic_filter> filters;
  for (unsigned j = 0; j < levels; ++j) {
    // At most y_j-1 elements of level j or beyond; B_0 holds all n (erratum 1.14).
    const unsigned level = j == 0 ? 0 : std::min(j - 1, last);
    const double stored = std::pow(1 / (c1 * c2), std::exp2(level) - 1) * elements;
    filters.push_back(sufficient_filter(elements, stored, exponent));
  }
  return filters;
}

}  // namespace oneprobe::inline v0_1::model
