#include "block_law.hpp"

#include <cmath>

#include "numeric.hpp"
#include "occupancy.hpp"
#include "oneprobe/model/poisson.hpp"
#include "poisson_series.hpp"

namespace oneprobe::model::detail {

counter_block::counter_block(const balanced_shape& shape, std::vector<double> errors)
    : admission_{shape.threshold, shape.admit_probability},
      rule_(shape.rule),
      tracking_bits_(shape.tracking_bits),
      errors_(std::move(errors)) {}

double counter_block::refusal(double arrivals_mean) const {
  return refusal_probability(arrivals_mean, admission_);
}

block_outcome counter_block::outcome(double arrivals_mean) const {
  block_outcome block;
  block.arrivals_mean = arrivals_mean;
  block.refused_mean = refused_mean(arrivals_mean, admission_);
  const std::vector<double> loads = bucket_occupancy(arrivals_mean, admission_);
  for (std::size_t i = 0; i < loads.size(); ++i) block.match += loads[i] * errors_[i];

  // P(the rule sends a query on) from blocks that end at load h, and at h + 1. After j arrivals
  // beyond h the load is h with probability (1 - p)^j, and then all j were refused; at load h + 1
  // somebody was refused unless j = 1 and that one was admitted.
  const unsigned h = admission_.bucket_capacity;
  const double p = admission_.admit_probability;
  const double missed = 1 - 1.0 / tracking_bits_;
  double on_at_h = 0, on_above = 0, sum = 0;
  double at_h = 1;        // (1 - p)^j
  double all_missed = 1;  // (1 - 1/w)^j: no refused element set the query's tracking bit
  for_poisson_from(arrivals_mean, h, [&](std::uint64_t i, double probability) {
    const auto j = static_cast<double>(i - h);
    at_h = std::pow(1 - p, j);
    all_missed = std::pow(missed, j);
    const double above = 1 - at_h;
    const double refused_above = j >= 2 ? above : 0;  // above, and somebody was refused
    const double refused_at_h = j >= 1 ? at_h : 0;
    switch (rule_) {
      case lookup_rule::counter:
        on_at_h += probability * at_h;
        on_above += probability * above;
        break;
      case lookup_rule::coin:
        on_at_h += probability * at_h * (1 - p);
        on_above += probability * above;
        break;
      case lookup_rule::flag:
        on_at_h += probability * refused_at_h;
        on_above += probability * refused_above;
        break;
      case lookup_rule::coin_flag:
        on_at_h += probability * refused_at_h * (1 - p);
        on_above += probability * refused_above;
        break;
      case lookup_rule::tracking:
      case lookup_rule::popcount:
        on_at_h += probability * (1 - all_missed);
        break;
    }
    sum += probability;
    return !negligible(arrivals_mean, i, probability, sum);
  });
  block.continue_probability = on_at_h + on_above;
  block.continue_without_match = on_at_h * (1 - errors_[h]) + on_above * (1 - errors_[h + 1]);
  return block;
}

popcount_block::popcount_block(unsigned bits, unsigned bits_set, unsigned threshold,
                               unsigned tracking_bits)
    : tracking_bits_(tracking_bits) {
  std::vector<double> match(bits + 1);
  for (unsigned ones = 0; ones <= bits; ++ones)
    match[ones] = power(static_cast<double>(ones) / bits, bits_set);

  occupancy open(bits, bits);
  double still_open = 1;
  full_ = {0.0};
  full_match_ = {0.0};
  open_match_ = {0.0};
  // A block that is open with a probability below 1e-25 changes nothing any more.
  while (still_open > 1e-25) {
    for (unsigned bit = 0; bit < bits_set; ++bit) open.throw_ball();
    double full = 0, full_match = 0;
    open.take_out(threshold, [&](std::uint64_t ones, double probability) {
      full += probability;
      full_match += probability * match[ones];
    });
    full_.push_back(full);
    full_match_.push_back(full_match);
    double open_match = 0;
    still_open = 0;
    std::uint64_t ones = open.highest();
    for (const double probability : open.probability()) {
      still_open += probability;
      open_match += probability * match[ones];
      if (ones-- == 0) break;
    }
    open_match_.push_back(open_match);
  }
}

block_outcome popcount_block::outcome(double arrivals_mean) const {
  block_outcome block;
  block.arrivals_mean = arrivals_mean;
  const double missed = 1 - 1.0 / tracking_bits_;
  // From many arrivals to few. For a block that the i-th element made full: P(X >= i),
  // E[(X - i)+], and P(a refused element set the query's tracking bit), each from its value at
  // i + 1; with X - i = 1, 2, ... refused that is the sum of P(X = i + j) (1 - (1 - 1/w)^j).
  const auto last = static_cast<std::size_t>(arrivals_mean + 40 * std::sqrt(arrivals_mean) + 60);
  std::vector<double> arrivals(last + 1, 0.0);
  for_poisson_from(arrivals_mean, 0, [&](std::uint64_t i, double probability) {
    if (i > last) return false;
    arrivals[i] = probability;
    return true;
  });
  double at_least = 0, excess = 0, tracked = 0;
  for (std::size_t i = last; i > 0; --i) {
    excess += at_least;
    tracked = missed * tracked + (1 - missed) * at_least;
    at_least += arrivals[i];
    if (i < open_match_.size()) {
      block.match += arrivals[i] * open_match_[i] + at_least * full_match_[i];
      block.refused_mean += full_[i] * excess;
      block.continue_probability += full_[i] * tracked;
      block.continue_without_match += (full_[i] - full_match_[i]) * tracked;
    }
  }
  return block;
}

double popcount_block::refusal(double arrivals_mean) const {
  double refused = 0;
  for (std::size_t i = 1; i < full_.size(); ++i)
    if (full_[i] > 0) refused += full_[i] * poisson_at_least(arrivals_mean, i);
  return refused;
}

}  // namespace oneprobe::model::detail
