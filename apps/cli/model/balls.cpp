#include "oneprobe/model/balls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/common.hpp"

namespace oneprobe::cli {
namespace {

constexpr option balls{"--balls", "M", "number of balls; 10M and 1e8 are numbers"};
constexpr option bins{"--bins", "N", "number of bins"};
constexpr option bins_per_ball{"--choices", "T", "bins each ball may choose from (default 1)"};

// Up to here the exact distribution of the maximum is cheap.
constexpr std::uint64_t exact_maximum_limit = 2000;

/// LEC states its theorem for as many balls as bins and at least three of them.
bool theorem_applies(std::uint64_t m, std::uint64_t n) { return m == n && n >= 3; }

void add_maximum_of_one_choice(report& out, std::uint64_t m, std::uint64_t n) {
  const auto exact_m = static_cast<double>(m), exact_n = static_cast<double>(n);
  const auto union_bound = model::max_load_union_bound(exact_m, exact_n, 1 / exact_n);
  if (theorem_applies(m, n))
    out.number("max_load_bound", model::max_load_theorem(exact_n), "but with probability 1/N")
        .text("max_load_bound_from", "LEC, Theorem 7.1.1");
  else
    out.whole("max_load_bound", union_bound, "but with probability 1/N")
        .text("max_load_bound_from", "union bound over the bins");
  out.whole("max_load_union_bound", union_bound, "but with probability 1/N");
  if (n >= 3)
    out.number("max_load_leading_term", model::max_load_leading_term(exact_n, 1),
               "for M = N, ln N / ln ln N");
  if (m <= exact_maximum_limit && n <= exact_maximum_limit)
    out.number("expected_max_load", model::expected_max_load(m, n), "exact");
}

void add_maximum_of_many_choices(report& out, std::uint64_t m, std::uint64_t n, unsigned t) {
  if (n < 3) {
    out.nothing("max_load_bound", "only from three bins up");
    return;
  }
  const double exact_n = static_cast<double>(n);
  out.whole("max_load_bound",
            model::max_load_fluid_bound(static_cast<double>(m), exact_n, t, 1 / exact_n),
            "but with probability 1/N")
      .text("max_load_bound_from", "union bound over the bins, their loads by the fluid limit")
      .number("max_load_leading_term", model::max_load_leading_term(exact_n, t),
              "for M = N, ln ln N / ln T, + O(1)");
}

/// Pairs of balls in the same bin.
double colliding_pairs(const std::vector<double>& occupancy, double n) {
  double pairs = 0;
  for (std::size_t k = 2; k < occupancy.size(); ++k)
    pairs += occupancy[k] * static_cast<double>(k) * static_cast<double>(k - 1) / 2;
  return n * pairs;
}

report answer(const arguments& in) {
  const auto m = in.count(balls);
  const auto n = in.count(bins);
  const unsigned t = in.maybe_whole(bins_per_ball).value_or(1);
  const auto exact_m = static_cast<double>(m), exact_n = static_cast<double>(n);
  report out(fmt::format("{} balls in {} bins", grouped(exact_m), grouped(exact_n)),
             "LEC, Sections 7.1 and 7.2.1");
  const auto occupancy = model::bin_occupancy(exact_m, exact_n, t);
  if (t == 1)
    out.number("expected_collisions", model::expected_collisions(exact_m, exact_n), "pairs")
        .probability("collision_probability", model::collision_probability(exact_m, exact_n));
  else
    out.number("expected_collisions", colliding_pairs(occupancy, exact_n), "pairs")
        .nothing("collision_probability", "for one choice only");
  out.fraction("empty_fraction", occupancy.empty() ? 0.0 : occupancy.front(), "of the bins");
  if (t == 1)
    add_maximum_of_one_choice(out, m, n);
  else
    add_maximum_of_many_choices(out, m, n, t);
  return out.fractions("occupancy", occupancy, "balls", 0);
}

}  // namespace

const command balls_command{
    .name = "balls",
    .summary = "collisions, empty bins, maximum load",
    .details =
        "With more than one choice each ball takes the emptiest of its bins, and occupancy "
        "is the limit for many bins.",
    .source = "LEC, Sections 7.1 and 7.2.1",
    .example = "--balls 23 --bins 365",
    .options = {{&balls}, {&bins}, {&bins_per_ball, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
