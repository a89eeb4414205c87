#include "oneprobe/model/bloom.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

#include "binomial.hpp"
#include "check.hpp"
#include "numeric.hpp"
#include "occupancy.hpp"
#include "oneprobe/model/poisson.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

void check_bits_per_element(double value) {
  detail::check_range("bits per element", value, 0.01, 1e6);
}

void check_bits_set(unsigned value) {
  detail::check_range("bits set", value, 1.0, largest_bits_set);
}

void check_block(unsigned block_bits, unsigned bits_set, block_layout layout) {
  detail::check_range("block bits", block_bits, 1.0, largest_block_bits);
  check_bits_set(bits_set);
  if (layout == block_layout::distinct && bits_set > block_bits)
    detail::refuse("bits set (distinct)", "at most the block bits", bits_set);
  if (layout == block_layout::lanes && block_bits % bits_set != 0)
    detail::refuse("bits set (lanes)", "a divisor of the block bits", bits_set);
}

/// A block that elements are added to, and the probability that it answers yes to an absent key.
class filling_block {
 public:
  filling_block(unsigned block_bits, unsigned bits_set, block_layout layout)
      : bits_set_(bits_set), layout_(layout) {
    if (layout == block_layout::lanes) {
      log_miss_ = std::log1p(-static_cast<double>(bits_set) / block_bits);
      return;
    }
    bits_.emplace(block_bits, block_bits);
    // P(all k probes are among b set bits): (b/B)^k, or C(b, k) / C(B, k) for different positions.
    hit_.assign(block_bits + 1, 0.0);
    hit_[block_bits] = 1;
    for (unsigned b = block_bits; b-- > 1;)
      hit_[b] = layout == block_layout::distinct
                    ? (b + 1 > bits_set ? hit_[b + 1] * (b + 1 - bits_set) / (b + 1) : 0.0)
                    : detail::power(static_cast<double>(b) / block_bits, bits_set);
  }

  void add_element() {
    ++load_;
    if (!bits_ || bits_->full()) return;
    for (unsigned i = 0; i < bits_set_; ++i)
      bits_->throw_ball(layout_ == block_layout::distinct ? i : 0);
  }

  double error() const {
    if (load_ == 0) return 0;
    if (!bits_) return detail::power(-std::expm1(load_ * log_miss_), bits_set_);
    const auto probability = bits_->probability();
    const auto highest = bits_->highest();
    double sum = 0;
    for (std::size_t i = 0; i < probability.size(); ++i) sum += probability[i] * hit_[highest - i];
    return sum;
  }

  /// Further elements change nothing: every bit is set.
  bool full() const { return bits_ ? bits_->full() : load_ > 0 && error() == 1; }

 private:
  unsigned bits_set_;
  block_layout layout_;
  double load_ = 0;
  double log_miss_ = 0;                    // lanes: log of the probability to miss a given bit
  std::optional<detail::occupancy> bits_;  // else: the number of set bits
  std::vector<double> hit_;
};

/// Sum over loads i of P(load = i) error(i), until what is left cannot matter. error(i) is taken in
/// the order 0, 1, 2, ... and is at most 1; from the first `full` on it is 1.
template <class Error, class Full, class Probability, class AtLeast>
double mix_over_loads(double mean, Error&& next_error, Full&& full, Probability&& probability,
                      AtLeast&& at_least) {
  constexpr double negligible = 0.01 * std::numeric_limits<double>::epsilon();
  // Loads are Poisson or binomial: so far below the mean, their probability underflows.
  const double never_below = mean - 40 * std::sqrt(mean);
  double sum = 0;
  for (std::uint64_t load = 0;; ++load) {
    const double error = next_error();
    if (full()) return sum + at_least(load);
    if (static_cast<double>(load) < never_below) continue;
    sum += probability(load) * error;
    // Looking at the tail costs more than a term; a look now and then is enough.
    if (load % 8 == 7 && static_cast<double>(load) > mean && at_least(load + 1) <= negligible * sum)
      return sum;
  }
}

template <class Probability, class AtLeast>
double mix_blocks(double mean, unsigned block_bits, unsigned bits_set, block_layout layout,
                  Probability&& probability, AtLeast&& at_least) {
  filling_block block(block_bits, bits_set, layout);
  bool empty = true;
  return mix_over_loads(
      mean,
      [&] {
        if (!empty) block.add_element();
        empty = false;
        return block.error();
      },
      [&] { return block.full(); }, probability, at_least);
}

double counters_at_least(double cells, double elements, unsigned bits_set, std::uint64_t value) {
  detail::check_elements("cells", cells);
  detail::check_range("elements", elements, 0.0, detail::most_elements);
  check_bits_set(bits_set);
  const double mean = elements * bits_set / cells;
  detail::check_range("increments per counter", mean, 0.0, largest_mean);
  return cells * poisson_at_least(mean, value);
}

}  // namespace

double standard_error(double bits_per_element, unsigned bits_set) {
  check_bits_per_element(bits_per_element);
  check_bits_set(bits_set);
  return detail::power(-std::expm1(-(bits_set / bits_per_element)), bits_set);
}

double standard_error_exact(std::uint64_t bits, std::uint64_t elements, unsigned bits_set) {
  detail::check_elements("bits", static_cast<double>(bits));
  detail::check_elements("elements", static_cast<double>(elements));
  check_bits_set(bits_set);
  const double balls = static_cast<double>(elements) * bits_set;
  const double bins = static_cast<double>(bits);

  detail::occupancy probes(bits, bits_set);
  for (unsigned i = 0; i < bits_set; ++i) probes.throw_ball();
  double error = 0;
  auto different = static_cast<unsigned>(probes.highest());
  for (const double chance : probes.probability()) {
    // Covered: Binomial(balls, r/m) of the balls fall on the r positions and leave none of them
    // out.
    const double share = different / bins;
    if (different * std::exp(balls * std::log1p(-1 / bins)) < 1e-18) {
      error += chance;  // one of them left out: too rare to see
      --different;
      continue;
    }
    detail::occupancy positions(different, different);
    bool first = true;
    const double covered = mix_over_loads(
        balls * share,
        [&] {
          if (!first) positions.throw_ball();
          first = false;
          return positions.highest() == different ? positions.probability().front() : 0.0;
        },
        [&] { return positions.full(); },
        [&](std::uint64_t n) {
          return detail::binomial_probability(balls, share, static_cast<double>(n));
        },
        [&](std::uint64_t n) {
          return detail::binomial_at_least(balls, share, static_cast<double>(n));
        });
    error += chance * covered;
    --different;
  }
  return error;
}

double standard_error_finite(double bits, double elements, unsigned bits_set) {
  detail::check_elements("bits", bits);
  detail::check_elements("elements", elements);
  check_bits_set(bits_set);
  return detail::power(-std::expm1(elements * bits_set * std::log1p(-1 / bits)), bits_set);
}

double partitioned_error(double bits, double elements, unsigned bits_set) {
  detail::check_elements("bits", bits);
  detail::check_elements("elements", elements);
  check_bits_set(bits_set);
  if (bits_set > bits) detail::refuse("bits set (partitioned)", "at most the bits", bits_set);
  return detail::power(-std::expm1(elements * std::log1p(-(bits_set / bits))), bits_set);
}

unsigned best_bits_set_standard(double bits_per_element) {
  check_bits_per_element(bits_per_element);
  // The best real k is beta ln 2 (SSH, Section III), and the error is unimodal in k.
  const double real = std::min(bits_per_element * std::numbers::ln2, largest_bits_set - 1.0);
  const unsigned below = std::max(1u, static_cast<unsigned>(real));
  // Compared by their logarithms: the errors themselves may underflow.
  const auto log_error = [&](unsigned k) {
    return k * std::log(-std::expm1(-(k / bits_per_element)));
  };
  return log_error(below) <= log_error(below + 1) ? below : below + 1;
}

double standard_miss_accesses(double bits_per_element, unsigned bits_set) {
  check_bits_per_element(bits_per_element);
  check_bits_set(bits_set);
  return detail::geometric_sum(-std::expm1(-(bits_set / bits_per_element)), bits_set);
}

double block_error(unsigned block_bits, unsigned bits_set, unsigned load, block_layout layout) {
  check_block(block_bits, bits_set, layout);
  filling_block block(block_bits, bits_set, layout);
  for (unsigned i = 0; i < load && !block.full(); ++i) block.add_element();
  return block.error();
}

double block_error_approximate(double block_bits, double bits_set, double load) {
  detail::check_above("block bits", block_bits, 0.0, detail::most_elements);
  detail::check_above("bits set", bits_set, 0.0, largest_bits_set);
  detail::check_range("load", load, 0.0, detail::most_elements);
  return std::pow(-std::expm1(-bits_set * load / block_bits), bits_set);
}

std::vector<double> block_errors(unsigned block_bits, unsigned bits_set, unsigned largest_load,
                                 block_layout layout) {
  check_block(block_bits, bits_set, layout);
  detail::check_range("largest load", largest_load, 0.0, 1e6);
  filling_block block(block_bits, bits_set, layout);
  std::vector<double> errors{block.error()};
  errors.reserve(largest_load + 1u);
  while (errors.size() <= largest_load && !block.full()) {
    block.add_element();
    errors.push_back(block.error());
  }
  errors.resize(largest_load + 1u, 1.0);
  return errors;
}

double blocked_error(const blocked_shape& shape) {
  check_bits_per_element(shape.bits_per_element);
  check_block(shape.block_bits, shape.bits_set, shape.layout);
  const double mean = shape.block_bits / shape.bits_per_element;
  return mix_blocks(
      mean, shape.block_bits, shape.bits_set, shape.layout,
      [&](std::uint64_t load) { return poisson_probability(mean, load); },
      [&](std::uint64_t load) { return poisson_at_least(mean, load); });
}

double blocked_error_approximate(const blocked_shape& shape) {
  check_bits_per_element(shape.bits_per_element);
  check_block(shape.block_bits, shape.bits_set, shape.layout);
  const double mean = shape.block_bits / shape.bits_per_element;
  double error = 0, load = 0;
  return mix_over_loads(
      mean,
      [&] { return error = block_error_approximate(shape.block_bits, shape.bits_set, load++); },
      [&] { return error == 1; },
      [&](std::uint64_t count) { return poisson_probability(mean, count); },
      [&](std::uint64_t count) { return poisson_at_least(mean, count); });
}

double blocked_error_finite(std::uint64_t elements, std::uint64_t blocks, unsigned block_bits,
                            unsigned bits_set, block_layout layout) {
  detail::check_elements("elements", static_cast<double>(elements));
  detail::check_elements("blocks", static_cast<double>(blocks));
  check_block(block_bits, bits_set, layout);
  const double n = static_cast<double>(elements);
  const double share = 1 / static_cast<double>(blocks);
  return mix_blocks(
      n * share, block_bits, bits_set, layout,
      [&](std::uint64_t load) {
        return detail::binomial_probability(n, share, static_cast<double>(load));
      },
      [&](std::uint64_t load) {
        return detail::binomial_at_least(n, share, static_cast<double>(load));
      });
}

unsigned best_bits_set_blocked(double bits_per_element, unsigned block_bits, block_layout layout) {
  check_bits_per_element(bits_per_element);
  check_block(block_bits, 1, layout);
  const bool lanes = layout == block_layout::lanes;
  unsigned best = 1;
  double least = 1;
  unsigned worse = 0;  // in a row; the error is unimodal but for the last digits
  for (unsigned k = 1; k <= largest_bits_set && worse < 3; k = lanes ? 2 * k : k + 1) {
    if (layout == block_layout::distinct && k > block_bits) break;
    if (lanes && block_bits % k != 0) break;
    const double error = blocked_error({bits_per_element, block_bits, k, layout});
    if (error < least) {
      least = error;
      best = k;
      worse = 0;
    } else {
      ++worse;
    }
  }
  return best;
}

double perfectly_balanced_error(const blocked_shape& shape) {
  check_bits_per_element(shape.bits_per_element);
  check_block(shape.block_bits, shape.bits_set, shape.layout);
  const double mean = shape.block_bits / shape.bits_per_element;
  const double lower = std::floor(mean);
  filling_block block(shape.block_bits, shape.bits_set, shape.layout);
  for (double load = 0; load < lower && !block.full(); ++load) block.add_element();
  const double at_lower = block.error();
  block.add_element();
  return std::pow(at_lower, 1 - (mean - lower)) * std::pow(block.error(), mean - lower);
}

double expected_counters_at_least(double cells, double elements, unsigned bits_set,
                                  unsigned value) {
  return counters_at_least(cells, elements, bits_set, value);
}

unsigned counter_bits_for(double cells, double elements, unsigned bits_set, double allowed) {
  detail::check_above("allowed counters", allowed, 0.0, detail::most_elements);
  unsigned width = 1;
  while (counters_at_least(cells, elements, bits_set, std::uint64_t{1} << width) > allowed) ++width;
  return width;
}

}  // namespace oneprobe::inline v0_1::model
