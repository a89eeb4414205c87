#include "oneprobe/model/reconstruction.hpp"

#include <cmath>
#include <limits>

#include "check.hpp"
#include "oneprobe/model/crisis.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

/// An element of level j stays with probability n / N; then one of the j - 1 others on its way is
/// deleted with probability 1 - prod (n - i) / (N - i).
double moves_uniform(const crisis_result& filled, double stay, double deleted) {
  const double all = stay + deleted;
  double moves = 0;
  double log_none_deleted = 0;
  for (std::size_t level = 1; level < filled.expected_per_level.size(); ++level) {
    const double others = static_cast<double>(level);
    if (others < stay)
      log_none_deleted += std::log1p(-deleted / (all - others));
    else
      log_none_deleted = -std::numeric_limits<double>::infinity();
    moves -= filled.expected_per_level[level] * (stay / all) * std::expm1(log_none_deleted);
  }
  return moves;
}

/// Of |S_1| elements outside level 1, each finds the one in its way deleted with probability
/// deleted / (N - |S_1|), by telescoping the printed product; all n move if |S_1| > n.
double moves_first_level(const crisis_result& filled, double stay, double deleted) {
  const count_distribution& outside = filled.left_after[1];
  const double all = stay + deleted;
  double moves = 0;
  double count = static_cast<double>(outside.first);
  for (const double probability : outside.probability) {
    moves += probability * (count > stay ? stay : count * deleted / (all - count));
    count += static_cast<double>(outside.step);
  }
  return moves;
}

}  // namespace

double expected_moves(std::span<const std::uint64_t> levels, std::uint64_t elements,
                      double deleted_fraction, deletion_order order) {
  const double stay = static_cast<double>(elements);
  detail::check_elements("elements", stay);
  detail::check_range("deleted fraction", deleted_fraction, 0.0, 1.0);
  detail::check_level_sizes(levels);
  const double deleted = std::round(deleted_fraction * stay);
  if (order == deletion_order::first_level && deleted > static_cast<double>(levels[0]))
    detail::refuse("deleted elements", "at most the buckets of the first level", deleted);
  const crisis_result filled = crisis(elements + static_cast<std::uint64_t>(deleted), levels);
  if (deleted == 0) return 0;
  return order == deletion_order::uniform ? moves_uniform(filled, stay, deleted)
                                          : moves_first_level(filled, stay, deleted);
}

}  // namespace oneprobe::inline v0_1::model
