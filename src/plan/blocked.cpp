#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "contenders.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/poisson.hpp"
#include "root.hpp"

namespace oneprobe::inline v0_1::planning {
namespace {

/// Bits that an element may set in a block: any number, or one per lane.
std::vector<std::uint32_t> numbers_of_bits(std::uint32_t block_bits, block_layout layout) {
  if (layout == block_layout::lanes) return {block_bits / 64, block_bits / 32};
  std::vector<std::uint32_t> all(filter_plan::most_bits_set_in_block);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i + 1;
  return all;
}

/// The error of blocks with Poisson loads, from a table of errors by load.
class blocks_of {
 public:
  blocks_of(std::uint32_t block_bits, std::uint32_t bits_set, block_layout layout, double most_mean)
      : errors_(model::block_errors(block_bits, bits_set, most_load(most_mean), layout)) {}

  double error(double mean) const {
    double sum = 0;
    double probability = std::exp(-mean);
    for (std::size_t load = 0; load < errors_.size(); ++load) {
      sum += probability * errors_[load];
      probability *= mean / static_cast<double>(load + 1);
    }
    return sum;
  }

 private:
  /// Loads beyond are rarer than any error that is planned for.
  static unsigned most_load(double mean) {
    return static_cast<unsigned>(mean + 12 * std::sqrt(mean) + 20);
  }
  std::vector<double> errors_;
};

filter_plan with_blocks(const goal& what, std::uint32_t block_bits, block_layout layout,
                        std::uint32_t bits_set, std::uint64_t blocks) {
  filter_plan plan;
  plan.kind = filter_kind::blocked;
  plan.elements = what.elements;
  plan.bits_set = bits_set;
  plan.block_bits = block_bits;
  plan.layout = layout;
  plan.level_buckets[0] = blocks;
  return plan;
}

}  // namespace

std::optional<filter_plan> plan_blocked(const goal& what, std::uint32_t block_bits,
                                        block_layout layout) {
  // More elements in a block than this, and it matches nearly everything.
  const double crowded = block_bits;
  const double fewest = what.n() / crowded;
  const double most =
      std::floor(static_cast<double>(what.bytes) / 64) * 64 * 8 / block_bits;  // in whole lines
  if (most < 1 || most < fewest) return std::nullopt;

  // No filter of k bits per element holds more than a standard one.
  const double standard =
      what.fpr
          ? 1.05 * block_bits * std::numbers::ln2 * std::numbers::ln2 / -std::log(*what.fpr) + 1
          : 0;
  // Of all k, the one with the most elements per block at the error, or the least error.
  std::uint32_t best_set = 0;
  double best_mean = 0, least = 2;
  int worse = 0;  // in a row: the measure has one peak, but for the last digits
  for (const std::uint32_t k : numbers_of_bits(block_bits, layout)) {
    const blocks_of blocks(block_bits, k, layout, what.fpr ? standard : what.n() / most);
    bool better = false;
    if (what.fpr) {
      const auto mean = find_crossing(
          [&](double at) { return std::log(blocks.error(at) / *what.fpr); }, 1e-6, standard, 1e-9);
      better = mean && *mean > best_mean;
      if (better) best_mean = *mean;
    } else {
      const double error = blocks.error(what.n() / most);
      better = error < least;
      if (better) least = error;
    }
    if (better) best_set = k;
    worse = better ? 0 : worse + 1;
    if (best_set != 0 && worse == 3) break;
  }
  if (best_set == 0) return std::nullopt;
  const double blocks = what.fpr ? std::max(1.0, std::ceil(what.n() / best_mean)) : most;
  if (!(blocks <= most)) return std::nullopt;
  filter_plan plan =
      with_blocks(what, block_bits, layout, best_set, static_cast<std::uint64_t>(blocks));
  predict(plan);
  // The mean was solved for a large filter, to nine digits: one block more pays for the rest.
  while (what.fpr && plan.predicted.fpr > *what.fpr && plan.memory().total() < what.bytes) {
    plan.level_buckets[0] += 1 + plan.level_buckets[0] / 1'000'000;
    predict(plan);
  }
  return what.met_by(plan) ? std::optional(plan) : std::nullopt;
}

}  // namespace oneprobe::inline v0_1::planning
