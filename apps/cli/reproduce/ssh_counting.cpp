// SSH, Section XI-B: counting filters in place of Bloom filters, and how high their counters get.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include "estimates.hpp"
#include "oneprobe/model/balls.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/summary.hpp"
#include "output.hpp"
#include "ssh.hpp"

namespace oneprobe::cli::ssh {
namespace {

constexpr std::uint64_t counting_stream = 500;
constexpr std::size_t filters = 5;
constexpr std::size_t first_modified = 3;  // from B_3 on an element raises a counter at most once
constexpr std::size_t listed_values = 16;  // counters are looked at up to this value
constexpr double paper_builds = 1e6;

/// Counters of each filter that reached 1, 2, ..., per build.
struct counter_tally {
  std::array<std::array<sample, listed_values>, filters> reached;
  std::array<std::array<std::uint64_t, listed_values>, filters> builds_reaching{};

  void merge(const counter_tally& other) {
    for (std::size_t f = 0; f < filters; ++f)
      for (std::size_t v = 0; v < listed_values; ++v) {
        reached[f][v].merge(other.reached[f][v]);
        builds_reaching[f][v] += other.builds_reaching[f][v];
      }
  }
  unsigned largest(std::size_t filter) const {
    unsigned value = 0;
    while (value < listed_values && builds_reaching[filter][value] > 0) ++value;
    return value;
  }
};

/// The counting summary of one table.
class counting_summary {
 public:
  explicit counting_summary(const filter_design& sizes) : sizes_(&sizes) {
    for (const std::uint64_t bits : sizes.bits) counters_.emplace_back(bits);
  }

  void build(const one_slot_table& table, counter_tally& into) {
    for (auto& counters : counters_) std::fill(counters.begin(), counters.end(), std::uint16_t{0});
    reached_ = {};
    const auto hashes = table.hashes();
    const auto places = table.places();
    // B_i holds the elements beyond level i (counted from 0: all those of level i and above).
    for (std::size_t i = 0; i < hashes.size(); ++i)
      for (std::uint32_t f = 0; f <= places[i].level; ++f) insert(hashes[i], f);
    for (std::size_t f = 0; f < filters; ++f)
      for (std::size_t v = 0; v < listed_values; ++v) {
        into.reached[f][v].add(static_cast<double>(reached_[f][v]));
        if (reached_[f][v] > 0) ++into.builds_reaching[f][v];
      }
  }

 private:
  void insert(key_hash hash, std::uint32_t f) {
    const filter_shape shape{sizes_->bits[f], sizes_->hashes[f], layout::whole};
    if (f < first_modified) {
      for (std::uint32_t j = 0; j < shape.hashes; ++j) raise(f, shape.cell(hash, f, j));
      return;
    }
    cells_.clear();
    for (std::uint32_t j = 0; j < shape.hashes; ++j) cells_.push_back(shape.cell(hash, f, j));
    std::sort(cells_.begin(), cells_.end());
    cells_.erase(std::unique(cells_.begin(), cells_.end()), cells_.end());
    for (const std::uint64_t cell : cells_) raise(f, cell);
  }
  /// Nothing is deleted: as many counters reach a value as are raised to it.
  void raise(std::size_t f, std::uint64_t cell) {
    const std::uint16_t value = counters_[f][cell]++;
    ++reached_[f][std::min<std::size_t>(value, listed_values - 1)];
  }

  const filter_design* sizes_;
  std::vector<std::vector<std::uint16_t>> counters_;
  std::array<std::array<std::uint64_t, listed_values>, filters> reached_{};
  std::vector<std::uint64_t> cells_;
};

/// The mean of f(elements) over how many elements a filter holds.
template <class Function>
double mean_over(const model::count_distribution& elements, Function f) {
  double sum = 0;
  for (std::size_t i = 0; i < elements.probability.size(); ++i) {
    const std::uint64_t count = elements.first + i * elements.step;
    if (count > 0 && elements.probability[i] > 0) sum += elements.probability[i] * f(count);
  }
  return sum;
}

using model::counter_law;

counter_law law_of(const model::crisis_result& filled, const filter_design& sizes, std::size_t f) {
  return model::counters_reaching(
      filled.left_after[f], static_cast<double>(sizes.bits[f]), sizes.hashes[f],
      f < first_modified ? model::counted::each_hash : model::counted::once, listed_values);
}

extreme largest_of(const counter_law& law, double builds) {
  return extreme_of(model::largest_counter_at_least(law, builds));
}

constexpr std::string_view source = "SSH, Section XI-B";

/// Everything that the parts of the answer rest on.
struct findings {
  const filter_design& sizes;
  const model::crisis_result& filled;
  std::vector<counter_law> laws;  // by filter
  std::uint64_t builds;
  counter_tally seen;
};

/// Bytes with counters, the occupancy bits included, over bytes without.
struct growth {
  double cautious;
  double bold;
};

growth add_bytes(std::vector<row>& rows, const filter_design& sizes) {
  const design& table = ten_thousand();
  const std::vector<unsigned> cautious_bits{4, 4, 4, 4, 2}, bold_bits{4, 4, 4, 3, 1};
  const double cautious = model::counting_summary_bytes(sizes.bits, cautious_bits);
  const double bold = model::counting_summary_bytes(sizes.bits, bold_bits);
  const auto buckets = std::accumulate(table.levels.begin(), table.levels.end(), std::uint64_t{0});
  const double occupancy = static_cast<double>(buckets) / 8;
  const double plain =
      model::multi_filter_summary(table.elements, table.levels, sizes.bits, sizes.hashes).bytes;
  const growth by{(cautious + occupancy) / plain, (bold + occupancy) / plain};
  const auto add = [&](std::string what, std::string printed, double model) {
    rows.push_back(printed_row(std::string(source), std::move(what), std::move(printed), model));
  };
  add("bytes of the counters, cautious choice", "99775", cautious);
  add("bytes of the counters, bold choice", "99700", bold);
  add("bytes of the bit table", "7500", occupancy);
  add("size, against that without counters, cautious", "3.3", by.cautious);
  add("size, against that without counters, bold", "3.3", by.bold);
  return by;
}

const std::array<std::string, filters>& printed_largest() {
  static const std::array<std::string, filters> digits{"12", "11", "12", "4", "1"};
  return digits;
}

/// P(the largest counter of a million builds is exactly what is printed).
double probability_of_printed(const findings& in, std::size_t f) {
  const auto value = static_cast<std::size_t>(std::stoul(printed_largest()[f]));
  const std::vector<double> at_least = model::largest_counter_at_least(in.laws[f], paper_builds);
  return at_least[value - 1] - at_least[value];
}

void add_largest(std::vector<row>& rows, const findings& in) {
  const bool as_many_as_theirs = static_cast<double>(in.builds) == paper_builds;
  const auto seen = [&](std::size_t f, const extreme& law) {
    return sim::estimate{.mean = static_cast<double>(in.seen.largest(f)),
                         .standard_error = law.error};
  };
  for (std::size_t f = 0; f < filters; ++f) {
    const extreme theirs = largest_of(in.laws[f], paper_builds);
    row entry = printed_row(
        std::string(source), fmt::format("largest counter of B_{} in a million builds", f),
        printed_largest()[f], theirs.mean,
        fmt::format("the mean of that extreme; one in 16,000 is further off than {:.2f}, to which "
                    "the printed one is held; exactly {} has probability {:.2f}",
                    4 * theirs.error, printed_largest()[f], probability_of_printed(in, f)));
    entry.printed->half_unit = std::max(entry.printed->half_unit, 4 * theirs.error);
    if (as_many_as_theirs) entry.simulated = seen(f, theirs);
    rows.push_back(std::move(entry));
  }
  if (as_many_as_theirs) return;
  for (std::size_t f = 0; f < filters; ++f) {
    const extreme ours = largest_of(in.laws[f], static_cast<double>(in.builds));
    rows.push_back(compared_row(
        std::string(source), fmt::format("largest counter of B_{} seen", f), ours.mean,
        seen(f, ours),
        f == 0 ? fmt::format("in {} builds; error: a quarter of how far such an extreme strays",
                             in.builds)
               : ""));
  }
}

void add_reaching(std::vector<row>& rows, const findings& in) {
  for (std::size_t f = 0; f < filters; ++f) {
    // An element in a small filter raises all its counters at once: one event, many counters.
    const double cells = static_cast<double>(in.sizes.bits[f]);
    const double together =
        f < first_modified ? 1 : cells * -std::expm1(in.sizes.hashes[f] * std::log1p(-1 / cells));
    for (const unsigned value : {1u, 2u, 3u, 5u, 7u}) {
      const double expected = in.laws[f].expected[value - 1];
      if (!countable(expected / together, in.builds)) break;
      const sample& counters = in.seen.reached[f][value - 1];
      const sim::estimate elements = rare(counters.sum() / together, in.builds, expected / together,
                                          counters.standard_error() / together);
      rows.push_back(compared_row(
          std::string(source), fmt::format("counters of B_{} that reach {}", f, value), expected,
          scaled(elements, together),
          f >= first_modified ? "counted by elements, each of which raises all its counters" : ""));
    }
  }
}

chart reaching_chart(const findings& in) {
  chart picture{.name = "ssh-sec11b",
                .title = "Counters that reach a value, per build of 10,000 elements",
                .x_label = "value",
                .y_label = "expected counters",
                .x_scale = scale::linear,
                .y_scale = scale::logarithmic,
                .lines = {}};
  constexpr double rarest = 1e-9;  // where the axis ends: once in a billion builds
  for (std::size_t f = 0; f < filters; ++f) {
    const int colour = static_cast<int>(f);
    series line = empty_line(fmt::format("B_{}", f), colour);
    series marks = empty_marks(fmt::format("B_{}, simulation", f), colour);
    for (std::size_t v = 0; v < listed_values; ++v) {
      const double value = static_cast<double>(v + 1), expected = in.laws[f].expected[v];
      if (expected > rarest) line.points.push_back({.x = value, .y = expected});
      const sample& counters = in.seen.reached[f][v];
      if (counters.mean() > 0) marks.points.push_back(mark(value, counters.estimate()));
    }
    add_to(picture, {line, marks});
  }
  return picture;
}

/// One build's largest counter: what the widths must hold.
chart largest_chart(const findings& in) {
  chart picture{.name = "ssh-sec11b-largest",
                .title = "The largest counter of one build",
                .x_label = "largest counter",
                .y_label = "probability",
                .lines = {}};
  const double n = static_cast<double>(in.builds);
  for (std::size_t f = 0; f < first_modified; ++f) {
    const int colour = static_cast<int>(f);
    series line = empty_line(fmt::format("B_{}: Poisson approximation", f), colour);
    series marks = empty_marks(fmt::format("B_{}: simulation", f), colour);
    const auto at_least = [&](unsigned value) {
      return mean_over(in.filled.left_after[f], [&](std::uint64_t elements) {
        return -std::expm1(-model::expected_counters_at_least(static_cast<double>(in.sizes.bits[f]),
                                                              static_cast<double>(elements),
                                                              in.sizes.hashes[f], value));
      });
    };
    const auto& builds_reaching = in.seen.builds_reaching[f];
    for (unsigned value = 3; value <= 12; ++value) {
      const double x = value;
      const auto builds = static_cast<double>(builds_reaching[value - 1] - builds_reaching[value]);
      line.points.push_back({.x = x, .y = at_least(value) - at_least(value + 1)});
      marks.points.push_back(
          {.x = x, .y = builds / n, .error = std::sqrt(builds * (1 - builds / n)) / n});
    }
    add_to(picture, {line, marks});
  }
  return picture;
}

counter_tally build_summaries(const conditions& in, const filter_design& sizes,
                              std::uint64_t builds) {
  const design& table = ten_thousand();
  const std::uint64_t seed = seed_of(in, counting_stream);
  return run_trials<counter_tally>(builds, in.threads, in.tell, [&] {
    return [&, filled = one_slot_table(table.levels), summary = counting_summary(sizes)](
               std::uint64_t trial, counter_tally& into) mutable {
      random_bits random(seed, trial);
      filled.fill(random, table.elements);
      summary.build(filled, into);
    };
  });
}

}  // namespace

outcome largest_counters(const conditions& in) {
  const design& table = ten_thousand();
  const filter_design& sizes = filters_of_ten_thousand();
  const model::crisis_result filled = model::crisis(table.elements, table.levels);
  const std::uint64_t builds = by_effort<std::uint64_t>(in.how_much, 300, 20'000, 1'000'000);
  findings all{sizes, filled, {}, builds, build_summaries(in, sizes, builds)};
  for (std::size_t f = 0; f < filters; ++f) all.laws.push_back(law_of(filled, sizes, f));

  outcome result;
  const growth by = add_bytes(result.rows, sizes);
  add_largest(result.rows, all);
  add_reaching(result.rows, all);
  result.charts.push_back(reaching_chart(all));
  result.charts.push_back(largest_chart(all));

  std::vector<std::string> seen, expected;
  for (std::size_t f = 0; f < filters; ++f) {
    seen.push_back(fmt::format("{}", all.seen.largest(f)));
    expected.push_back(fmt::format("{:.1f}", largest_of(all.laws[f], paper_builds).mean));
  }
  constexpr std::size_t four_bits = 15;  // one more than this overflows a counter of four bits
  result.found = fmt::format(
      "Both choices of counter widths take the printed bytes, {:.2f} and {:.2f} times those of "
      "the plain filters. In {} builds the largest counters of B_0 to B_4 were {}; for the "
      "paper's million the calculation expects {} on average, and {} are printed. The least "
      "likely of these is the {} of B_2, with probability {:.2f}. A counter of four bits in B_0 "
      "overflows in one build of {:.0e}.",
      by.cautious, by.bold, grouped(static_cast<double>(builds)), fmt::join(seen, ", "),
      fmt::join(expected, ", "), fmt::join(printed_largest(), ", "), printed_largest()[2],
      probability_of_printed(all, 2), 1 / all.laws[0].any[four_bits]);
  return result;
}

}  // namespace oneprobe::cli::ssh
