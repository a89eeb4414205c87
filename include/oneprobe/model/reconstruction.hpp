// Lazy deletion: how many elements a reconstruction of the table moves (SSH, Section XI-A).
//
// The table holds (1 + alpha) n elements, alpha n of them marked deleted; reconstruction moves an
// element down to the first level that now has room for it. E[M'] counts the elements that pass a
// deleted one on their way: an approximate upper bound on the moves, about 3 % above them.
//
//   double moves = expected_moves({40000, 10000, 5000, 2500, 2500}, 9090, 0.1,
//                                 deletion_order::uniform);    // 100.02
#pragma once

#include <cstdint>
#include <span>

namespace oneprobe::inline v0_1::model {

/// Which elements are marked deleted when the table is reconstructed.
enum class deletion_order {
  uniform,      // the deleted ones are random
  first_level,  // ... random among those of level 1, the worst place
};

/// `elements` (n) stay, deleted_fraction (alpha, 0 to 1) times as many are deleted, rounded to
/// whole ones. All of them together must fit into the buckets, and for `first_level` the deleted
/// ones into the first level. Where more than exact_limit elements enter a level, as good as
/// `crisis` is there.
double expected_moves(std::span<const std::uint64_t> levels, std::uint64_t elements,
                      double deleted_fraction, deletion_order order);

}  // namespace oneprobe::inline v0_1::model
