#include "oneprobe/model/balanced_levels.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "block_law.hpp"
#include "check.hpp"
#include "numeric.hpp"
#include "placed_levels.hpp"

namespace oneprobe::inline v0_1::model {

struct built_filter::law {
  explicit law(const balanced_shape& asked) : shape(asked) {
    detail::check_shape(shape);
    if (shape.rule == lookup_rule::popcount)
      popcount.emplace(shape.block_bits - shape.state_bits(), shape.bits_set, shape.threshold,
                       shape.tracking_bits);
    else
      counter.emplace(shape, detail::errors_by_load(shape, shape.threshold + 1));
  }

  detail::block_outcome outcome(double mean) const {
    return counter ? counter->outcome(mean) : popcount->outcome(mean);
  }
  double refusal(double mean) const {
    return counter ? counter->refusal(mean) : popcount->refusal(mean);
  }
  double match_when_forced(double mean, double share) const {
    if (popcount) return popcount->match_when_forced(mean, share);
    // From as many elements as bits on, a block matches everything.
    return counter->match_when_forced(
        mean, share, detail::errors_by_load(shape, shape.threshold + 1 + shape.block_bits));
  }

  bool levelled() const { return shape.scheme == scheme_kind::multilevel; }

  balanced_shape shape;
  std::optional<detail::counter_block> counter;
  std::optional<detail::popcount_block> popcount;
};

built_filter::built_filter(const balanced_shape& shape)
    : law_(std::make_shared<const law>(shape)) {}

void detail::check_built(double elements, const built_levels& levels, std::size_t most_levels) {
  check_elements("elements", elements);
  if (levels.blocks.empty() || levels.blocks.size() > most_levels)
    refuse("levels", "1, and up to 32 in a multilevel filter",
           static_cast<double>(levels.blocks.size()));
  for (const double blocks : levels.blocks) check_elements("blocks", blocks);
  check_range("arrivals per block", elements / levels.blocks.front(), smallest_mean, 4096);
  check_range("slots of the overflow list", levels.overflow_slots, 0, most_elements);
  check_range("reserve of the overflow list", levels.overflow_reserve, 0, levels.overflow_slots);
}

double overflow_list_match(double fingerprint_bits, double load) {
  detail::check_range("fingerprint bits of the overflow list", fingerprint_bits, 1.0, 1024.0);
  detail::check_range("load of the overflow list", load, 0.0, 0.99);
  const double room = 1 - load;
  return 0.5 * (1 / (room * room) - 1) * std::exp2(-fingerprint_bits);
}

double built_filter::refused_fraction(double arrivals_mean) const {
  detail::check_range("arrivals per block", arrivals_mean, detail::smallest_mean, 4096);
  return law_->outcome(arrivals_mean).refused_mean / arrivals_mean;
}

namespace {

/// All candidates among the same blocks: the loads are those of one choice with a faster clock (see
/// sequential.hpp), whose end is found by Newton's method.
template <class Law>
detail::placed_elements place_sequentially(const Law& law, double elements, double blocks) {
  const unsigned choices = law.shape.choices;
  const auto accesses_at = [&](double mean) {
    return detail::geometric_sum(law.refusal(mean), choices);
  };
  const double per_block = elements / blocks;
  double mean = per_block;
  for (int step = 0; step < 50; ++step) {
    const double handled = detail::integrate([&](double x) { return 1 / accesses_at(x); }, 0, mean);
    const double change = (per_block - handled) * accesses_at(mean);
    mean += change;
    if (std::abs(change) <= 1e-9 * mean) break;
  }
  detail::placed_elements placed;
  placed.blocks.assign(choices, law.outcome(mean));
  placed.accesses = mean * blocks;
  placed.overflow = blocks * detail::integrate(
                                 [&](double x) {
                                   const double refused = law.refusal(x);
                                   return detail::power(refused, choices) /
                                          detail::geometric_sum(refused, choices);
                                 },
                                 0, mean);
  placed.deviation = std::sqrt(placed.overflow);
  return placed;
}

template <class Law>
detail::placed_elements place(const Law& law, double elements, const built_levels& levels) {
  if (law.shape.scheme == scheme_kind::sequential)
    return place_sequentially(law, elements, levels.blocks.front());
  return detail::place_in_levels([&](double mean) { return law.outcome(mean); }, elements,
                                 levels.blocks);
}

}  // namespace

built_error built_filter::at(double elements, const built_levels& levels) const {
  detail::check_built(elements, levels, law_->levelled() ? largest_choices : 1);
  const detail::placed_elements placed = place(*law_, elements, levels);
  const double listed = std::min(placed.overflow, levels.overflow_reserve);
  // Below half an element nothing is forced: the mean of a number that is almost always 0.
  const double forced = placed.overflow - listed < 0.5 ? 0 : placed.overflow - listed;

  built_error error;
  error.overflow_fraction = placed.overflow / elements;
  error.overflow_deviation = placed.deviation;
  error.forced_fraction = forced / elements;
  error.insert_accesses = placed.accesses / elements;
  // A forced element is found at once, in its first candidate.
  const double walked =
      error.insert_accesses - static_cast<double>(placed.blocks.size()) * error.forced_fraction;
  error.hit_accesses = walked + error.forced_fraction + listed / elements;
  // Forced into the first candidate, which had refused it: a share of what the first level refused.
  // They come late, when the list is full; here they come at any time, which is the same where the
  // list is small against them.
  const detail::block_outcome& first = placed.blocks.front();
  const double share =
      std::min(1.0, forced / std::max(levels.blocks.front() * first.refused_mean, forced));
  const double forced_match =
      forced > 0 ? law_->match_when_forced(first.arrivals_mean, share) : first.match;
  double reach = 1;
  for (std::size_t i = 0; i < placed.blocks.size(); ++i) {
    const detail::block_outcome& block = placed.blocks[i];
    const bool forced_here = forced > 0 && (i == 0 || !law_->levelled());
    const double match = forced_here ? forced_match : block.match;
    error.fpr += reach * match;
    error.miss_accesses += reach;
    reach *= forced_here ? block.continue_probability * (1 - match) : block.continue_without_match;
  }
  for (std::size_t i = 0; i < levels.blocks.size(); ++i)
    error.arrivals_mean.push_back(placed.blocks[i].arrivals_mean);
  error.miss_accesses += reach;
  error.list_queries = reach;
  error.fpr +=
      reach * overflow_list_match(law_->shape.overflow.fingerprint_bits,
                                  levels.overflow_slots > 0 ? listed / levels.overflow_slots : 0);
  return error;
}

}  // namespace oneprobe::inline v0_1::model
