#include "occupancy.hpp"

#include <algorithm>
#include <cassert>

namespace oneprobe::inline v0_1::model::detail {

occupancy::occupancy(std::uint64_t bins, std::uint64_t most_balls)
    : bins_(static_cast<double>(bins)),
      top_(std::min(bins, most_balls)),
      slots_(top_ + 1, 0.0),
      begin_(top_),
      end_(top_ + 1) {
  slots_[begin_] = 1.0;
}

void occupancy::throw_ball(unsigned excluded) {
  assert(begin_ > 0 || static_cast<double>(top_) == bins_);
  const double scale = 1.0 / (bins_ - excluded);
  const double highest = static_cast<double>(top_ - begin_);
  const double hit = highest - excluded;    // bins that keep the number as it is, at slot 0
  const double free = bins_ - highest + 1;  // bins that raise it to `highest`
  double* const window = slots_.data() + begin_;
  const auto last = static_cast<std::int32_t>(end_ - begin_) - 1;

  // In place, from many occupied bins to few: P'(b) = P(b) b/m + P(b - 1) (1 - (b - 1)/m).
  const double grown = window[0] * (free - 1) * scale;
  for (std::int32_t i = 0; i < last; ++i) {
    const double fewer = static_cast<double>(i);
    window[i] = (window[i] * (hit - fewer) + window[i + 1] * (free + fewer)) * scale;
  }
  window[last] *= (hit - static_cast<double>(last)) * scale;
  if (begin_ > 0) slots_[--begin_] = grown;
  ++balls_;

  while (end_ - begin_ > 1 && slots_[end_ - 1] < least_probability) --end_;
  while (end_ - begin_ > 1 && slots_[begin_] < least_probability) ++begin_;
  // 1/m is rounded: without this, the same tiny factor would pile up ball after ball.
  if (whole_ && balls_ % 128 == 0) normalise();
}

void occupancy::normalise() {
  double sum = 0;
  for (const double p : probability()) sum += p;
  for (std::size_t i = begin_; i < end_; ++i) slots_[i] /= sum;
}

}  // namespace oneprobe::inline v0_1::model::detail
