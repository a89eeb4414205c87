#include "oneprobe/plan/summary.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/common.hpp"
#include "plan/commands.hpp"
#include "plan/costs.hpp"
#include "plan/program.hpp"
#include "plan/text.hpp"

namespace oneprobe::cli {
namespace {

constexpr option capacity{"--bucket-capacity", "H", "slots per bucket, 1 to 16 (default 1)"};
constexpr std::uint32_t most_element_bytes = 65536;
constexpr option element_bytes{"--element-bytes", "N", "bytes of a key and its value (default 16)"};
constexpr option way{"--deletion", "NAME",
                     "none (default), lazy, incremental (lazy, in bounded pieces) or counting"};
constexpr option who{
    "--departures", "NAME",
    "what leaves in the long run: any (default) or first-level (only elements of the "
    "first level, the worst case)"};
constexpr option deleted{"--deleted-fraction", "A",
                         "lazy: of the elements, so many more may be marked (default 0.1)"};
constexpr option which{"--kind", "NAME",
                       "single-filter, multi-filter or interpolation (default: whichever takes "
                       "less)"};
constexpr option vain{"--false-positives", "P",
                      "probability that an absent key is sent to a level (default 0.01)"};
constexpr option failing{"--failure", "P",
                         "probability that any element fails or finds no room (default 1e-9)"};
constexpr option fast{"--summary-bytes", "N", "instead: bytes of fast memory, all of it counted"};
constexpr option slow{"--slow-bytes", "N",
                      "bytes of slow memory, all of it counted (default: 6 buckets of one slot per "
                      "element, or as few larger ones as will do)"};
constexpr option named{"--preset", "NAME",
                       "instead of needs: a design of the paper; `list` lists them"};

constexpr std::array<word<summary_kind>, 3> kinds{{
    {"single-filter", summary_kind::single_filter},
    {"multi-filter", summary_kind::multi_filter},
    {"interpolation", summary_kind::interpolation},
}};
constexpr std::array<word<summary_deletion>, 4> deletions{{
    {"none", summary_deletion::none},
    {"lazy", summary_deletion::lazy},
    {"incremental", summary_deletion::incremental},
    {"counting", summary_deletion::counting},
}};

constexpr std::array<word<summary_departures>, 2> leavings{{
    {"any", summary_departures::any},
    {"first-level", summary_departures::first_level},
}};

/// The library's names for the options.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> flags_of_names{{
    {"elements", "--elements"},
    {"bucket_capacity", capacity.flag},
    {"element_bytes", element_bytes.flag},
    {"deletion", way.flag},
    {"departures", who.flag},
    {"deleted_fraction", deleted.flag},
    {"false_positive_probability", vain.flag},
    {"failure_probability", failing.flag},
    {"summary_bytes", fast.flag},
    {"slow_bytes", slow.flag},
}};

summary_proposal plan_needs(const summary_needs& needs) {
  try {
    return plan_summary(needs);
  } catch (const std::invalid_argument& refused) {
    refuse_in_options(refused.what(), flags_of_names);
  }
}

template <class Number>
std::vector<std::uint64_t> first_of(const std::array<Number, summary_plan::most_levels>& numbers,
                                    std::uint32_t count) {
  return {numbers.begin(), numbers.begin() + count};
}

double fails(const summary_plan& plan) {
  return plan.predicted.failure_probability + plan.predicted.crisis_probability;
}

// JSON.

void add_parameters(report& out, const summary_plan& plan, std::uint32_t bytes_of_element) {
  out.whole("elements", plan.elements)
      .text("kind", std::string(name_of(plan.kind)))
      .text("deletion", std::string(name_of(plan.deletion)))
      .text("departures", std::string(name_of(plan.departures)))
      .whole("bucket_capacity", plan.bucket_capacity)
      .wholes("level_buckets", first_of(plan.level_buckets, plan.levels), "level");
  if (plan.filters() != 0)
    out.wholes("filter_cells", first_of(plan.filter_cells, plan.filters()), "filter", 0)
        .wholes("filter_hashes", first_of(plan.filter_hashes, plan.filters()), "filter", 0);
  else
    out.whole("string_blocks", plan.string_blocks)
        .whole("remainder_bits", plan.remainder_bits)
        .number("string_bits", plan.strings().string_bits());
  if (plan.deletion == summary_deletion::counting && plan.filters() != 0)
    out.wholes("counter_bits", first_of(plan.counter_bits, plan.levels), "level")
        .whole("counted_once_from", plan.counted_once_from);
  if (plan.is_lazy()) out.whole("deleted_limit", plan.deleted_limit);
  if (plan.deletion == summary_deletion::incremental)
    out.whole("work_per_change", plan.work_per_change);
  out.whole("overflow_reserve", plan.overflow_reserve)
      .whole("summary_bytes", plan.summary_bytes())
      .whole("filter_bytes", plan.filter_bytes())
      .whole("occupancy_bytes", plan.occupancy_bytes())
      .number("summary_bytes_per_element",
              static_cast<double>(plan.summary_bytes()) / static_cast<double>(plan.elements))
      .whole("slot_bytes", plan.slot_bytes(bytes_of_element))
      .whole("guard_bytes", plan.guard_bytes())
      .number("false_positive_probability", plan.predicted.false_positive_probability)
      .number("absent_read_probability", plan.predicted.absent_read_probability)
      .number("failure_probability", plan.predicted.failure_probability)
      .number("crisis_probability", plan.predicted.crisis_probability)
      .number("equal_hash_probability", plan.predicted.equal_hash_probability)
      .number("overflow_mean", plan.predicted.overflow_mean)
      .numbers("level_elements", expected_levels(plan), "level");
  if (plan.is_lazy()) out.number("reconstruction_moves", plan.predicted.reconstruction_moves);
}

void add_stated(report& out, const summary_plan& plan, const std::optional<stated_costs>& costs) {
  if (!costs) return;
  out.text("cost_unit", std::string(costs->unit));
  add_costs(out, cost_of(plan, costs->of));
}

report object_of(const summary_alternative& other, std::uint32_t bytes_of_element,
                 const std::optional<stated_costs>& costs) {
  report out("");
  out.text("name", other.name).text("why", other.why);
  if (other.plan) {
    report plan("");
    add_parameters(plan, *other.plan, bytes_of_element);
    if (costs) add_costs(plan, cost_of(*other.plan, costs->of));
    out.object("plan", plan);
  } else {
    out.nothing("plan", "none");
  }
  return out;
}

// The table.

std::string joined(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (const std::uint64_t number : numbers)
    text += (text.empty() ? "" : " + ") + grouped(static_cast<double>(number));
  return text;
}

std::string filters_text(const summary_plan& plan) {
  if (plan.packs_strings()) return fmt::format("strings of {} bits, packed", plan.remainder_bits);
  if (plan.kind == summary_kind::interpolation)
    return fmt::format("strings of {:.1f} bits, {} of them and the level in a cell, in {} lines",
                       plan.strings().string_bits(), plan.remainder_bits,
                       grouped(static_cast<double>(plan.string_blocks)));
  const bool counts = plan.deletion == summary_deletion::counting;
  if (plan.kind == summary_kind::single_filter) {
    std::string text =
        fmt::format("{} cells, {} hashes", grouped(static_cast<double>(plan.filter_cells[0])),
                    plan.filter_hashes[0]);
    if (counts) text += fmt::format(", {} bits of counters in each", plan.cell_bits());
    return text;
  }
  std::string text;
  for (std::uint32_t i = 0; i < plan.levels; ++i) {
    text += fmt::format("{}{} {} of {} hashes", i == 0 ? "" : ", ",
                        grouped(static_cast<double>(plan.filter_cells[i])),
                        counts ? "counters" : "bits", plan.filter_hashes[i]);
    if (counts) text += fmt::format(" and {} bits", plan.counter_bits[i]);
  }
  return text;
}

std::string deletion_text(const summary_plan& plan) {
  switch (plan.deletion) {
    case summary_deletion::none:
      return "none";
    case summary_deletion::counting:
      return "counting: nothing is ever reconstructed";
    case summary_deletion::lazy:
    case summary_deletion::incremental:
      break;
  }
  std::string text =
      fmt::format("{}: up to {} marked; a reconstruction moves {:.1f} elements on average",
                  name_of(plan.deletion), grouped(static_cast<double>(plan.deleted_limit)),
                  plan.predicted.reconstruction_moves);
  if (plan.deletion == summary_deletion::incremental)
    text += fmt::format(", and looks at {} slots or the like with each change",
                        grouped(static_cast<double>(plan.work_per_change)));
  return text;
}

std::string table_of(const std::string& title, const summary_plan& plan, const std::string& reason,
                     const std::optional<cam_forecast>& cam,
                     const std::vector<summary_alternative>& alternatives,
                     std::uint32_t bytes_of_element, const std::optional<stated_costs>& costs) {
  const double n = static_cast<double>(plan.elements);
  const summary_prediction& seen = plan.predicted;
  std::string text = title + "\n\n";
  text += line("why", reason);
  text += line("buckets",
               fmt::format("{}, of {} slot{}", joined(first_of(plan.level_buckets, plan.levels)),
                           plan.bucket_capacity, plan.bucket_capacity == 1 ? "" : "s"));
  text += line("summary", fmt::format("{}: {}", name_of(plan.kind), filters_text(plan)));
  text += line("deletion", deletion_text(plan));
  text += line(
      "fast memory",
      fmt::format("{} bytes, {:.2f} per element: summary {}{}, a bit per slot {}",
                  grouped(static_cast<double>(plan.summary_bytes())),
                  static_cast<double>(plan.summary_bytes()) / n, plan.is_lazy() ? "twice " : "",
                  grouped(static_cast<double>(plan.filter_bytes())),
                  grouped(static_cast<double>(plan.occupancy_bytes()))));
  text += line("slow memory",
               fmt::format("slots {}, {} beside them {}", sized(plan.slot_bytes(bytes_of_element)),
                           plan.filters() != 0 ? "watchers" : "hashes", sized(plan.guard_bytes())));
  text +=
      line("lookups", fmt::format("1 bucket for a key that is there; for one that is not {:.3g} "
                                  "(the summary is wrong about {:.3g} of them)",
                                  seen.absent_read_probability, seen.false_positive_probability));
  text += line(
      "overflow",
      fmt::format("any failure with probability {:.3g}, any element without room {:.3g}, "
                  "any two equal hashes {:.3g}; room for {}",
                  seen.failure_probability, seen.crisis_probability, seen.equal_hash_probability,
                  grouped(static_cast<double>(plan.overflow_reserve))));
  if (cam) text += line("in hardware", cam_text(*cam, "5 % more elements"));
  if (costs) text += line("costs", costs_text(*costs, cost_of(plan, costs->of)));
  if (alternatives.empty()) return text;
  text += fmt::format("\nBeside it\n  {:<26}{:>14}{:>14}{:>12}\n", "", "fast bytes", "per element",
                      "fails");
  for (const summary_alternative& other : alternatives) {
    if (other.plan)
      text += fmt::format("  {:<26}{:>14}{:>14.2f}{:>12.2g}\n", other.name,
                          grouped(static_cast<double>(other.plan->summary_bytes())),
                          static_cast<double>(other.plan->summary_bytes()) / n, fails(*other.plan));
    else
      text += fmt::format("  {}\n", other.name);
    std::string why = other.why;
    if (costs && other.plan)
      why += fmt::format("; {} per operation", costs->text(cost_of(*other.plan, costs->of).mean));
    text += wrapped(why, line_width, 6);
  }
  return text;
}

/// What was asked for, in words.
std::string need_text(const summary_needs& needs) {
  std::string text =
      fmt::format("a summary for {} element{}", grouped(static_cast<double>(needs.elements)),
                  needs.elements == 1 ? "" : "s");
  if (needs.deletion != summary_deletion::none)
    text += fmt::format(", {} deletion", name_of(needs.deletion));
  if (needs.departures != summary_departures::any) text += " from the first level";
  if (needs.summary_bytes)
    text += fmt::format(", in {} bytes of fast memory",
                        grouped(static_cast<double>(*needs.summary_bytes)));
  if (needs.slow_bytes)
    text += fmt::format(", in {} bytes of slow memory",
                        grouped(static_cast<double>(*needs.slow_bytes)));
  return text;
}

report refusal(const summary_needs& needs, const summary_proposal& proposal) {
  report out("");
  out.nothing("plan", "none").text("reason", proposal.reason);
  std::string text =
      fmt::format("Plan of {}\n\n{}", need_text(needs), wrapped(proposal.reason, line_width, 2));
  if (proposal.nearest) {
    const summary_needs& other = *proposal.nearest;
    report nearest("");
    nearest.whole("elements", other.elements);
    if (other.summary_bytes) nearest.whole("summary_bytes", *other.summary_bytes);
    if (other.slow_bytes) nearest.whole("slow_bytes", *other.slow_bytes);
    out.object("nearest", nearest);
    text += wrapped("The nearest that can be had: " + need_text(other) + ".", line_width, 2);
  } else {
    out.nothing("nearest", "none");
  }
  return out.layout(text).negative();
}

report list_of_presets() {
  report out("");
  std::vector<report> all;
  std::string text = "Designs of SSH\n\n";
  for (const named_summary& one : paper_summaries()) {
    report preset("");
    preset.text("name", std::string(one.name))
        .text("source", std::string(one.source))
        .whole("summary_bytes", one.plan.summary_bytes());
    all.push_back(preset);
    text += line(one.name, fmt::format("{}: {} bytes", one.source,
                                       grouped(static_cast<double>(one.plan.summary_bytes()))));
  }
  return out.objects("presets", all).layout(text);
}

report answer_preset(const std::string& name, std::uint32_t bytes_of_element,
                     const std::optional<stated_costs>& costs, bool as_program) {
  if (name == "list") return list_of_presets();
  const std::optional<summary_plan> plan = paper_summary(name);
  if (!plan)
    throw usage_error(
        fmt::format("{} must be one that `{} list` lists; found {}", named.flag, named.flag, name));
  report out("");
  if (as_program) return out.layout(program_of(*plan, bytes_of_element));
  add_parameters(out, *plan, bytes_of_element);
  const std::string reason = "the paper's design, with what it does by our models";
  out.text("reason", reason);
  add_stated(out, *plan, costs);
  return out.layout(table_of("Plan of " + name, *plan, reason, {}, {}, bytes_of_element, costs));
}

report answer(const arguments& in) {
  summary_needs needs;
  needs.element_bytes = in.maybe_whole(element_bytes).value_or(needs.element_bytes);
  // A preset is no plan of the library, which would check it.
  if (needs.element_bytes < 1 || needs.element_bytes > most_element_bytes)
    throw usage_error(fmt::format("{} must be from 1 to {}; found {}", element_bytes.flag,
                                  most_element_bytes, needs.element_bytes));
  const bool as_program = wants_program(in);
  const std::optional<stated_costs> costs = read_costs(in);
  if (const std::optional<std::string> preset = in.maybe_text(named)) {
    in.refuse_unread();
    return answer_preset(*preset, needs.element_bytes, costs, as_program);
  }
  if (in.has(failing) && in.has(fast))
    throw usage_error(fmt::format("give either {} or {}, not both", failing.flag, fast.flag));
  needs.elements = in.count(elements);
  needs.bucket_capacity = in.maybe_whole(capacity).value_or(needs.bucket_capacity);
  needs.deletion = in.maybe_choice(way, deletions).value_or(needs.deletion);
  needs.departures = in.maybe_choice(who, leavings).value_or(needs.departures);
  needs.deleted_fraction = in.maybe_number(deleted).value_or(needs.deleted_fraction);
  needs.kind = in.maybe_choice(which, kinds);
  needs.false_positive_probability =
      in.maybe_number(vain).value_or(needs.false_positive_probability);
  needs.failure_probability = in.maybe_number(failing);
  needs.summary_bytes = in.maybe_count(fast);
  needs.slow_bytes = in.maybe_count(slow);
  in.refuse_unread();
  if (as_program) needs.detail = plan_detail::plan_only;

  const summary_proposal proposal = plan_needs(needs);
  if (!proposal.plan) return refusal(needs, proposal);
  report out("");
  if (as_program) return out.layout(program_of(*proposal.plan, needs.element_bytes));
  add_parameters(out, *proposal.plan, needs.element_bytes);
  out.text("reason", proposal.reason);
  add_cam(out, proposal.cam);
  std::vector<report> alternatives;
  for (const summary_alternative& each : proposal.alternatives)
    alternatives.push_back(object_of(each, needs.element_bytes, costs));
  add_stated(out, *proposal.plan, costs);
  out.objects("alternatives", alternatives)
      .number("over_full_failure", proposal.over_full_failure)
      .texts("warnings", proposal.warnings);
  return out.layout(table_of("Plan of " + need_text(needs), *proposal.plan, proposal.reason,
                             proposal.cam, proposal.alternatives, needs.element_bytes, costs) +
                    warnings_text(proposal.warnings));
}

}  // namespace

const command plan_summary_command{
    .name = "summary",
    .summary = "levels and filters of a table that is read once per lookup",
    .details =
        "Sizes a table in slow memory and a summary in fast memory that says which level holds a "
        "key: no lookup reads more than one bucket. Counts all memory to the byte and predicts how "
        "often an absent key reads a bucket, and how often any element has to go to the overflow. "
        "A "
        "need that cannot be met ends with exit code 1 and the nearest that can.",
    .source = "SSH, Sections VI to IX and XI",
    .example = "--elements 10k --failure 5e-12 --false-positives 0.0062",
    .options = {{&elements, need::optional},
                {&failing, need::optional},
                {&fast, need::optional},
                {&slow, need::optional},
                {&vain, need::optional},
                {&which, need::optional},
                {&way, need::optional},
                {&who, need::optional},
                {&deleted, need::optional},
                {&capacity, need::optional},
                {&element_bytes, need::optional},
                {&named, need::optional},
                {&access_cost, need::optional},
                {&overflow_cost, need::optional},
                {&operation_mix, need::optional},
                {&cpp_output, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
