#include "oneprobe/model/notes.hpp"

#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "oneprobe/model/poisson.hpp"
#include "poisson_series.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

constexpr unsigned most_slots = 128, most_kinds = 1024;
/// With so many arrivals of its kind, and slots that are as good as none, a note is always up.
constexpr double always_up = 500;

void check(unsigned slots, double arrivals, double most_arrivals, unsigned kinds) {
  detail::check_range("bucket capacity of notes", slots, 1, most_slots);
  detail::check_range("arrivals per bucket", arrivals, 0, most_arrivals);
  detail::check_range("kinds of notes", kinds, 1, most_kinds);
}

/// The schemes whose elements were turned away by every candidate before their own.
void check_scheme(scheme_kind scheme) {
  if (scheme == scheme_kind::d_random || scheme == scheme_kind::d_left)
    throw std::invalid_argument(
        "scheme must be single, sequential or multilevel for a model of notes; found " +
        std::string(name_of(scheme)));
}

/// Loads 0 .. h while the counter is c, relative to that of a full bucket, given what comes back to
/// each from a counter of c + 1, per full bucket. Eliminates x_i = (x_{i+1} (i + 1) + x_h s_i) /
/// D_i from below, D_i = lambda + e_i with e_i = c + i e_{i-1} / D_{i-1}.
std::vector<double> relative_loads(double arrivals, double counter,
                                   const std::vector<double>& coming_back) {
  const std::size_t slots = coming_back.size() - 1;
  std::vector<double> loads(slots + 1, 1.0), divisor(slots), from_full(slots);
  double beyond = counter;  // e_i
  for (std::size_t i = 0; i < slots; ++i) {
    if (i > 0) beyond = counter + static_cast<double>(i) * beyond / divisor[i - 1];
    divisor[i] = arrivals + beyond;
    from_full[i] = coming_back[i] + (i > 0 ? arrivals * from_full[i - 1] / divisor[i - 1] : 0);
  }
  for (std::size_t i = slots; i-- > 0;)
    loads[i] = (static_cast<double>(i + 1) * loads[i + 1] + from_full[i]) / divisor[i];
  return loads;
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

/// What each operation reads, given its candidates in their order. An insertion goes on while it
/// has found no room, and while the key may be further on: until a note that is down has ruled
/// that out.
table_accesses accesses_of(std::span<const note_law> candidates, double hit) {
  table_accesses cost{.insert = 0, .hit = hit, .miss = 0, .miss_overflow = 0};
  double missing = 1;       // all notes so far were up
  double without_room = 1;  // all buckets so far were full
  double neither = 1;       // both
  double only_looking = 0;  // room was found, and all notes were up
  for (const note_law& each : candidates) {
    cost.miss += missing;
    cost.insert += without_room + only_looking;
    only_looking = only_looking * each.up + neither * (each.up - each.full_and_up);
    neither *= each.full_and_up;
    without_room *= each.full;
    missing *= each.up;
  }
  cost.miss_overflow = missing;
  return cost;
}

}  // namespace

note_law notes_filling(unsigned slots, double arrivals_mean, unsigned kinds) {
  check(slots, arrivals_mean, largest_mean, kinds);
  if (arrivals_mean == 0) return {};
  const double full = poisson_at_least(arrivals_mean, slots);
  if (arrivals_mean / kinds > always_up) return {.up = 1, .full = full, .full_and_up = 1};
  const double other_kind = std::log1p(-1.0 / kinds);  // -inf for a single kind
  double up = 0;
  detail::for_poisson_from(arrivals_mean, slots + 1ull, [&](std::uint64_t i, double probability) {
    up += probability * -std::expm1(static_cast<double>(i - slots) * other_kind);
    return !detail::negligible(arrivals_mean, i, probability, up);
  });
  return {.up = up, .full = full, .full_and_up = up};
}

note_law notes_churning(unsigned slots, double offered_load, unsigned kinds) {
  check(slots, offered_load, 1e12, kinds);
  const double full = erlang_b(slots, offered_load);
  // Below this the loads, relative to a full bucket, leave the range of doubles.
  if (full < 1e-250) return {.up = 0, .full = full, .full_and_up = 0};
  const double raising = offered_load / kinds;  // of a full bucket's counter, per residence time
  if (raising > always_up) return {.up = 1, .full = full, .full_and_up = full};
  // The counter is at most that of a bucket which turns everyone away, and that is Poisson.
  const auto highest = static_cast<unsigned>(std::ceil(raising + 10 * std::sqrt(raising) + 30));
  // The states with counter c are ratio[c] times the full ones with counter c - 1, in all `mass[c]`
  // and full ones `at_full[c]`. Flow up and down balances: c mass[c] = raising.
  std::vector<double> coming_back(slots + 1, 0.0), at_full(highest + 1), mass(highest + 1);
  for (unsigned c = highest; c > 0; --c) {
    const std::vector<double> loads = relative_loads(offered_load, c, coming_back);
    mass[c] = raising / c;
    at_full[c] = mass[c] / sum_of(loads);
    for (unsigned i = 0; i <= slots; ++i) coming_back[i] = c * at_full[c] * loads[i];
  }
  const double down = sum_of(relative_loads(offered_load, 0, coming_back));
  double up = 0, full_and_up = 0, before = 1;
  for (unsigned c = 1; c <= highest; ++c) {
    up += before * mass[c];
    before *= at_full[c];
    full_and_up += before;
  }
  return {.up = up / (down + up), .full = full, .full_and_up = full_and_up / (down + up)};
}

table_accesses table_accesses_filling(const fluid_parameters& parameters, unsigned kinds) {
  check_scheme(parameters.scheme);
  if (parameters.access_budget)
    detail::refuse("access budget", "absent for a table with notes", *parameters.access_budget);
  if (parameters.admit_probability != 0)
    detail::refuse("admit probability", "0 for a table with notes", parameters.admit_probability);
  const fluid_state state = fluid_limit(parameters);  // checks the parameters
  const double per_bucket = parameters.load_factor * parameters.bucket_capacity * parameters.time;
  std::vector<note_law> candidates;
  if (parameters.scheme == scheme_kind::multilevel) {
    double entering = per_bucket;
    for (const double fraction : parameters.level_fractions) {
      const double mean = entering / fraction;
      candidates.push_back(notes_filling(parameters.bucket_capacity, mean, kinds));
      entering = fraction * poisson_excess(mean, parameters.bucket_capacity);
    }
  } else {
    const unsigned choices = parameters.scheme == scheme_kind::single ? 1 : parameters.choices;
    const double mean = state.mean_accesses * parameters.load_factor * parameters.bucket_capacity;
    candidates.assign(choices, notes_filling(parameters.bucket_capacity, mean, kinds));
  }
  const double placed = parameters.time > 0 ? state.mean_accesses / parameters.time : 1;
  table_accesses cost = accesses_of(candidates, placed);
  cost.insert = placed;
  return cost;
}

table_accesses table_accesses_churning(const churn_parameters& parameters, unsigned kinds) {
  check_scheme(parameters.scheme);
  const churn_state state = churn_limit(parameters);  // checks the parameters
  const double per_bucket = parameters.load_factor * parameters.bucket_capacity;
  std::vector<note_law> candidates;
  if (parameters.scheme == scheme_kind::multilevel) {
    double entering = per_bucket;
    for (const double fraction : parameters.level_fractions) {
      if (fraction == 0) {
        candidates.push_back({.up = 1, .full = 1, .full_and_up = 1});
        continue;
      }
      candidates.push_back(notes_churning(parameters.bucket_capacity, entering / fraction, kinds));
      entering *= candidates.back().full;
    }
  } else {
    const unsigned choices = parameters.scheme == scheme_kind::single ? 1 : parameters.choices;
    candidates.assign(choices, notes_churning(parameters.bucket_capacity,
                                              state.mean_accesses * per_bucket, kinds));
  }
  return accesses_of(candidates, state.mean_accesses);
}

}  // namespace oneprobe::inline v0_1::model
