// Document 002, LEC.

#include <cmath>

#include "oneprobe/model/balls.hpp"
#include "registry.hpp"

namespace reference {

using namespace oneprobe::model;

void add_lec(registry& all) {
  all.add("002/P_collision(", exact, [](const arguments& a, const numbers&) {
    return numbers{collision_probability(a.number("m"), a.number("n"))};
  });
  all.add("002/E_collisions(", exact, [](const arguments& a, const numbers&) {
    return numbers{expected_collisions(a.number("m"), a.number("n"))};
  });
  all.add("002/P_bin_empty(", exact, [](const arguments& a, const numbers&) {
    return numbers{empty_fraction(a.number("n"), a.number("n"))};
  });
  all.add("002/E_empty_bins(", exact, [](const arguments& a, const numbers&) {
    return numbers{a.number("n") * empty_fraction(a.number("n"), a.number("n"))};
  });
  all.add("002/P_bin_has_k(", exact, [](const arguments& a, const numbers&) {
    return numbers{bin_has(a.number("n"), a.number("n"), a.whole("k"))};
  });
  all.add("002/P_bin_ge_k(", exact, [](const arguments& a, const numbers&) {
    return numbers{bin_has_at_least(a.number("n"), a.number("n"), a.whole("k"))};
  });
  all.add("002/Thm7.1.1_proof_valid_for_ln_n_above", exact,
          [](const arguments&, const numbers&) { return numbers{max_load_proof_threshold()}; });
  all.add("002/union_bound_P(maxload>3ln n/lnln n)", exact, [](const arguments& a, const numbers&) {
    const double n = a.number("n");
    const auto load = static_cast<std::uint64_t>(std::floor(max_load_theorem(n)));
    return numbers{max_load_exceeds_bound(n, n, load)};
  });
  all.add("002/P(maxload>=k)", exact, [](const arguments& a, const numbers&) {
    return max_load_at_least(a.whole("n"), a.whole("n"), 10);
  });
  // Entries of 0.0 are fractions below the smallest double.
  all.add(
      "002/fluid fraction of bins with >=i balls", by_ode,
      [](const arguments& a, const numbers&) { return bins_with_at_least(1, a.whole("d"), 8); });
  all.add("002/E[maxload](n=100,d=1) exact", exact,
          [](const arguments&, const numbers&) { return numbers{expected_max_load(100, 100)}; });
  all.omissions.push_back({"002/carter_wegman_worst_collision(",
                           "a property of the hash family ((a x + b) mod p) mod n, which is no "
                           "formula of model/ but a hash"});
}

}  // namespace reference
