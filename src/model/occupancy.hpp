// How many bins are occupied after so many balls: the recurrence (3) of SSH, Appendix III-A,
// written once. Private to src/model; crisis, summaries, deletions and Bloom blocks all run it.
//
//   occupancy bins(400'000, 100'000);              // bins, most balls
//   for (int i = 0; i < 100'000; ++i) bins.throw_ball();
//   bins.probability()[i]  is  P(occupied = bins.highest() - i)
//
// Only a moving window of the distribution is kept: entries below `least_probability` fall off its
// ends. A path through a dropped state contributes less than that state had, so after J balls no
// probability is wrong by more than about 2 J least_probability.
//
//      empty                                      one slot for each number of bins
//   .............[ highest ... lowest ]...........0
//        <- the window moves this way as balls fall
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace oneprobe::inline v0_1::model::detail {

inline constexpr double least_probability = 1e-100;

class occupancy {
 public:
  /// REQUIRES: bins >= 1; at most `most_balls` balls are thrown, or most_balls >= bins.
  occupancy(std::uint64_t bins, std::uint64_t most_balls);

  /// One more ball, into a uniformly random bin that is not one of `excluded` given occupied ones
  /// (those that the same element already hit, when its positions must differ).
  void throw_ball(unsigned excluded = 0);

  std::uint64_t balls() const { return balls_; }
  /// The largest number of occupied bins in the window.
  std::uint64_t highest() const { return top_ - begin_; }
  /// P(occupied = highest()), P(highest() - 1), ...; equally P(balls without a bin of their own =
  /// lowest_left() + 0, 1, ...).
  std::span<const double> probability() const {
    return std::span(slots_).subspan(begin_, end_ - begin_);
  }
  std::uint64_t lowest_left() const { return balls_ - highest(); }
  /// Takes the states with at least `least` occupied bins out of the process, handing each to
  /// visit(occupied, probability): what goes on is the part that has not got there.
  template <class Visit>
  void take_out(std::uint64_t least, Visit&& visit) {
    whole_ = false;
    for (; begin_ < end_ && highest() >= least; ++begin_) visit(highest(), slots_[begin_]);
    if (begin_ == end_) --begin_, slots_[begin_] = 0;  // nothing is left
  }

  /// All bins are occupied, but for a probability that is dropped.
  bool full() const { return end_ == 1 && static_cast<double>(top_) == bins_; }

 private:
  void normalise();

  double bins_;
  std::uint64_t top_;  // slot 0 holds P(occupied = top_)
  std::vector<double> slots_;
  std::size_t begin_;
  std::size_t end_;
  std::uint64_t balls_ = 0;
  bool whole_ = true;  // nothing was taken out
};

}  // namespace oneprobe::inline v0_1::model::detail
