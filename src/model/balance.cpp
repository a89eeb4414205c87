#include "oneprobe/model/balance.hpp"

#include <algorithm>
#include <cmath>

#include "binomial.hpp"
#include "check.hpp"
#include "numeric.hpp"
#include "oneprobe/model/bucket.hpp"
#include "oneprobe/model/poisson.hpp"
#include "sequential.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

/// Above this the tables of loads would be too long to be of use.
constexpr double most_per_bucket = 10000;

void check_per_bucket(double value) {
  detail::check_range("elements per bucket", value, 0.001, most_per_bucket);
}

void check_budget(double accesses, unsigned choices) {
  detail::check_choices(choices);
  detail::check_range("accesses (1 to choices)", accesses, 1.0, static_cast<double>(choices));
}

/// All of Poisson(mean), until what is left is below 1e-18.
std::vector<double> poisson_loads(double mean) {
  std::vector<double> fractions;
  for (std::uint64_t i = 0; static_cast<double>(i) <= mean || poisson_at_least(mean, i) > 1e-18;
       ++i)
    fractions.push_back(poisson_probability(mean, i));
  return fractions;
}

/// The threshold rule as one real number, h + p: loads grow continuously with it, because (h, 1)
/// and (h + 1, 0) are the same rule.
threshold rule_of(double level) {
  const double whole = std::floor(level);
  return {static_cast<unsigned>(whole), level - whole};
}

/// rho with 1 + rho + ... + rho^(d-1) = a: the fraction each level of an optimal multilevel table
/// passes on (ECB Theorem 6 at t_0 = 1).
double passed_on(unsigned choices, double accesses) {
  check_budget(accesses, choices);
  if (accesses == 1) return 0;
  return detail::find_root(
      [&](double rho) { return detail::geometric_sum(rho, choices) - accesses; }, 0.0, 1.0);
}

/// h and p of the bound: ECB Theorems 3, 4, 6, conditions (i) and (iii).
void set_rule(balance_plan& plan, const balance_bound& bound, double arrivals_mean) {
  plan.threshold = bound.k0;
  if (bound.k0)
    plan.admit_probability =
        admit_probability_for(arrivals_mean, *bound.k0, bound.loads.fractions.back());
  plan.loads = bound.loads;
}

/// The requested overflow, or the least; an error if it is below that.
double overflow_or_least(const balance_needs& needs, double least) {
  if (!needs.overflow_fraction) return least;
  // The least value itself, as printed by us with all its digits, must be accepted.
  if (*needs.overflow_fraction < least * (1 - 1e-9) - 1e-15)
    detail::refuse("overflow fraction",
                   "at least " + detail::show(least) + " for this scheme to reach the bound",
                   *needs.overflow_fraction);
  detail::check_probability("overflow fraction", *needs.overflow_fraction);
  return std::max(least, *needs.overflow_fraction);
}

/// The rule, h + p, with which sequential placement has used up exactly a accesses per element when
/// the last one has come: a larger threshold makes fewer accesses.
double sequential_level(double elements_per_bucket, unsigned choices, double accesses) {
  const double arrivals = accesses * elements_per_bucket;
  const auto distance = [&](double level) {
    return detail::sequential_process(rule_of(level), choices).elements_at(arrivals) -
           elements_per_bucket;
  };
  // Refusing everything makes d accesses each; a threshold no load reaches makes one.
  if (accesses == choices || distance(0.0) >= 0) return 0;
  // A bucket keeps r elements at most on average, so the threshold is not far above that.
  double high = std::min<double>(elements_per_bucket + 10 * std::sqrt(elements_per_bucket) + 10,
                                 largest_threshold);
  while (distance(high) < 0) {
    if (high == largest_threshold)
      detail::refuse("accesses", "far enough above 1 for a threshold to matter", accesses);
    high = std::min<double>(2 * high, largest_threshold);
  }
  return detail::find_root(distance, 0.0, high);
}

/// The edge of the optimality region of sequential placement at a budget.
struct sequential_edge {
  threshold rule{};  // of no use at a = 1, where nothing is refused
  double overflow_fraction = 0;
};

sequential_edge find_sequential_edge(double elements_per_bucket, unsigned choices,
                                     double accesses) {
  check_per_bucket(elements_per_bucket);
  check_budget(accesses, choices);
  sequential_edge edge;
  if (accesses == 1) return edge;
  edge.rule = rule_of(sequential_level(elements_per_bucket, choices, accesses));
  edge.overflow_fraction = std::min(
      1.0,
      detail::sequential_process(edge.rule, choices).overflowed_at(accesses * elements_per_bucket) /
          elements_per_bucket);
  return edge;
}

}  // namespace

double load_distribution::mean() const {
  return cost([](std::size_t load) { return static_cast<double>(load); });
}

double load_distribution::variance() const {
  const double center = mean();
  return cost([center](std::size_t load) {
    const double away = static_cast<double>(load) - center;
    return away * away;
  });
}

double load_distribution::chain_nodes_present() const {
  const double nodes = cost([](std::size_t load) {
    return 0.5 * static_cast<double>(load) * (static_cast<double>(load) + 1);
  });
  const double elements = mean();
  return elements > 0 ? nodes / elements : 0;
}

std::optional<unsigned> balance_bound::largest_load() const {
  if (!k0) return std::nullopt;
  return *k0 + 1;
}

balance_bound lower_bound_loads(double elements_per_bucket, double accesses,
                                double overflow_fraction) {
  check_per_bucket(elements_per_bucket);
  detail::check_range("accesses", accesses, 0.0, detail::most_elements);
  detail::check_probability("overflow fraction", overflow_fraction);
  const double mean = accesses * elements_per_bucket;
  detail::check_range("accesses per bucket", mean, 0.0, most_per_bucket);
  // Arrivals to remove, greedily from the fullest buckets.
  const double surplus = elements_per_bucket * (accesses - 1 + overflow_fraction);
  if (surplus < -1e-12 * elements_per_bucket)
    detail::refuse("accesses",
                   "at least 1 - overflow fraction = " + detail::show(1 - overflow_fraction),
                   accesses);
  balance_bound bound;
  // Below one access per element, 1 - a is rounded; from there on the surplus is exact.
  const double rounding = accesses < 1 ? 1e-15 * elements_per_bucket : 0;
  if (surplus <= rounding) {  // nothing to remove, erratum 0.9
    bound.loads.fractions = poisson_loads(mean);
    bound.e0 = mean;
    bound.p0 = 1;
    return bound;
  }
  // k0 is the largest integer with E[min(X, k0)] < r (1 - gamma), that is E[(X - k0)+] > surplus.
  unsigned low = 0, high = 1;
  while (poisson_excess(mean, high) > surplus) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const unsigned middle = low + (high - low) / 2;
    (poisson_excess(mean, middle) > surplus ? low : high) = middle;
  }
  const unsigned k0 = low;
  bound.k0 = k0;
  bound.p0 = poisson_at_most(mean, k0);
  bound.e0 = k0 == 0 ? 0 : mean * poisson_at_most(mean, k0 - 1);  // erratum 0.8
  for (unsigned i = 0; i < k0; ++i) bound.loads.fractions.push_back(poisson_probability(mean, i));
  const double above = std::max(0.0, poisson_excess(mean, k0) - surplus);
  bound.loads.fractions.push_back(poisson_at_least(mean, k0) - above);
  bound.loads.fractions.push_back(above);
  return bound;
}

balance_bound lower_bound_loads_finite(double elements, double buckets, double accesses,
                                       double overflow_fraction) {
  detail::check_elements("elements", elements);
  detail::check_range("buckets", buckets, 2.0, detail::most_elements);
  detail::check_probability("overflow fraction", overflow_fraction);
  detail::check_range("accesses (at least 1 - overflow fraction)", accesses,
                      (1 - overflow_fraction) * (1 - 1e-12), 64.0);
  detail::check_range("accesses per bucket", accesses * elements / buckets, detail::smallest_mean,
                      1e4);
  const double trials = std::floor(accesses * elements * (1 + 4e-16));
  const auto exactly = [&](unsigned load) {
    return detail::binomial_probability(trials, 1 / buckets, load);
  };
  const auto at_least = [&](unsigned load) {
    return load == 0 ? 1.0 : detail::binomial_at_least(trials, 1 / buckets, load);
  };
  balance_bound bound;
  const double kept = elements * (1 - overflow_fraction) / buckets;
  if (trials <= kept * buckets) {  // nothing to remove
    for (unsigned i = 0; i <= kept || at_least(i) > 1e-18; ++i)
      bound.loads.fractions.push_back(exactly(i));
    bound.e0 = trials / buckets;
    bound.p0 = 1;
    return bound;
  }
  // k0 is the largest with E[min(X, k0)] = P(X >= 1) + ... + P(X >= k0) below what is kept.
  unsigned k0 = 0;
  double sum = 0;
  for (double next = at_least(1); sum + next < kept; next = at_least(k0 + 1)) {
    bound.loads.fractions.push_back(exactly(k0));
    sum += next;
    ++k0;
  }
  bound.k0 = k0;
  for (unsigned i = 0; i <= k0; ++i) {
    bound.p0 += exactly(i);
    bound.e0 += i * exactly(i);
  }
  // E[(X - k0)+] less what is removed: the difference kept - sum would cancel.
  double excess = 0;
  for (unsigned load = k0 + 1;; ++load) {
    const double tail = at_least(load);
    excess += tail;
    if (tail <= 1e-17 * excess) break;
  }
  const double above = std::max(0.0, excess - (trials - kept * buckets) / buckets);
  bound.loads.fractions.push_back(at_least(k0) - above);
  bound.loads.fractions.push_back(above);
  return bound;
}

double admit_probability_for(double arrivals_mean, unsigned threshold, double fraction_above) {
  detail::check_probability("fraction above the threshold", fraction_above);
  const auto distance = [&](double p) {
    return fraction_above_threshold(arrivals_mean, {threshold, p}) - fraction_above;
  };
  if (fraction_above == 0) return 0;
  const double most = poisson_at_least(arrivals_mean, threshold + 1ull);
  if (fraction_above >= most) return 1;
  return detail::find_root(distance, std::numeric_limits<double>::min(), 1.0);
}

balance_plan single_balance(const balance_needs& needs) {
  check_per_bucket(needs.elements_per_bucket);
  detail::check_range("accesses of single placement", needs.accesses, 0.0, 1.0);
  const double overflow = overflow_or_least(needs, 1 - needs.accesses);
  balance_plan plan;
  plan.overflow_fraction = overflow;
  plan.mean_accesses = needs.accesses;
  plan.end_time = needs.accesses;
  plan.level_fractions = {1.0};
  set_rule(plan, lower_bound_loads(needs.elements_per_bucket, needs.accesses, overflow),
           needs.accesses * needs.elements_per_bucket);
  return plan;
}

balance_plan sequential_balance(const balance_needs& needs) {
  const double r = needs.elements_per_bucket;
  const sequential_edge edge = find_sequential_edge(r, needs.choices, needs.accesses);
  balance_plan plan;
  plan.overflow_fraction = overflow_or_least(needs, edge.overflow_fraction);
  plan.mean_accesses = needs.accesses;
  set_rule(plan, lower_bound_loads(r, needs.accesses, plan.overflow_fraction), needs.accesses * r);
  if (!plan.threshold) return plan;
  if (plan.overflow_fraction == edge.overflow_fraction) {
    // At the edge of the region the rule is known from the search for it; recovering p from the
    // loads would lose digits when almost all buckets are at h + 1.
    plan.threshold = edge.rule.bucket_capacity;
    plan.admit_probability = edge.rule.admit_probability;
  } else {
    plan.end_time =
        detail::sequential_process({*plan.threshold, plan.admit_probability}, needs.choices)
            .elements_at(needs.accesses * r) /
        r;
  }
  return plan;
}

balance_plan multilevel_balance(const balance_needs& needs) {
  const double r = needs.elements_per_bucket;
  check_per_bucket(r);
  const double overflow =
      overflow_or_least(needs, least_overflow_multilevel(needs.choices, needs.accesses));
  // p(a) = 1 - (1 - gamma) / a: whatever the loads, that is what a level passes on.
  const double ratio = 1 - (1 - overflow) / needs.accesses;
  balance_plan plan;
  plan.overflow_fraction = overflow;
  plan.mean_accesses = needs.accesses;
  const double sum = detail::geometric_sum(ratio, needs.choices);
  plan.end_time = std::min(1.0, needs.accesses / sum);
  for (unsigned level = 0; level < needs.choices; ++level)
    plan.level_fractions.push_back(detail::power(ratio, level) / sum);
  set_rule(plan, lower_bound_loads(r, needs.accesses, overflow), needs.accesses * r);
  return plan;
}

double least_overflow_sequential(double elements_per_bucket, unsigned choices, double accesses) {
  return find_sequential_edge(elements_per_bucket, choices, accesses).overflow_fraction;
}

double least_overflow_multilevel(unsigned choices, double accesses) {
  return detail::power(passed_on(choices, accesses), choices);
}

double edge_accesses_multilevel(unsigned choices, double overflow_fraction) {
  detail::check_choices(choices);
  detail::check_probability("overflow fraction", overflow_fraction);
  return detail::geometric_sum(std::pow(overflow_fraction, 1.0 / choices), choices);
}

double edge_accesses_sequential(double elements_per_bucket, unsigned choices,
                                double overflow_fraction) {
  check_per_bucket(elements_per_bucket);
  detail::check_choices(choices);
  detail::check_range("overflow fraction", overflow_fraction, 1e-15, 1.0);
  // From the rule instead of the budget: h + p fixes the accesses used when the last element comes.
  const auto at_level = [&](double level) {
    const detail::sequential_process process(rule_of(level), choices);
    const double arrivals = process.arrivals_at(elements_per_bucket);
    return std::pair{arrivals / elements_per_bucket,
                     process.overflowed_at(arrivals) / elements_per_bucket};
  };
  const auto distance = [&](double level) {
    return std::log(std::max(at_level(level).second, 1e-300)) - std::log(overflow_fraction);
  };
  if (distance(0.0) < 0) return choices;
  double high = 2;
  while (high < largest_threshold && distance(high) > 0)
    high = std::min<double>(2 * high, largest_threshold);
  return at_level(detail::find_root(distance, 0.0, high)).first;
}

double shared_coin_overflow(double elements_per_bucket, unsigned choices, double accesses) {
  const balance_plan plan = multilevel_balance(
      {.elements_per_bucket = elements_per_bucket, .choices = choices, .accesses = accesses});
  if (!plan.threshold) return plan.overflow_fraction;
  // p_j: the fraction of a level's arrivals whose coin would admit them at load h. Those refused at
  // load h have shown that theirs does not; only those refused at load h + 1 keep the old share.
  double admissible = plan.admit_probability;
  double entering = 1;
  for (unsigned level = 0; level < choices; ++level) {
    const double arrivals = elements_per_bucket * entering / plan.level_fractions[level];
    const threshold rule{*plan.threshold, admissible};
    const double refused = refused_mean(arrivals, rule);
    // Arrivals at load h + 1 = all refused ones, less those refused at load h. The latter: before
    // the first admission at load h come, on average, (1 - p) / p refusals, cut off by the end;
    // f_{h+1} = p x (arrivals at load h) gives their number without that case distinction.
    const double above = fraction_above_threshold(arrivals, rule);
    const double arrivals_at_h = admissible > 0 ? above / admissible : 0;
    const double refused_at_h = admissible > 0 ? arrivals_at_h - above : refused;
    admissible = refused > 0 ? admissible * (refused - refused_at_h) / refused : 0;
    entering = plan.level_fractions[level] * refused / elements_per_bucket;
  }
  return entering;
}

}  // namespace oneprobe::inline v0_1::model
