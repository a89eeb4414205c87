#include "simulate/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "oneprobe/model/balls.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/finite_size.hpp"
#include "oneprobe/model/fluid.hpp"

namespace oneprobe::cli {
namespace {

double buckets_of(const sim::scenario& what) {
  double sum = static_cast<double>(what.buckets);
  if (what.scheme == scheme_kind::multilevel) {
    sum = 0;
    for (const std::uint64_t size : what.level_sizes) sum += static_cast<double>(size);
  }
  return sum;
}

unsigned choices_of(const sim::scenario& what) {
  if (what.scheme == scheme_kind::single) return 1;
  return what.scheme == scheme_kind::multilevel ? static_cast<unsigned>(what.level_sizes.size())
                                                : what.choices;
}

/// The levels as they are simulated: whole buckets.
std::vector<double> level_fractions_of(const sim::scenario& what) {
  std::vector<double> fractions;
  for (const std::uint64_t size : what.level_sizes)
    fractions.push_back(static_cast<double>(size) / buckets_of(what));
  return fractions;
}

bool first_fit(scheme_kind scheme) {
  return scheme != scheme_kind::d_random && scheme != scheme_kind::d_left;
}

double mean_of(const std::vector<double>& occupancy) {
  double mean = 0;
  for (std::size_t load = 0; load < occupancy.size(); ++load)
    mean += static_cast<double>(load) * occupancy[load];
  return mean;
}

void describe_loads(predicted_look& look, double buckets) {
  const double mean = mean_of(look.occupancy);
  double squares = 0;
  for (std::size_t load = 0; load < look.occupancy.size(); ++load)
    squares += static_cast<double>(load * load) * look.occupancy[load];
  look.load_mean = mean;
  look.load_variance = squares - mean * mean;
  // The mean is the sum of P(maximum >= k), and the buckets with at least k are nearly Poisson in
  // number.
  double at_least = 0, largest = 0;
  for (std::size_t load = look.occupancy.size(); load-- > 1;) {
    at_least += look.occupancy[load];
    largest -= std::expm1(-buckets * at_least);
  }
  look.largest_load = largest;
}

model::fluid_parameters fluid_parameters_of(const sim::scenario& what) {
  return {.scheme = what.scheme,
          .load_factor = static_cast<double>(what.elements) /
                         (buckets_of(what) * static_cast<double>(*what.bucket_capacity)),
          .bucket_capacity = *what.bucket_capacity,
          .choices = choices_of(what),
          .level_fractions = level_fractions_of(what),
          .admit_probability = what.admit_probability,
          .access_budget = what.access_budget};
}

/// Fills in what a model gives, or leaves it out if the model refuses.
void if_possible(const std::function<void()>& ask) {
  try {
    ask();
  } catch (const std::invalid_argument&) {
    // The main numbers stand without this one.
  }
}

/// Sequential: an arrival at time t makes j accesses if j - 1 candidates refuse it and the next
/// does not. The refusals follow from the fluid limit at that time; the integral over the arrivals
/// is Simpson's.
std::vector<double> sequential_accesses(model::fluid_parameters table, double begin, double end) {
  constexpr int intervals = 64;
  const unsigned d = table.choices;
  std::vector<double> shares(d + 1);
  for (int i = 0; i <= intervals; ++i) {
    table.time = begin + (end - begin) * i / intervals;
    const model::fluid_state now = model::fluid_limit(table);
    const unsigned h = table.bucket_capacity;
    double refuses =
        now.occupancy.size() > h ? now.occupancy[h] * (1 - table.admit_probability) : 0;
    for (std::size_t load = h + 1; load < now.occupancy.size(); ++load)
      refuses += now.occupancy[load];
    const int simpson = i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2;
    double reach = simpson * (end - begin) / (3.0 * intervals);
    for (unsigned j = 1; j <= d; ++j) {
      shares[j] += j == d ? reach : reach * (1 - refuses);
      reach *= refuses;
    }
  }
  return shares;
}

/// Multilevel: an element in level j made j accesses. Of those in no level, those that were handled
/// before the budget ended made d.
std::vector<double> multilevel_accesses(const model::fluid_parameters& table,
                                        const model::fluid_state& end) {
  const std::size_t d = end.levels.size();
  const double elements_per_bucket = table.load_factor * table.bucket_capacity;
  std::vector<double> shares(d + 1);
  double placed = 0;
  for (std::size_t j = 0; j < d; ++j) {
    shares[j + 1] = table.level_fractions[j] * mean_of(end.levels[j]) / elements_per_bucket;
    placed += shares[j + 1];
  }
  shares[d] += end.time - placed;
  return shares;
}

/// Shares of the arrivals until the last look.
std::vector<double> filling_accesses(const sim::scenario& what) {
  model::fluid_parameters table = fluid_parameters_of(what);
  const double looked = what.looks.back();
  if (looked == 0) return {};
  table.time = looked;
  const model::fluid_state end = model::fluid_limit(table);
  std::vector<double> shares(choices_of(what) + 1);
  if (what.scheme == scheme_kind::multilevel) {
    shares = multilevel_accesses(table, end);
  } else if (what.scheme == scheme_kind::sequential) {
    // Where most arrivals find room the refusals rise steeply: the time is cut in pieces.
    constexpr int pieces = 4;
    for (int piece = 0; piece < pieces; ++piece) {
      const auto part =
          sequential_accesses(table, end.time * piece / pieces, end.time * (piece + 1) / pieces);
      for (std::size_t j = 0; j < shares.size(); ++j) shares[j] += part[j];
    }
  } else {
    shares.back() = end.time;
  }
  shares.front() = std::max(0.0, looked - end.time);
  for (double& share : shares) share /= looked;
  return shares;
}

void predict_filling(const sim::scenario& what, prediction& out) {
  model::fluid_parameters table = fluid_parameters_of(what);
  for (std::size_t i = 0; i < what.looks.size(); ++i) {
    table.time = what.looks[i];
    const model::fluid_state state = model::fluid_limit(table);
    predicted_look& look = out.looks[i];
    look.overflow_fraction = state.overflow_fraction;
    look.cumulative_overflow_fraction = state.cumulative_overflow_fraction;
    look.mean_accesses = state.mean_accesses;
    look.occupancy = state.occupancy;
    look.levels = state.levels;
    describe_loads(look, buckets_of(what));
    if (what.looks[i] > 0 && i + 1 == what.looks.size())
      out.budget_end = state.time / what.looks[i];
  }
  out.source = "fluid_limit";
  if_possible([&] { out.accesses = filling_accesses(what); });
  if (what.access_budget || what.looks.back() < 1) return;
  if_possible([&] {
    const double n = static_cast<double>(what.elements);
    table.time = 1;
    out.looks.back().overflow_deviation =
        model::overflow_spread_filling(table, n).standard_deviation / n;
    out.source += ", overflow_spread_filling";
  });
}

void predict_unbounded(const sim::scenario& what, prediction& out) {
  const double m = buckets_of(what);
  // Without a limit the first candidate takes everything.
  const unsigned choices = what.scheme == scheme_kind::d_random ? what.choices : 1;
  for (std::size_t i = 0; i < what.looks.size(); ++i) {
    predicted_look& look = out.looks[i];
    if (what.looks[i] == 0) continue;
    const double arrived = std::round(what.looks[i] * static_cast<double>(what.elements));
    look.occupancy = model::bin_occupancy(arrived, m, choices);
    look.overflow_fraction = 1 - what.looks[i];
    look.cumulative_overflow_fraction = 0;
    look.mean_accesses = choices * what.looks[i];
    describe_loads(look, m);
  }
  if (what.looks.back() > 0) {
    out.accesses.assign(choices_of(what) + 1, 0.0);
    out.accesses[choices] = 1;
  }
  out.budget_end = 1;
  out.source = "bin_occupancy";
}

void predict_churning(const sim::scenario& what, prediction& out) {
  const model::fluid_parameters table = fluid_parameters_of(what);
  const model::churn_state state = model::churn_limit({.scheme = table.scheme,
                                                       .load_factor = table.load_factor,
                                                       .bucket_capacity = table.bucket_capacity,
                                                       .choices = table.choices,
                                                       .level_fractions = table.level_fractions});
  predicted_look& look = out.looks.front();
  look.overflow_fraction = look.cumulative_overflow_fraction = state.overflow_fraction;
  look.mean_accesses = state.mean_accesses;
  look.occupancy = state.occupancy;
  look.levels = state.levels;
  describe_loads(look, buckets_of(what));
  const unsigned d = choices_of(what);
  out.accesses.assign(d + 1, 0.0);
  double reach = 1;
  for (unsigned j = 1; j <= d; ++j) {
    const double refused = !first_fit(what.scheme) ? 1
                           : what.scheme == scheme_kind::multilevel
                               ? state.overflow_per_level[j - 1]
                               : state.overflow_per_level.front();
    out.accesses[j] = j == d ? reach : reach * (1 - refused);
    reach *= refused;
  }
  out.budget_end = 1;
  out.source = "churn_limit";
}

/// Why no model covers the scenario; empty if one does.
std::string not_modelled(const sim::scenario& what) {
  const bool levelled =
      what.scheme == scheme_kind::multilevel || what.scheme == scheme_kind::d_left;
  if (!what.bucket_capacity) {
    if (what.churn) return "churn in unbounded buckets is not modelled";
    if (what.access_budget) return "a budget for unbounded buckets is not modelled";
    if (levelled) return "unbounded buckets in levels are not modelled";
    return {};
  }
  if (*what.bucket_capacity == 0) return "buckets that admit by the coin alone are not modelled";
  if (!what.churn) return {};
  if (what.churn->leaves == sim::departure::one_level)
    return "erasure that picks on one level is not modelled";
  if (what.admit_probability > 0) return "churn with an admit probability is not modelled";
  // How long an element stays does not matter to a loss system (Erlang's insensitivity), but it
  // does to buckets that are chosen by their load.
  if (what.churn->leaves == sim::departure::oldest && !first_fit(what.scheme))
    return "erasing the oldest from buckets chosen by load is not modelled";
  return {};
}

}  // namespace

prediction predict(const sim::scenario& asked) {
  sim::scenario what = asked;
  // The simulator looks when whole elements have arrived.
  for (double& share : what.looks)
    share =
        std::round(share * static_cast<double>(what.elements)) / static_cast<double>(what.elements);
  prediction out;
  const std::size_t looks = what.churn ? 1 : what.looks.size();
  out.looks.resize(looks);
  out.missing = not_modelled(what);
  if (!out.missing.empty()) return out;
  try {
    if (what.churn)
      predict_churning(what, out);
    else if (!what.bucket_capacity)
      predict_unbounded(what, out);
    else
      predict_filling(what, out);
  } catch (const std::invalid_argument& refused) {
    out = {};
    out.looks.resize(looks);
    out.missing = refused.what();
  }
  return out;
}

}  // namespace oneprobe::cli
