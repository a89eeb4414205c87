#include "oneprobe/model/fingerprint.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "block_law.hpp"
#include "check.hpp"
#include "filter_search.hpp"
#include "numeric.hpp"
#include "oneprobe/model/poisson.hpp"
#include "placed_levels.hpp"
#include "poisson_series.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

void check(const fingerprint_shape& shape) {
  detail::check_overflow_list(shape.overflow);
  detail::check_range("block bits", shape.block_bits, 16, 4096);
  detail::check_range("bucket capacity", shape.bucket_capacity, 1, 4096);
  detail::check_range("remainder bits", shape.remainder_bits, shape.quotient_header ? 0 : 2, 56);
  detail::check_range("note bits", shape.note_bits, 1, 64);
  detail::check_choices(shape.choices);
  if (shape.quotients() < 1)
    detail::refuse(
        "bucket capacity x (remainder bits + 1) + note bits", "below the block bits",
        static_cast<double>(shape.bucket_capacity) * (shape.remainder_bits + 1) + shape.note_bits);
}

/// Probability that a stored fingerprint equals that of an absent key.
double collision(const fingerprint_shape& shape) {
  const double remainders = std::exp2(shape.remainder_bits);
  return shape.quotient_header ? 1 / (static_cast<double>(shape.quotients()) * remainders)
                               : 1 / (remainders - 1);
}

/// One bucket after X ~ Poisson(mean) arrivals.
///
/// Prefix order: the h smallest fingerprints stay. The query's rank among X + 1 fingerprints is
/// uniform, so it exceeds the largest kept one with probability (X + 1 - h) / (X + 1) when X > h;
/// it collides with any of the X, kept or passed on, since those passed on have met the same
/// buckets since. First come: h stay, the query collides with those only, and goes on if one of
/// the X - h refused ones set its tracking bit.
detail::block_outcome bucket_outcome(const fingerprint_shape& shape, double mean) {
  const std::uint64_t h = shape.bucket_capacity;
  const double equal = collision(shape);
  const double log_differs = std::log1p(-equal);
  const double missed = 1 - 1.0 / shape.note_bits;
  const bool prefix = shape.order == overflow_order::prefix;
  detail::block_outcome block;
  block.arrivals_mean = mean;
  block.refused_mean = poisson_excess(mean, h);
  block.refusal = poisson_at_least(mean, h);
  // E[1 - (1 - equal)^X] in closed form for all arrivals, less what first come does not keep.
  block.match = -std::expm1(-mean * equal);
  double not_kept = 0, sum = 0;
  detail::for_poisson_from(mean, h + 1, [&](std::uint64_t x, double probability) {
    const auto arrivals = static_cast<double>(x);
    const double beyond = static_cast<double>(x - h);
    block.refused_square += probability * beyond * beyond;
    const double goes_on = prefix ? (beyond + 1) / (arrivals + 1) : 1 - std::pow(missed, beyond);
    const double compared = prefix ? arrivals : static_cast<double>(h);
    block.continue_probability += probability * goes_on;
    block.continue_without_match += probability * goes_on * std::exp(compared * log_differs);
    // (1 - equal)^h - (1 - equal)^x
    not_kept += probability * std::exp(static_cast<double>(h) * log_differs) *
                -std::expm1(beyond * log_differs);
    sum += probability;
    return !detail::negligible(mean, x, probability, sum);
  });
  if (!prefix) block.match -= not_kept;
  return block;
}

filter_error filter_at(const fingerprint_shape& shape, double mean) {
  return detail::walk_filter(bucket_outcome(shape, mean), shape.choices, shape.block_bits,
                             shape.overflow);
}

std::optional<double> arrivals_for(const fingerprint_shape& shape, double bits_per_element,
                                   double largest_ratio) {
  // Memory needs the refusals only.
  const auto bits_at = [&](double mean) {
    const double passed = poisson_excess(mean, shape.bucket_capacity) / mean;
    return shape.block_bits * detail::geometric_sum(passed, shape.choices) / mean +
           shape.overflow.bits_per_element() * detail::power(passed, shape.choices);
  };
  return detail::arrivals_for_memory(bits_at, bits_per_element, shape.block_bits, largest_ratio);
}

/// The same where equal fingerprints are one: each of the Q 2^f is there with a probability of its
/// own, so that the number of different ones is close to Poisson with a smaller mean.
detail::block_outcome distinct_outcome(const fingerprint_shape& shape, double mean) {
  const double equal = collision(shape);
  detail::block_outcome block = bucket_outcome(shape, -std::expm1(-mean * equal) / equal);
  block.arrivals_mean = mean;
  block.match = -std::expm1(-mean * equal);
  return block;
}

/// Of the buckets of the last level, those that had to hand an element on when the list was full.
struct saturation {
  double share = 0;   // of all buckets
  double marked = 1;  // of those that passed something on, the share that is not saturated
};
saturation saturated(const fingerprint_shape& shape, double buckets, double mean, double reserve) {
  const std::uint64_t h = shape.bucket_capacity;
  if (buckets * poisson_excess(mean, h) - reserve < 0.5) return {};
  // The list was full when so many had come to each bucket on average.
  double low = 0, high = mean;
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    (buckets * poisson_excess(middle, h) < reserve ? low : high) = middle;
  }
  // Saturated: more than h came in all, and one of them since.
  const double spared = poisson_at_least(low, h + 1) * std::exp(low - mean);
  const double all = poisson_at_least(mean, h + 1);
  return {.share = std::max(0.0, all - spared),
          .marked = all > 0 ? std::min(1.0, spared / all) : 1};
}

}  // namespace

double handed_on_fraction(const fingerprint_shape& shape, double arrivals_mean) {
  check(shape);
  detail::check_range("arrivals per block", arrivals_mean, detail::smallest_mean, 4096);
  return distinct_outcome(shape, arrivals_mean).refused_mean / arrivals_mean;
}

built_error evaluate_built(const fingerprint_shape& shape, double elements,
                           const built_levels& levels) {
  check(shape);
  if (shape.order != overflow_order::prefix || !shape.quotient_header)
    detail::refuse("order", "prefix, with a header, in a filter as it is built", 0);
  detail::check_built(elements, levels, largest_choices);
  const detail::placed_elements placed = detail::place_in_levels(
      [&](double mean) { return distinct_outcome(shape, mean); }, elements, levels.blocks);
  const detail::block_outcome& last = placed.blocks.back();
  const saturation full =
      saturated(shape, levels.blocks.back(), last.arrivals_mean, levels.overflow_reserve);
  const double listed = std::min(placed.overflow, levels.overflow_reserve);

  built_error error;
  error.overflow_fraction = placed.overflow / elements;
  error.overflow_deviation = placed.deviation;
  error.forced_fraction = full.share * levels.blocks.back() / elements;
  error.insert_accesses = placed.accesses / elements;
  error.hit_accesses = error.insert_accesses + listed / elements;
  double reach = 1;
  for (const detail::block_outcome& block : placed.blocks) {
    const bool saturates = &block == &last && full.share > 0;
    const double match = saturates ? full.share + (1 - full.share) * block.match : block.match;
    error.fpr += reach * match;
    error.miss_accesses += reach;
    error.arrivals_mean.push_back(block.arrivals_mean);
    reach *= block.continue_without_match * (saturates ? full.marked : 1);
  }
  error.miss_accesses += reach;
  error.list_queries = reach;
  error.fpr +=
      reach * overflow_list_match(shape.overflow.fingerprint_bits,
                                  levels.overflow_slots > 0 ? listed / levels.overflow_slots : 0);
  return error;
}

std::string_view name_of(overflow_order order) {
  switch (order) {
    case overflow_order::first_come:
      return "first-come";
    case overflow_order::prefix:
      return "prefix";
  }
  throw std::logic_error("oneprobe: unknown overflow order");
}

long fingerprint_shape::quotients() const {
  const long left = static_cast<long>(block_bits) - static_cast<long>(note_bits) -
                    static_cast<long>(bucket_capacity) * static_cast<long>(remainder_bits);
  if (quotient_header) return left - static_cast<long>(bucket_capacity);
  return left >= 0 ? 1 : 0;
}

filter_error evaluate(const fingerprint_shape& shape, double arrivals_mean) {
  check(shape);
  detail::check_range("arrivals per block", arrivals_mean, detail::smallest_mean, 4096);
  return filter_at(shape, arrivals_mean);
}

std::optional<double> arrivals_for_memory(const fingerprint_shape& shape, double bits_per_element) {
  check(shape);
  detail::check_bits_per_element(bits_per_element);
  return arrivals_for(shape, bits_per_element, 4);
}

overfilled overfill(const fingerprint_shape& shape, double design_arrivals, double slack,
                    double fill) {
  check(shape);
  detail::check_range("arrivals per block", design_arrivals, detail::smallest_mean, 4096);
  detail::check_range("slack", slack, 0.0, 10.0);
  detail::check_range("fill", fill, 0.0, 10.0);
  // Buckets of each level per element of the rated number: level 1 sees `design_arrivals` each,
  // and so does every later level before it is enlarged.
  std::vector<double> buckets;
  const double passed = poisson_excess(design_arrivals, shape.bucket_capacity) / design_arrivals;
  double all_buckets = 0;
  for (unsigned level = 0; level < shape.choices; ++level) {
    buckets.push_back(detail::power(passed, level) / design_arrivals *
                      (level == 0 ? 1 : 1 + slack));
    all_buckets += buckets.back();
  }
  overfilled result;
  result.block_bits_per_element = shape.block_bits * all_buckets;
  double entering = fill;  // per element of the rated number
  double reached = 1;      // by a negative query
  double accesses = 0;
  for (unsigned level = 0; level < shape.choices; ++level) {
    accesses += entering;
    result.miss_accesses += reached;
    const double mean = entering / buckets[level];
    result.arrivals_mean.push_back(mean);
    if (!(mean > 0)) {
      entering = reached = 0;
      break;
    }
    const detail::block_outcome block = bucket_outcome(shape, mean);
    result.fpr += reached * block.match;
    reached *= block.continue_without_match;
    entering = block.refused_mean * buckets[level];
  }
  result.miss_accesses += reached;
  result.fpr += reached * shape.overflow.error();
  if (fill > 0) {
    result.overflow_fraction = entering / fill;
    result.hit_accesses = (accesses + entering) / fill;
  }
  return result;
}

fingerprint_point choose_fingerprint(const fingerprint_needs& needs) {
  detail::check_overflow_list(needs.overflow);
  detail::check_bits_per_element(needs.bits_per_element);
  detail::check_range("block bits", needs.block_bits, 64, 4096);
  detail::check_range("access limit", needs.access_limit, 1.0, 64.0);
  detail::check_choices(needs.largest_choices);
  if (needs.choices) detail::check_choices(*needs.choices);
  if (needs.remainder_bits) detail::check_range("remainder bits", *needs.remainder_bits, 0, 56);
  detail::best_point<fingerprint_point> best(needs.access_limit);
  const double per_block = needs.block_bits / needs.bits_per_element;
  const auto fewest = static_cast<unsigned>(std::max(1.0, 0.8 * per_block));
  const auto most = static_cast<unsigned>(per_block + 4 * std::sqrt(per_block) + 2);
  const std::vector<unsigned> notes = needs.order == overflow_order::prefix
                                          ? std::vector<unsigned>{1}
                                          : std::vector<unsigned>{1, 2, 4, 8, 12, 16};
  for (unsigned choices = needs.choices.value_or(1);
       choices <= needs.choices.value_or(needs.largest_choices); ++choices)
    for (unsigned capacity = fewest; capacity <= most; ++capacity) {
      fingerprint_shape shape{.block_bits = needs.block_bits,
                              .bucket_capacity = capacity,
                              .choices = choices,
                              .order = needs.order,
                              .overflow = needs.overflow};
      // How full the buckets get does not depend on what they hold.
      const auto mean = arrivals_for(shape, needs.bits_per_element,
                                     std::min<double>(needs.access_limit, choices) + 0.1);
      if (!mean) continue;
      const unsigned longest = std::min(56u, needs.block_bits / capacity);
      for (unsigned bits = needs.remainder_bits.value_or(longest > 4 ? longest - 4 : 0);
           bits <= needs.remainder_bits.value_or(longest); ++bits)
        for (const unsigned note : notes) {
          shape.remainder_bits = bits;
          shape.note_bits = note;
          if (shape.quotients() >= 1) best.offer({shape, *mean, filter_at(shape, *mean)});
        }
    }
  if (best.best()) return *best.best();
  throw std::invalid_argument("no fingerprint filter of " + detail::show(needs.bits_per_element) +
                              " bits per element stays within " + detail::show(needs.access_limit) +
                              " accesses per query; allow more of either");
}

}  // namespace oneprobe::inline v0_1::model
