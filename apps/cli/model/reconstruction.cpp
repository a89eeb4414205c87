#include "oneprobe/model/reconstruction.hpp"

#include "model/common.hpp"

namespace oneprobe::cli {
namespace {

constexpr option stay{"--elements", "N", "number of elements that stay"};
constexpr option deleted_fraction{"--deleted-fraction", "ALPHA",
                                  "deleted elements, as a fraction of those that stay"};
constexpr option deletions{"--deletions", "WHERE", "uniform or first-level"};

constexpr std::array<word<model::deletion_order>, 2> orders{{
    {"uniform", model::deletion_order::uniform},
    {"first-level", model::deletion_order::first_level},
}};

report answer(const arguments& in) {
  const auto n = in.count(stay);
  const auto sizes = in.counts(levels);
  const double alpha = in.number(deleted_fraction);
  const auto order = in.choice(deletions, orders);
  report out("Elements that move when lazily deleted ones are cleared away", "SSH, Section XI-A");
  const double moves = model::expected_moves(sizes, n, alpha, order);
  return out.number("expected_moves", moves, "elements, an upper bound about 3 % high")
      .fraction("moved_fraction", moves / static_cast<double>(n), "of those that stay");
}

}  // namespace

const command reconstruction_command{
    .name = "reconstruction",
    .summary = "moves of a table that clears away deletions",
    .details = "",
    .source = "SSH, Section XI-A",
    .example =
        "--elements 9090 --levels 40k,10k,5k,2.5k,2.5k --deleted-fraction 0.1 "
        "--deletions uniform",
    .options = {{&stay}, {&levels}, {&deleted_fraction}, {&deletions}},
    .answer = answer,
};

}  // namespace oneprobe::cli
