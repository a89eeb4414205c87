#include "bench/filters_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/boost_bloom.hpp"
#include "bench/line_limit.hpp"
#include "bench/machine.hpp"
#include "bench/our_filters.hpp"
#include "bench/tick_clock.hpp"
#include "bench/time_cell.hpp"

namespace oneprobe::cli {
namespace {

constexpr std::size_t line_width = 80;
constexpr std::size_t name_width = 27;

const contest_entry* find(const filter_contest& contest, auto&& is_wanted) {
  const auto found = std::find_if(contest.entries.begin(), contest.entries.end(), is_wanted);
  return found == contest.entries.end() ? nullptr : &*found;
}
const contest_entry* named(const filter_contest& contest, std::string_view name) {
  return find(contest, [name](const contest_entry& e) { return e.facts.name == name; });
}
const contest_entry* reference_of(const filter_contest& contest) {
  return named(contest, reference_name);
}
const contest_entry* line_of(const filter_contest& contest) {
  return named(contest, line_limit_name);
}

double measured_fpr(const race_result& result) {
  return static_cast<double>(result.false_positives) / static_cast<double>(result.negatives_asked);
}

std::optional<double> median_of(const std::vector<double>& rounds) {
  if (rounds.empty()) return std::nullopt;
  return median(rounds);
}

/// With the geometry of its buckets, on which speed and error of a fingerprint filter depend.
std::string shown_name(const contender_facts& facts) {
  if (!facts.fingerprint_bucket) return facts.name;
  return fmt::format("{} f={} h={}", facts.name, facts.fingerprint_bucket->remainder_bits,
                     facts.fingerprint_bucket->bucket_capacity);
}

/// The line that an operation is compared with: bulk against bulk. An insertion reads a line too,
/// and writes it back.
operation line_operation(operation what) {
  const bool bulk = what == operation::bulk_insert || what == operation::bulk_negative ||
                    what == operation::bulk_positive;
  return bulk ? operation::bulk_negative : operation::negative;
}

/// What is said of single insertions.
struct latency_figure {
  const char* name;
  double insert_latencies::*what;
};
constexpr std::array<latency_figure, 6> latency_figures{{
    {"p50", &insert_latencies::p50_ns},
    {"p99", &insert_latencies::p99_ns},
    {"p999", &insert_latencies::p999_ns},
    {"p9999", &insert_latencies::p9999_ns},
    {"max", &insert_latencies::max_ns},
    {"max_running", &insert_latencies::max_running_ns},
}};

// --- JSON ---------------------------------------------------------------------------------------

void add_optional(report& out, std::string key, const std::optional<double>& value) {
  if (value)
    out.number(std::move(key), *value);
  else
    out.nothing(std::move(key), "");
}

/// {"negative": {"median": ..., "least": ..., "most": ...}, ...}, null where there is none.
template <class Base>
report ratios_of(const race_result& result, Base&& base_times) {
  report out("");
  for (const operation what : all_operations) {
    const std::string name(operation_names[static_cast<std::size_t>(what)]);
    const std::vector<double>* base = base_times(what);
    const auto found = base == nullptr ? std::nullopt : ratio_of(result.ns(what), *base);
    if (!found) {
      out.nothing(name, "");
      continue;
    }
    report of("");
    of.number("median", found->median).number("least", found->least).number("most", found->most);
    out.object(name, of);
  }
  return out;
}

report row_of(const filter_contest& contest, const contest_entry& entry) {
  // Not a structured binding: clang 14 does not let lambdas capture those.
  const contender_facts& facts = entry.facts;
  const race_result& result = entry.result;
  report out("");
  out.text("name", facts.name);
  out.number("asked_bits_per_element", contest.size.bits_per_element);
  out.number("bits_per_element", 8 * static_cast<double>(facts.memory_bytes) /
                                     static_cast<double>(contest.size.elements));
  out.whole("memory_bytes", facts.memory_bytes);
  out.whole_or("bits_set", facts.bits_set, "");
  if (facts.fingerprint_bucket) {
    out.whole("remainder_bits", facts.fingerprint_bucket->remainder_bits);
    out.whole("bucket_capacity", facts.fingerprint_bucket->bucket_capacity);
  } else {
    out.nothing("remainder_bits", "").nothing("bucket_capacity", "");
  }
  out.number("fpr", measured_fpr(result));
  add_optional(out, "fpr_model", facts.fpr_model);
  add_optional(out, "current_fpr", result.current_fpr);
  out.whole("negatives_asked", result.negatives_asked);
  out.whole("false_positives", result.false_positives);
  for (const operation what : all_operations)
    add_optional(out, fmt::format("{}_ns", operation_names[static_cast<std::size_t>(what)]),
                 median_of(result.ns(what)));
  const std::optional<insert_latencies> single = summary_of(result.latencies);
  for (const auto& [name, what] : latency_figures)
    add_optional(out, fmt::format("insert_{}_ns", name),
                 single ? std::optional((*single).*what) : std::nullopt);
  out.number("miss_lines", result.costs.miss_lines);
  add_optional(out, "insert_accesses", result.costs.insert_accesses);
  out.number("miss_accesses", result.costs.miss_accesses);
  add_optional(out, "hit_accesses", result.costs.hit_accesses);
  add_optional(out, "overflow_fraction", result.costs.overflow_fraction);
  const contest_entry* reference = reference_of(contest);
  out.object("against_blocked", ratios_of(result, [&](operation what) {
               return reference == nullptr ? nullptr : &reference->result.ns(what);
             }));
  const auto against = [&](const contest_entry* line) {
    return ratios_of(result, [&](operation what) {
      return line == nullptr ? nullptr : &line->result.ns(line_operation(what));
    });
  };
  out.object("against_line", against(line_of(contest)));
  out.object("against_own_ring_line", against(named(contest, own_ring_limit_name)));
  report rounds("");
  for (const operation what : all_operations)
    rounds.numbers(std::string(operation_names[static_cast<std::size_t>(what)]), result.ns(what),
                   "");
  out.object("rounds_ns", rounds);
  return out;
}

report memory_limit_of(const filter_contest& contest) {
  report out("");
  const contest_entry* line = line_of(contest);
  if (line == nullptr) return out;
  out.number("bits_per_element", contest.size.bits_per_element);
  out.whole("array_bytes", line->facts.memory_bytes);
  out.number("random_line_ns", median(line->result.ns(operation::negative)));
  out.number("prefetched_line_ns", median(line->result.ns(operation::bulk_negative)));
  if (const contest_entry* own_ring = named(contest, own_ring_limit_name))
    out.number("own_ring_line_ns", median(own_ring->result.ns(operation::bulk_negative)));
  return out;
}

std::vector<report> sentences(const std::vector<std::string>& all) {
  std::vector<report> list;
  list.reserve(all.size());
  for (const std::string& each : all) list.push_back(report("").text("what", each));
  return list;
}

report machine_object(const machine_facts& facts) {
  report out = object_of(facts);
  if (boost_bloom_state() == peer_state::compiled_in)
    out.text("boost_bloom_flags", boost_bloom_flags());
  else
    out.nothing("boost_bloom_flags", "");
  return out;
}

// --- tables -------------------------------------------------------------------------------------

std::string cell(const std::optional<double>& ns) {
  if (!ns) return fmt::format("{:>7}", "");
  return fmt::format("{:7.{}f}", *ns, *ns < 1000 ? 1 : 0);
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string times_table(const filter_contest& contest) {
  std::string text = fmt::format("{:{}}{:>14}{:>14}{:>14}\n{:{}}{:>9}", "", 2 + name_width + 9,
                                 "insert", "negative", "positive", "", 2 + name_width, "FPR");
  for (int i = 0; i < 3; ++i) text += fmt::format("{:>7}{:>7}", "one", "bulk");
  text += '\n';
  for (const auto& [facts, result] : contest.entries) {
    std::string line = fmt::format("  {:{}}", shown_name(facts), name_width);
    line += facts.kind == contender_kind::memory ? fmt::format("{:>9}", "")
                                                 : fmt::format("{:9.1e}", measured_fpr(result));
    for (const operation what : all_operations) line += cell(median_of(result.ns(what)));
    text += without_trailing_spaces(line) + '\n';
  }
  return text;
}

std::string latencies_table(const filter_contest& contest) {
  std::string text = fmt::format("{:{}}", "", 2 + name_width);
  for (const char* heading : {"p50", "p99", "p99.9", "p99.99", "max", "max*"})
    text += fmt::format("{:>8}", heading);
  text += '\n';
  for (const auto& [facts, result] : contest.entries) {
    const std::optional<insert_latencies> single = summary_of(result.latencies);
    if (!single) continue;
    text += fmt::format("  {:{}}", shown_name(facts), name_width);
    for (const latency_figure& figure : latency_figures)
      text += time_cell((*single).*figure.what, 8);
    text += '\n';
  }
  return text;
}

/// Three operations as multiples of what a base takes for them.
template <class Base>
std::string ratio_table(const filter_contest& contest, Base&& base_times) {
  constexpr std::array<operation, 3> shown{operation::bulk_negative, operation::negative,
                                           operation::bulk_insert};
  std::string text = fmt::format("{:{}}{:>6}{:>15}{:>15}{:>15}\n", "", 2 + name_width, "lines",
                                 "bulk negative", "negative", "bulk insert");
  for (const auto& [facts, result] : contest.entries) {
    if (facts.kind == contender_kind::memory) continue;
    std::string line =
        fmt::format("  {:{}}{:6.2f}", shown_name(facts), name_width, result.costs.miss_lines);
    for (const operation what : shown) {
      const auto found = ratio_of(result.ns(what), base_times(what));
      line += fmt::format("{:>15}", found ? fmt::format("{:.2f} +-{:.2f}", found->median,
                                                        (found->most - found->least) / 2)
                                          : std::string());
    }
    text += without_trailing_spaces(line) + '\n';
  }
  return text;
}

std::string tables_of(const filter_contest& contest) {
  const contest_size& size = contest.size;
  std::string text =
      fmt::format("{} elements at {} bits each ({} MB): ns per operation\n\n",
                  grouped(static_cast<double>(size.elements)), rounded(size.bits_per_element),
                  grouped(static_cast<double>(size.elements) * size.bits_per_element / 8e6));
  text += times_table(contest);
  if (const contest_entry* reference = reference_of(contest)) {
    text += fmt::format("\nTimes what \"{}\" takes: median, and half the range of {} rounds\n\n",
                        reference_name, contest.settings.rounds);
    text += ratio_table(contest, [&](operation what) -> const std::vector<double>& {
      return reference->result.ns(what);
    });
  }
  if (const contest_entry* line = line_of(contest)) {
    text += "\nTimes what one random line takes; bulk: by a ring to the first cache\n\n";
    text += ratio_table(contest, [&](operation what) -> const std::vector<double>& {
      return line->result.ns(line_operation(what));
    });
  }
  text += "\nSingle insertions over the last 2 % of the filling; * while running\n\n";
  text += latencies_table(contest);
  for (const std::string& each : contest.left_out)
    text += '\n' + wrapped("Left out: " + each, line_width, 0);
  return text;
}

std::string machine_text(const machine_facts& facts) {
  std::string text = text_of(facts);
  if (boost_bloom_state() == peer_state::absent)
    text += wrapped(
        "Boost.Bloom is absent: configure with cmake -DONEPROBE_PEER_BOOST_BLOOM=DIR, the folder "
        "of its headers, to have it beside.",
        line_width, 0);
  else
    text += wrapped(fmt::format("Boost.Bloom was compiled with {} on top.", boost_bloom_flags()),
                    line_width, 0);
  return text;
}

}  // namespace

report report_of(const std::vector<filter_contest>& contests, const machine_facts& machine) {
  report out("Filters on this machine");
  out.whole("elements", contests.front().size.elements);
  out.whole("rounds", contests.front().settings.rounds);
  out.whole("queries_per_round", contests.front().settings.queries);
  const tick_clock clock;
  out.text("latency_clock", std::string(clock.name()));
  out.number("latency_clock_cost_ns", clock.cost_ns());
  out.object("memory_limit", memory_limit_of(contests.front()));
  std::vector<report> limits, rows;
  std::vector<std::string> faults, left_out;
  std::string text = machine_text(machine);
  for (const filter_contest& contest : contests) {
    text += '\n' + tables_of(contest);
    limits.push_back(memory_limit_of(contest));
    left_out.insert(left_out.end(), contest.left_out.begin(), contest.left_out.end());
    for (const contest_entry& entry : contest.entries) {
      if (entry.facts.kind != contender_kind::memory) rows.push_back(row_of(contest, entry));
      for (std::string& fault : faults_of(entry)) faults.push_back(std::move(fault));
    }
  }
  out.objects("memory_limits", limits);
  out.objects("rows", rows);
  out.yes_no("boost_bloom", boost_bloom_state() == peer_state::compiled_in);
  out.object("machine", machine_object(machine));
  out.objects("left_out", sentences(left_out));
  out.objects("faults", sentences(faults));
  for (const std::string& fault : faults) text += '\n' + wrapped("Wrong: " + fault, line_width, 0);
  if (!faults.empty()) out.negative();
  out.layout(text + "\nWhat the columns mean: oneprobe bench filters --help\n");
  return out;
}

}  // namespace oneprobe::cli
