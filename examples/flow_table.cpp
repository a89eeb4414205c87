// A flow table under attack: the same packets through a bounded_map of fixed size and through a map
// that grows. What each keeps, what it turns away, and how much work one packet can cause.
//
//   flow_table           counts, the same in every run
//   flow_table times     how long packets took, on this machine
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <oneprobe/map/bounded_map.hpp>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "packet_trace.hpp"

namespace {

using namespace oneprobe;
using packets::five_tuple;
using packets::packet;
using packets::trace;

constexpr std::uint64_t planned_flows = 100'000;
// Times are numbers of packets.
constexpr std::uint64_t idle_limit = 500'000;
constexpr std::uint64_t half_open_limit = 200'000;

struct flow {
  std::uint64_t last = 0;
  std::uint64_t packets = 0;
  bool forged = false;  // for counting

  bool half_open() const { return packets == 1; }
  bool expired(std::uint64_t now) const {
    return now - last > (half_open() ? half_open_limit : idle_limit);
  }
};

struct tally {
  std::uint64_t turned_away = 0;  // packets of new flows without room
  std::uint64_t forged_out = 0;   // forged half-open flows that gave way to new ones
  std::uint64_t regular_out = 0;  // the same, of real clients
  std::uint64_t most_moved = 0;   // flows moved for one packet
  std::uint64_t flows = 0;        // at the end
  std::uint64_t bytes = 0;
};

/// Flows in a fixed amount of memory. Where there is no room for a new one, the oldest that never
/// got beyond its first packet gives way, out of those in its place.
class bounded_flows {
 public:
  bounded_flows() : flows_(planned_flows, seeded_hash(2010)) {}

  void receive(const packet& received, std::uint64_t now, tally& counts) {
    flows_.sweep(1, [now](const auto& element) { return element.value.expired(now); });
    const auto oldest_half_open = [&](std::span<map::value_type* const> candidates) {
      map::value_type* oldest = nullptr;
      for (map::value_type* const one : candidates)
        if (one->value.half_open() && (oldest == nullptr || one->value.last < oldest->value.last))
          oldest = one;
      if (oldest != nullptr) ++(oldest->value.forged ? counts.forged_out : counts.regular_out);
      return oldest;
    };
    const auto [outcome, found] = flows_.try_emplace_evicting(received.flow, oldest_half_open,
                                                              flow{.forged = received.forged});
    if (outcome == insertion::full) {
      ++counts.turned_away;
    } else {
      found->value.last = now;
      ++found->value.packets;
    }
  }

  std::uint64_t size() const { return flows_.size(); }
  std::uint64_t bytes() const { return flows_.memory().size(); }

 private:
  using map = bounded_map<five_tuple, flow>;
  map flows_;
};

/// Counts the memory that is in use.
template <class Type>
struct counting_allocator {
  using value_type = Type;

  explicit counting_allocator(std::uint64_t& in_use) : bytes(&in_use) {}
  template <class Other>
  counting_allocator(const counting_allocator<Other>& other) : bytes(other.bytes) {}

  Type* allocate(std::size_t count) {
    *bytes += count * sizeof(Type);
    return std::allocator<Type>().allocate(count);
  }
  void deallocate(Type* memory, std::size_t count) {
    *bytes -= count * sizeof(Type);
    std::allocator<Type>().deallocate(memory, count);
  }
  friend bool operator==(const counting_allocator&, const counting_allocator&) = default;

  std::uint64_t* bytes;
};

/// The same in a map that grows when it must, and expires as many flows at a time.
class growing_flows {
 public:
  growing_flows() : flows_(planned_flows, hash{}, {}, allocator(bytes_)) {}

  void receive(const packet& received, std::uint64_t now, tally& counts) {
    constexpr int flows_at_a_time = 16;  // as many as a bucket of the other map has
    for (int i = 0; i < flows_at_a_time; ++i) expire_next(now);
    const std::size_t slots = flows_.bucket_count();
    flow& found = flows_.try_emplace(received.flow).first->second;
    found.last = now;
    ++found.packets;
    if (flows_.bucket_count() != slots)
      counts.most_moved = std::max<std::uint64_t>(counts.most_moved, flows_.size());
  }

  std::uint64_t size() const { return flows_.size(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct hash {
    std::size_t operator()(const five_tuple& id) const { return seeded_hash(2010)(id).value; }
  };
  using allocator = counting_allocator<std::pair<const five_tuple, flow>>;

  void expire_next(std::uint64_t now) {
    next_ = next_ + 1 < flows_.bucket_count() ? next_ + 1 : 0;
    std::vector<five_tuple> expired;
    for (auto i = flows_.cbegin(next_); i != flows_.cend(next_); ++i)
      if (i->second.expired(now)) expired.push_back(i->first);
    for (const five_tuple& id : expired) flows_.erase(id);
  }

  std::uint64_t bytes_ = 0;
  std::size_t next_ = 0;
  std::unordered_map<five_tuple, flow, hash, std::equal_to<five_tuple>, allocator> flows_;
};

constexpr std::array<const char*, packets::phases> phase_names{"calm", "SYN flood", "afterwards"};

template <class Flows>
std::array<tally, packets::phases> counts_of(const trace& packets) {
  Flows flows;
  std::array<tally, packets::phases> counts{};
  for (std::uint64_t now = 0; now < trace::packets; ++now) {
    tally& present = counts[static_cast<std::size_t>(trace::phase_at(now))];
    flows.receive(packets.at(now), now, present);
    present.flows = flows.size();
    present.bytes = std::max(present.bytes, flows.bytes());
  }
  return counts;
}

unsigned long long printable(std::uint64_t count) { return count; }

template <class Flows>
void show_counts(const char* name, const trace& packets) {
  const auto counts = counts_of<Flows>(packets);
  std::printf("%s\n", name);
  std::printf("                            packets      half-open flows that     flows moved\n");
  std::printf("               flows   MiB  turned away  gave way     of clients  by one packet\n");
  for (std::size_t i = 0; i < counts.size(); ++i)
    std::printf("  %-11s %7llu %5.1f  %11llu  %8llu  %13llu  %13llu\n", phase_names[i],
                printable(counts[i].flows), static_cast<double>(counts[i].bytes) / (1u << 20),
                printable(counts[i].turned_away),
                printable(counts[i].forged_out + counts[i].regular_out),
                printable(counts[i].regular_out), printable(counts[i].most_moved));
}

template <class Flows>
void show_times(const char* name, const trace& packets) {
  using clock = std::chrono::steady_clock;
  Flows flows;
  tally ignored;
  std::array<std::vector<std::int64_t>, packets::phases> times;
  for (auto& of_phase : times) of_phase.reserve(trace::packets_per_phase);
  for (std::uint64_t now = 0; now < trace::packets; ++now) {
    const packet received = packets.at(now);
    const clock::time_point start = clock::now();
    flows.receive(received, now, ignored);
    times[static_cast<std::size_t>(trace::phase_at(now))].push_back(
        std::chrono::nanoseconds(clock::now() - start).count());
  }
  std::printf("%s, nanoseconds per packet\n", name);
  std::printf("                 p50      p99    p99.9   p99.99      max\n");
  for (std::size_t i = 0; i < times.size(); ++i) {
    std::ranges::sort(times[i]);
    std::printf("  %-11s", phase_names[i]);
    for (const double share : {0.5, 0.99, 0.999, 0.9999, 1.0}) {
      const auto last = static_cast<double>(times[i].size() - 1);
      std::printf(" %8lld",
                  static_cast<long long>(times[i][static_cast<std::size_t>(share * last)]));
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const trace packets;
    if (argc == 1) {
      show_counts<bounded_flows>("bounded_map", packets);
      show_counts<growing_flows>("std::unordered_map", packets);
    } else if (argc == 2 && argv[1] == std::string_view("times")) {
      show_times<bounded_flows>("bounded_map", packets);
      show_times<growing_flows>("std::unordered_map", packets);
    } else {
      std::fprintf(stderr, "usage: flow_table [times]\n");
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flow_table: %s\n", error.what());
    return 1;
  }
}
