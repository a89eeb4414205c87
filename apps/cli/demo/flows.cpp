#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/latency_watch.hpp"
#include "bench/tick_clock.hpp"
#include "demo/findings.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/map/bounded_map.hpp"

namespace oneprobe::cli::demo {
namespace {

constexpr std::uint64_t seed = 2007;
constexpr std::uint64_t counted_flows = 200'000;

/// What tells one IPv4 flow from another.
struct flow_id {
  std::uint32_t source;
  std::uint32_t destination;
  std::uint16_t source_port;
  std::uint16_t destination_port;
  std::uint32_t protocol;

  friend bool operator==(const flow_id&, const flow_id&) = default;
};

/// Flow number `number` of the day. No two are the same: the addresses are a bijection of it.
flow_id flow_of(std::uint64_t number) {
  const std::uint64_t addresses = mix_bits(number + seed);
  return {.source = static_cast<std::uint32_t>(addresses >> 32),
          .destination = static_cast<std::uint32_t>(addresses),
          .source_port = static_cast<std::uint16_t>(1024 + number % 60'000),
          .destination_port = 443,
          .protocol = 6};
}

/// A day: flows come until there are as many as planned; from then on one ends, whichever, whenever
/// one comes. `come` and `end` are called with the number of the flow, `look` once per hundredth.
template <class Come, class End, class Look>
std::vector<std::uint64_t> live_a_day(Come come, End end, Look look) {
  constexpr std::uint64_t all = (1 + turnovers) * flow_count;
  std::vector<std::uint64_t> live;
  live.reserve(flow_count);
  for (std::uint64_t number = 0; number < all; ++number) {
    if (number < flow_count) {
      live.push_back(number);
    } else {
      std::uint64_t& leaving = live[reduce(hash_stream({seed}, number), flow_count)];
      end(leaving);
      leaving = number;
    }
    come(number);
    if (number % (all / 100) == 0) look(number);
  }
  return live;
}

using watched_map = bounded_map<flow_id, std::uint64_t>;

struct standard_hash {
  seeded_hash hash;
  std::size_t operator()(const flow_id& flow) const { return hash(flow).value; }
};

/// Counts the bytes that are asked for and not given back.
template <class T>
struct counting_allocator {
  using value_type = T;

  explicit counting_allocator(std::uint64_t& bytes) : held(&bytes) {}
  template <class U>
  counting_allocator(const counting_allocator<U>& other) : held(other.held) {}

  T* allocate(std::size_t count) {
    T* const memory = std::allocator<T>().allocate(count);
    *held += count * sizeof(T);
    return memory;
  }
  void deallocate(T* memory, std::size_t count) {
    *held -= count * sizeof(T);
    std::allocator<T>().deallocate(memory, count);
  }
  template <class U>
  bool operator==(const counting_allocator<U>& other) const {
    return held == other.held;
  }

  std::uint64_t* held;
};

using standard_map =
    std::unordered_map<flow_id, std::uint64_t, standard_hash, std::equal_to<>,
                       counting_allocator<std::pair<const flow_id, std::uint64_t>>>;

insert_times times_of(const latency_watch& watch) {
  insert_times found{.median_ns = watch.quantile_ns(0.5),
                     .p999_ns = watch.quantile_ns(0.999),
                     .worst_ns = watch.largest_running_ns()};
  for (const double share : {0.9, 0.5, 0.2, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5})
    found.curve.push_back({share, watch.quantile_ns(1 - share)});
  return found;
}

table_measure measure_ours(const table_plan& plan, const tick_clock& clock, const teller& tell) {
  // The overflow of a table that has just been filled is below that of one that lives.
  constexpr std::uint64_t settled = (1 + turnovers / 2) * flow_count;
  table_measure found;
  watched_map map(plan, seeded_hash(seed));
  latency_watch watch(clock);
  std::uint64_t looks = 0;
  std::span<const std::byte> memory = map.memory();
  const auto come = [&](std::uint64_t number) {
    const flow_id flow = flow_of(number);
    const std::uint64_t begin = begin_ticks();
    const insertion outcome = map.insert(flow, number).outcome;
    watch.record(begin, end_ticks());
    found.refused += outcome == insertion::full ? 1u : 0u;
  };
  const auto end = [&](std::uint64_t number) { map.erase(flow_of(number)); };
  const auto look = [&](std::uint64_t number) {
    watch.begin_part();
    tell(static_cast<double>(number) / static_cast<double>((1 + turnovers) * flow_count));
    const std::span<const std::byte> now = map.memory();
    found.moves += now.data() != memory.data() || now.size() != memory.size() ? 1u : 0u;
    memory = now;
    if (number < settled) return;
    found.overflow += static_cast<double>(map.stats().counts.overflow);
    ++looks;
  };
  const std::vector<std::uint64_t> live = live_a_day(come, end, look);
  found.overflow /= static_cast<double>(looks);
  found.times = times_of(watch);
  found.memory_bytes = map.memory().size();

  std::uint64_t hits = 0, misses = 0;
  for (std::uint64_t i = 0; i < counted_flows; ++i) {
    const table_path hit = map.explain(flow_of(live[i]));
    const table_path miss = map.explain(flow_of((1 + turnovers) * flow_count + i));
    if (!hit.contains() || miss.contains()) throw std::runtime_error("the table lost a flow");
    hits += hit.accesses;
    misses += miss.accesses;
    for (const table_path& path : {hit, miss})
      found.most_accesses =
          std::max<std::uint64_t>(found.most_accesses, path.accesses + path.overflow_accesses);
  }
  found.hit_accesses = static_cast<double>(hits) / static_cast<double>(counted_flows);
  found.miss_accesses = static_cast<double>(misses) / static_cast<double>(counted_flows);
  return found;
}

void measure_beside(const tick_clock& clock, const teller& tell, table_findings& found) {
  std::uint64_t held_bytes = 0;
  standard_map map(0, standard_hash{seeded_hash(seed)}, {},
                   standard_map::allocator_type(held_bytes));
  map.reserve(flow_count);
  latency_watch watch(clock);
  std::size_t buckets = map.bucket_count();
  const auto come = [&](std::uint64_t number) {
    const flow_id flow = flow_of(number);
    const std::uint64_t begin = begin_ticks();
    map.emplace(flow, number);
    watch.record(begin, end_ticks());
    found.beside_rehashes += map.bucket_count() != buckets ? 1u : 0u;
    buckets = map.bucket_count();
  };
  live_a_day(
      come, [&](std::uint64_t number) { map.erase(flow_of(number)); },
      [&](std::uint64_t number) {
        watch.begin_part();
        tell(static_cast<double>(number) / static_cast<double>((1 + turnovers) * flow_count));
      });
  found.beside = times_of(watch);
  found.beside_memory_bytes = held_bytes;
}

}  // namespace

table_findings try_table(const teller& tell) {
  table_findings found;
  const table_needs needs{.elements = flow_count,
                          .key_bytes = sizeof(flow_id),
                          .value_bytes = sizeof(std::uint64_t),
                          .overflow_fraction = wanted_overflow,
                          .overfill = 0};
  found.proposal = plan_table(needs);
  found.slot_bytes = slot_bytes_of(needs);
  if (!found.proposal.plan) throw std::runtime_error(found.proposal.reason);
  const table_plan& plan = *found.proposal.plan;
  found.bound = plan.choices + table_plan::overflow_choices;
  const tick_clock clock;
  found.ours = measure_ours(plan, clock, [&](double done) { tell(0.4 * done); });
  measure_beside(
      clock, [&](double done) { tell(0.4 + 0.6 * done); }, found);
  tell(1);
  return found;
}

}  // namespace oneprobe::cli::demo
