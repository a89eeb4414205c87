// The search for a balanced filter: downhill over whole parameters of the block, each tried with
// every number of choices and filled as far as the goal allows.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <tuple>
#include <utility>

#include "contenders.hpp"
#include "oneprobe/detail/planning/balanced_layout.hpp"
#include "oneprobe/model/balanced_levels.hpp"
#include "root.hpp"
#include "sized.hpp"

namespace oneprobe::inline v0_1::planning {
namespace {

/// What distinguishes one block from another; whole numbers, so that there are neighbours.
struct block_choice {
  int bits_set = 1;
  int threshold = 1;
  int tracking_bits = 1;
  int admit_quarters = 0;  // the admit probability, in quarters

  auto key() const { return std::tuple(bits_set, threshold, tracking_bits, admit_quarters); }
  friend bool operator<(const block_choice& a, const block_choice& b) { return a.key() < b.key(); }
};

constexpr double impossible = std::numeric_limits<double>::infinity();

struct found {
  double score = impossible;  // less is better
  balanced_design design{};
};

/// How well a filter does, and whether it keeps to the limit on accesses.
struct rating {
  double score = impossible;
  bool allowed = false;
};

class balanced_search {
 public:
  /// `margin`: so much stricter than asked, since whole blocks change the last digits.
  balanced_search(const goal& what, const balanced_options& options, double margin)
      : what_(what), options_(options) {
    what_.accesses -= margin * (what_.accesses - 1);
    if (what_.fpr) *what_.fpr *= 1 - margin;
  }

  found run() {
    const int block_bits = static_cast<int>(options_.block_bits);
    const double bits = what_.fpr ? -1.5 * std::log2(*what_.fpr)  // about what it will need
                                  : 8 * static_cast<double>(what_.bytes) / what_.n();
    const int k = std::clamp(static_cast<int>(0.65 * bits), 1, most_set);
    if (state(block_choice{}).counts_elements()) {
      const int per_block = static_cast<int>(block_bits * std::numbers::ln2 / k);
      for (const int w : {1, 8})
        descend({.bits_set = k, .threshold = per_block + 1, .tracking_bits = w});
    } else {
      // The hills are flat and have more than one top: from several sides.
      static constexpr std::array<std::pair<int, int>, 4> starts{
          {{49, 12}, {58, 1}, {52, 6}, {47, 8}}};  // threshold in percent of the bits, w
      for (const auto& [percent, w] : starts)
        descend({.bits_set = k, .threshold = block_bits * percent / 100, .tracking_bits = w});
    }
    return best_;
  }

 private:
  static constexpr int most_set = static_cast<int>(filter_plan::most_bits_set_in_block);
  static constexpr double search_precision = 1e-5;

  block_state state(const block_choice& block) const {
    return {.rule = options_.rule,
            .threshold = static_cast<std::uint32_t>(block.threshold),
            .admit_probability = 0.25 * block.admit_quarters,
            .tracking_bits = static_cast<std::uint32_t>(block.tracking_bits)};
  }
  bool possible(const block_choice& block) const {
    if (block.bits_set < 1 || block.bits_set > most_set || block.threshold < 1 ||
        block.tracking_bits < 1 ||
        block.tracking_bits > static_cast<int>(filter_plan::most_tracking_bits) ||
        block.admit_quarters < 0 || block.admit_quarters > 3)
      return false;
    const block_state asked = state(block);
    if (!asked.tracks() && block.tracking_bits != 1) return false;
    if (asked.tracks() && block.admit_quarters != 0) return false;
    return asked.counts_elements()
               ? block.threshold <= 1023
               : block.threshold + block.tracking_bits <= static_cast<int>(options_.block_bits);
  }

  /// Steps while a neighbour is better. The memory and the accesses pull in different directions,
  /// so there are diagonal steps too.
  void descend(block_choice from) {
    if (!possible(from)) from.tracking_bits = 1;
    if (!possible(from)) return;
    double here = score(from);
    static constexpr std::array<int, 9> threshold_steps{0, 1, -1, 3, -3, 8, -8, 24, -24};
    static constexpr std::array<int, 5> tracking_steps{0, 1, -1, 4, -4};
    static constexpr std::array<int, 3> set_steps{0, 1, -1};
    for (bool better = true; better;) {
      better = false;
      block_choice next = from;
      const auto offer = [&](block_choice block) {
        if (!possible(block) || !seen_.insert(block).second) return;
        const double there = score(block);
        if (!(there < here)) return;
        here = there;
        next = block;
        better = true;
      };
      for (const int k : set_steps)
        for (const int t : threshold_steps) {
          offer({from.bits_set + k, from.threshold + t, from.tracking_bits, from.admit_quarters});
          if (k == 0 && std::abs(t) <= 3) {
            for (const int w : tracking_steps)
              offer(
                  {from.bits_set, from.threshold + t, from.tracking_bits + w, from.admit_quarters});
            for (const int p : set_steps)
              offer(
                  {from.bits_set, from.threshold + t, from.tracking_bits, from.admit_quarters + p});
          }
          if (better && k == 0 && t == 0) break;
        }
      from = next;
    }
  }

  /// The best with any number of choices; remembered if it is the best of all.
  double score(const block_choice& block) {
    double least = impossible;
    // Those that are not looked at stay below every limit, so that their turn comes.
    std::array<double, filter_plan::most_levels> scores;
    scores.fill(-impossible);
    model::balanced_shape shape{.block_bits = options_.block_bits,
                                .bits_set = static_cast<unsigned>(block.bits_set),
                                .scheme = scheme_kind::multilevel,
                                .choices = 1,
                                .rule = options_.rule,
                                .threshold = static_cast<unsigned>(block.threshold),
                                .admit_probability = 0.25 * block.admit_quarters,
                                .tracking_bits = static_cast<unsigned>(block.tracking_bits)};
    const model::built_filter filter(shape);
    for (std::uint32_t d = 1; d <= options_.most_choices; ++d) {
      balanced_design design;
      design.block_bits = options_.block_bits;
      design.bits_set = shape.bits_set;
      design.choices = d;
      design.state = state(block);
      // A number of choices that was far behind another is looked at now and then only.
      if (wait_[d - 1] > 0 && --wait_[d - 1] > 0) continue;
      const rating result = fill(filter, design);
      scores[d - 1] = result.score;
      if (result.allowed && result.score < best_.score) best_ = {result.score, design};
      least = std::min(least, result.score);
    }
    const double far_behind =
        what_.fpr ? 1.02 * least : least + 0.2;  // memory, or log of the error
    for (std::uint32_t d = 1; d <= options_.most_choices; ++d)
      if (scores[d - 1] > far_behind) wait_[d - 1] = 8;
    return least;
  }

  /// With `mean` elements per block of the first level.
  sized size(const model::built_filter& filter, balanced_design& design, double mean) const {
    design.elements_per_block = mean;
    design.refused_fraction = filter.refused_fraction(mean);
    return size_up(what_, design, design.levels(), design.block_bits,
                   [&](double elements, const model::built_levels& levels) {
                     return filter.at(elements, levels);
                   });
  }

  /// A crossing near the last one with as many choices, where a neighbour has its own too; else
  /// what a search from far finds.
  template <class Function, class Search>
  std::optional<double> near_last(Function&& function, std::uint32_t choices, Search&& search) {
    double& last = last_mean_[choices - 1];
    std::optional<double> mean;
    if (last > 0) mean = find_crossing(function, last / 1.03, last * 1.03, search_precision);
    if (!mean) mean = search();
    last = mean.value_or(0);
    return mean;
  }

  /// Fills the blocks as far as the goal allows: to the wanted error or the limit on accesses,
  /// whichever comes first, or until the memory is small enough.
  rating fill(const model::built_filter& filter, balanced_design& design) {
    // As many elements as an open block takes, or half as many again.
    const double room = design.state.counts_elements()
                            ? design.state.largest_load()
                            : -std::log1p(-static_cast<double>(design.state.threshold) /
                                          (design.block_bits - design.state.bits() + 1)) *
                                  design.block_bits / design.bits_set;
    const double most = std::min(1.5 * room + 2, 4000.0);
    if (what_.fpr) {
      const auto beyond = [&](double mean) {
        const sized at = size(filter, design, mean);
        return std::max(std::log(at.fpr / *what_.fpr), 20 * (at.accesses - what_.accesses));
      };
      const auto mean = near_last(beyond, design.choices, [&]() -> std::optional<double> {
        // So few elements that a block holds them all, whatever the needs are.
        if (beyond(most) <= 0) return most;
        return find_crossing(beyond, 0.05 * room, most, search_precision);
      });
      if (!mean) return {};
      return {.score = size(filter, design, *mean).bits_per_element, .allowed = true};
    }
    const double bits = 8 * static_cast<double>(what_.bytes) / what_.n();
    const auto spare = [&](double mean) {
      return 1 - size(filter, design, mean).bits_per_element / bits;
    };
    const auto mean = near_last(spare, design.choices, [&]() -> std::optional<double> {
      // More elements per block need less memory until the overflow list outgrows what they save.
      double low = std::max(0.9 * design.block_bits / bits, 0.05 * room);
      if (spare(low) > 0) return low;
      double high = low;
      do low = high, high *= 1.04;
      while (high < most && spare(high) < 0);
      return find_crossing(spare, low, high, search_precision);
    });
    if (!mean) return {};
    const sized at = size(filter, design, *mean);
    // Too many accesses weigh more than any error, yet less is better: the way back is downhill.
    return {.score = std::log(at.fpr) + 200 * std::max(0.0, at.accesses - what_.accesses),
            .allowed = at.accesses <= what_.accesses};
  }

  goal what_;
  balanced_options options_;
  std::set<block_choice> seen_;
  std::array<int, filter_plan::most_levels> wait_{};          // by number of choices
  std::array<double, filter_plan::most_levels> last_mean_{};  // by number of choices
  found best_;
};

/// Sequential placement in the block that levels would have: searching the block itself with this
/// slower model would take a minute and gain nothing, as levels are never worse.
std::optional<filter_plan> plan_sequential(const goal& what, balanced_design design) {
  design.scheme = scheme_kind::sequential;
  const model::built_filter filter(shape_of(lay_out_balanced(design, what.elements)));
  const auto with = [&](double elements_per_block) {
    design.elements_per_block = elements_per_block;
    const double everything = 2 * what.n();
    const model::built_levels levels{
        {std::max(1.0, what.n() / elements_per_block)}, everything, everything};
    design.overflow_fraction = filter.at(what.n(), levels).overflow_fraction;
    design.reserved_fraction =
        what.absorbed * filter.at(what.absorbed * what.n(), levels).overflow_fraction;
    filter_plan plan = lay_out_balanced(design, what.elements);
    predict(plan);
    return plan;
  };
  std::optional<filter_plan> plan;
  if (what.fpr) {
    const double most = design.elements_per_block;
    constexpr double precision = 1e-4;
    const auto fits = find_crossing(
        [&](double elements_per_block) {
          const filter_prediction seen = with(elements_per_block).predicted;
          return std::max(std::log(seen.fpr / *what.fpr),
                          20 * (seen.miss_accesses - what.accesses));
        },
        0.3 * most, most, precision);
    if (!fits) return std::nullopt;
    plan = with(*fits * (1 - 2 * precision));  // on the safe side of the crossing
  } else {
    // Blocks that fit without a list, then fewer until the list fits too; it grows with every step.
    const double least = what.n() * design.block_bits / (8 * static_cast<double>(what.bytes));
    for (int step = 0; step < 20; ++step) {
      plan = with(least * (1 + 0.005 * step));
      if (use_exactly(*plan, what.bytes) &&
          static_cast<double>(plan->level_buckets[0]) >= what.n() / design.elements_per_block)
        break;
    }
    predict(*plan);
  }
  return !find_fault(*plan) && what.met_by(*plan) ? plan : std::nullopt;
}

/// The plan of a design, if it still meets the goal.
std::optional<filter_plan> in_whole_blocks(const goal& what, const balanced_options& options,
                                           balanced_design design) {
  if (options.scheme == scheme_kind::sequential) return plan_sequential(what, design);
  design.scheme = options.scheme;
  filter_plan plan = lay_out_balanced(design, what.elements);
  if (find_fault(plan)) return std::nullopt;
  if (!what.fpr && !use_exactly(plan, what.bytes)) return std::nullopt;
  predict(plan);
  return what.met_by(plan) ? std::optional(plan) : std::nullopt;
}

}  // namespace

bool use_exactly(filter_plan& plan, std::uint64_t bytes) {
  const std::uint64_t block_bytes = plan.block_bits / 8;
  const std::uint64_t list = plan.memory().overflow;
  if (bytes < list) return false;
  const std::uint64_t fitting = (bytes - list) / 64 * 64 / block_bytes;
  const std::uint64_t later = plan.blocks() - plan.level_buckets[0];
  if (fitting <= later) return false;
  plan.level_buckets[0] = fitting - later;
  return true;
}

std::optional<filter_plan> plan_balanced(const goal& what, const balanced_options& options) {
  // In small filters a block more or less changes more than the last digits.
  for (const double margin : {1e-4, 0.01, 0.1, 0.5}) {
    const found best = balanced_search(what, options, margin).run();
    if (best.score == impossible) break;
    if (const auto plan = in_whole_blocks(what, options, best.design)) return plan;
  }
  return std::nullopt;
}

}  // namespace oneprobe::inline v0_1::planning
