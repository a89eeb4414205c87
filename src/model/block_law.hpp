// One block of a filter after Poisson arrivals: what it refused, how often it matches an absent
// key, how often it sends a query on. Private to src/model.
#pragma once

#include <vector>

#include "oneprobe/model/balanced.hpp"

namespace oneprobe::inline v0_1::model::detail {

struct block_outcome {
  double arrivals_mean = 0;
  double refused_mean = 0;
  double refused_square = 0;          // E[refused^2]
  double refusal = 0;                 // P(the next arrival is refused)
  double match = 0;                   // P(an absent key matches)
  double continue_probability = 0;    // P(the rule sends a query on)
  double continue_without_match = 0;  // P(it does, and the key did not match here)
};

/// A block with a load counter: every rule but popcount.
class counter_block {
 public:
  /// errors[i]: P(an absent key matches) at load i, up to threshold + 1.
  counter_block(const balanced_shape& shape, std::vector<double> errors);
  block_outcome outcome(double arrivals_mean) const;
  double refusal(double arrivals_mean) const;
  double refused(double arrivals_mean) const { return refused_mean(arrivals_mean, admission_); }
  /// P(an absent key matches) when each refused element was forced in after all with probability
  /// `share`; errors[i] at load i, for as many loads as matter.
  double match_when_forced(double arrivals_mean, double share,
                           const std::vector<double>& errors) const;

 private:
  threshold admission_;
  lookup_rule rule_;
  unsigned tracking_bits_;
  std::vector<double> errors_;
};

/// A block that refuses once `threshold` of its bits are set, with w tracking bits.
class popcount_block {
 public:
  popcount_block(unsigned bits, unsigned bits_set, unsigned threshold, unsigned tracking_bits);
  block_outcome outcome(double arrivals_mean) const;
  double refusal(double arrivals_mean) const;
  /// As for the counter.
  double match_when_forced(double arrivals_mean, double share) const;

 private:
  unsigned bits_, bits_set_, threshold_, tracking_bits_;
  // By number i of elements taken: still open, and full since the i-th element.
  std::vector<double> open_match_;  // E[match; open after i]
  std::vector<double> full_;        // P(the i-th element made it full)
  std::vector<double> full_match_;  // E[match; the i-th element made it full]
};

/// Refuses a shape that no filter can have.
void check_shape(const balanced_shape& shape);

/// P(an absent key matches) at loads 0 .. `most` of a block with a counter.
std::vector<double> errors_by_load(const balanced_shape& shape, unsigned most);

/// A filter of geometric levels (or one) of such blocks of `bits` bits.
filter_error walk_filter(const block_outcome& block, unsigned choices, double bits,
                         const overflow_list_cost& list);

/// The rest of `error`, from its elements per block, insertion accesses and overflow.
void finish_filter(filter_error& error, const block_outcome& block, unsigned choices, double bits,
                   const overflow_list_cost& list);

}  // namespace oneprobe::inline v0_1::model::detail
