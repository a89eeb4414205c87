// What ECB and BBF show alike, computed once: both treat the same balancing problem; BBF is the
// later text, has other names for two of the schemes and a few figures fewer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oneprobe/model/balance.hpp"
#include "reproduce/experiment.hpp"

namespace oneprobe::cli::balancing {

/// How one of the two texts calls things.
struct text_names {
  std::string_view document;    // "ECB"
  std::string_view single;      // "SIMPLE"
  std::string_view sequential;  // "GREEDY"
};

inline constexpr text_names ecb{"ECB", "SIMPLE", "GREEDY"};
inline constexpr text_names bbf{"BBF", "SINGLE", "SEQUENTIAL"};

/// Where a figure stands.
struct place {
  const text_names& text;
  std::string_view where;  // "Fig. 3(a)"
  std::string_view chart;  // "bbf-fig3a"

  /// "BBF, Fig. 3(a)".
  std::string source() const;
};

// The figures that both have.
outcome lower_bound_figure(const conditions& in, const place& at);
outcome region_over_accesses(const conditions& in, const place& at);
outcome region_over_load(const conditions& in, const place& at);
outcome filter_figure(const conditions& in, const place& at);

// The filter figure once more, best k for each and all memory counted.
outcome honest_filter_figure(const conditions& in, const place& at);

// What ECB has alone.
outcome single_over_time(const conditions& in);
outcome identical_levels(const conditions& in);
outcome chain_lengths(const conditions& in);

// The numbers that the texts state about their filters.
outcome ecb_filter_numbers(const conditions& in);
outcome bbf_filter_numbers(const conditions& in);

/// The papers' parameters that recur.
inline constexpr double usual_load = 8;        // r, elements per bucket (ECB, Fig. 1 and 3)
inline constexpr double usual_accesses = 1.2;  // a (ECB, Fig. 4 and Section IX-C)
inline constexpr unsigned usual_choices = 3;   // d

/// How large a simulated table is. Bias falls with the buckets, noise with buckets and trials: few
/// trials of a large table keep the first below the second.
struct table_size {
  std::uint64_t buckets;
  unsigned trials;
};
table_size size_for(effort how_much);

/// Part number `index` of `count` equal parts of an experiment's progress.
sim::progress part_of(const sim::progress& whole, std::size_t index, std::size_t count);

/// Levels of the given fractions. The last one is small, and one bucket more or less shifts the
/// overflow; so the table gets up to a tenth more buckets than asked for: the number that rounds
/// best.
std::vector<std::uint64_t> whole_levels(std::uint64_t buckets,
                                        const std::vector<double>& fractions);

std::uint64_t total(const std::vector<std::uint64_t>& sizes);

/// The table that a plan asks for.
sim::scenario scenario_of(scheme_kind scheme, const model::balance_plan& plan,
                          double elements_per_bucket, unsigned choices, table_size size);

/// A row without a printed number: the model against the simulation.
row compared(const place& at, std::string what, double model, const sim::estimate& simulated,
             std::string remark = {});

}  // namespace oneprobe::cli::balancing
