// SSH, Tables I, II and III, Sections X and XI: once more, by the structures that one uses.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimates.hpp"
#include "oneprobe/baseline/song_map.hpp"
#include "oneprobe/model/reconstruction.hpp"
#include "oneprobe/model/summary.hpp"
#include "oneprobe/one_probe/multi_filter.hpp"
#include "oneprobe/one_probe/one_probe_map.hpp"
#include "oneprobe/one_probe/packed_strings.hpp"
#include "oneprobe/one_probe/single_filter.hpp"
#include "oneprobe/plan/summary.hpp"
#include "output.hpp"
#include "ssh.hpp"

namespace oneprobe::cli::ssh {
namespace {

enum stream : std::uint64_t { fill_stream = 600, question_stream = 610, move_stream = 620 };

template <class Summary>
using number_map = one_probe_map<std::uint64_t, std::uint64_t, Summary>;

summary_plan plan_called(std::string_view name) { return paper_summary(name).value(); }

/// Builds of a map: elements by level, failures, and absent keys that read a bucket.
struct build_tally {
  static constexpr std::size_t listed_levels = 3;  // beyond, less than one element is expected
  std::array<sample, listed_levels> levels;
  sample false_positives;
  sample reads;
  std::uint64_t builds = 0;
  std::uint64_t failures = 0;  // and crises

  void merge(const build_tally& other) {
    for (std::size_t i = 0; i < listed_levels; ++i) levels[i].merge(other.levels[i]);
    false_positives.merge(other.false_positives);
    reads.merge(other.reads);
    builds += other.builds;
    failures += other.failures;
  }
};

template <class Summary>
build_tally build(const conditions& in, const sim::progress& tell, std::uint64_t stream,
                  const summary_plan& plan, std::uint64_t builds, std::uint64_t queries) {
  const std::uint64_t seed = seed_of(in, stream);
  return run_trials<build_tally>(builds, in.threads, tell, [&] {
    return [&, map = number_map<Summary>(plan, seeded_hash(seed))](std::uint64_t trial,
                                                                   build_tally& into) mutable {
      random_bits random(seed, trial);
      map.clear();
      for (std::uint64_t i = 0; i < plan.elements; ++i) map.insert(random.next(), i);
      const one_probe_stats stats = map.stats();
      for (std::size_t i = 0; i < build_tally::listed_levels; ++i)
        into.levels[i].add(static_cast<double>(stats.counts.levels[i]));
      into.failures += stats.failures + stats.crises;
      ++into.builds;
      if (queries == 0) return;
      std::uint64_t sent = 0, read = 0;
      for (std::uint64_t i = 0; i < queries; ++i) {
        const std::uint64_t key = random.next();
        const key_hash hash = map.hash()(key);
        sent += map.summary().where(hash) ? 1u : 0u;
        read += map.explain(key, hash).accesses;
      }
      into.false_positives.add(static_cast<double>(sent) / static_cast<double>(queries));
      into.reads.add(static_cast<double>(read) / static_cast<double>(queries));
    };
  });
}

/// Tables I and II, "Exact".
struct level_table {
  std::string source;
  const design& made_of;
  std::vector<std::string> printed;
};

void add_levels(std::vector<row>& rows, const level_table& table, const build_tally& seen) {
  const model::crisis_result exact = model::crisis(table.made_of.elements, table.made_of.levels);
  for (std::size_t i = 0; i < table.printed.size(); ++i) {
    rows.push_back(printed_row(table.source, fmt::format("elements in level {} of a map", i + 1),
                               table.printed[i], exact.expected_per_level[i]));
    rows.back().simulated = seen.levels[i].estimate();
  }
}

/// The bytes that a structure has, not those of a formula.
void add_bytes(std::vector<row>& rows) {
  const auto add = [&](std::string source, std::string_view name, std::string printed,
                       std::size_t filters, std::uint64_t others, std::string remark = {}) {
    rows.push_back(printed_row(std::move(source), fmt::format("{}: bytes of the structure", name),
                               std::move(printed), static_cast<double>(filters + others),
                               std::move(remark)));
  };
  const std::string a = "SSH, Table III(a)", b = "SSH, Table III(b)";
  const auto occupancy = [](std::string_view name) { return plan_called(name).occupancy_bytes(); };
  add(a, "Song et al., 10k", "49152",
      song_map<std::uint64_t, std::uint64_t>({.buckets = 131'072}, seeded_hash(1)).memory_bytes(),
      0);
  add(a, "IS, 10k", "80000",
      packed_strings_summary(plan_called("ssh-10k-interpolation")).memory_bytes(),
      occupancy("ssh-10k-interpolation"), "strings of 55 bits and 3 of the level, packed");
  add(a, "SF, 10k", "47500", single_filter_summary(plan_called("ssh-10k-single")).memory_bytes(),
      occupancy("ssh-10k-single"), "three cells in a byte");
  add(a, "MBF, 10k", "32450", multi_filter_summary(plan_called("ssh-10k-multi")).memory_bytes(),
      occupancy("ssh-10k-multi"));
  add(b, "IS, 100k", "875000",
      packed_strings_summary(plan_called("ssh-100k-interpolation")).memory_bytes(),
      occupancy("ssh-100k-interpolation"));
  add(b, "SF, 100k", "525000", single_filter_summary(plan_called("ssh-100k-single")).memory_bytes(),
      occupancy("ssh-100k-single"));
  add(b, "MBF, 100k", "379000", multi_filter_summary(plan_called("ssh-100k-multi")).memory_bytes(),
      occupancy("ssh-100k-multi"));
  rows.back().known_erratum = erratum{.number = "1.2", .corrected = 324'125, .half_unit = 0.5};
  const std::string counting = "SSH, Section XI-B";
  add(counting, "counting, cautious", "99775",
      counting_multi_filter_summary(plan_called("ssh-10k-counting")).memory_bytes(), 0);
  add(counting, "counting, bold", "99700",
      counting_multi_filter_summary(plan_called("ssh-10k-counting-bold")).memory_bytes(), 0);
}

/// What absent keys meet: the paper's false positives, and the buckets that are read for them.
void add_questions(std::vector<row>& rows, std::string_view scheme, std::string printed,
                   const summary_plan& plan, const build_tally& seen, std::uint64_t queries) {
  const std::uint64_t asked = queries * seen.builds;
  const auto count = [&](const sample& of, double expected) {
    return rare(of.mean() * static_cast<double>(asked), asked, expected, of.standard_error());
  };
  const double sent = plan.predicted.false_positive_probability;
  rows.push_back(printed_row("SSH, Table III(a)",
                             fmt::format("{}, 10k: false positives of a map", scheme),
                             std::move(printed), sent));
  rows.back().simulated = count(seen.false_positives, sent);
  const double read = plan.predicted.absent_read_probability;
  rows.push_back(compared_row(
      "beyond the paper", fmt::format("{}, 10k: absent keys that read a bucket", scheme), read,
      count(seen.reads, read), "a bucket that the bit table knows to be empty is not read"));
}

void add_failures(std::vector<row>& rows, std::string_view what, const summary_plan& plan,
                  const build_tally& seen) {
  const double expected = plan.predicted.failure_probability + plan.predicted.crisis_probability;
  rows.push_back(compared_row("SSH, Section X",
                              fmt::format("failures and crises per map, {}", what), expected,
                              rare(static_cast<double>(seen.failures), seen.builds, expected),
                              fmt::format("{} of {} maps; none of their elements is misdirected",
                                          seen.failures, seen.builds)));
}

/// One reconstruction of a map of 9,999 elements of which 909 were erased.
std::uint64_t moves(number_map<single_filter_summary>& map, random_bits& random,
                    model::deletion_order order) {
  constexpr std::uint64_t staying = 9'090, deleted = 909;
  map.clear();
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < staying + deleted; ++i) {
    keys.push_back(random.next());
    map.insert(keys.back(), i);
  }
  for (std::uint64_t gone = 0; gone < deleted;) {
    const std::uint64_t which = random.below(keys.size());
    if (order == model::deletion_order::first_level && map.explain(keys[which]).level != 0)
      continue;
    map.erase(keys[which]);
    keys[which] = keys.back();
    keys.pop_back();
    ++gone;
  }
  return map.reconstruct();
}

struct move_tally {
  std::array<sample, 2> moved;  // random departures, and from the first level only

  void merge(const move_tally& other) {
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i].merge(other.moved[i]);
  }
};

move_tally reconstruct(const conditions& in, const sim::progress& tell, std::uint64_t trials) {
  const std::uint64_t seed = seed_of(in, move_stream);
  summary_plan plan = plan_called("ssh-10k-single");
  plan.deletion = summary_deletion::lazy;
  plan.deleted_limit = 5'000;  // we say when
  plan.overflow_reserve = 400;
  return run_trials<move_tally>(trials, in.threads, tell, [&] {
    return [&, map = number_map<single_filter_summary>(plan, seeded_hash(seed))](
               std::uint64_t trial, move_tally& into) mutable {
      random_bits random(seed, trial);
      into.moved[0].add(static_cast<double>(moves(map, random, model::deletion_order::uniform)));
      into.moved[1].add(
          static_cast<double>(moves(map, random, model::deletion_order::first_level)));
    };
  });
}

void add_moves(std::vector<row>& rows, const move_tally& seen) {
  const std::array<std::string, 2> names{"random deletions", "deletions in the first sub-table"},
      printed{"96.98", "114.25"};
  constexpr double their_trials = 100'000;
  for (std::size_t i = 0; i < names.size(); ++i) {
    rows.push_back(
        {.source = "SSH, Section XI-A",
         .what = fmt::format("elements that a map's reconstruction moves, {}", names[i]),
         .printed = as_printed(printed[i]),
         .simulated = seen.moved[i].estimate(),
         .remark = "a mean of 100,000 trials: held to four standard errors of theirs and ours"});
    rows.back().printed->half_unit +=
        4 * seen.moved[i].standard_deviation() / std::sqrt(their_trials);
  }
}

}  // namespace

outcome structures(const conditions& in) {
  outcome result;
  add_bytes(result.rows);

  const std::uint64_t builds = by_effort<std::uint64_t>(in.how_much, 60, 1'000, 100'000);
  const std::uint64_t queries = 10'000;
  // Wide enough for the geometric table, of which more elements are beyond the first level.
  summary_plan geometric = plan_called("ssh-10k-multi");
  std::copy(geometric_ten_thousand().levels.begin(), geometric_ten_thousand().levels.end(),
            geometric.level_buckets.begin());
  geometric.filter_cells[1] = 150'000;
  geometric.filter_cells[2] = 12'000;
  const summary_plan single = plan_called("ssh-10k-single"), several = plan_called("ssh-10k-multi"),
                     small = plan_called("ssh-10k-single-small");
  const build_tally first =
      build<multi_filter_summary>(in, between(in.tell, 0, 0.2), fill_stream, geometric, builds, 0);
  const build_tally of_several = build<multi_filter_summary>(
      in, between(in.tell, 0.2, 0.4), question_stream, several, builds, queries);
  const build_tally of_single = build<single_filter_summary>(
      in, between(in.tell, 0.4, 0.6), question_stream + 1, single, builds, queries);
  const build_tally of_small = build<single_filter_summary>(in, between(in.tell, 0.6, 0.8),
                                                            question_stream + 2, small, builds, 0);
  add_levels(result.rows,
             {"SSH, Table I", geometric_ten_thousand(), {"8504.18", "1423.67", "71.80"}}, first);
  add_levels(result.rows, {"SSH, Table II", ten_thousand(), {"8848.07", "1088.08", "63.45"}},
             of_several);
  add_questions(result.rows, "SF", ".006", single, of_single, queries);
  add_questions(result.rows, "MBF", ".006", several, of_several, queries);
  add_failures(result.rows, "120k cells, 15 hashes", single, of_single);
  add_failures(result.rows, "100k cells, 10 hashes", small, of_small);
  // An insertion among packed strings moves half of them.
  const summary_plan strings = plan_called("ssh-10k-interpolation");
  const build_tally of_strings = build<packed_strings_summary>(
      in, between(in.tell, 0.8, 0.85), question_stream + 3, strings, builds / 10, queries);
  add_questions(result.rows, "IS", "2.78e-13", strings, of_strings, queries);
  add_failures(result.rows, "strings of 55 bits", strings, of_strings);
  const move_tally moved = reconstruct(in, between(in.tell, 0.85, 1), builds);
  add_moves(result.rows, moved);

  result.found = fmt::format(
      "Maps of one probe, built {} times with the paper's own sizes, take the bytes of Table III "
      "to "
      "the byte (for several filters and 100,000 elements those of erratum 1.2), fill their levels "
      "as Tables I and II say, and met {} failures. A reconstruction moves {:.2f} ± {:.2f} "
      "elements "
      "after random deletions and {:.2f} ± {:.2f} after deletions in the first level. A bit per "
      "bucket, which the paper keeps for insertions, also tells lookups which buckets are empty: "
      "of "
      "absent keys {:.3f} % are sent to a bucket and {:.3f} % read one.",
      grouped(static_cast<double>(builds)),
      of_single.failures + of_several.failures + of_strings.failures, moved.moved[0].mean(),
      moved.moved[0].standard_error(), moved.moved[1].mean(), moved.moved[1].standard_error(),
      100 * of_several.false_positives.mean(), 100 * of_several.reads.mean());
  return result;
}

}  // namespace oneprobe::cli::ssh
