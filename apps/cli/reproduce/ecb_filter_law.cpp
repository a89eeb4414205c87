#include "reproduce/ecb_filter_law.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "oneprobe/model/balanced_levels.hpp"

namespace oneprobe::cli::balancing {
namespace {

/// What a newcomer meets in a block that has seen so many arrivals.
struct reception {
  double matches = 0;  // all its bits are set
  double full = 0;     // not so, and the load is h or more
  double refuses = 0;  // not so, and its coin does not help: an insertion, or a query that replays
                       // the coin, goes on
};

/// A block as arrivals come one by one: the probability of each pair of load and ones.
class one_block {
 public:
  explicit one_block(const filter_plan& plan)
      : bits_(plan.bloom_bits()),
        bits_set_(plan.bits_set),
        threshold_(plan.state.threshold),
        probability_(plan.state.admit_probability),
        chances_((threshold_ + 2) * (bits_ + 1)) {
    chances_[0] = 1;
    for (std::size_t ones = 0; ones <= bits_; ++ones) new_ones_.push_back(new_ones_from(ones));
  }

  reception now() const {
    reception sum;
    for (std::size_t load = 0; load <= threshold_ + 1; ++load)
      for (std::size_t ones = 0; ones <= bits_; ++ones) {
        const double chance = chances_[index(load, ones)];
        const double match = new_ones_[ones][0];
        sum.matches += chance * match;
        if (load >= threshold_) sum.full += chance * (1 - match);
        sum.refuses += chance * (1 - match) * (1 - admits(load));
      }
    return sum;
  }

  void arrive() {
    std::vector<double> next(chances_.size());
    for (std::size_t load = 0; load <= threshold_ + 1; ++load)
      for (std::size_t ones = 0; ones <= bits_; ++ones) {
        const double chance = chances_[index(load, ones)];
        if (chance == 0) continue;
        const std::vector<double>& added = new_ones_[ones];
        next[index(load, ones)] += chance * (1 - (1 - added[0]) * admits(load));
        if (admits(load) == 0) continue;
        for (std::size_t more = 1; more < added.size() && ones + more <= bits_; ++more)
          next[index(load + 1, ones + more)] += chance * added[more] * admits(load);
      }
    chances_.swap(next);
  }

 private:
  std::size_t index(std::size_t load, std::size_t ones) const { return load * (bits_ + 1) + ones; }
  double admits(std::size_t load) const {
    return load < threshold_ ? 1 : load == threshold_ ? probability_ : 0;
  }

  /// How many of k bits at independent places are new, where so many are set.
  std::vector<double> new_ones_from(std::size_t ones) const {
    std::vector<double> chances(bits_set_ + 1u);
    chances[0] = 1;
    for (unsigned bit = 0; bit < bits_set_; ++bit)
      for (std::size_t more = bit + 1u; more-- > 0;) {
        const double hits =
            std::min(1.0, static_cast<double>(ones + more) / static_cast<double>(bits_));
        chances[more + 1] += chances[more] * (1 - hits);
        chances[more] *= hits;
      }
    return chances;
  }

  std::size_t bits_, bits_set_, threshold_;
  double probability_;
  std::vector<double> chances_;
  std::vector<std::vector<double>> new_ones_;
};

/// The same for a block of a level, whose arrivals are Poisson.
struct level_law {
  reception at_end;
  double refused = 0;  // of all that arrived
};

level_law mixed(const std::vector<reception>& after, double arrivals) {
  level_law law;
  double chance = std::exp(-arrivals);  // of exactly i arrivals
  double more = 1 - chance;             // of more than i: then arrival i + 1 is received so
  for (std::size_t i = 0; i < after.size(); ++i) {
    law.at_end.matches += chance * after[i].matches;
    law.at_end.full += chance * after[i].full;
    law.at_end.refuses += chance * after[i].refuses;
    law.refused += std::max(0.0, more) * after[i].refuses / arrivals;
    chance *= arrivals / static_cast<double>(i + 1);
    more -= chance;
  }
  return law;
}

}  // namespace

built_law law_of(const filter_plan& plan) {
  const auto elements = static_cast<double>(plan.elements);
  // No level has more arrivals than this but by rounding; twelve deviations are beyond all doubles.
  const double usual = elements / static_cast<double>(plan.level_buckets[0]);
  const auto most = static_cast<std::size_t>(1.1 * usual + 12 * std::sqrt(usual) + 12);
  std::vector<reception> after;
  one_block block(plan);
  for (std::size_t i = 0; i <= most; ++i) {
    after.push_back(block.now());
    block.arrive();
  }

  built_law law;
  double reached = 1, queried = 1, replayed = 1;
  for (std::uint32_t level = 0; level < plan.levels; ++level) {
    const level_law found =
        mixed(after, elements * reached / static_cast<double>(plan.level_buckets[level]));
    law.insert_accesses += reached;
    law.absent_blocks += queried;
    law.coin_blocks += replayed;
    law.fpr += queried * found.at_end.matches;
    reached *= found.refused;
    queried *= found.at_end.full;
    replayed *= found.at_end.refuses;
  }
  law.overflow_fraction = reached;
  constexpr double fingerprint_bits = 32;
  law.fpr += queried *
             model::overflow_list_match(
                 fingerprint_bits, elements * reached / static_cast<double>(plan.overflow_slots));
  return law;
}

}  // namespace oneprobe::cli::balancing
