#include "oneprobe/model/balanced.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include "block_law.hpp"
#include "check.hpp"
#include "filter_search.hpp"
#include "numeric.hpp"
#include "oneprobe/model/balance.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/poisson.hpp"
#include "poisson_series.hpp"
#include "sequential.hpp"

namespace oneprobe::inline v0_1::model {
namespace detail {

filter_error walk_filter(const block_outcome& block, unsigned choices, double bits,
                         const overflow_list_cost& list) {
  filter_error error;
  const double passed = block.refused_mean / block.arrivals_mean;
  const double overflow = power(passed, choices);
  error.overflow_fraction = overflow;
  error.insert_accesses = geometric_sum(passed, choices);
  error.elements_per_block = block.arrivals_mean / error.insert_accesses;
  finish_filter(error, block, choices, bits, list);
  return error;
}

void finish_filter(filter_error& error, const block_outcome& block, unsigned choices, double bits,
                   const overflow_list_cost& list) {
  const double on = block.continue_without_match;
  error.block_error = block.match;
  error.continue_probability = block.continue_probability;
  error.miss_block_accesses = geometric_sum(on, choices);
  error.miss_accesses = error.miss_block_accesses + power(on, choices);
  error.hit_accesses = error.insert_accesses + error.overflow_fraction;
  error.fpr = block.match * error.miss_block_accesses + power(on, choices) * list.error();
  error.bits_per_element =
      bits / error.elements_per_block + list.bits_per_element() * error.overflow_fraction;
}

}  // namespace detail

namespace {

bool by_counter(lookup_rule rule) { return rule != lookup_rule::popcount; }

bool has_tracking(lookup_rule rule) {
  return rule == lookup_rule::tracking || rule == lookup_rule::popcount;
}

/// What one block does, as a function of its arrivals; with it the whole filter.
class balanced_law {
 public:
  explicit balanced_law(const balanced_shape& shape) : shape_(shape) {
    if (by_counter(shape.rule))
      counter_.emplace(shape, detail::errors_by_load(shape, shape.threshold + 1));
    else
      popcount_.emplace(shape.block_bits - shape.state_bits(), shape.bits_set, shape.threshold,
                        shape.tracking_bits);
  }

  /// A block with a counter whose errors by load are known already.
  balanced_law(const balanced_shape& shape, std::vector<double> errors)
      : shape_(shape), counter_(std::in_place, shape, std::move(errors)) {}

  /// The block does not depend on the number of choices; the filter around it does.
  void set_choices(unsigned choices) { shape_.choices = choices; }

  /// Bits per element alone, for levels: needs the refusals only.
  double memory_at(double arrivals_mean) const {
    if (!counter_ || shape_.scheme == scheme_kind::sequential)
      return at(arrivals_mean).bits_per_element;
    const double passed = counter_->refused(arrivals_mean) / arrivals_mean;
    return shape_.block_bits * detail::geometric_sum(passed, shape_.choices) / arrivals_mean +
           shape_.overflow.bits_per_element() * detail::power(passed, shape_.choices);
  }

  filter_error at(double arrivals_mean) const {
    const detail::block_outcome block = outcome(arrivals_mean);
    if (shape_.scheme != scheme_kind::sequential)
      return detail::walk_filter(block, shape_.choices, shape_.block_bits, shape_.overflow);
    // Sequential: the same loads, another clock (sequential.hpp); the refusal probability at every
    // earlier moment is needed.
    filter_error error;
    const auto per_access = [this](double mean) {
      const double refused = refusal(mean);
      return std::pair{refused, detail::geometric_sum(refused, shape_.choices)};
    };
    error.elements_per_block = detail::integrate(
        [&](double mean) { return 1 / per_access(mean).second; }, 0.0, arrivals_mean);
    error.overflow_fraction = detail::integrate(
                                  [&](double mean) {
                                    const auto [refused, accesses] = per_access(mean);
                                    return detail::power(refused, shape_.choices) / accesses;
                                  },
                                  0.0, arrivals_mean) /
                              error.elements_per_block;
    error.insert_accesses = arrivals_mean / error.elements_per_block;
    detail::finish_filter(error, block, shape_.choices, shape_.block_bits, shape_.overflow);
    return error;
  }

 private:
  detail::block_outcome outcome(double mean) const {
    return counter_ ? counter_->outcome(mean) : popcount_->outcome(mean);
  }
  double refusal(double mean) const {
    return counter_ ? counter_->refusal(mean) : popcount_->refusal(mean);
  }

  balanced_shape shape_;
  std::optional<detail::counter_block> counter_;
  std::optional<detail::popcount_block> popcount_;
};

std::optional<double> arrivals_for(const balanced_law& law, double bits_per_element,
                                   unsigned block_bits) {
  return detail::arrivals_for_memory([&](double mean) { return law.memory_at(mean); },
                                     bits_per_element, block_bits);
}

}  // namespace

double overflow_list_cost::error() const {
  // Linear probing at load x compares (1 + 1 / (1 - x)^2) / 2 entries on a miss.
  const double room = 1 - list_load;
  return 0.5 * (1 + 1 / (room * room)) * std::exp2(-fingerprint_bits);
}

unsigned balanced_shape::state_bits() const {
  return block_state{rule, threshold, admit_probability, tracking_bits}.bits();
}

filter_error evaluate(const balanced_shape& shape, double arrivals_mean) {
  detail::check_shape(shape);
  detail::check_range("arrivals per block", arrivals_mean, detail::smallest_mean, 4096);
  return balanced_law(shape).at(arrivals_mean);
}

std::optional<double> arrivals_for_memory(const balanced_shape& shape, double bits_per_element) {
  detail::check_shape(shape);
  detail::check_bits_per_element(bits_per_element);
  return arrivals_for(balanced_law(shape), bits_per_element, shape.block_bits);
}

namespace {

/// What the papers compute with: P_LB loads at budget a, and phi on the B - b bits that the counter
/// leaves.
struct printed_loads {
  balance_plan plan;
  unsigned counter_bits = 0;
  std::vector<double> errors;
  double block_error = 0;
};

printed_loads loads_as_printed(const balance_plan& plan, unsigned block_bits, unsigned bits_set) {
  printed_loads printed{.plan = plan, .counter_bits = 0, .errors = {}, .block_error = 0};
  if (plan.threshold)
    printed.counter_bits = static_cast<unsigned>(std::bit_width(*plan.threshold + 1));
  if (printed.counter_bits >= block_bits)
    detail::refuse("block bits", "more than the counter needs", block_bits);
  for (std::size_t load = 0; load < plan.loads.fractions.size(); ++load)
    printed.errors.push_back(block_error_approximate(block_bits - printed.counter_bits, bits_set,
                                                     static_cast<double>(load)));
  printed.block_error = plan.loads.cost([&](std::size_t load) { return printed.errors[load]; });
  return printed;
}

void check_point(double bits_per_element, unsigned block_bits, unsigned bits_set) {
  detail::check_bits_per_element(bits_per_element);
  detail::check_range("block bits", block_bits, 8, 4096);
  detail::check_range("bits set", bits_set, 1, 64);
}

}  // namespace

printed_point balanced_as_printed(double bits_per_element, unsigned block_bits, unsigned bits_set,
                                  double accesses, unsigned choices) {
  check_point(bits_per_element, block_bits, bits_set);
  const printed_loads printed =
      loads_as_printed(multilevel_balance({.elements_per_bucket = block_bits / bits_per_element,
                                           .choices = choices,
                                           .accesses = accesses}),
                       block_bits, bits_set);
  if (!printed.plan.threshold)
    detail::refuse("accesses", "above 1 for a multilevel filter", accesses);
  const unsigned h = *printed.plan.threshold;
  const std::vector<double>& loads = printed.plan.loads.fractions;
  printed_point point;
  point.threshold = h;
  point.admit_probability = printed.plan.admit_probability;
  point.counter_bits = printed.counter_bits;
  point.overflow_fraction = printed.plan.overflow_fraction;
  point.block_error = printed.block_error;
  point.query_continues = loads[h] + loads[h + 1];
  const double walks_on =
      loads[h] * (1 - printed.errors[h]) + loads[h + 1] * (1 - printed.errors[h + 1]);
  point.fpr = point.block_error * detail::geometric_sum(point.query_continues, choices);
  point.miss_accesses = detail::geometric_sum(walks_on, choices);
  point.fpr_walk = point.block_error * point.miss_accesses;
  return point;
}

double single_as_printed(double bits_per_element, unsigned block_bits, unsigned bits_set,
                         double overflow_fraction) {
  check_point(bits_per_element, block_bits, bits_set);
  return loads_as_printed(single_balance({.elements_per_bucket = block_bits / bits_per_element,
                                          .overflow_fraction = overflow_fraction}),
                          block_bits, bits_set)
      .block_error;
}

balanced_point balanced_at_budget(double bits_per_element, unsigned block_bits, unsigned bits_set,
                                  double accesses, unsigned choices, lookup_rule rule,
                                  const overflow_list_cost& overflow) {
  check_point(bits_per_element, block_bits, bits_set);
  detail::check_overflow_list(overflow);
  if (has_tracking(rule))
    throw std::invalid_argument(
        "rule at an insertion budget must be counter, coin, flag or coin-flag; found " +
        std::string(name_of(rule)));
  const double listed = overflow.bits_per_element() * least_overflow_multilevel(choices, accesses);
  detail::check_above("bits per element", bits_per_element, listed, 4096);
  const balance_plan plan =
      multilevel_balance({.elements_per_bucket = block_bits / (bits_per_element - listed),
                          .choices = choices,
                          .accesses = accesses});
  if (!plan.threshold || *plan.threshold == 0)
    detail::refuse("accesses", "above 1, with at least one element per block", accesses);
  balanced_point point;
  point.shape = {.block_bits = block_bits,
                 .bits_set = bits_set,
                 .scheme = scheme_kind::multilevel,
                 .choices = choices,
                 .rule = rule,
                 .threshold = *plan.threshold,
                 .admit_probability = plan.admit_probability,
                 .overflow = overflow};
  point.arrivals_mean = accesses * block_bits / (bits_per_element - listed);
  point.error = evaluate(point.shape, point.arrivals_mean);
  return point;
}

double missed_if_query_stops_at_threshold(double arrivals_mean, threshold rule, unsigned choices) {
  detail::check_choices(choices);
  const double refused = refused_mean(arrivals_mean, rule);
  if (refused == 0) return 0;
  // P(a block that refused an element ends at load h): then all its j refusals are of that kind.
  double refused_at_h = 0, sum = 0;
  detail::for_poisson_from(
      arrivals_mean, rule.bucket_capacity, [&](std::uint64_t i, double probability) {
        const auto j = static_cast<double>(i - rule.bucket_capacity);
        refused_at_h += probability * j * std::pow(1 - rule.admit_probability, j);
        sum += probability;
        return !detail::negligible(arrivals_mean, i, probability * (j + 1), sum);
      });
  const double stays = 1 - refused_at_h / refused;
  const double passed = refused / arrivals_mean;
  double missed = 0;
  for (unsigned level = 1; level <= choices; ++level) {
    const double ends_here = level < choices ? 1 - passed : 1.0;  // the next level or the overflow
    missed += detail::power(passed, level) * ends_here * (1 - detail::power(stays, level));
  }
  return missed;
}

namespace {

/// The search of choose_balanced. Every candidate is sized to the memory budget exactly.
class balanced_search {
 public:
  explicit balanced_search(const balanced_needs& needs)
      : needs_(needs),
        best_(needs.access_limit),
        rule_(needs.rule.value_or(lookup_rule::popcount)) {
    const double natural = needs.bits_per_element * std::numbers::ln2;
    const auto between = [](double bits) {
      return static_cast<unsigned>(std::clamp(bits, 1.0, 64.0));
    };
    fewest_set_ = needs.bits_set.value_or(between(0.4 * natural));
    most_set_ = needs.bits_set.value_or(between(1.05 * natural + 1));
    likely_set_ = std::midpoint(fewest_set_, most_set_);
    fewest_choices_ = needs.choices.value_or(1);
    most_choices_ = needs.choices.value_or(needs.largest_choices);
  }

  std::optional<balanced_point> run() {
    if (rule_ == lookup_rule::popcount)
      search_popcount();
    else
      search_counter();
    return best_.best();
  }

 private:
  using best_so_far = detail::best_point<balanced_point>;

  balanced_shape shape() const {
    return {.block_bits = needs_.block_bits, .rule = rule_, .overflow = needs_.overflow};
  }

  void set_choices(balanced_shape& candidate, unsigned choices) const {
    candidate.choices = choices;
    candidate.scheme = choices == 1 ? scheme_kind::single : scheme_kind::multilevel;
  }

  std::optional<double> arrivals(const balanced_law& law) const {
    return detail::arrivals_for_memory([&](double mean) { return law.memory_at(mean); },
                                       needs_.bits_per_element, needs_.block_bits,
                                       std::min<double>(needs_.access_limit, most_choices_) + 0.1);
  }

  /// Tries the block with every number of choices; true if one is the best of `best`.
  bool offer_popcount(best_so_far& best, unsigned bits_set, int tracking_bits, int ones) const {
    const int block_bits = static_cast<int>(needs_.block_bits);
    if (tracking_bits < 1 || tracking_bits > block_bits / 2 || ones < 1 ||
        ones > block_bits - tracking_bits)
      return false;
    balanced_shape candidate = shape();
    candidate.bits_set = bits_set;
    candidate.tracking_bits = static_cast<unsigned>(tracking_bits);
    candidate.threshold = static_cast<unsigned>(ones);
    balanced_law law(candidate);
    bool better = false;
    for (unsigned choices = fewest_choices_; choices <= most_choices_; ++choices) {
      set_choices(candidate, choices);
      law.set_choices(choices);
      if (const auto mean = arrivals(law)) better |= best.offer({candidate, *mean, law.at(*mean)});
    }
    return better;
  }

  /// At most fifteen numbers of bits set, then those between the best and its neighbours.
  void search_popcount() {
    const unsigned stride = std::max(1u, (most_set_ - fewest_set_) / 14);
    for (unsigned k = fewest_set_; k <= most_set_; k += stride) search_popcount(k);
    if (!best_.best() || stride == 1) return;
    const unsigned middle = best_.best()->shape.bits_set;
    for (unsigned k = std::max(fewest_set_, middle - std::min(middle, stride - 1));
         k <= std::min(most_set_, middle + stride - 1); ++k)
      if (k != middle) search_popcount(k);
  }

  /// A coarse grid, then downhill while a neighbour has a lower error.
  void search_popcount(unsigned k) {
    best_so_far best(needs_.access_limit);
    const int block_bits = static_cast<int>(needs_.block_bits);
    const int step = std::max(1, block_bits / 32);
    for (const int w : {1, 6, 12})
      for (int ones = block_bits * 3 / 8; ones <= block_bits * 2 / 3; ones += step)
        offer_popcount(best, k, w, ones);
    for (bool better = best.best().has_value(); better;) {
      better = false;
      const balanced_shape here = best.best()->shape;
      for (const int dw : {0, -1, 1, -3, 3})
        for (const int ones : {0, -1, 1, -3, 3, -7, 7})
          if (dw != 0 || ones != 0)
            better |= offer_popcount(best, k, static_cast<int>(here.tracking_bits) + dw,
                                     static_cast<int>(here.threshold) + ones);
    }
    if (best.best()) best_.offer(*best.best());
  }

  void search_counter() {
    const double per_block = needs_.block_bits / needs_.bits_per_element;
    const auto fewest = static_cast<unsigned>(std::max(1.0, 0.85 * per_block));
    const auto most = static_cast<unsigned>(per_block + 5 * std::sqrt(per_block) + 4);
    const bool tracking = rule_ == lookup_rule::tracking;
    const std::vector<double> admit =
        tracking ? std::vector<double>{0.0} : std::vector<double>{0.0, 1.0 / 3, 2.0 / 3};
    const std::vector<unsigned> widths =
        tracking ? std::vector<unsigned>{1, 4, 8, 12, 16} : std::vector<unsigned>{1};
    const auto try_threshold = [&](unsigned h) {
      for (const double p : admit)
        for (const unsigned w : widths) {
          balanced_shape candidate = shape();
          candidate.threshold = h;
          candidate.admit_probability = p;
          candidate.tracking_bits = w;
          if (candidate.state_bits() + 8 <= needs_.block_bits) offer_counter(candidate, most + 1);
        }
    };
    // At most 25 thresholds, then those between the best and its neighbours.
    const unsigned stride = std::max(1u, (most - fewest) / 24);
    for (unsigned h = fewest; h <= most; h += stride) try_threshold(h);
    if (!best_.best() || stride == 1) return;
    const unsigned middle = best_.best()->shape.threshold;
    for (unsigned h = middle - std::min(middle - 1, stride - 1); h < middle + stride; ++h)
      if (h != middle && h <= most) try_threshold(h);
  }

  /// Tries all numbers of choices and of bits set. The load of the blocks, and so the size, does
  /// not depend on the bits set.
  void offer_counter(balanced_shape candidate, unsigned most_load) {
    for (unsigned choices = fewest_choices_; choices <= most_choices_; ++choices) {
      set_choices(candidate, choices);
      candidate.bits_set = fewest_set_;
      const balanced_law any_law(candidate, errors_of(candidate, most_load));
      const auto mean = arrivals(any_law);
      if (!mean || any_law.at(*mean).hit_accesses > needs_.access_limit) continue;
      // The error has one minimum in the bits set, near that of the last candidate: walk to it.
      best_so_far best(needs_.access_limit);
      const auto offer = [&](unsigned k) {
        candidate.bits_set = k;
        const balanced_law law(candidate, errors_of(candidate, most_load));
        return best.offer({candidate, *mean, law.at(*mean)});
      };
      offer(likely_set_);
      for (unsigned k = likely_set_ + 1; k <= most_set_ && offer(k);) ++k;
      for (unsigned k = likely_set_; k > fewest_set_ && offer(k - 1);) --k;
      if (!best.best()) continue;
      likely_set_ = best.best()->shape.bits_set;
      best_.offer(*best.best());
    }
  }

  const std::vector<double>& errors_of(const balanced_shape& candidate, unsigned most_load) {
    const unsigned bits = candidate.block_bits - candidate.state_bits();
    std::vector<double>& errors = errors_[{bits, candidate.bits_set}];
    if (errors.empty()) errors = block_errors(bits, candidate.bits_set, most_load);
    return errors;
  }

  balanced_needs needs_;
  best_so_far best_;
  lookup_rule rule_;
  unsigned fewest_set_, most_set_, likely_set_;
  unsigned fewest_choices_, most_choices_;
  std::map<std::pair<unsigned, unsigned>, std::vector<double>> errors_;  // by Bloom bits and k
};

}  // namespace

balanced_point choose_balanced(const balanced_needs& needs) {
  detail::check_overflow_list(needs.overflow);
  detail::check_range("bits per element", needs.bits_per_element, 4.0, 64.0);
  detail::check_range("block bits", needs.block_bits, 64, 512);
  detail::check_range("access limit", needs.access_limit, 1.0, 64.0);
  detail::check_choices(needs.largest_choices);
  if (needs.choices) detail::check_choices(*needs.choices);
  if (needs.bits_set) detail::check_range("bits set", *needs.bits_set, 1, 64);
  if (const auto best = balanced_search(needs).run()) return *best;
  throw std::invalid_argument("no balanced filter of " + detail::show(needs.bits_per_element) +
                              " bits per element stays within " + detail::show(needs.access_limit) +
                              " accesses per query; allow more of either");
}

}  // namespace oneprobe::inline v0_1::model
