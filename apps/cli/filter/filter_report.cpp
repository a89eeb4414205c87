#include "filter/filter_report.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace oneprobe::cli {
namespace {

std::string one_in_or_percent(double probability) {
  const std::string inverse = one_in(probability);
  return inverse.empty() ? percent(probability) : inverse;
}

void add_blocks(report& out, const filter_plan& plan) {
  out.whole("block_bits", plan.block_bits).whole("blocks", plan.blocks());
  if (plan.sets_bits()) out.text("layout", std::string(name_of(plan.layout)));
  if (!plan.has_candidates()) return;
  out.text("scheme", std::string(name_of(plan.scheme))).whole("choices", plan.choices);
  if (plan.kind == filter_kind::fingerprint) {
    out.whole("bucket_capacity", plan.fingerprint_bucket.bucket_capacity, "fingerprints per block")
        .whole("quotients", plan.fingerprint_bucket.quotients())
        .whole("remainder_bits", plan.fingerprint_bucket.remainder_bits);
  } else {
    out.text("lookup_rule", std::string(name_of(plan.state.rule)))
        .whole("threshold", plan.state.threshold,
               plan.state.counts_elements() ? "elements per block" : "bits set per block");
    if (plan.state.tracks()) out.whole("tracking_bits", plan.state.tracking_bits, "per block");
    if (plan.state.admit_probability > 0)
      out.fraction("admit_probability", plan.state.admit_probability);
  }
  out.whole("overflow_slots", plan.overflow_slots)
      .whole("overflow_reserve", plan.overflow_reserve, "elements");
  if (plan.levels > 1)
    out.wholes("level_buckets",
               {plan.level_buckets.begin(), plan.level_buckets.begin() + plan.levels}, "level");
}

}  // namespace

std::string in_larger_units(std::uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  for (const auto& [unit, scale] :
       {std::pair{"GiB", 0x1p30}, std::pair{"MiB", 0x1p20}, std::pair{"KiB", 0x1p10}})
    if (size >= scale) return fmt::format("bytes, {:.3g} {}", size / scale, unit);
  return "bytes";
}

void add_state(report& out, const filter_stats& stats) {
  out.text("condition", std::string(name_of(stats.condition)))
      .whole("elements", stats.counts.size, "surely new; the rest perhaps not")
      .whole("planned_elements", stats.planned_elements)
      .probability("current_fpr", stats.current_fpr)
      .probability("planned_fpr", stats.planned_fpr)
      .fraction("fill_fraction", stats.fill_fraction, "of the bits are set, or slots taken")
      .whole("memory_bytes", stats.memory.total(), in_larger_units(stats.memory.total()))
      .number("bits_per_element", stats.bits_per_element, "planned");
  if (stats.memory.overflow > 0)
    out.whole("cell_bytes", stats.memory.cells, in_larger_units(stats.memory.cells))
        .whole("overflow_bytes", stats.memory.overflow, in_larger_units(stats.memory.overflow))
        .whole("overflowed", stats.counts.overflow, "elements in the overflow list")
        .whole("forced", stats.counts.forced, "elements that no block had room for");
  if (stats.counts.dropped > 0)
    out.whole("dropped", stats.counts.dropped, "overflow entries that a merge had no slot for");
}

void add_plan(report& out, const filter_plan& plan) {
  out.text("kind", std::string(name_of(plan.kind)));
  if (plan.sets_bits()) out.whole("bits_set", plan.bits_set, "per element");
  if (plan.in_blocks()) {
    add_blocks(out, plan);
    return;
  }
  out.whole("cells", plan.cells);
  if (plan.kind == filter_kind::counting) out.whole("counter_bits", plan.counter_bits);
}

void add_predictions(report& out, const filter_plan& plan) {
  const filter_prediction& said = plan.predicted;
  const char* const unit = plan.in_blocks() ? "blocks read" : "bits or counters read";
  out.number("insert_accesses", said.insert_accesses, unit)
      .number("hit_accesses", said.hit_accesses, unit)
      .number("miss_accesses", said.miss_accesses, unit);
  if (plan.has_candidates()) out.fraction("overflow_fraction", said.overflow_fraction, "predicted");
}

void add_warning(report& out, const filter_stats& stats) {
  if (stats.condition == filter_condition::as_planned) return;
  out.note(fmt::format(
      "It holds {} elements and was planned for {}: it errs for {} keys, not for {}. Build it "
      "again for more elements to have the planned error.",
      grouped(static_cast<double>(stats.counts.size)),
      grouped(static_cast<double>(stats.planned_elements)), one_in_or_percent(stats.current_fpr),
      one_in_or_percent(stats.planned_fpr)));
}

}  // namespace oneprobe::cli
