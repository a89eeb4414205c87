// The experiments of SSH (Simple Summaries for Hashing With Choices), and what they share: the
// paper's tables, and a table of one-slot buckets filled through the products' placement walk.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "estimates.hpp"
#include "experiment.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/placement/load_counters.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/model/crisis.hpp"
#include "trials.hpp"

namespace oneprobe::cli::ssh {

// Section III: Bloom filters.
outcome bloom_review(const conditions& in);

// Sections VI and IX: how the table fills, and when it cannot.
outcome table_one(const conditions& in);
outcome table_two(const conditions& in);
outcome left_over(const conditions& in);
outcome crises(const conditions& in);

// Sections VII, IX and X: summaries.
outcome equal_strings(const conditions& in);
outcome table_three(const conditions& in);
outcome failures(const conditions& in);

// Section XI: deletions.
outcome reconstruction(const conditions& in);
outcome largest_counters(const conditions& in);

// Tables I to III and Sections X and XI by the structures themselves.
outcome structures(const conditions& in);

/// A multilevel table of one-slot buckets and how many elements it is made for.
struct design {
  std::uint64_t elements;
  std::vector<std::uint64_t> levels;
};
const design& geometric_ten_thousand();  // Table I: c1 = 3, c2 = 1/2
const design& ten_thousand();            // Table II and Sections IX to XI
const design& hundred_thousand();        // Section IX

/// The multiple Bloom filter summary: filter B_i holds the elements beyond level i.
struct filter_design {
  std::vector<std::uint64_t> bits;
  std::vector<unsigned> hashes;
};
const filter_design& filters_of_ten_thousand();      // Section IX
const filter_design& filters_of_hundred_thousand();  // Section IX with errata 1.1 and 1.2

/// Elements placed into a multilevel table of one-slot buckets, each with its hash and its place.
class one_slot_table {
 public:
  explicit one_slot_table(std::span<const std::uint64_t> levels);

  /// Empties the table, then places `elements` hashes drawn from `random`.
  void fill(random_bits& random, std::uint64_t elements);

  // The elements that found a place, in the order in which they came.
  std::span<const key_hash> hashes() const { return hashes_; }
  std::span<const position> places() const { return places_; }
  /// |S_i|: elements that no level up to the i-th took; left(0) are all, and what is left after the
  /// last level met a crisis.
  std::uint64_t left(std::size_t levels) const { return left_[levels]; }

  const multilevel& scheme() const { return scheme_; }
  const load_counters<std::uint8_t>& loads() const { return loads_; }

 private:
  multilevel scheme_;
  load_counters<std::uint8_t> loads_;
  std::vector<key_hash> hashes_;
  std::vector<position> places_;
  std::vector<std::uint64_t> left_;
};

/// Bits for the hashes of a summary's filters: streams of the element's hash beyond those that
/// placement uses (detail/hash/derive.hpp), 64 for each filter.
constexpr std::uint64_t filter_stream(key_hash hash, std::uint32_t filter, std::uint32_t number) {
  constexpr std::uint64_t first = 256, per_filter = 64;
  return hash_stream(hash, first + per_filter * filter + number);
}

/// Where the hashes of a filter fall.
enum class layout {
  whole,        // each over the whole filter
  partitioned,  // each over its own part of `cells / hashes` cells
};

/// One filter, or one array of cells.
struct filter_shape {
  std::uint64_t cells;
  unsigned hashes;
  layout how;

  std::uint64_t cell(key_hash hash, std::uint32_t filter, std::uint32_t number) const {
    const std::uint64_t bits = filter_stream(hash, filter, number);
    if (how == layout::whole) return reduce(bits, cells);
    const std::uint64_t part = cells / hashes;
    return number * part + reduce(bits, part);
  }
};

/// Fraction of `queries` absent keys that a filter with `elements` elements takes for present.
double false_positives(const filter_shape& shape, std::uint64_t elements, std::uint64_t queries,
                       random_bits& random, std::vector<std::uint8_t>& bits);

/// Its mean over `trials` filters, of which the model expects `expected`.
sim::estimate mean_false_positives(const conditions& in, std::uint64_t stream,
                                   const filter_shape& shape, std::uint64_t elements,
                                   std::uint64_t queries, std::uint64_t trials, double expected);

/// What to tell while a part of the work, from one share to another, is under way.
inline sim::progress between(const sim::progress& tell, double from, double to) {
  if (!tell) return {};
  return [tell, from, to](double share) { tell(from + (to - from) * share); };
}

/// A row that holds the model to the document's number.
row printed_row(std::string source, std::string what, std::string printed, double model,
                std::string remark = {});
/// A row that holds the simulation to the model.
row compared_row(std::string source, std::string what, double model, const sim::estimate& simulated,
                 std::string remark = {});

/// "9 of the 10": how many rows agree, of those that compare with the document, or of the others.
enum class rows_with { printed, simulated };
std::string agreeing(const std::vector<row>& rows, rows_with which);

/// A series without points yet.
inline series empty_line(std::string name, int colour) {
  return {.name = std::move(name), .how = series::kind::line, .points = {}, .colour = colour};
}
inline series empty_dashes(std::string name, int colour) {
  return {.name = std::move(name),
          .how = series::kind::line,
          .points = {},
          .colour = colour,
          .dashed = true};
}
inline series empty_marks(std::string name, int colour) {
  return {.name = std::move(name), .how = series::kind::marks, .points = {}, .colour = colour};
}
/// Adds what has points: a legend is not to name what is not there.
inline void add_to(chart& picture, std::vector<series> lines) {
  for (series& each : lines)
    if (!each.points.empty()) picture.lines.push_back(std::move(each));
}

/// Whether so many events are to be expected that counting them says something; with the error of
/// rare().
inline bool countable(double expected_per_trial, std::uint64_t trials) {
  return expected_per_trial * static_cast<double>(trials) >= enough_if_rare;
}

/// The law of an extreme of many counts, from P(extreme >= k) for k = 1, 2, ...
struct extreme {
  double mean = 0;
  /// Extremes are skewed, so that their deviation says little about how far they stray: a quarter
  /// of the distance from the mean that they exceed as rarely as normal numbers exceed four errors.
  double error = 0;
};
extreme extreme_of(std::span<const double> at_least);

}  // namespace oneprobe::cli::ssh
