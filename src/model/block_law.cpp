#include "block_law.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "check.hpp"
#include "filter_search.hpp"
#include "numeric.hpp"
#include "occupancy.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/poisson.hpp"
#include "poisson_series.hpp"

namespace oneprobe::inline v0_1::model::detail {
namespace {

block_state state_of(const balanced_shape& shape) {
  return {shape.rule, shape.threshold, shape.admit_probability, shape.tracking_bits};
}

}  // namespace

void check_shape(const balanced_shape& shape) {
  check_overflow_list(shape.overflow);
  check_range("block bits", shape.block_bits, 8, 4096);
  check_range("bits set", shape.bits_set, 1, 64);
  check_choices(shape.choices);
  if (shape.scheme == scheme_kind::single && shape.choices != 1)
    refuse("choices of single placement", "1", shape.choices);
  if (shape.scheme == scheme_kind::d_random || shape.scheme == scheme_kind::d_left)
    throw std::invalid_argument(
        "scheme of a balanced filter must be single, sequential or multilevel; found " +
        std::string(name_of(shape.scheme)));
  if (state_of(shape).tracks()) {
    const unsigned most = shape.block_bits / 2;
    check_range("tracking bits", shape.tracking_bits, 1, most);
    if (shape.admit_probability != 0)
      refuse("admit probability", "0 with tracking bits", shape.admit_probability);
  }
  check_probability("admit probability", shape.admit_probability);
  check_range("threshold", shape.threshold, 1, 4096);
  if (shape.state_bits() >= shape.block_bits)
    refuse("counter and tracking bits", "fewer than the block bits", shape.state_bits());
  if (!state_of(shape).counts_elements())
    check_range("popcount threshold", shape.threshold, 1, shape.block_bits - shape.state_bits());
}

std::vector<double> errors_by_load(const balanced_shape& shape, unsigned most) {
  const unsigned bloom_bits = shape.block_bits - shape.state_bits();
  if (shape.exact_block_error) return block_errors(bloom_bits, shape.bits_set, most);
  std::vector<double> values;
  for (unsigned load = 0; load <= most; ++load)
    values.push_back(block_error_approximate(bloom_bits, shape.bits_set, load));
  return values;
}

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
  block.refusal = refusal(arrivals_mean);
  const std::vector<double> loads = bucket_occupancy(arrivals_mean, admission_);
  for (std::size_t i = 0; i < loads.size(); ++i) block.match += loads[i] * errors_[i];

  // P(the rule sends a query on) from blocks that end at load h, and at h + 1. After j arrivals
  // beyond h the load is h with probability (1 - p)^j, and then all j were refused; at load h + 1
  // an element was refused unless j = 1 and that one was admitted.
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
    const double refused_above = j >= 2 ? above : 0;  // above, and an element was refused
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
    // All j were refused, or all but the one that took the last place.
    block.refused_square += probability * (at_h * j * j + (j >= 1 ? above * (j - 1) * (j - 1) : 0));
    sum += probability;
    return !negligible(arrivals_mean, i, probability * (j + 1) * (j + 1), sum);
  });
  block.continue_probability = on_at_h + on_above;
  block.continue_without_match = on_at_h * (1 - errors_[h]) + on_above * (1 - errors_[h + 1]);
  return block;
}

popcount_block::popcount_block(unsigned bits, unsigned bits_set, unsigned threshold,
                               unsigned tracking_bits)
    : bits_(bits), bits_set_(bits_set), threshold_(threshold), tracking_bits_(tracking_bits) {
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
  std::vector<double> arrivals(
      static_cast<std::size_t>(arrivals_mean + 40 * std::sqrt(arrivals_mean)) + 60, 0.0);
  std::size_t last = 0;  // more arrivals have no probability that shows in any of these sums
  for_poisson_from(arrivals_mean, 0, [&](std::uint64_t i, double probability) {
    if (i == arrivals.size()) return false;
    arrivals[i] = probability;
    last = i;
    return static_cast<double>(i) < arrivals_mean || probability > 1e-120;
  });
  double at_least = 0, excess = 0, square = 0, tracked = 0;
  for (std::size_t i = last; i > 0; --i) {
    square += 2 * excess + at_least;  // (x - i)^2 from (x - i - 1)^2
    excess += at_least;
    tracked = missed * tracked + (1 - missed) * at_least;
    at_least += arrivals[i];
    if (i < open_match_.size()) {
      block.match += arrivals[i] * open_match_[i] + at_least * full_match_[i];
      block.refused_mean += full_[i] * excess;
      block.refused_square += full_[i] * square;
      block.refusal += full_[i] * at_least;
      block.continue_probability += full_[i] * tracked;
      block.continue_without_match += (full_[i] - full_match_[i]) * tracked;
    }
  }
  return block;
}

namespace {

/// How many of 0, 1, 2, ... refused elements are forced in, each with probability `share`: rows of
/// the binomial distribution, one after the other.
class forced_of_refused {
 public:
  explicit forced_of_refused(double share) : share_(share), row_{1.0} {}
  void next() {
    row_.push_back(0);
    for (std::size_t i = row_.size() - 1; i > 0; --i)
      row_[i] = row_[i] * (1 - share_) + row_[i - 1] * share_;
    row_[0] *= 1 - share_;
  }
  const std::vector<double>& row() const { return row_; }

 private:
  double share_;
  std::vector<double> row_;
};

/// Beyond so many arrivals nothing changes.
std::size_t last_arrival(double mean) {
  return static_cast<std::size_t>(mean + 12 * std::sqrt(mean) + 40);
}

}  // namespace

double counter_block::match_when_forced(double arrivals_mean, double share,
                                        const std::vector<double>& errors) const {
  const std::size_t h = admission_.bucket_capacity;
  const double p = admission_.admit_probability;
  const auto error_at = [&](std::size_t load) { return errors[std::min(load, errors.size() - 1)]; };
  const auto mix = [&](const std::vector<double>& forced, std::size_t load) {
    double sum = 0;
    for (std::size_t i = 0; i < forced.size(); ++i) sum += forced[i] * error_at(load + i);
    return sum;
  };
  double match = 0;
  forced_of_refused all(share), all_but_one(share);
  for (std::size_t x = 0; x <= last_arrival(arrivals_mean); ++x) {
    const double probability = poisson_probability(arrivals_mean, x);
    if (x < h) {
      match += probability * error_at(x);
      continue;
    }
    // Of j arrivals beyond h all were refused, or all but the one that took the last place.
    const double at_h = std::pow(1 - p, static_cast<double>(x - h));
    match += probability * (at_h * mix(all.row(), h) +
                            (at_h < 1 ? (1 - at_h) * mix(all_but_one.row(), h + 1) : 0));
    all.next();
    if (x > h) all_but_one.next();
  }
  return std::min(match, 1.0);
}

double popcount_block::match_when_forced(double arrivals_mean, double share) const {
  const std::size_t last = last_arrival(arrivals_mean);
  const std::size_t most_forced = last;
  // full_with[j][ones]: P(full at so many ones, and j elements forced in later).
  std::vector<std::vector<double>> full_with(most_forced + 1, std::vector<double>(bits_ + 1, 0.0));
  std::vector<double> arrivals(last + 1);
  for (std::size_t x = 0; x <= last; ++x) arrivals[x] = poisson_probability(arrivals_mean, x);
  std::vector<std::vector<double>> forced_of;  // by number of refused elements
  for (forced_of_refused row(share); forced_of.size() <= last; row.next())
    forced_of.push_back(row.row());

  double match = 0;
  occupancy open(bits_, bits_);
  for (std::size_t i = 1; i < full_.size() && i <= last; ++i) {
    for (unsigned bit = 0; bit < bits_set_; ++bit) open.throw_ball();
    std::vector<double> forced(last - i + 1, 0.0);
    for (std::size_t x = i; x <= last; ++x)
      for (std::size_t j = 0; j <= x - i; ++j) forced[j] += arrivals[x] * forced_of[x - i][j];
    open.take_out(threshold_, [&](std::uint64_t ones, double probability) {
      for (std::size_t j = 0; j < forced.size(); ++j) full_with[j][ones] += probability * forced[j];
    });
    match += arrivals[i] * open_match_[i];
  }
  // The expected match after j more elements, from every number of ones: one element earlier, each
  // of its bits was already set or is set now.
  std::vector<double> after(bits_ + 1);
  for (unsigned ones = 0; ones <= bits_; ++ones)
    after[ones] = power(static_cast<double>(ones) / bits_, bits_set_);
  for (std::size_t j = 0; j <= most_forced; ++j) {
    for (unsigned ones = 0; ones <= bits_; ++ones) match += full_with[j][ones] * after[ones];
    for (unsigned bit = 0; bit < bits_set_; ++bit)
      for (unsigned ones = 0; ones < bits_; ++ones)
        after[ones] = (after[ones] * ones + after[ones + 1] * (bits_ - ones)) / bits_;
  }
  return std::min(match, 1.0);
}

double popcount_block::refusal(double arrivals_mean) const {
  double refused = 0;
  for (std::size_t i = 1; i < full_.size(); ++i)
    if (full_[i] > 0) refused += full_[i] * poisson_at_least(arrivals_mean, i);
  return refused;
}

}  // namespace oneprobe::inline v0_1::model::detail
