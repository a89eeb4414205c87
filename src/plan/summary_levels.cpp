#include "summary_levels.hpp"

#include <algorithm>
#include <cmath>

#include "oneprobe/model/churn.hpp"

namespace oneprobe::inline v0_1::planning {

double level_law::left_over(double entering, double buckets) const {
  const double mean = entering / buckets;
  if (churns) return entering * model::erlang_b(bucket_capacity, mean);
  // E[(X - h)+] of a Poisson number X: summed from h on where little is left, so that digits are
  // kept, and as a mean less h where most is.
  double term = std::exp(-mean), above = 0, below = 0;
  constexpr double negligible = 1e-17;
  if (mean > bucket_capacity) {
    for (std::uint32_t i = 0; i < bucket_capacity; term *= mean / ++i)
      below += (bucket_capacity - i) * term;
    return buckets * (mean - bucket_capacity + below);
  }
  for (double i = 1; i < bucket_capacity + 200; ++i) {
    term *= mean / i;
    if (i <= bucket_capacity) continue;
    const double more = (i - bucket_capacity) * term;
    above += more;
    if (more < negligible * above) break;
  }
  return buckets * above;
}

double level_law::nonempty(double entering, double buckets) const {
  const double mean = entering / buckets;
  if (!churns) return -std::expm1(-mean);
  double sum = 1, term = 1;
  for (std::uint32_t i = 1; i <= bucket_capacity; ++i) sum += term *= mean / i;
  return (sum - 1) / sum;
}

double level_loads::from(std::size_t level) const {
  double sum = 0;
  for (std::size_t i = stored.size(); i > level; --i) sum += stored[i - 1];
  return std::min(sum, elements);
}

level_loads loads_of(const level_law& law, double elements, const std::vector<double>& buckets) {
  level_loads loads;
  loads.elements = elements;
  loads.churns = law.churns;
  const bool piles_up = law.worst && law.churns;
  const level_law filling{law.bucket_capacity, (law.churns || law.worst) && !piles_up};
  loads.left = elements;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const double entering = loads.left;
    loads.entering.push_back(entering);
    loads.nonempty.push_back(filling.nonempty(entering, buckets[i]));
    if (piles_up && i == 0) {
      loads.stored.push_back(entering);  // now one, now another: all come by
      continue;
    }
    loads.left = std::min(entering, filling.left_over(entering, buckets[i]));
    loads.stored.push_back(entering - loads.left);
  }
  return loads;
}

std::optional<std::vector<double>> levels_with_skew(const level_law& law, double elements,
                                                    double buckets, std::uint32_t levels,
                                                    double most_left) {
  if (buckets < levels) return std::nullopt;
  std::optional<std::vector<double>> best;
  double fewest = 0;
  // The first level's share, and by what each further one is smaller than the one before.
  for (double first = 0.3; first < 0.985; first += 0.01)
    for (double ratio = 0.1; ratio < 0.96; ratio += 0.05) {
      // Whole buckets; the first level has what the others leave.
      std::vector<double> sizes{buckets};
      const double second =
          levels == 1 ? 0
                      : (1 - first) * buckets * (1 - ratio) / (1 - std::pow(ratio, levels - 1.0));
      for (std::uint32_t i = 1; i < levels; ++i) {
        sizes.push_back(std::ceil(second * std::pow(ratio, i - 1.0)));
        sizes[0] -= sizes.back();
      }
      if (sizes[0] < 1) continue;
      const level_loads loads = loads_of(law, elements, sizes);
      if (loads.left > most_left) continue;
      // Where all elements are beyond the first level in the end, the second one counts.
      const double beyond = loads.from(law.worst && law.churns ? 2 : 1);
      if (best && beyond >= fewest) continue;
      best = sizes;
      fewest = beyond;
    }
  return best;
}

}  // namespace oneprobe::inline v0_1::planning
