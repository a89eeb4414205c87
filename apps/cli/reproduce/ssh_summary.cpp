// SSH, Sections III, VII and IX: Bloom filters, the interpolation search summary, and Table III.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "estimates.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/summary.hpp"
#include "output.hpp"
#include "ssh.hpp"

namespace oneprobe::cli::ssh {
namespace {

enum stream : std::uint64_t { review_stream = 200, string_stream = 230, table_stream = 240 };

/// Builds of `elements` random strings of `bits` bits: how often two are equal, and how often an
/// absent key's string is among those of a build without equals.
struct string_tally {
  std::uint64_t failures = 0;
  sample false_positives;

  void merge(const string_tally& other) {
    failures += other.failures;
    false_positives.merge(other.false_positives);
  }
};

string_tally draw_strings(const conditions& in, const sim::progress& tell, std::uint64_t stream,
                          std::uint64_t elements, unsigned bits, std::uint64_t trials) {
  const std::uint64_t seed = seed_of(in, stream);
  return run_trials<string_tally>(trials, in.threads, tell, [&] {
    return [&, strings = std::vector<std::uint64_t>()](std::uint64_t trial,
                                                       string_tally& into) mutable {
      random_bits random(seed, trial);
      strings.clear();
      for (std::uint64_t i = 0; i < elements; ++i) strings.push_back(random.next() >> (64 - bits));
      std::sort(strings.begin(), strings.end());
      if (std::adjacent_find(strings.begin(), strings.end()) != strings.end()) {
        ++into.failures;
        return;
      }
      const std::uint64_t queries = elements;
      std::uint64_t found = 0;
      for (std::uint64_t i = 0; i < queries; ++i)
        if (std::binary_search(strings.begin(), strings.end(), random.next() >> (64 - bits)))
          ++found;
      into.false_positives.add(static_cast<double>(found) / static_cast<double>(queries));
    };
  });
}

/// Fractions of absent keys that the paper's own structures take for present: frequent enough to be
/// counted. Each one has a stream and a part of the progress of its own.
class false_positive_counts {
 public:
  false_positive_counts(const conditions& in, double structures)
      : in_(in), structures_(structures) {}

  sim::estimate count(const filter_shape& shape, std::uint64_t elements, double expected) {
    // The same number of queries for tables of any size, in at least 32 filters.
    const std::uint64_t keys = by_effort<std::uint64_t>(in_.how_much, 640, 10'000, 100'000) * 1'000;
    const std::uint64_t filters = std::max<std::uint64_t>(32, keys / elements);
    conditions part = in_;
    part.tell = between(in_.tell, static_cast<double>(done_) / structures_,
                        static_cast<double>(done_ + 1) / structures_);
    return mean_false_positives(part, table_stream + done_++, shape, elements, keys / filters,
                                filters, expected);
  }

 private:
  const conditions& in_;
  double structures_;
  std::uint64_t done_ = 0;
};

double total_buckets(const design& table) {
  return static_cast<double>(
      std::accumulate(table.levels.begin(), table.levels.end(), std::uint64_t{0}));
}

double failure_or_crisis(const model::summary_error& error) {
  return error.failure_probability + error.crisis_probability;
}

/// One line of Table III.
struct summary_line {
  std::string scheme;
  std::string buckets;
  std::string bytes;
  std::string false_positive;
  std::string failure;
};

/// The four numbers of a line, as rows.
void add_line(std::vector<row>& rows, const summary_line& printed, const design& table,
              const model::summary_error& error,
              const std::optional<sim::estimate>& false_positives) {
  const bool is_small = table.elements == ten_thousand().elements;
  const std::string source = is_small ? "SSH, Table III(a)" : "SSH, Table III(b)";
  const auto name = [&](std::string_view what) {
    return fmt::format("{}, {}: {}", printed.scheme, is_small ? "10k" : "100k", what);
  };
  rows.push_back(printed_row(source, name("buckets"), printed.buckets, total_buckets(table)));
  rows.push_back(printed_row(source, name("bytes"), printed.bytes, error.bytes));
  rows.push_back(printed_row(source, name("false positives"), printed.false_positive,
                             error.false_positive_probability));
  rows.back().simulated = false_positives;
  rows.push_back(
      printed_row(source, name("failure + crisis"), printed.failure, failure_or_crisis(error)));
}

row& find(std::vector<row>& rows, std::string_view what) {
  return *std::find_if(rows.begin(), rows.end(), [&](const row& r) { return r.what == what; });
}

constexpr std::uint64_t single_small_cells = 120'000, single_large_cells = 1'200'000;
constexpr unsigned single_hashes = 15;

/// The line of Song et al., and what is said of the size of their table.
void add_song(std::vector<row>& rows, false_positive_counts& counts) {
  constexpr std::uint64_t buckets = 131'072;
  constexpr unsigned hashes = 10, counter_bits = 3;
  const design& table = ten_thousand();
  const model::song_error song =
      model::song_summary(static_cast<double>(table.elements), buckets, hashes, counter_bits);
  rows.push_back(printed_row("SSH, Table III(a)", "Song et al., 10k: bytes", "49152", song.bytes,
                             "131072 counters of three bits"));
  rows.push_back(printed_row("SSH, Table III(a)", "Song et al., 10k: false positives", ".002",
                             song.false_positive_probability, "ten hashes"));
  rows.back().simulated = counts.count({buckets, hashes, layout::whole}, table.elements,
                                       song.false_positive_probability);
  rows.push_back({.source = "SSH, Section IX",
                  .what = "buckets, against those of Song et al.",
                  .printed = printed_number{.text = "less than 1/2",
                                            .value = 0.5,
                                            .half_unit = 0,
                                            .how = printed_number::kind::upper_bound},
                  .model = total_buckets(table) / buckets});
}

/// What is printed wrongly about the filters for 100,000 elements.
void add_filter_errata(std::vector<row>& rows) {
  row& bytes = find(rows, "MBF, 100k: bytes");
  bytes.known_erratum = erratum{.number = "1.2", .corrected = 324'125, .half_unit = 0.5};
  bytes.remark = "no reading of the printed sizes gives 379,000 bytes";
  rows.push_back(
      {.source = "SSH, Section IX",
       .what = "MBF, 100k: number of filters",
       .printed =
           printed_number{.text = "1.06m, 875k, 550k, 1k, and 1k", .value = 5, .half_unit = 0},
       .model = static_cast<double>(hundred_thousand().levels.size()),
       .known_erratum = erratum{.number = "1.1", .corrected = 6, .half_unit = 0},
       .remark = "one filter for each of the six levels, B_0 to B_5"});
  rows.push_back({.source = "SSH, Section IX",
                  .what = "MBF, 100k: bits of B_2",
                  .printed = printed_number{.text = "550k", .value = 550e3, .half_unit = 500},
                  .model = 10 * static_cast<double>(filters_of_ten_thousand().bits[2]),
                  .known_erratum = erratum{.number = "1.2", .corrected = 55e3, .half_unit = 500},
                  .remark = "ten times the design for 10,000 elements, as B_0 and B_1 are"});
}

/// The compromise that one filter for everything must make: false positives against failures.
void add_trade_off(outcome& result, false_positive_counts& counts) {
  const design& table = ten_thousand();
  series false_line = empty_line("false positives", 0);
  series failure_line = empty_line("failure + crisis", 1);
  for (unsigned k = 2; k <= 40; k += 2) {
    const model::summary_error error =
        model::single_filter_summary(table.elements, table.levels, single_small_cells, k);
    const double x = k;
    false_line.points.push_back({.x = x, .y = error.false_positive_probability});
    failure_line.points.push_back({.x = x, .y = failure_or_crisis(error)});
  }
  const row &printed_false = find(result.rows, "SF, 10k: false positives"),
            &printed_failure = find(result.rows, "SF, 10k: failure + crisis");
  series printed = empty_marks("printed", 2);
  printed.points = {{.x = single_hashes, .y = printed_false.printed->value},
                    {.x = single_hashes, .y = printed_failure.printed->value}};
  series false_marks = empty_marks("false positives, simulation", 0);
  false_marks.points.push_back(mark(single_hashes, *printed_false.simulated));
  for (const unsigned k : {8u, 30u}) {
    const double expected = model::partitioned_error(static_cast<double>(single_small_cells),
                                                     static_cast<double>(table.elements), k);
    const sim::estimate seen =
        counts.count({single_small_cells, k, layout::partitioned}, table.elements, expected);
    false_marks.points.push_back(mark(k, seen));
    result.rows.push_back(compared_row("SSH, Section VIII-A",
                                       fmt::format("SF, 10k: false positives with {} hashes", k),
                                       expected, seen));
  }
  result.charts.push_back({.name = "ssh-table3",
                           .title = "Single filter, 10,000 elements, 120,000 cells: what k trades",
                           .x_label = "hashes k",
                           .y_label = "probability",
                           .x_scale = scale::linear,
                           .y_scale = scale::logarithmic,
                           .lines = {false_line, failure_line, false_marks, printed}});
}

}  // namespace

outcome bloom_review(const conditions& in) {
  const std::string source = "SSH, Section III";
  outcome result;
  result.rows.push_back(printed_row(source, "error per bit and element at the best k, 2^(-ln 2)",
                                    "0.6185", std::exp2(-std::numbers::ln2)));

  // Eight bits for each of 1050 elements: 8400 has many divisors, so that parts are whole.
  constexpr std::uint64_t elements = 1'050, bits = 8'400, queries = 5'000;
  const std::vector<unsigned> hashes{1, 2, 3, 4, 5, 6, 7, 8, 10, 12};
  const std::uint64_t trials = by_effort<std::uint64_t>(in.how_much, 64, 1'000, 50'000);
  const double n = static_cast<double>(elements), m = static_cast<double>(bits);
  series one_line = empty_line("one array", 0);
  series part_line = empty_line("one part per hash", 1);
  series one_marks = empty_marks("one array, simulation", 0);
  series part_marks = empty_marks("one part per hash, simulation", 1);
  series limit = empty_dashes("limit (1 - e^(-kn/m))^k", 2);
  std::uint64_t stream = review_stream;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const unsigned k = hashes[i];
    conditions part = in;
    const double parts = static_cast<double>(hashes.size());
    part.tell =
        between(in.tell, static_cast<double>(i) / parts, static_cast<double>(i + 1) / parts);
    const double whole = model::standard_error_exact(bits, elements, k);
    const double split = model::partitioned_error(m, n, k);
    const sim::estimate seen_whole = mean_false_positives(part, stream++, {bits, k, layout::whole},
                                                          elements, queries, trials, whole);
    const sim::estimate seen_split = mean_false_positives(
        part, stream++, {bits, k, layout::partitioned}, elements, queries, trials, split);
    const double x = k;
    one_line.points.push_back({.x = x, .y = whole});
    part_line.points.push_back({.x = x, .y = split});
    limit.points.push_back({.x = x, .y = model::standard_error(m / n, k)});
    one_marks.points.push_back(mark(x, seen_whole));
    part_marks.points.push_back(mark(x, seen_split));
    const std::string remark =
        i == 0 ? fmt::format("{} elements, {} bits, {} filters", elements, bits, trials) : "";
    result.rows.push_back(compared_row(source, fmt::format("error, k = {}, one array", k), whole,
                                       seen_whole, remark));
    result.rows.push_back(
        compared_row(source, fmt::format("error, k = {}, parts", k), split, seen_split));
  }
  const std::size_t best = static_cast<std::size_t>(
      std::min_element(one_line.points.begin(), one_line.points.end(),
                       [](const point& a, const point& b) { return a.y < b.y; }) -
      one_line.points.begin());
  result.found = fmt::format(
      "With {} bits per element the error is least at k = {} ({:.3f} %); 0.6185^(m/n) would be "
      "{:.3f} %. A part for each hash costs {:.2f} % of the error at that k: the two layouts are "
      "the same for all practical purposes, as the paper says.",
      bits / elements, hashes[best], 100 * one_line.points[best].y,
      100 * std::exp2(-std::numbers::ln2 * m / n),
      100 * (part_line.points[best].y / one_line.points[best].y - 1));
  result.charts.push_back({.name = "ssh-sec3",
                           .title = "False positives of a Bloom filter, 8 bits per element",
                           .x_label = "hashes k",
                           .y_label = "false positive probability",
                           .x_scale = scale::linear,
                           .y_scale = scale::logarithmic,
                           .lines = {limit, one_line, part_line, one_marks, part_marks}});
  return result;
}

outcome equal_strings(const conditions& in) {
  const std::string source = "SSH, Section VII";
  outcome result;
  result.rows.push_back(printed_row(source, "failure, n = 100,000, b = 61", "< 2.17e-9",
                                    model::interpolation_failure(100'000, 61)));
  result.rows.push_back(printed_row(source, "false positives, n = 100,000, b = 61", "< 4.34e-14",
                                    model::interpolation_false_positive(100'000, 61)));
  result.rows.push_back(printed_row(source, "failure, n = 10,000, b = 55", "< 1.39e-9",
                                    model::interpolation_failure(10'000, 55)));
  result.rows.push_back(printed_row(source, "false positives, n = 10,000, b = 55", "2.78e-13",
                                    model::interpolation_false_positive(10'000, 55)));

  // Strings short enough for equal ones to be seen.
  constexpr std::uint64_t elements = 1'000;
  const std::uint64_t trials = by_effort<std::uint64_t>(in.how_much, 500, 8'000, 200'000);
  series line = empty_line("birthday problem", 0);
  series marks = empty_marks("simulation", 0);
  for (unsigned bits = 14; bits <= 32; ++bits)
    line.points.push_back(
        {.x = static_cast<double>(bits), .y = model::interpolation_failure(elements, bits)});
  const std::vector<unsigned> lengths{18, 20, 22, 24, 26};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const unsigned bits = lengths[i];
    const double parts = static_cast<double>(lengths.size());
    const string_tally seen = draw_strings(
        in, between(in.tell, static_cast<double>(i) / parts, static_cast<double>(i + 1) / parts),
        string_stream + i, elements, bits, trials);
    const double expected = model::interpolation_failure(elements, bits);
    const double present = model::interpolation_false_positive(elements, bits);
    const sim::estimate share =
        rare(static_cast<double>(seen.failures), trials, expected * (1 - expected));
    marks.points.push_back(mark(bits, share));
    result.rows.push_back(compared_row(source, fmt::format("failure, n = 1,000, b = {}", bits),
                                       expected, share,
                                       i == 0 ? "short strings, for failures to be seen" : ""));
    // Every query of a build without equal strings succeeds with the same probability.
    const std::uint64_t asked = seen.false_positives.count() * elements;
    result.rows.push_back(compared_row(
        source, fmt::format("false positives, n = 1,000, b = {}", bits), present,
        rare(seen.false_positives.sum() * static_cast<double>(elements), asked, present)));
  }
  result.charts.push_back({.name = "ssh-sec7",
                           .title = "Interpolation search summary: two equal strings among 1,000",
                           .x_label = "bits per string",
                           .y_label = "failure probability",
                           .x_scale = scale::linear,
                           .y_scale = scale::logarithmic,
                           .lines = {line, marks}});
  result.found = fmt::format(
      "Both of the paper's instances keep to their bounds: {:.3e} for 100,000 elements with 61 "
      "bits and {:.3e} for 10,000 with 55. With strings of 18 to 26 bits, in {} builds each, {} "
      "comparisons with the birthday problem agree; each further bit halves failures and false "
      "positives.",
      model::interpolation_failure(100'000, 61), model::interpolation_failure(10'000, 55),
      grouped(static_cast<double>(trials)), agreeing(result.rows, rows_with::simulated));
  return result;
}

outcome table_three(const conditions& in) {
  const design &small = ten_thousand(), &large = hundred_thousand();
  const filter_design &few = filters_of_ten_thousand(), &many = filters_of_hundred_thousand();
  constexpr double structures = 7;
  false_positive_counts counts(in, structures);
  outcome result;
  add_song(result.rows, counts);

  const auto single = [&](const design& table, std::uint64_t cells) {
    return model::single_filter_summary(table.elements, table.levels, cells, single_hashes);
  };
  const auto count_single = [&](const design& table, std::uint64_t cells,
                                const model::summary_error& error) {
    return counts.count({cells, single_hashes, layout::partitioned}, table.elements,
                        error.false_positive_probability);
  };
  const auto several = [&](const design& table, const filter_design& filters) {
    return model::multi_filter_summary(table.elements, table.levels, filters.bits, filters.hashes);
  };
  const auto count_several = [&](const design& table, const filter_design& filters,
                                 const model::summary_error& error) {
    return counts.count({filters.bits[0], filters.hashes[0], layout::whole}, table.elements,
                        error.false_positive_probability);
  };
  const model::summary_error strings =
      model::interpolation_summary(small.elements, small.levels, 55);
  const model::summary_error one = single(small, single_small_cells), all = several(small, few);
  add_line(result.rows, {"IS", "60000", "80000", "2.78e-13", "1.39e-9"}, small, strings, {});
  find(result.rows, "IS, 10k: bytes").remark =
      "entries of 55 + 3 bits, packed; words of 64 bits would take 87,500 (erratum 1.17)";
  add_line(result.rows, {"SF", "60000", "47500", ".006", "7.64e-10"}, small, one,
           count_single(small, single_small_cells, one));
  add_line(result.rows, {"MBF", "60000", "32450", ".006", "4.97e-12"}, small, all,
           count_several(small, few, all));

  const model::summary_error one_large = single(large, single_large_cells),
                             all_large = several(large, many);
  add_line(result.rows, {"IS", "600000", "875000", "4.34e-14", "2.17e-9"}, large,
           model::interpolation_summary(large.elements, large.levels, 61), {});
  add_line(result.rows, {"SF", "600000", "525000", ".006", "7.27e-9"}, large, one_large,
           count_single(large, single_large_cells, one_large));
  add_line(result.rows, {"MBF", "600000", "379000", ".006", "1.38e-11"}, large, all_large,
           count_several(large, many, all_large));
  add_filter_errata(result.rows);
  add_trade_off(result, counts);

  const double n = static_cast<double>(small.elements);
  result.found = fmt::format(
      "Our computation gives {} printed numbers to the last digit. For 10,000 elements the "
      "summaries take {:.2f}, {:.2f} and {:.2f} bytes per element (interpolation search, one "
      "filter, several filters) and fail with probability {:.2e}, {:.2e} and {:.2e}, crises "
      "included. What does not come out is the size of the several filters for 100,000 elements: "
      "five are printed where six levels need six, and one of them is ten times too large; with "
      "ten times the sizes of the smaller design they take {} bytes, {:.0f} % less than printed, "
      "and fail no more often (errata 1.1, 1.2). False positives, simulated with the paper's own "
      "sizes: {:.3f} % for one filter and {:.3f} % for several.",
      agreeing(result.rows, rows_with::printed), strings.bytes / n, one.bytes / n, all.bytes / n,
      failure_or_crisis(strings), failure_or_crisis(one), failure_or_crisis(all),
      grouped(all_large.bytes),
      100 * (1 - all_large.bytes / find(result.rows, "MBF, 100k: bytes").printed->value),
      100 * find(result.rows, "SF, 10k: false positives").simulated->mean,
      100 * find(result.rows, "MBF, 10k: false positives").simulated->mean);
  return result;
}

}  // namespace oneprobe::cli::ssh
