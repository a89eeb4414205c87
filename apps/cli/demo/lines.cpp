#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "demo/page.hpp"
#include "output.hpp"
#include "plan/text.hpp"

namespace oneprobe::cli::demo {
namespace {

std::string count(std::uint64_t value) { return grouped(static_cast<double>(value)); }

std::string shown_ns(double ns) {
  if (ns < 1000) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  return fmt::format("{:.1f} ms", ns / 1e6);
}

template <class Sizes>
std::string sum_of(const Sizes& sizes) {
  std::vector<std::string> parts;
  for (const std::uint64_t size : sizes) parts.push_back(count(size));
  return fmt::format("{}", fmt::join(parts, " + "));
}

const fill_look& look_at(const filter_findings& found, double factor) {
  return *std::find_if(found.looks.begin(), found.looks.end(),
                       [&](const fill_look& look) { return look.factor == factor; });
}

compared overfilled(const filter_findings& found, std::string_view what, double factor) {
  const fill_look& look = look_at(found, factor);
  return {what, one_in(look.predicted_fpr), one_in(look.fpr), one_in(look.blocked_fpr)};
}

}  // namespace

std::string filter_choice(const filter_findings& found) {
  const filter_plan& plan = *found.proposal.plan;
  return fmt::format("{}, {:.2f} bits per name, {} blocks of {} bits", name_of(plan.kind),
                     plan.bits_per_element(),
                     sum_of(std::span(plan.level_buckets).first(plan.levels)), plan.block_bits);
}

std::string table_choice(const table_findings& found) {
  const table_plan& plan = *found.proposal.plan;
  return fmt::format("multilevel, {} buckets of {}",
                     sum_of(std::span(plan.level_buckets).first(plan.levels)),
                     plan.bucket_capacity);
}

std::vector<compared> filter_lines(const filter_findings& found) {
  const filter_plan& plan = *found.proposal.plan;
  return {
      {"wrong answers", one_in(plan.predicted.fpr), one_in(found.ours.fpr),
       one_in(found.beside.fpr)},
      {"lines read for an absent name", fmt::format("{:.3f}", plan.predicted.miss_accesses),
       fmt::format("{:.3f}", found.ours.miss_lines),
       fmt::format("{:.3f}", found.beside.miss_lines)},
      {"lines read for a present name", fmt::format("{:.3f}", plan.predicted.hit_accesses),
       fmt::format("{:.3f}", found.ours.hit_lines), fmt::format("{:.3f}", found.beside.hit_lines)},
      {"names in the overflow", fmt::format("{:.0f}", found.proposal.overflow.mean),
       count(found.ours.overflow), ""},
      {"memory", sized(plan.memory().total()), sized(found.ours.memory_bytes),
       sized(found.beside.memory_bytes)},
      overfilled(found, "wrong with 1 % more names", 1.01),
      overfilled(found, "wrong with 5 % more", 1.05),
      overfilled(found, "wrong with 20 % more", 1.2),
  };
}

std::vector<compared> table_lines(const table_findings& found) {
  const table_plan& plan = *found.proposal.plan;
  const table_prediction& predicted = plan.predicted;
  return {
      {"buckets read per known flow", fmt::format("{:.3f}", predicted.hit_accesses),
       fmt::format("{:.3f}", found.ours.hit_accesses), ""},
      {"buckets read per unknown flow", fmt::format("{:.3f}", predicted.miss_accesses),
       fmt::format("{:.3f}", found.ours.miss_accesses), ""},
      {"the most that any lookup read", fmt::format("at most {}", found.bound),
       count(found.ours.most_accesses), "no bound"},
      {"flows in the overflow",
       fmt::format("{:.0f} +- {:.0f}", predicted.overflow_mean, predicted.overflow_deviation),
       fmt::format("{:.0f}", found.ours.overflow), ""},
      {"flows refused", "0", count(found.ours.refused), ""},
      {"memory", sized(plan.memory(found.slot_bytes).total()), sized(found.ours.memory_bytes),
       sized(found.beside_memory_bytes)},
  };
}

std::vector<compared> time_lines(const filter_findings& names, const table_findings& flows) {
  return {
      {"one of many absent names", "", shown_ns(names.ours.bulk_query_ns),
       shown_ns(names.beside.bulk_query_ns)},
      {"a flow comes: median", "", shown_ns(flows.ours.times.median_ns),
       shown_ns(flows.beside.median_ns)},
      {"a flow comes: 99.9 % within", "", shown_ns(flows.ours.times.p999_ns),
       shown_ns(flows.beside.p999_ns)},
      {"a flow comes: the worst", "", shown_ns(flows.ours.times.worst_ns),
       shown_ns(flows.beside.worst_ns)},
  };
}

}  // namespace oneprobe::cli::demo
