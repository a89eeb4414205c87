#include "table_levels.hpp"

#include <algorithm>
#include <cmath>

#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/poisson.hpp"
#include "root.hpp"

namespace oneprobe::inline v0_1::planning {
namespace {

constexpr double precision = 1e-10;  // of logarithms

/// As find_crossing, first between the places where it is as a rule, then between the outermost; at
/// those if it does not cross.
template <class Function>
double find_crossing_in(Function&& function, double least, double low, double high, double most) {
  if (const auto place = find_crossing(function, low, high, precision)) return *place;
  if (function(least) >= 0) return least;
  return find_crossing(function, least, most, precision).value_or(most);
}

struct level_costs {
  double access;
  double bucket;
  double overflow;  // of an element there
};

/// The levels for given costs.
table_design levels_at(const bucket_loss& loss, std::uint32_t choices, const level_costs& cost) {
  table_design design;
  design.bucket_capacity = loss.capacity();
  design.levels = choices;
  double beyond = cost.overflow;  // v_{j+1}
  for (std::uint32_t level = choices; level-- > 0;) {
    const double offered = loss.offered_for(std::log(cost.bucket / beyond));
    design.offered[level] = offered;
    beyond = cost.access + cost.bucket / offered + loss.refused_fraction(offered) * beyond;
  }
  double entering = 1;
  for (std::uint32_t level = 0; level < choices; ++level) {
    design.entering[level] = entering;
    entering *= loss.refused_fraction(design.offered[level]);
  }
  return design;
}

// Where gains are known in advance, in buckets' capacities offered.
constexpr double least_known = 0.2, most_known = 2;
constexpr std::size_t known_gains = 128;

double known_place(std::size_t i) {
  const double step = std::log(most_known / least_known) / (known_gains - 1);
  return least_known * std::exp(static_cast<double>(i) * step);
}

double log_of(double gain) { return std::log(std::max(gain, 1e-300)); }

}  // namespace

bucket_loss::bucket_loss(table_workload workload, std::uint32_t capacity, std::uint32_t slot_bytes)
    : workload_(workload),
      capacity_(capacity),
      for_tags_(detail::tag_refusals_of(workload, capacity, slot_bytes)) {
  for (std::size_t i = 0; i < known_gains; ++i)
    log_gains_.push_back(log_of(gain(capacity * known_place(i))));
}

double bucket_loss::offered_for(double log_gain) const {
  const double h = capacity_;
  const auto distance = [&](double offered) { return log_of(gain(offered)) - log_gain; };
  const auto above = std::lower_bound(log_gains_.begin(), log_gains_.end(), log_gain);
  if (above != log_gains_.begin() && above != log_gains_.end()) {
    const auto i = static_cast<std::size_t>(above - log_gains_.begin());
    if (const auto place =
            find_crossing(distance, h * known_place(i - 1), h * known_place(i), precision))
      return *place;
  }
  // Outermost: so cheap that nearly nothing goes on, so expensive that nearly none are bought.
  return find_crossing_in(distance, 1e-9 * h, least_known * h, most_known * h, 100 * h);
}

double bucket_loss::refused_fraction(double offered) const {
  if (!(offered > 0)) return 0;
  const double when_full = refused_when_full(offered);
  return in_groups() ? when_full + for_tags_->at(offered).fraction : when_full;
}

double bucket_loss::gain(double offered) const {
  const double when_full = gain_when_full(offered);
  if (!in_groups()) return when_full;
  const detail::tag_refusals::value for_tags = for_tags_->at(offered);
  return when_full + offered * for_tags.fraction * for_tags.slope;
}

double bucket_loss::refused_when_full(double offered) const {
  return workload_ == table_workload::churn ? model::erlang_b(capacity_, offered)
                                            : model::poisson_excess(offered, capacity_) / offered;
}

double bucket_loss::gain_when_full(double offered) const {
  const double h = capacity_;
  if (workload_ == table_workload::fill_only)
    return h * model::poisson_at_least(offered, capacity_ + 1ull);
  // y B w, with w the mean number of free slots: summed from full downwards.
  const double full = model::erlang_b(capacity_, offered), per_arrival = 1 / offered;
  double free_slots = 0, at_load = full;
  for (std::uint32_t load = capacity_; load > 0; --load) {
    at_load *= load * per_arrival;
    free_slots += (capacity_ - load + 1) * at_load;
  }
  return offered * full * free_slots;
}

double overflow_of(const bucket_loss& loss, const table_design& design) {
  const std::uint32_t last = design.levels - 1;
  return design.entering[last] * loss.refused_fraction(design.offered[last]);
}

double hit_accesses_of(const bucket_loss& loss, const table_design& design, double share) {
  double entering = share, accesses = 0;
  for (std::uint32_t level = 0; level < design.levels; ++level) {
    accesses += entering;
    if (design.entering[level] > 0)
      entering *= loss.refused_fraction(entering / design.entering[level] * design.offered[level]);
  }
  return accesses / share;
}

double space_of(const table_design& design) {
  double buckets = 0;
  for (std::uint32_t level = 0; level < design.levels; ++level)
    buckets += design.entering[level] / design.offered[level];
  return buckets;
}

table_design least_access_levels(const bucket_loss& loss, std::uint32_t choices, double load_factor,
                                 double overflow_fraction) {
  const auto at_bucket_cost = [&](double bucket_cost) {
    const auto distance = [&](double overflow_cost) {
      const double overflow =
          overflow_of(loss, levels_at(loss, choices, {1, bucket_cost, overflow_cost}));
      return std::log(overflow_fraction) - std::log(std::max(overflow, 1e-300));
    };
    // An element in the overflow costs no less than an access; what overflows little enough at that
    // needs no more.
    const double cost = find_crossing_in(distance, 1, 10 / std::sqrt(overflow_fraction),
                                         10 / overflow_fraction, 1e60);
    return levels_at(loss, choices, {1, bucket_cost, cost});
  };
  const double h = loss.capacity();
  const double wanted = std::log(1 / (load_factor * h));
  const auto distance = [&](double bucket_cost) {
    return wanted - std::log(space_of(at_bucket_cost(bucket_cost)));
  };
  return at_bucket_cost(find_crossing_in(distance, 1e-30, 0.1 * h, 10 * h, 1e20));
}

table_design fullest_levels(const bucket_loss& loss, std::uint32_t choices,
                            double overflow_fraction) {
  const auto at_bucket_cost = [&](double cost) { return levels_at(loss, choices, {0, cost, 1}); };
  const auto distance = [&](double bucket_cost) {
    const double overflow = overflow_of(loss, at_bucket_cost(bucket_cost));
    return std::log(std::max(overflow, 1e-300)) - std::log(overflow_fraction);
  };
  // A bucket that costs as much as all elements that it could keep is not bought.
  const double h = loss.capacity();
  return at_bucket_cost(find_crossing_in(distance, 1e-200, 1e-6 * h, 0.9 * h, h));
}

table_design levels_of(const bucket_loss& loss, const std::vector<double>& fractions,
                       double load_factor) {
  table_design design;
  design.bucket_capacity = loss.capacity();
  design.levels = static_cast<std::uint32_t>(fractions.size());
  double entering = 1;
  for (std::uint32_t level = 0; level < design.levels; ++level) {
    design.entering[level] = entering;
    // A level that is next to nothing keeps next to nothing, however much comes.
    design.offered[level] = std::min(entering * load_factor * loss.capacity() / fractions[level],
                                     1e6 * loss.capacity());
    entering *= loss.refused_fraction(design.offered[level]);
  }
  return design;
}

}  // namespace oneprobe::inline v0_1::planning
