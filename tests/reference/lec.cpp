// Document 002, LEC.

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "oneprobe/model/balls.hpp"
#include "oneprobe/universal_hash.hpp"
#include "registry.hpp"

namespace reference {

using namespace oneprobe::model;

namespace {

constexpr std::uint64_t prime = 31;

/// The largest probability with which two of the keys 1, ..., u collide in n bins, over all
/// ((a x + b) mod p) mod n with a from 1 to `largest` and b from 0 to `largest`.
double worst_collision(std::uint64_t u, std::uint64_t n, std::uint64_t largest) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> collisions;
  for (std::uint64_t a = 1; a <= largest; ++a)
    for (std::uint64_t b = 0; b <= largest; ++b) {
      using family = oneprobe::affine_hash<prime, prime - 1>;
      const family hash(family::words{{{b, a}}});
      for (std::uint64_t x = 1; x <= u; ++x)
        for (std::uint64_t y = x + 1; y <= u; ++y)
          collisions[{x, y}] += hash.bin(x, n) == hash.bin(y, n) ? 1u : 0u;
    }
  std::uint64_t most = 0;
  for (const auto& [pair, count] : collisions) most = std::max(most, count);
  return static_cast<double>(most) / static_cast<double>(largest * (largest + 1));
}

}  // namespace

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
  all.add("002/carter_wegman_worst_collision(", exact, [](const arguments& a, const numbers&) {
    if (a.whole("p") != prime) throw std::invalid_argument(a.key() + ": another prime");
    // Erratum 2.5: the ranges that are printed, which are too small, and the right ones.
    const bool as_printed = a.key().find("a,b in [u]") != std::string::npos;
    const std::uint64_t largest = as_printed ? a.whole("u") : prime - 1;
    return numbers{worst_collision(a.whole("u"), a.whole("n"), largest)};
  });
}

}  // namespace reference
