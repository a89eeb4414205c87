#include "summary_filters.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "oneprobe/model/summary.hpp"

namespace oneprobe::inline v0_1::planning {
namespace {

/// The least m between two limits for which an error that falls with it is small enough.
template <class Error>
double least_cells(double low, double high, double allowed, Error error) {
  while (high - low > 1e-3 * low + 0.5) {
    const double middle = (low + high) / 2;
    (error(middle) > allowed ? low : high) = middle;
  }
  return std::ceil(high);
}

double cells_for(double elements, std::uint32_t hashes, double error) {
  // Solved for m: error = (1 - (1 - 1/m)^(k n))^k.
  const double zero = -std::expm1(std::log(error) / hashes);
  return std::max<double>(hashes, -1 / std::expm1(std::log(zero) / (hashes * elements)));
}

/// The smallest filter of bits anywhere.
filter_size smallest_standard(double elements, double error) {
  filter_size best;
  for (std::uint32_t k = 1; k <= summary_plan::most_hashes; ++k) {
    const double cells = std::ceil(cells_for(elements, k, error));
    if (best.hashes == 0 || cells < best.cells) best = {cells, k};
  }
  return best;
}

/// The smallest filter that a Poisson number of elements raises so seldom.
filter_size smallest_for_mean(double mean_elements, bool churns, double allowed) {
  filter_size best;
  // As many hashes as halve the error each, and some around them: the fewer the quicker.
  const auto most =
      static_cast<std::uint32_t>(std::clamp(std::ceil(-std::log2(allowed)) + 8, 4.0, 64.0));
  for (std::uint32_t k = std::max(1u, most / 2); k <= most; k += std::max(1u, most / 16)) {
    const auto error = [&](double cells) { return failing({cells, k}, mean_elements, churns); };
    double high = 2.0 * k;
    while (error(high) > allowed && high < 1e12) high *= 2;
    const double cells = least_cells(k, high, allowed, error);
    if (best.hashes == 0 || cells < best.cells) best = {cells, k};
  }
  return best;
}

/// Shares of the failures that each filter may have: where more elements are, more.
std::vector<double> failure_shares(const level_loads& loads) {
  const std::size_t filters = loads.stored.size() - 1;
  double all = 0;
  for (std::size_t i = 1; i <= filters; ++i) all += loads.from(i);
  std::vector<double> shares;
  constexpr double evenly = 0.1;
  for (std::size_t i = 1; i <= filters; ++i)
    shares.push_back((1 - evenly) * (all > 0 ? loads.from(i) / all : 0) +
                     evenly / static_cast<double>(filters));
  return shares;
}

void size_several(summary_plan& plan, const level_loads& loads, double failure,
                  double false_positive) {
  const filter_size first = smallest_standard(loads.from(0), false_positive);
  plan.filter_cells[0] = static_cast<std::uint64_t>(first.cells);
  plan.filter_hashes[0] = first.hashes;
  if (plan.levels == 1) return;
  const std::vector<double> shares = failure_shares(loads);
  for (std::uint32_t i = 1; i < plan.levels; ++i) {
    // The elements of the level before must not pass this filter, which holds those beyond.
    const double victims = std::max(loads.stored[i - 1], 1e-30);
    const double allowed = std::min(0.5, failure * shares[i - 1] / victims);
    const filter_size filter =
        smallest_for_mean(loads.from(i), loads.churns, std::max(allowed, 1e-40));
    plan.filter_cells[i] = static_cast<std::uint64_t>(filter.cells);
    plan.filter_hashes[i] = filter.hashes;
  }
}

void size_one(summary_plan& plan, const level_loads& loads, double failure, double false_positive) {
  const double all = loads.from(0);
  filter_size best;
  for (std::uint32_t k = 1; k <= summary_plan::most_hashes; ++k) {
    double cells = cells_for(all, k, false_positive);
    const auto all_failing = [&](double m) {
      double sum = 0;
      for (std::uint32_t i = 1; i < plan.levels; ++i)
        sum += loads.stored[i - 1] * failing({m, k}, loads.from(i), loads.churns);
      return sum;
    };
    if (best.hashes != 0 && cells >= best.cells) continue;
    double high = cells;
    while (all_failing(high) > failure && high < 1e12) high *= 2;
    if (high > cells) cells = least_cells(cells, high, failure, all_failing);
    cells = k * std::ceil(cells / k);  // parts of one size
    while (all_raised({cells, k}, all) > false_positive) cells += k;
    if (best.hashes == 0 || cells < best.cells) best = {cells, k};
  }
  plan.filter_cells[0] = static_cast<std::uint64_t>(best.cells);
  plan.filter_hashes[0] = best.hashes;
}

/// Pairs of elements at different levels, on average.
double pairs_apart(const level_loads& loads) {
  double pairs = 0;
  for (std::size_t i = 0; i < loads.stored.size(); ++i)
    pairs += loads.stored[i] * loads.from(i + 1);
  return std::min(pairs, loads.elements * loads.elements / 2);
}

/// Elements that find their string at another level, and those that find no cell.
std::vector<double> string_failures(const interpolation_plan& strings, bool packed,
                                    const level_loads& loads) {
  // While elements come and go, all of a pair's newcomers meet the other, not the later one only.
  const double equal = (loads.churns ? 2 : 1) * pairs_apart(loads) / strings.strings();
  if (packed) return {equal, 0};
  // Too many for two blocks, as often as that ceases: whenever any of them leaves.
  const double crowd = loads.churns ? 2.0 * strings.block_cells() + 1 : 1;
  return {equal, crowd * strings.spill_probability(loads.elements)};
}

void size_strings(summary_plan& plan, const level_loads& loads, double failure,
                  double false_positive) {
  interpolation_plan strings = plan.strings();
  std::optional<interpolation_plan> best;
  const std::uint32_t most = interpolation_plan::most_cell_bits - strings.level_bits();
  for (strings.remainder_bits = 4; strings.remainder_bits <= most; ++strings.remainder_bits) {
    // How many times more than allowed, at worst.
    const auto excess = [&](double blocks) {
      strings.blocks = static_cast<std::uint64_t>(std::ceil(blocks));
      const std::vector<double> failures = string_failures(strings, false, loads);
      return std::max((failures[0] + failures[1]) / failure,
                      strings.false_positive_probability(loads.elements) / false_positive);
    };
    const double least = std::max(1.0, loads.elements / strings.block_cells());
    double high = least;
    constexpr auto limit = static_cast<double>(interpolation_plan::most_blocks);
    while (excess(high) > 1 && high < limit) high *= 2;
    if (high >= limit) continue;
    strings.blocks = static_cast<std::uint64_t>(high > least ? least_cells(least, high, 1, excess)
                                                             : std::ceil(least));
    if (!best || strings.blocks < best->blocks) best = strings;
  }
  if (!best) return;  // the plan has a fault
  plan.string_blocks = best->blocks;
  plan.remainder_bits = best->remainder_bits;
}

}  // namespace

double all_raised(const filter_size& filter, double elements) {
  return std::pow(-std::expm1(elements * std::log1p(-(filter.hashes / filter.cells))),
                  filter.hashes);
}

double all_set(const filter_size& filter, double elements) {
  return std::pow(-std::expm1(filter.hashes * elements * std::log1p(-1 / filter.cells)),
                  filter.hashes);
}

double mean_all_raised(const filter_size& filter, double mean_elements) {
  if (mean_elements <= 0) return 0;
  // Sixteen deviations to either side, in steps of half of one; a number near zero may reach more.
  const double far = 16 * std::sqrt(mean_elements) + 24;
  const double first = std::max(1.0, std::floor(mean_elements - far));
  const double last = std::ceil(mean_elements + far);
  const double step = std::max(1.0, std::floor((last - first) / 64));
  double sum = 0;
  for (double count = first; count <= last; count += step)
    sum +=
        step *
        std::exp(count * std::log(mean_elements) - mean_elements - boost::math::lgamma(count + 1)) *
        all_raised(filter, count);
  return sum;
}

double failing(const filter_size& filter, double mean_elements, bool churns) {
  const double misdirected = mean_all_raised(filter, mean_elements);
  if (!churns || misdirected == 0) return misdirected;
  // P(one holder | at least one), of a Poisson number of holders.
  const double holders = filter.hashes * mean_elements / filter.cells;
  const double single_holder = holders / std::expm1(holders);
  return misdirected * (1 + filter.hashes * single_holder);
}

std::vector<double> expected_failures(const summary_plan& plan, const level_loads& loads) {
  if (plan.kind == summary_kind::interpolation)
    return string_failures(plan.strings(), plan.packs_strings(), loads);
  std::vector<double> failures;
  for (std::uint32_t i = 1; i < plan.levels; ++i) {
    const std::uint32_t which = plan.kind == summary_kind::single_filter ? 0 : i;
    const filter_size filter{static_cast<double>(plan.filter_cells[which]),
                             plan.filter_hashes[which]};
    failures.push_back(loads.stored[i - 1] * failing(filter, loads.from(i), loads.churns));
  }
  return failures;
}

void size_filters(summary_plan& plan, const level_loads& loads, double failure,
                  double false_positive) {
  if (plan.kind == summary_kind::interpolation)
    size_strings(plan, loads, failure, false_positive);
  else if (plan.kind == summary_kind::single_filter)
    size_one(plan, loads, failure, false_positive);
  else
    size_several(plan, loads, failure, false_positive);
}

void size_counters(summary_plan& plan, const level_loads& loads, double allowed) {
  plan.counted_once_from = plan.levels;
  for (std::uint32_t i = 0; i < plan.levels; ++i) {
    const bool one_filter = plan.kind == summary_kind::single_filter;
    const auto cells = static_cast<double>(plan.filter_cells[one_filter ? 0 : i]);
    const std::uint32_t hashes = plan.filter_hashes[one_filter ? 0 : i];
    const double elements = std::max(one_filter ? loads.stored[i] : loads.from(i), 1e-12);
    // A filter that seldom holds anything counts an element once for each cell.
    const bool once = !one_filter && elements < 1;
    if (once) plan.counted_once_from = std::min(plan.counted_once_from, i);
    const double hit = -std::expm1(hashes * std::log1p(-1 / cells));
    plan.counter_bits[i] =
        std::min(summary_plan::most_counter_bits,
                 once ? model::summary_counter_bits(cells, elements * hit * cells, 1, allowed)
                      : model::summary_counter_bits(cells, elements, hashes, allowed));
  }
}

}  // namespace oneprobe::inline v0_1::planning
