#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "filter/needs.hpp"
#include "model/common.hpp"
#include "oneprobe/plan/filter.hpp"
#include "plan/commands.hpp"
#include "plan/costs.hpp"
#include "plan/program.hpp"
#include "plan/text.hpp"

namespace oneprobe::cli {
namespace {

constexpr option block_bits{"--block-bits", "B", "blocked, balanced: 512 (default) or 256"};
constexpr option layout{"--layout", "NAME",
                        "blocked: independent (least error) or lanes (most speed)"};
constexpr option rule{"--rule", "NAME",
                      "balanced: counter, coin, flag, coin-flag, tracking or popcount (default)"};
constexpr option placement{"--scheme", "NAME",
                           "balanced: single, sequential or multilevel (default: the better of the "
                           "first and the last)"};

constexpr option overfill{
    "--overfill", "X",
    "more elements than planned, as a fraction, before its error grows fast (default 0.02; "
    "fingerprint with --fpr 0.05)"};

constexpr option budget{"--budget", "X", "most that asking for an absent key may cost, on average"};

constexpr std::array<word<block_layout>, 2> layouts{{
    {"independent", block_layout::independent},
    {"lanes", block_layout::lanes},
}};
constexpr std::array<word<lookup_rule>, 6> rules{{
    {"counter", lookup_rule::counter},
    {"coin", lookup_rule::coin},
    {"flag", lookup_rule::flag},
    {"coin-flag", lookup_rule::coin_flag},
    {"tracking", lookup_rule::tracking},
    {"popcount", lookup_rule::popcount},
}};

void add_prediction(report& out, const filter_prediction& predicted) {
  out.probability("fpr", predicted.fpr)
      .number("insert_accesses", predicted.insert_accesses)
      .number("hit_accesses", predicted.hit_accesses)
      .number("miss_accesses", predicted.miss_accesses)
      .fraction("overflow_fraction", predicted.overflow_fraction);
}

void add_parameters(report& out, const filter_plan& plan) {
  out.text("kind", std::string(name_of(plan.kind))).whole("elements", plan.elements);
  if (plan.sets_bits()) out.whole("bits_set", plan.bits_set);
  if (!plan.in_blocks()) {
    out.whole("cells", plan.cells).whole("counter_bits", plan.counter_bits);
  } else {
    out.whole("block_bits", plan.block_bits);
    if (plan.sets_bits()) out.text("layout", std::string(name_of(plan.layout)));
    out.wholes("level_buckets",
               {plan.level_buckets.begin(), plan.level_buckets.begin() + plan.levels}, "level");
  }
  if (plan.has_candidates())
    out.text("scheme", std::string(name_of(plan.scheme))).whole("choices", plan.choices);
  if (plan.kind == filter_kind::balanced)
    out.text("rule", std::string(name_of(plan.state.rule)))
        .whole("threshold", plan.state.threshold)
        .number("admit_probability", plan.state.admit_probability)
        .whole("tracking_bits", plan.state.tracks() ? plan.state.tracking_bits : 0);
  if (plan.kind == filter_kind::fingerprint)
    out.whole("bucket_capacity", plan.fingerprint_bucket.bucket_capacity)
        .whole("quotients", plan.fingerprint_bucket.quotients())
        .whole("remainder_bits", plan.fingerprint_bucket.remainder_bits);
  if (plan.has_candidates())
    out.whole("overflow_slots", plan.overflow_slots)
        .whole("overflow_reserve", plan.overflow_reserve);
  const filter_memory_parts memory = plan.memory();
  out.whole("memory_bytes", memory.total())
      .whole("cell_bytes", memory.cells)
      .whole("overflow_bytes", memory.overflow)
      .number("bits_per_element", plan.bits_per_element());
  add_prediction(out, plan.predicted);
}

report object_of(const overfill_forecast& seen) {
  report out("");
  out.number("factor", seen.factor).whole("elements", seen.elements);
  add_prediction(out, seen.predicted);
  out.fraction("forced_fraction", seen.forced_fraction)
      .text("condition", std::string(name_of(seen.condition)));
  return out;
}

report object_of(const filter_alternative& other, const std::optional<stated_costs>& costs) {
  report out("");
  out.text("name", other.name).text("why", other.why);
  if (other.plan) {
    report plan("");
    add_parameters(plan, *other.plan);
    if (costs) add_costs(plan, cost_of(*other.plan, costs->of));
    out.object("plan", plan);
  } else {
    out.nothing("plan", "none");
  }
  return out;
}

// The table.

std::string parameters_text(const filter_plan& plan) {
  if (plan.kind == filter_kind::counting)
    return fmt::format("{} bits of {} counters per element", plan.bits_set,
                       grouped(static_cast<double>(plan.cells)));
  if (!plan.in_blocks())
    return fmt::format("{} of {} bits per element", plan.bits_set,
                       grouped(static_cast<double>(plan.cells)));
  if (plan.kind == filter_kind::fingerprint)
    return fmt::format(
        "up to {} fingerprints in a block of {}, {} quotients and remainders of {} bits",
        plan.fingerprint_bucket.bucket_capacity, plan.block_bits,
        plan.fingerprint_bucket.quotients(), plan.fingerprint_bucket.remainder_bits);
  std::string text =
      fmt::format("{} bits per element in blocks of {}", plan.bits_set, plan.block_bits);
  if (plan.layout == block_layout::lanes) text += ", one per lane";
  if (plan.kind == filter_kind::blocked) return text;
  const block_state& state = plan.state;
  if (state.rule == lookup_rule::popcount)
    text += fmt::format("; a block is full at {} ones, {} bits note what it turned away",
                        state.threshold, state.tracking_bits);
  else
    text += fmt::format("; rule {}, a block is full at {} elements", name_of(state.rule),
                        state.threshold);
  if (state.admit_probability > 0)
    text += fmt::format(" (one more with probability {})", state.admit_probability);
  return text;
}

std::string blocks_text(const filter_plan& plan) {
  std::string text;
  for (std::uint32_t i = 0; i < plan.levels; ++i)
    text += (i == 0 ? "" : " + ") + grouped(static_cast<double>(plan.level_buckets[i]));
  if (plan.levels > 1) return text + fmt::format(", {} levels", plan.levels);
  return plan.choices > 1 ? text + fmt::format(", {} choices", plan.choices) : text;
}

std::string memory_text(const filter_plan& plan, const filter_proposal& proposal) {
  const filter_memory_parts memory = plan.memory();
  std::string text =
      fmt::format("{}, {:.2f} bits per element", sized(memory.total()), plan.bits_per_element());
  if (memory.overflow != 0)
    text += fmt::format(
        ": blocks {}, overflow list {}; {} of it slack, {}", sized(memory.cells),
        sized(memory.overflow), sized(proposal.slack_bytes),
        percent(static_cast<double>(proposal.slack_bytes) / static_cast<double>(memory.total())));
  return text;
}

std::string overflow_text(const filter_plan& plan, const overflow_forecast& overflow) {
  // Smaller ones cannot be told apart, and the model does not claim to.
  constexpr double rarest = 1e-15;
  const std::string probability = overflow.tail_probability < rarest
                                      ? fmt::format("below {:.0e}", rarest)
                                      : fmt::format("{:.1g}", overflow.tail_probability);
  return fmt::format(
      "{} elements, give or take {}; the list has reserved {}, exceeded with probability {}",
      rounded(std::round(overflow.mean)), rounded(std::round(overflow.deviation)),
      grouped(static_cast<double>(plan.overflow_reserve)), probability);
}

std::string overfill_text(const filter_proposal& proposal) {
  std::string text =
      fmt::format("\nWith more elements than planned\n  {:<6}{:>17}{:>18}{:>12}{:>12}\n", "",
                  "elements", "error", "accesses", "overflow");
  const auto row = [&](const std::string& label, std::uint64_t elements,
                       const filter_prediction& seen, filter_condition condition) {
    text += fmt::format("  {:<6}{:>17}{:>18}{:>12.3f}{:>12}", label,
                        grouped(static_cast<double>(elements)), error_text(seen.fpr),
                        seen.miss_accesses, percent(seen.overflow_fraction));
    if (condition == filter_condition::degraded) text += fmt::format("  {}", name_of(condition));
    text += '\n';
  };
  const filter_plan& plan = *proposal.plan;
  row("plan", plan.elements, plan.predicted, filter_condition::as_planned);
  for (const overfill_forecast& each : proposal.overfill)
    row(fmt::format("+{:.0f} %", 100 * (each.factor - 1)), each.elements, each.predicted,
        each.condition);
  return text;
}

std::string alternatives_text(const filter_proposal& proposal,
                              const std::optional<stated_costs>& costs) {
  std::string text = fmt::format("\nBeaten\n  {:<34}{:>12}{:>18}{:>12}\n", "", "bits/element",
                                 "error", "accesses");
  for (const filter_alternative& other : proposal.alternatives) {
    if (other.plan)
      text += fmt::format("  {:<34}{:>12.2f}{:>18}{:>12.3f}\n", other.name,
                          other.plan->bits_per_element(), error_text(other.plan->predicted.fpr),
                          other.plan->predicted.miss_accesses);
    else
      text += fmt::format("  {}\n", other.name);
    std::string why = other.why;
    if (costs && other.plan)
      why +=
          fmt::format("; {} per negative query", costs->text(cost_of(*other.plan, costs->of).miss));
    text += wrapped(why, line_width, 6);
  }
  return text;
}

std::string table_of(const std::string& title, const filter_proposal& proposal,
                     const std::optional<stated_costs>& costs) {
  const filter_plan& plan = *proposal.plan;
  std::string text = title + "\n\n";
  text += line("kind", name_of(plan.kind));
  text += line("why", proposal.reason);
  text += line("parameters", parameters_text(plan));
  if (plan.in_blocks()) text += line("blocks", blocks_text(plan));
  text += line("memory", memory_text(plan, proposal));
  text +=
      line("error", fmt::format("{} ({:.4g})", error_text(plan.predicted.fpr), plan.predicted.fpr));
  text += line("accesses", fmt::format("{:.3f} per negative query, {:.3f} per positive one, {:.3f} "
                                       "per insert",
                                       plan.predicted.miss_accesses, plan.predicted.hit_accesses,
                                       plan.predicted.insert_accesses));
  if (costs) text += line("costs", costs_text(*costs, cost_of(plan, costs->of)));
  if (plan.has_candidates()) {
    text += line("overflow", overflow_text(plan, proposal.overflow));
    text += line("in hardware", cam_text(proposal.cam));
  }
  return text + overfill_text(proposal) + alternatives_text(proposal, costs) +
         warnings_text(proposal.warnings);
}

/// What was asked for, in words.
std::string need_text(const filter_needs& needs) {
  std::string text =
      fmt::format("a filter for {} element{}, ", grouped(static_cast<double>(needs.elements)),
                  needs.elements == 1 ? "" : "s");
  if (needs.fpr) return text + fmt::format("error at most {}", error_text(*needs.fpr));
  if (needs.bytes) return text + fmt::format("in {}", sized(*needs.bytes));
  return text + fmt::format("{:.6g} bits per element", *needs.bits_per_element);
}

report refusal(const filter_needs& needs, const filter_proposal& proposal,
               const std::optional<stated_costs>& costs) {
  report out("");
  out.nothing("plan", "none").text("reason", proposal.reason);
  std::string text =
      fmt::format("Plan of {}\n\n{}", need_text(needs), wrapped(proposal.reason, line_width, 2));
  if (proposal.nearest) {
    const filter_needs& other = *proposal.nearest;
    report nearest("");
    nearest.whole("elements", other.elements);
    if (other.fpr) nearest.number("fpr", *other.fpr);
    if (other.bits_per_element) nearest.number("bits_per_element", *other.bits_per_element);
    if (other.bytes) nearest.whole("bytes", *other.bytes);
    if (other.accesses) nearest.number("accesses", *other.accesses);
    if (other.budget) nearest.number("budget", *other.budget);
    if (other.budget && costs) nearest.text("cost_unit", std::string(costs->unit));
    out.object("nearest", nearest);
    std::string near = need_text(other);
    if (other.accesses)
      near += fmt::format(", {:.6g} accesses per negative query", *other.accesses);
    if (other.budget && costs)
      near += fmt::format(", a budget of {} per negative query", costs->text(*other.budget));
    text += wrapped("The nearest that can be had: " + near + ".", line_width, 2);
  } else {
    out.nothing("nearest", "none");
  }
  return out.layout(text).negative();
}

report answer(const arguments& in) {
  filter_needs needs = read_needs(in);
  needs.elements = in.count(elements);
  needs.block_bits = in.maybe_whole(block_bits);
  needs.layout = in.maybe_choice(layout, layouts);
  needs.rule = in.maybe_choice(rule, rules);
  needs.scheme = in.maybe_choice(placement, placement_schemes);
  needs.overfill = in.maybe_number(overfill);
  const std::optional<stated_costs> costs = read_costs(in);
  if (costs) needs.costs = costs->of;
  needs.budget = read_amount(in, budget, costs);
  const bool as_program = wants_program(in);
  in.refuse_unread();
  if (as_program) needs.detail = plan_detail::plan_only;

  const filter_proposal proposal = plan_needs(needs);
  if (!proposal.plan) {
    needs.detail = plan_detail::full;  // only now is the nearest need worth its time
    return refusal(needs, as_program ? plan_needs(needs) : proposal, costs);
  }
  const filter_plan& plan = *proposal.plan;
  report out("");
  if (as_program) return out.layout(program_of(plan));
  add_parameters(out, plan);
  out.text("reason", proposal.reason)
      .whole("slack_bytes", proposal.slack_bytes)
      .number("overflow_mean", proposal.overflow.mean)
      .number("overflow_deviation", proposal.overflow.deviation)
      .number("overflow_tail_probability", proposal.overflow.tail_probability);
  if (plan.has_candidates()) add_cam(out, proposal.cam);
  if (costs) {
    out.text("cost_unit", std::string(costs->unit));
    add_costs(out, cost_of(plan, costs->of));
  }
  std::vector<report> over_full, alternatives;
  for (const overfill_forecast& each : proposal.overfill) over_full.push_back(object_of(each));
  for (const filter_alternative& each : proposal.alternatives)
    alternatives.push_back(object_of(each, costs));
  out.objects("overfill", over_full)
      .objects("alternatives", alternatives)
      .texts("warnings", proposal.warnings);
  return out.layout(table_of("Plan of " + need_text(needs), proposal, costs));
}

std::vector<option_use> options() {
  std::vector<option_use> all{{&elements}};
  for (const option_use& use : need_options()) all.push_back(use);
  for (const option* each : {&block_bits, &layout, &rule, &placement, &overfill})
    all.push_back({each, need::optional});
  for (const option_use& use : cost_options()) all.push_back(use);
  for (const option* each : {&budget, &cpp_output}) all.push_back({each, need::optional});
  return all;
}

}  // namespace

const command plan_filter_command{
    .name = "filter",
    .summary = "parameters, predictions and alternatives of a filter",
    .details =
        "Chooses the filter of least memory for an error, or of least error for a memory, and "
        "predicts what it will do, also with more elements than planned. A need that cannot be met "
        "ends with exit code 1 and the nearest that can.",
    .source = "",
    .example = "--elements 100M --fpr 1e-4",
    .options = options(),
    .answer = answer,
};

}  // namespace oneprobe::cli
