#include "bench/our_filters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oneprobe/filter/balanced.hpp"
#include "oneprobe/filter/blocked.hpp"
#include "oneprobe/filter/counting.hpp"
#include "oneprobe/filter/fingerprint.hpp"
#include "oneprobe/filter/partitioned.hpp"
#include "oneprobe/filter/standard.hpp"
#include "oneprobe/plan/filter.hpp"

namespace oneprobe::cli {
namespace {

// Keys per call of a bulk function: their answers fit the first cache, and the ring is filled and
// emptied so rarely that it does not show.
constexpr std::size_t keys_per_call = 8192;

template <class Filter>
class our_filter final : public contender {
 public:
  our_filter(std::string name, contender_kind kind, const filter_plan& plan, seeded_hash hash)
      : facts_{.name = std::move(name),
               .kind = kind,
               .memory_bytes = plan.memory().total(),
               .bits_set = plan.sets_bits() ? std::optional(plan.bits_set) : std::nullopt,
               .fpr_model = plan.predicted.fpr,
               .fingerprint_bucket = kind == contender_kind::fingerprint
                                         ? std::optional(plan.fingerprint_bucket)
                                         : std::nullopt},
        filter_(plan, hash) {}

  const contender_facts& facts() const override { return facts_; }
  std::span<const std::byte> memory() const override { return filter_.memory(); }

  void clear() override { filter_.clear(); }
  void insert_one_by_one(key_span keys) override {
    for (const std::uint64_t key : keys) filter_.insert(key);
  }
  void insert_bulk(key_span keys) override {
    for (; !keys.empty(); keys = keys.subspan(call_size(keys)))
      filter_.bulk_insert(keys.first(call_size(keys)));
  }
  void insert_watched(key_span keys, latency_watch& watch) override {
    insert_each_watched(filter_, keys, watch);
  }

  std::uint64_t count_one_by_one(key_span keys) const override {
    std::uint64_t yes = 0;
    for (const std::uint64_t key : keys) yes += filter_.may_contain(key) ? 1u : 0u;
    return yes;
  }
  std::uint64_t count_bulk(key_span keys) const override {
    std::array<bool, keys_per_call> answers;
    std::uint64_t yes = 0;
    for (; !keys.empty(); keys = keys.subspan(call_size(keys)))
      yes += filter_.bulk_may_contain(keys.first(call_size(keys)),
                                      std::span(answers).first(call_size(keys)));
    return yes;
  }

  counted_costs count_costs(key_span inserted, key_span absent) const override {
    const auto [miss_accesses, miss_lines] = mean_path(absent);
    const double hit_accesses = mean_path(inserted).accesses;
    return {.miss_lines = miss_lines,
            // The mean of a whole filling. A search goes past the buckets that turned the element
            // away, which its insertion visited, and past those that handed it on later, for each
            // of which another's insertion went on to the next bucket in its stead.
            .insert_accesses = hit_accesses,
            .miss_accesses = miss_accesses,
            .hit_accesses = hit_accesses,
            .overflow_fraction = overflow_fraction()};
  }
  std::optional<double> current_fpr() const override { return filter_.stats().current_fpr; }

 private:
  struct path_means {
    double accesses = 0;
    double lines = 0;
  };

  static std::size_t call_size(key_span keys) { return std::min(keys_per_call, keys.size()); }

  path_means mean_path(key_span keys) const {
    std::uint64_t accesses = 0, lines = 0;
    for (const std::uint64_t key : keys) {
      const lookup_path path = filter_.explain(key);
      accesses += path.accesses;
      lines += path.lines;
    }
    const auto count = static_cast<double>(keys.size());
    return {static_cast<double>(accesses) / count, static_cast<double>(lines) / count};
  }
  double overflow_fraction() const {
    const filter_counts counts = filter_.counts();
    return counts.size == 0
               ? 0
               : static_cast<double>(counts.overflow) / static_cast<double>(counts.size);
  }

  contender_facts facts_;
  Filter filter_;
};

std::unique_ptr<contender> make_filter(std::string name, const filter_plan& plan,
                                       seeded_hash hash) {
  const auto of = [&]<class Filter>(std::type_identity<Filter>, contender_kind kind) {
    return std::make_unique<our_filter<Filter>>(std::move(name), kind, plan, hash);
  };
  switch (plan.kind) {
    case filter_kind::standard:
      return of(std::type_identity<standard_filter>{}, contender_kind::standard);
    case filter_kind::partitioned:
      return of(std::type_identity<partitioned_filter>{}, contender_kind::partitioned);
    case filter_kind::blocked:
      return of(std::type_identity<blocked_filter>{}, contender_kind::blocked);
    case filter_kind::counting:
      return of(std::type_identity<counting_filter>{}, contender_kind::counting);
    case filter_kind::balanced:
      return of(std::type_identity<balanced_filter>{}, contender_kind::balanced);
    case filter_kind::fingerprint:
      return of(std::type_identity<fingerprint_filter>{}, contender_kind::fingerprint);
  }
  throw std::logic_error("a plan of no kind");
}

struct entry {
  const char* name;
  contender_kind kind;
  filter_needs needs;
};

/// Everything but the elements and the memory.
std::vector<entry> entries() {
  const auto blocked = [](std::uint32_t bits, block_layout layout) {
    return filter_needs{.kind = filter_kind::blocked, .block_bits = bits, .layout = layout};
  };
  filter_needs balanced{.kind = filter_kind::balanced, .scheme = scheme_kind::multilevel};
  // The papers stop a query at a block that is not full; most blocks of a well-filled filter are.
  filter_needs papers = balanced;
  papers.rule = lookup_rule::counter;
  papers.accesses = filter_plan::most_levels + 1;  // no limit
  return {
      {"standard", contender_kind::standard, {.kind = filter_kind::standard}},
      {"partitioned", contender_kind::partitioned, {.kind = filter_kind::partitioned}},
      {reference_name, contender_kind::blocked, blocked(512, block_layout::independent)},
      {"blocked 512 lanes", contender_kind::blocked, blocked(512, block_layout::lanes)},
      {"blocked 256", contender_kind::blocked, blocked(256, block_layout::independent)},
      {"blocked 256 lanes", contender_kind::blocked, blocked(256, block_layout::lanes)},
      {"counting", contender_kind::counting, {.kind = filter_kind::counting}},
      {"balanced", contender_kind::balanced, balanced},
      {"balanced, papers' rule", contender_kind::balanced, papers},
      {"fingerprint", contender_kind::fingerprint, {.kind = filter_kind::fingerprint}},
  };
}

}  // namespace

our_filters make_our_filters(const contest_size& size, const std::vector<contender_kind>& kinds) {
  our_filters made;
  for (const entry& each : entries()) {
    if (std::find(kinds.begin(), kinds.end(), each.kind) == kinds.end()) continue;
    filter_needs needs = each.needs;
    needs.elements = size.elements;
    needs.bits_per_element = size.bits_per_element;
    const filter_proposal proposal = plan_filter(needs);
    if (proposal.plan)
      made.list.push_back(make_filter(each.name, *proposal.plan, size.hash));
    else
      made.left_out.push_back(fmt::format("{}: {}", each.name, proposal.reason));
  }
  return made;
}

}  // namespace oneprobe::cli
