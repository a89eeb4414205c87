#include <algorithm>
#include <cmath>
#include <limits>

#include "contenders.hpp"
#include "oneprobe/detail/planning/balanced_layout.hpp"
#include "oneprobe/model/balanced_levels.hpp"
#include "oneprobe/model/fingerprint.hpp"
#include "root.hpp"
#include "sized.hpp"

namespace oneprobe::inline v0_1::planning {
namespace {

constexpr double impossible = std::numeric_limits<double>::infinity();
constexpr double search_precision = 1e-6;

struct found {
  double score = impossible;  // less is better
  fingerprint_design design{};
};

class fingerprint_search {
 public:
  /// `margin`: so much stricter than asked, since whole buckets change the last digits.
  fingerprint_search(const goal& what, std::uint32_t most_choices, double margin)
      : what_(what), most_choices_(most_choices) {
    what_.accesses -= margin * (what_.accesses - 1);
    if (what_.fpr) *what_.fpr *= 1 - margin;
  }

  found run(const std::optional<fingerprint_bucket_shape>& only) {
    if (only) {
      // Fewer choices are not better where one fewer was worse already.
      for (std::uint32_t d = most_choices_; d >= 1; --d)
        if (!improves(*only, d) && best_.score != impossible) break;
      return best_;
    }
    for (std::uint32_t f = fingerprint_bucket_shape::least_remainder_bits;
         f <= fingerprint_bucket_shape::most_remainder_bits; ++f)
      for (std::uint32_t h = 1; h <= fingerprint_bucket_shape::most_capacity; ++h) {
        const fingerprint_bucket_shape fingerprint_bucket{.bucket_capacity = h,
                                                          .remainder_bits = f};
        if (!fingerprint_bucket.fits() || !promising(fingerprint_bucket)) continue;
        for (std::uint32_t d = 1; d <= most_choices_; ++d) improves(fingerprint_bucket, d);
      }
    return best_;
  }

 private:
  /// Whether this is the best so far; it is kept then.
  bool improves(const fingerprint_bucket_shape& fingerprint_bucket, std::uint32_t choices) {
    fingerprint_design design;
    design.fingerprint_bucket = fingerprint_bucket;
    design.choices = choices;
    const double score = fill(design);
    if (!(score < best_.score)) return false;
    best_ = {score, design};
    return true;
  }

  double bits() const { return 8 * static_cast<double>(what_.bytes) / what_.n(); }

  /// A well-filled bucket has about as many elements as it has room for, and errs for about as many
  /// of its fingerprints: h / (Q 2^f). What is far from the goal needs no closer look. The limits
  /// only save time, and are wide for that: a plan at one of them is beaten by its neighbours.
  ///
  /// For an error: one that errs four times too often when it is full would have to stay three
  /// quarters empty, where two bits more of remainder do the same for some more memory; one that
  /// errs a tenth as often as wanted has three bits of remainder too many, and fewer are to be had
  /// unless there are hardly any (least_remainder_bits is 4).
  ///
  /// For memory: if all of it were in one level, so many elements would come to a bucket. Three
  /// quarters of that as room would pass on a quarter of all; from 1.6 times as much on, more slots
  /// are empty than the spread of arrivals needs (8: of small buckets that is several times the
  /// root of their mean).
  bool promising(const fingerprint_bucket_shape& fingerprint_bucket) const {
    const double capacity = fingerprint_bucket.bucket_capacity;
    if (what_.fpr) {
      const double error = capacity / static_cast<double>(fingerprint_bucket.fingerprints());
      return error < 4 * *what_.fpr &&
             (error > 0.1 * *what_.fpr || fingerprint_bucket.remainder_bits < 6);
    }
    const double per_bucket = fingerprint_bucket_shape::bits / bits();
    return capacity > 0.75 * per_bucket && capacity < 1.6 * per_bucket + 8;
  }

  /// With `mean` elements per bucket of the first level.
  sized size(fingerprint_design& design, double mean) const {
    const model::fingerprint_shape shape = shape_of(design.fingerprint_bucket);
    design.elements_per_block = mean;
    // Room for more elements than the slack has is cheaper in later levels than in the list.
    const double grown = later_level_growth(what_.absorbed);
    design.refused_fraction = grown * model::handed_on_fraction(shape, grown * mean);
    return size_up(what_, design, design.choices, fingerprint_bucket_shape::bits,
                   [&](double elements, const model::built_levels& levels) {
                     return model::evaluate_built(shape, elements, levels);
                   });
  }

  /// Fills the buckets as far as the goal allows: to the wanted error or the limit on accesses,
  /// whichever comes first, or until the memory is small enough. Returns the score.
  double fill(fingerprint_design& design) const {
    const double room = design.fingerprint_bucket.bucket_capacity;
    // From a bucket that is all but empty to one that passes on a third of what comes to it: then
    // half as many elements are in the later levels as in the first.
    const double least = 0.05 * room, most = 1.5 * room + 2;
    if (what_.fpr) {
      const auto beyond = [&](double mean) {
        const sized at = size(design, mean);
        // Zero where the first of both limits is reached, whatever the factor: it makes the two of
        // one size, since a tenth of an access is as much as an error seven times as large.
        return std::max(std::log(at.fpr / *what_.fpr), 20 * (at.accesses - what_.accesses));
      };
      const auto mean = beyond(most) <= 0 ? std::optional(most)
                                          : find_crossing(beyond, least, most, search_precision);
      if (!mean) return impossible;
      return size(design, *mean).bits_per_element;
    }
    const auto spare = [&](double mean) {
      return 1 - size(design, mean).bits_per_element / bits();
    };
    // Later levels take memory, so that more elements come to a bucket than if all were in one
    // level; a tenth less than that is surely too few. Then in small steps, so that the crossing
    // lies between two of them.
    double low = std::max(0.9 * fingerprint_bucket_shape::bits / bits(), least);
    if (spare(low) <= 0) {
      double high = low;
      do low = high, high *= 1.04;
      while (high < most && spare(high) < 0);
      const auto mean = find_crossing(spare, low, high, search_precision);
      if (!mean) return impossible;
      low = *mean;
    }
    const sized at = size(design, low);
    return at.accesses <= what_.accesses ? std::log(at.fpr) : impossible;
  }

  goal what_;
  std::uint32_t most_choices_;
  found best_;
};

}  // namespace

model::fingerprint_shape shape_of(const fingerprint_bucket_shape& fingerprint_bucket) {
  return {.block_bits = fingerprint_bucket_shape::bits,
          .bucket_capacity = fingerprint_bucket.bucket_capacity,
          .remainder_bits = fingerprint_bucket.remainder_bits};
}

std::optional<filter_plan> plan_fingerprint(const goal& what, std::uint32_t most_choices,
                                            const std::optional<fingerprint_bucket_shape>& only) {
  // In small filters a bucket more or less changes more than the last digits.
  for (const double margin : {1e-4, 0.01, 0.1, 0.5}) {
    const found best = fingerprint_search(what, most_choices, margin).run(only);
    if (best.score == impossible) break;
    filter_plan plan = lay_out_fingerprint(best.design, what.elements);
    if (find_fault(plan) || (!what.fpr && !use_exactly(plan, what.bytes))) continue;
    predict(plan);
    if (what.met_by(plan)) return plan;
  }
  return std::nullopt;
}

}  // namespace oneprobe::inline v0_1::planning
