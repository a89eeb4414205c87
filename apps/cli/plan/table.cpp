#include <fmt/format.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/common.hpp"
#include "plan/commands.hpp"
#include "plan/costs.hpp"
#include "plan/program.hpp"
#include "plan/table_needs.hpp"
#include "plan/text.hpp"

namespace oneprobe::cli {
namespace {

constexpr option key_bytes{"--key-bytes", "N", "bytes of a key (default 8)"};
constexpr option value_bytes{"--value-bytes", "N", "bytes of a value, 0 for a set (default 8)"};
constexpr option workload{"--workload", "NAME",
                          "churn (default: elements come and go) or fill-only (none is erased)"};
constexpr option overflowing{
    "--overflow", "G",
    "fraction of the elements that may overflow (default 1e-6; with costs 0.05)"};
constexpr option exceed{"--exceed", "P",
                        "probability that more overflow than are reserved for (default 1e-9)"};
constexpr option most_choices{"--choices", "D",
                              "buckets that an operation may visit, 1 to 8 (default 4)"};
constexpr option capacity{"--bucket-capacity", "H", "slots per bucket, 1 to 16 (default 16)"};
constexpr option load{"--load-factor", "C",
                      "elements per slot (default: 0.95 of the largest possible)"};
constexpr option bytes{"--bytes", "N", "instead: bytes of memory; 64Mi, 2G"};
constexpr option cut{"--partition", "NAME",
                     "level sizes: churn, fill-only or access-optimal (default: the workload's)"};
constexpr option placement{"--scheme", "NAME",
                           "multilevel (default), single, sequential, d-random or d-left"};
constexpr option overfill{
    "--overfill", "X",
    "more elements than planned, as a fraction, at which that must still hold "
    "(default 0.02)"};

constexpr option budget{"--budget", "X", "most that an operation may cost, on average"};

constexpr std::array<word<table_workload>, 2> workloads{{
    {"churn", table_workload::churn},
    {"fill-only", table_workload::fill_only},
}};
constexpr std::array<word<table_partition>, 3> partitions{{
    {"churn", table_partition::churn},
    {"fill-only", table_partition::fill_only},
    {"access-optimal", table_partition::access_optimal},
}};

/// The library's names for the options.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> flags_of_names{{
    {"elements", "--elements"},
    {"key_bytes", key_bytes.flag},
    {"value_bytes", value_bytes.flag},
    {"overflow_fraction", overflowing.flag},
    {"exceed_probability", exceed.flag},
    {"largest_choices", most_choices.flag},
    {"bucket_capacity", capacity.flag},
    {"load_factor", load.flag},
    {"bytes", bytes.flag},
    {"partition", cut.flag},
    {"overfill", overfill.flag},
    {"access_cost", access_cost.flag},
    {"overflow_cost", overflow_cost.flag},
    {"operations", operation_mix.flag},
    {"budget", budget.flag},
}};

/// With costs more may overflow, if that is cheaper.
constexpr double overflow_with_costs = 0.05;

// JSON.

void add_prediction(report& out, const table_prediction& predicted) {
  out.number("insert_accesses", predicted.insert_accesses)
      .number("hit_accesses", predicted.hit_accesses)
      .number("miss_accesses", predicted.miss_accesses)
      .fraction("overflow_fraction", predicted.overflow_fraction)
      .number("overflow_mean", predicted.overflow_mean)
      .number("overflow_deviation", predicted.overflow_deviation)
      .number("exceed_probability", predicted.exceed_probability);
}

std::vector<std::uint64_t> levels_of(const table_plan& plan) {
  return {plan.level_buckets.begin(), plan.level_buckets.begin() + plan.levels};
}

void add_parameters(report& out, const table_plan& plan, std::uint32_t slot_bytes) {
  const table_memory_parts memory = plan.memory(slot_bytes);
  out.whole("elements", plan.elements)
      .text("workload", std::string(name_of(plan.workload)))
      .text("scheme", std::string(name_of(plan.scheme)))
      .whole("choices", plan.choices)
      .whole("bucket_capacity", plan.bucket_capacity)
      .wholes("level_buckets", levels_of(plan), "level")
      .whole("overflow_reserve", plan.overflow_reserve)
      .whole("overflow_buckets", plan.overflow_buckets)
      .number("load_factor", plan.load_factor())
      .whole("slot_bytes", slot_bytes)
      .whole("memory_bytes", memory.total())
      .whole("side_bytes", memory.side)
      .whole("slots_bytes", memory.slots)
      .whole("overflow_bytes", memory.overflow_side + memory.overflow_slots)
      .number("bytes_per_element", plan.bytes_per_element(slot_bytes));
  add_prediction(out, plan.predicted);
}

report object_of(const table_forecast& seen) {
  report out("");
  out.number("factor", seen.factor).whole("elements", seen.elements);
  add_prediction(out, seen.predicted);
  return out;
}

report object_of(const table_alternative& other, std::uint32_t slot_bytes,
                 const std::optional<stated_costs>& costs) {
  report out("");
  out.text("name", other.name).text("why", other.why);
  if (other.plan) {
    report plan("");
    add_parameters(plan, *other.plan, slot_bytes);
    if (costs) add_costs(plan, cost_of(*other.plan, costs->of));
    out.object("plan", plan);
  } else {
    out.nothing("plan", "none");
  }
  return out;
}

// The table.

std::string placement_text(const table_plan& plan) {
  std::string text = fmt::format("{}, ", name_of(plan.scheme));
  text += plan.choices == 1 ? "1 choice" : fmt::format("{} choices", plan.choices);
  return text + fmt::format(", buckets of {}", plan.bucket_capacity);
}

std::string buckets_text(const table_plan& plan) {
  std::string text;
  for (const std::uint64_t level : levels_of(plan))
    text += (text.empty() ? "" : " + ") + grouped(static_cast<double>(level));
  return text + fmt::format("; load factor {:.4f}", plan.load_factor());
}

std::string memory_text(const table_plan& plan, std::uint32_t slot_bytes) {
  const table_memory_parts memory = plan.memory(slot_bytes);
  return fmt::format("{}, {:.2f} bytes per element of {}: tags and notes {}, slots {}, overflow {}",
                     sized(memory.total()), plan.bytes_per_element(slot_bytes), slot_bytes,
                     sized(memory.side), sized(memory.slots),
                     sized(memory.overflow_side + memory.overflow_slots));
}

/// Smaller probabilities cannot be told apart, and the model does not claim to.
std::string chance(double probability) {
  constexpr double rarest = 1e-15;
  return probability < rarest ? fmt::format("below {:.0e}", rarest)
                              : fmt::format("{:.2g}", probability);
}

/// "below 0.001" where less than that overflow on average.
std::string elements_text(double mean) {
  constexpr double fewest = 1e-3;
  if (mean < fewest) return fmt::format("below {}", fewest);
  return mean < 10 ? fmt::format("{:.3g}", mean) : grouped(std::round(mean));
}

std::string overflow_text(const table_plan& plan) {
  return fmt::format(
      "{} elements on average; {} reserved in {} buckets, exceeded with probability {}",
      elements_text(plan.predicted.overflow_mean),
      grouped(static_cast<double>(plan.overflow_reserve)),
      grouped(static_cast<double>(plan.overflow_buckets)),
      chance(plan.predicted.exceed_probability));
}

std::string overfill_text(const table_proposal& proposal) {
  std::string text =
      fmt::format("\nWith more elements than planned\n  {:<6}{:>17}{:>8}{:>8}{:>9}{:>16}\n", "",
                  "elements", "hit", "miss", "insert", "overflow");
  const auto row = [&](const std::string& label, std::uint64_t elements,
                       const table_prediction& seen) {
    text +=
        fmt::format("  {:<6}{:>17}{:>8.3f}{:>8.3f}{:>9.3f}{:>16}", label,
                    grouped(static_cast<double>(elements)), seen.hit_accesses, seen.miss_accesses,
                    seen.insert_accesses, elements_text(seen.overflow_mean));
    if (seen.exceed_probability > 0.5) text += "  full";
    text += '\n';
  };
  row("plan", proposal.plan->elements, proposal.plan->predicted);
  for (const table_forecast& each : proposal.overfill)
    row(fmt::format("+{:.0f} %", 100 * (each.factor - 1)), each.elements, each.predicted);
  return text + wrapped(fmt::format("As many overflow as are reserved for at {:.3f} times the "
                                    "planned elements: about there it is full.",
                                    proposal.full_factor),
                        line_width, 2);
}

std::string alternatives_text(const table_proposal& proposal, std::uint32_t slot_bytes) {
  std::string text = fmt::format("\nBeaten\n  {:<26}{:>6}{:>15}{:>8}{:>8}{:>9}\n", "", "load",
                                 "bytes/element", "hit", "miss", "insert");
  for (const table_alternative& other : proposal.alternatives) {
    if (other.plan)
      text += fmt::format("  {:<26}{:>6.3f}{:>15.2f}{:>8.3f}{:>8.3f}{:>9.3f}\n", other.name,
                          other.plan->load_factor(), other.plan->bytes_per_element(slot_bytes),
                          other.plan->predicted.hit_accesses, other.plan->predicted.miss_accesses,
                          other.plan->predicted.insert_accesses);
    else
      text += fmt::format("  {}\n", other.name);
    text += wrapped(other.why, line_width, 6);
  }
  return text;
}

std::string table_of(const std::string& title, const table_proposal& proposal,
                     std::uint32_t slot_bytes, const std::optional<stated_costs>& costs) {
  const table_plan& plan = *proposal.plan;
  std::string text = title + "\n\n";
  text += line("why", proposal.reason);
  text += line("placement", placement_text(plan));
  text += line("buckets", buckets_text(plan));
  text += line("memory", memory_text(plan, slot_bytes));
  text +=
      line("accesses",
           fmt::format("{:.3f} per hit, {:.3f} per miss, {:.3f} per insert of a new key; at "
                       "most {}, and {} of the overflow",
                       plan.predicted.hit_accesses, plan.predicted.miss_accesses,
                       plan.predicted.insert_accesses, plan.choices, table_plan::overflow_choices));
  if (costs) text += line("costs", costs_text(*costs, cost_of(plan, costs->of)));
  text += line("overflow", overflow_text(plan));
  text += line("in hardware", cam_text(proposal.cam));
  return text + overfill_text(proposal) + alternatives_text(proposal, slot_bytes) +
         warnings_text(proposal.warnings);
}

/// What was asked for, in words.
std::string need_text(const table_needs& needs, const std::optional<stated_costs>& costs) {
  std::string text =
      fmt::format("a table for {} element{}, {}", grouped(static_cast<double>(needs.elements)),
                  needs.elements == 1 ? "" : "s", name_of(needs.workload));
  if (needs.load_factor) text += fmt::format(", load factor {:.6g}", *needs.load_factor);
  if (needs.bytes) text += fmt::format(", in {} bytes", grouped(static_cast<double>(*needs.bytes)));
  if (needs.budget && costs)
    text += fmt::format(", a budget of {} per operation", costs->text(*needs.budget));
  return text;
}

report refusal(const table_needs& needs, const table_proposal& proposal,
               const std::optional<stated_costs>& costs) {
  report out("");
  out.nothing("plan", "none").text("reason", proposal.reason);
  std::string text = fmt::format("Plan of {}\n\n{}", need_text(needs, costs),
                                 wrapped(proposal.reason, line_width, 2));
  if (proposal.nearest) {
    const table_needs& other = *proposal.nearest;
    report nearest("");
    nearest.whole("elements", other.elements).number("overflow", other.overflow_fraction);
    if (other.load_factor) nearest.number("load_factor", *other.load_factor);
    if (other.bytes) nearest.whole("bytes", *other.bytes);
    if (other.budget) nearest.number("budget", *other.budget);
    if (other.budget && costs) nearest.text("cost_unit", std::string(costs->unit));
    out.object("nearest", nearest);
    std::string near = need_text(other, costs);
    if (other.overflow_fraction != needs.overflow_fraction)
      near += fmt::format(", of which {:.3g} may overflow", other.overflow_fraction);
    text += wrapped("The nearest that can be had: " + near + ".", line_width, 2);
  } else {
    out.nothing("nearest", "none");
  }
  return out.layout(text).negative();
}

}  // namespace

table_needs read_table_needs(const arguments& in) {
  if (in.has(load) && in.has(bytes))
    throw usage_error(fmt::format("give either {} or {}, not both", load.flag, bytes.flag));
  table_needs needs;
  needs.elements = in.count(elements);
  needs.key_bytes = in.maybe_whole(key_bytes).value_or(needs.key_bytes);
  needs.value_bytes = in.maybe_whole(value_bytes).value_or(needs.value_bytes);
  needs.workload = in.maybe_choice(workload, workloads).value_or(needs.workload);
  needs.overflow_fraction = in.maybe_number(overflowing).value_or(needs.overflow_fraction);
  needs.exceed_probability = in.maybe_number(exceed).value_or(needs.exceed_probability);
  needs.largest_choices = in.maybe_whole(most_choices).value_or(needs.largest_choices);
  needs.bucket_capacity = in.maybe_whole(capacity).value_or(needs.bucket_capacity);
  needs.load_factor = in.maybe_number(load);
  needs.bytes = in.maybe_count(bytes);
  needs.partition = in.maybe_choice(cut, partitions);
  needs.scheme = in.maybe_choice(placement, all_schemes);
  needs.overfill = in.maybe_number(overfill).value_or(needs.overfill);
  return needs;
}

table_proposal plan_needs(const table_needs& needs) {
  try {
    return plan_table(needs);
  } catch (const std::invalid_argument& refused) {
    refuse_in_options(refused.what(), flags_of_names);
  }
}

namespace {

report answer(const arguments& in) {
  table_needs needs = read_table_needs(in);
  const std::optional<stated_costs> costs = read_costs(in);
  if (costs) {
    needs.costs = costs->of;
    if (!in.has(overflowing)) needs.overflow_fraction = overflow_with_costs;
  }
  needs.budget = read_amount(in, budget, costs);
  const bool as_program = wants_program(in);
  in.refuse_unread();
  if (as_program) needs.detail = plan_detail::plan_only;
  const table_proposal proposal = plan_needs(needs);
  if (!proposal.plan) {
    needs.detail = plan_detail::full;  // only now is the nearest need worth its time
    return refusal(needs, as_program ? plan_needs(needs) : proposal, costs);
  }
  report out("");
  if (as_program) return out.layout(program_of(*proposal.plan, needs.key_bytes, needs.value_bytes));
  const std::uint32_t slot_bytes = slot_bytes_of(needs);
  add_parameters(out, *proposal.plan, slot_bytes);
  out.text("reason", proposal.reason).number("full_factor", proposal.full_factor);
  add_cam(out, proposal.cam);
  if (costs) {
    out.text("cost_unit", std::string(costs->unit));
    add_costs(out, cost_of(*proposal.plan, costs->of));
  }
  std::vector<report> over_full, alternatives;
  for (const table_forecast& each : proposal.overfill) over_full.push_back(object_of(each));
  for (const table_alternative& each : proposal.alternatives)
    alternatives.push_back(object_of(each, slot_bytes, costs));
  out.objects("overfill", over_full)
      .objects("alternatives", alternatives)
      .texts("warnings", proposal.warnings);
  return out.layout(table_of("Plan of " + need_text(needs, costs), proposal, slot_bytes, costs));
}

}  // namespace

const command plan_table_command{
    .name = "table",
    .summary = "level sizes, predictions and alternatives of a hash table",
    .details =
        "Sizes a table that never rehashes: its levels, and the overflow for the few elements that "
        "find no room in them. Predicts how many buckets hits, misses and insertions read, and "
        "what "
        "overflows. A need that cannot be met ends with exit code 1 and the nearest that can.",
    .source = "",
    .example = "--elements 20M --key-bytes 8 --value-bytes 8",
    .options = {{&elements},
                {&key_bytes, need::optional},
                {&value_bytes, need::optional},
                {&workload, need::optional},
                {&overflowing, need::optional},
                {&exceed, need::optional},
                {&most_choices, need::optional},
                {&capacity, need::optional},
                {&load, need::optional},
                {&bytes, need::optional},
                {&cut, need::optional},
                {&placement, need::optional},
                {&overfill, need::optional},
                {&access_cost, need::optional},
                {&overflow_cost, need::optional},
                {&operation_mix, need::optional},
                {&budget, need::optional},
                {&cpp_output, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
