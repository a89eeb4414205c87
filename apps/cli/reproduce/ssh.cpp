#include "ssh.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "oneprobe/detail/placement/walk.hpp"

namespace oneprobe::cli {
namespace ssh {

const design& geometric_ten_thousand() {
  static const design result{10'000, {30'000, 15'000, 7'500, 3'750, 1'875}};
  return result;
}

const design& ten_thousand() {
  static const design result{10'000, {40'000, 10'000, 5'000, 2'500, 2'500}};
  return result;
}

const design& hundred_thousand() {
  static const design result{100'000, {400'000, 100'000, 50'000, 25'000, 12'500, 12'500}};
  return result;
}

const filter_design& filters_of_ten_thousand() {
  static const filter_design result{{106'000, 87'500, 5'500, 500, 100}, {7, 49, 49, 49, 49}};
  return result;
}

const filter_design& filters_of_hundred_thousand() {
  static const filter_design result{{1'060'000, 875'000, 55'000, 1'000, 1'000, 1'000},
                                    {7, 49, 49, 49, 49, 49}};
  return result;
}

one_slot_table::one_slot_table(std::span<const std::uint64_t> levels)
    : scheme_(levels), loads_(scheme_.buckets()), left_(levels.size() + 1) {}

void one_slot_table::fill(random_bits& random, std::uint64_t elements) {
  loads_.clear();
  hashes_.clear();
  places_.clear();
  std::vector<std::uint64_t>& taken = left_;  // first counted per level, then turned into |S_i|
  std::fill(taken.begin(), taken.end(), 0);
  placing walk(scheme_, loads_, admission(1));
  for (std::uint64_t i = 0; i < elements; ++i) {
    const key_hash hash = random.next_hash();
    const auto end = walk_to_end(walk, walk.start(hash));
    if (end.end != walk_end::placed) continue;
    ++taken[end.at.level];
    hashes_.push_back(hash);
    places_.push_back(end.at);
  }
  std::uint64_t left = elements;
  for (std::uint64_t& entry : left_) left -= std::exchange(entry, left);
}

double false_positives(const filter_shape& shape, std::uint64_t elements, std::uint64_t queries,
                       random_bits& random, std::vector<std::uint8_t>& bits) {
  bits.assign(static_cast<std::size_t>(shape.cells), 0);
  for (std::uint64_t i = 0; i < elements; ++i) {
    const key_hash hash = random.next_hash();
    for (std::uint32_t j = 0; j < shape.hashes; ++j) bits[shape.cell(hash, 0, j)] = 1;
  }
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < queries; ++i) {
    const key_hash hash = random.next_hash();
    std::uint32_t j = 0;
    while (j < shape.hashes && bits[shape.cell(hash, 0, j)] != 0) ++j;
    found += j == shape.hashes ? 1 : 0;
  }
  return static_cast<double>(found) / static_cast<double>(queries);
}

sim::estimate mean_false_positives(const conditions& in, std::uint64_t stream,
                                   const filter_shape& shape, std::uint64_t elements,
                                   std::uint64_t queries, std::uint64_t trials, double expected) {
  const std::uint64_t seed = seed_of(in, stream);
  const sample seen = run_trials<sample>(trials, in.threads, in.tell, [&] {
    return [&, bits = std::vector<std::uint8_t>()](std::uint64_t trial, sample& into) mutable {
      random_bits random(seed, trial);
      into.add(false_positives(shape, elements, queries, random, bits));
    };
  });
  const std::uint64_t asked = queries * trials;
  return rare(seen.mean() * static_cast<double>(asked), asked, expected, seen.standard_error());
}

row printed_row(std::string source, std::string what, std::string printed, double model,
                std::string remark) {
  return {.source = std::move(source),
          .what = std::move(what),
          .printed = as_printed(std::move(printed)),
          .model = model,
          .remark = std::move(remark)};
}

row compared_row(std::string source, std::string what, double model, const sim::estimate& simulated,
                 std::string remark) {
  return {.source = std::move(source),
          .what = std::move(what),
          .model = model,
          .simulated = simulated,
          .remark = std::move(remark)};
}

std::string agreeing(const std::vector<row>& rows, rows_with which) {
  std::size_t agree = 0, all = 0;
  for (const row& each : rows) {
    if (which == rows_with::printed ? !each.printed : !(each.model && each.simulated)) continue;
    ++all;
    if (judge(each) == judgement::agrees) ++agree;
  }
  return agree == all ? fmt::format("all {}", all) : fmt::format("{} of the {}", agree, all);
}

extreme extreme_of(std::span<const double> at_least) {
  constexpr double one_side = 3.2e-5;  // P(a normal number exceeds its mean by four deviations)
  const double mean = std::accumulate(at_least.begin(), at_least.end(), 0.0);
  double least = 0, most = 0, k = 0;
  for (const double probability : at_least) {
    ++k;
    if (1 - probability < one_side) least = k;
    if (probability >= one_side) most = k;
  }
  return {mean, std::max(mean - least, most - mean) / 4};
}

}  // namespace ssh

const std::vector<experiment>& ssh_experiments() {
  static const std::vector<experiment> all{
      {"SSH-SecIII", "Bloom filters: one array, or one part per hash",
       "A Bloom filter with the best number of hashes errs with probability 0.6185^(m/n); giving "
       "each hash a part of its own makes no difference in the limit.",
       0.1, 1, ssh::bloom_review},
      {"SSH-TableI", "Where 10,000 elements go in a geometric table",
       "Expectations taken level by level predict how many elements each level stores, until "
       "fewer than one is left; the exact calculation holds to the end.",
       0.1, 3, ssh::table_one},
      {"SSH-TableII", "Where 10,000 elements go when the first level is larger",
       "A larger first level takes more of the elements, and the same approximation still holds "
       "until the last level.",
       0.1, 3, ssh::table_two},
      {"SSH-SecVI", "What each level leaves over",
       "What is left after each level falls doubly exponentially, at most to the square of what "
       "came over twice the size of the level; its exact distribution can be computed.",
       0.1, 1, ssh::left_over},
      {"SSH-SecIX-crisis", "Tables that cannot take an element",
       "With six buckets per element and five or six levels, one element in a whole table is "
       "ever without a place with a probability of 1e-12 and less.",
       0.3, 4, ssh::crises},
      {"SSH-SecVII", "Interpolation search: two equal strings",
       "A string of 55 to 61 random bits per element, with its level, makes a summary that fails "
       "once in a billion tables: a birthday problem.",
       0.2, 2, ssh::equal_strings},
      {"SSH-TableIII", "Three summaries in bytes and probabilities",
       "For tables of six buckets per element, the three summaries take 3 to 9 bytes per "
       "element; several Bloom filters take the least and fail the least.",
       0.6, 3, ssh::table_three},
      {"SSH-SecX", "How tight the calculated failure probabilities are",
       "The calculator bounds the failure probability from above in every experiment: tightly "
       "where it is small, weakly where it exceeds 0.1.",
       1, 14, ssh::failures},
      {"SSH-SecXI-A", "Lazy deletion: how many elements a reconstruction moves",
       "Rebuilding a table of which a tenth has been deleted moves about one element in a "
       "hundred, even if all deletions strike the first level.",
       0.4, 19, ssh::reconstruction},
      {"SSH-SecXI-B", "Counting filters: how high counters get",
       "With counters in place of bits elements can be deleted. Four bits suffice in the large "
       "filters, and one or two in the smallest, at 3.3 times the bytes.",
       0.2, 5, ssh::largest_counters},
      {"SSH-Structures", "The tables once more, by the structures that one uses",
       "A table with a summary takes so many bytes, fills its levels so far, misleads no key and "
       "moves one element in a hundred when it is reconstructed.",
       1.5, 22, ssh::structures},
  };
  return all;
}

}  // namespace oneprobe::cli
