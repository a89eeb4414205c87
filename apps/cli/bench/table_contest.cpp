#include "bench/table_contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "output.hpp"

namespace oneprobe::cli {

const table_entry* table_contest::find(table_kind kind, table_role role) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const table_entry& each) {
    return each.facts.kind == kind && each.facts.role == role;
  });
  return found == entries.end() ? nullptr : &*found;
}

double bytes_per_element(const table_result& result) {
  return static_cast<double>(result.memory_bytes) / static_cast<double>(result.filled_size);
}

std::vector<std::string> faults_of(const table_entry& entry) {
  const table_result& result = entry.result;
  std::vector<std::string> faults;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count != 0)
      faults.push_back(
          fmt::format("{}: {} {}", entry.facts.name, grouped(static_cast<double>(count)), what));
  };
  add(result.not_found, "elements not found, or not with their value");
  add(result.found_wrongly, "keys found that are not there");
  add(result.not_erased, "elements that could not be erased");
  add(result.wrong_size, "times of another size than insertions and erasures leave");
  return faults;
}

std::string_view name_of(table_verdict verdict) {
  switch (verdict) {
    case table_verdict::held:
      return "held";
    case table_verdict::missed:
      return "missed";
    case table_verdict::not_measured:
      return "not measured";
  }
  return "unknown";
}

table_verdict table_target::verdict() const {
  if (!measured) return table_verdict::not_measured;
  return *measured <= most ? table_verdict::held : table_verdict::missed;
}

namespace {

// Fewer elements in the overflow say little about its mean.
constexpr double fewest_expected_overflow = 200;

class target_list {
 public:
  explicit target_list(const table_contest& contest)
      : contest_(contest), ours_(contest.find(table_kind::ours)) {}

  /// A time of ours over one of a peer.
  void times(unsigned number, std::string_view what, table_metric of_ours, table_kind kind,
             table_role role, table_metric of_peer, double most) {
    const table_entry* peer = contest_.find(kind, role);
    table_target target{.number = number, .what = std::string(what), .most = most};
    if (ours_ == nullptr || peer == nullptr) {
      target.why_not = "one of the two was not there";
    } else {
      target.spread = ratio_of(ours_->result.ns(of_ours), peer->result.ns(of_peer));
      if (target.spread) target.measured = target.spread->median;
      target.why_not = target.spread ? "" : "one of the two has no such operation";
    }
    list_.push_back(std::move(target));
  }
  void bytes(unsigned number, std::string_view what, table_kind kind, double most) {
    const table_entry* peer = contest_.find(kind);
    const bool there = ours_ != nullptr && peer != nullptr;
    figure(number, what, most,
           there ? std::optional(bytes_per_element(ours_->result) / bytes_per_element(peer->result))
                 : std::nullopt,
           "one of the two was not there");
  }
  void figure(unsigned number, std::string_view what, double most, std::optional<double> measured,
              std::string_view why_not) {
    list_.push_back({.number = number,
                     .what = std::string(what),
                     .most = most,
                     .measured = measured,
                     .why_not = measured ? "" : std::string(why_not)});
  }

  const table_entry* ours() const { return ours_; }
  std::vector<table_target> take() { return std::move(list_); }

 private:
  const table_contest& contest_;
  const table_entry* ours_;
  std::vector<table_target> list_{};
};

void add_bounds(target_list& list) {
  const table_entry* ours = list.ours();
  std::optional<double> accesses, memory, settled;
  if (ours != nullptr && ours->result.churned_costs && ours->result.half_churned_costs) {
    const table_result& result = ours->result;
    accesses = static_cast<double>(
                   std::max(result.costs->most_accesses, result.churned_costs->most_accesses)) /
               static_cast<double>(result.costs->bound);
    memory =
        static_cast<double>(result.churned_memory_bytes) / static_cast<double>(result.memory_bytes);
    settled = std::abs(
        result.churned_costs->miss_accesses / result.half_churned_costs->miss_accesses - 1);
  }
  constexpr std::string_view why = "there was no churn, or not our table";
  list.figure(2, "most buckets of a lookup over its bound (d and four of the overflow)", 1,
              accesses, why);
  list.figure(2, "memory after churn over memory before", 1, memory, why);
  list.figure(2, "change of accesses per miss from half of the churn to its end", 0.01, settled,
              why);
}

void add_overflow(target_list& list, const table_contest& contest) {
  bool any = false;
  for (const table_entry& entry : contest.entries) {
    const table_result& result = entry.result;
    if (!result.churned_overflow_fraction || !result.predicted_overflow_fraction) continue;
    const double predicted = *result.predicted_overflow_fraction;
    if (predicted * static_cast<double>(entry.facts.elements) < fewest_expected_overflow) continue;
    any = true;
    list.figure(6, fmt::format("overflow of {} after churn, off its prediction", entry.facts.name),
                0.2, std::abs(*result.churned_overflow_fraction / predicted - 1), "");
  }
  if (!any)
    list.figure(6, "overflow after churn, off its prediction", 0.2, std::nullopt,
                "fewer than 200 elements are expected in any overflow");
}

}  // namespace

std::vector<table_target> table_targets(const table_contest& contest) {
  using enum table_metric;
  constexpr table_role ordinary = table_role::ordinary;
  constexpr table_role full = table_role::full;
  constexpr table_kind boost = table_kind::boost;
  constexpr table_kind absl = table_kind::absl;
  constexpr table_kind rte = table_kind::rte;
  target_list list(contest);
  list.times(1, "insert p99.9 while filling / rte_hash filled", insert_p999, rte, full, insert_p999,
             0.02);
  list.times(1, "insert p99.9 while filling / libcuckoo at 0.944", insert_p999,
             table_kind::libcuckoo, full, insert_p999, 0.05);
  add_bounds(list);
  list.times(2, "worst insert of the churn / boost", churn_insert_max, boost, ordinary,
             churn_insert_max, 0.01);
  list.times(2, "worst insert of the churn / absl", churn_insert_max, absl, ordinary,
             churn_insert_max, 0.01);
  list.times(2, "the same while the thread ran / boost", churn_insert_max_running, boost, ordinary,
             churn_insert_max_running, 0.01);
  list.times(2, "the same while the thread ran / absl", churn_insert_max_running, absl, ordinary,
             churn_insert_max_running, 0.01);
  list.times(3, "bulk hit / rte_hash bulk hit", bulk_hit, rte, ordinary, bulk_hit, 0.7);
  list.times(3, "bulk hit / boost hit", bulk_hit, boost, ordinary, hit, 1.0);
  list.times(3, "bulk miss / rte_hash bulk miss", bulk_miss, rte, ordinary, bulk_miss, 1.0);
  list.times(4, "hit / boost", hit, boost, ordinary, hit, 1.35);
  list.times(4, "hit after churn / boost after churn", churned_hit, boost, ordinary, churned_hit,
             1.5);
  list.times(4, "hit / absl", hit, absl, ordinary, hit, 1.1);
  list.times(4, "hit / rte_hash", hit, rte, ordinary, hit, 0.5);
  list.times(4, "dependent hit / boost", dependent_hit, boost, ordinary, dependent_hit, 1.0);
  list.times(4, "dependent hit / absl", dependent_hit, absl, ordinary, dependent_hit, 0.65);
  list.times(4, "insert / boost", insert, boost, ordinary, insert, 1.3);
  list.times(4, "insert after churn / boost after churn", churned_insert, boost, ordinary,
             churned_insert, 2.0);
  list.times(4, "erase / boost", erase, boost, ordinary, erase, 1.6);
  list.bytes(5, "bytes per element / rte_hash", rte, 0.65);
  list.bytes(5, "bytes per element / absl", absl, 0.8);
  add_overflow(list, contest);
  return list.take();
}

}  // namespace oneprobe::cli
