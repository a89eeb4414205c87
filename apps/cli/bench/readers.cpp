#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "bench/commands.hpp"
#include "bench/machine.hpp"
#include "bench/measuring.hpp"
#include "bench/race.hpp"
#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/concurrent_map.hpp"
#include "progress.hpp"

namespace oneprobe::cli {
namespace {

constexpr option element_count{"--elements", "N", "elements in each map (default 2M)"};
constexpr option round_count{"--rounds", "R", "rounds over all of them (default 5)"};
constexpr option key_seed{"--seed", "S", "start of the random keys and the hash (default 1)"};

constexpr std::uint64_t default_elements = 2'000'000;
constexpr unsigned default_rounds = 5;
constexpr unsigned most_rounds = 1000;
constexpr std::uint64_t fewest_elements = 1000;
constexpr std::uint64_t most_elements = 500'000'000;
constexpr std::uint64_t fewest_lookups = 1'000'000;  // in each round

using shared_map = concurrent_map<std::uint64_t, std::uint64_t>;
using plain_map = bounded_map<std::uint64_t, std::uint64_t>;
using keys = std::span<const std::uint64_t>;

/// A value says of which key it is; its last bit is the writer's to change.
std::uint64_t value_of(std::uint64_t key, std::uint64_t version) {
  return key << 1 | (version & 1);
}
bool is_value_of(std::uint64_t value, std::uint64_t key) { return value >> 1 == key << 1 >> 1; }

struct settings {
  std::uint64_t elements = default_elements;
  unsigned rounds = default_rounds;
  std::uint64_t seed = 1;
};

struct results {
  std::vector<double> bounded_ns{};  // per lookup, in each round
  std::vector<double> alone_ns{};
  std::vector<double> beside_ns{};
  std::uint64_t lookups_beside = 0;
  std::uint64_t retries = 0;
  std::uint64_t writes = 0;
  std::uint64_t wrong = 0;  // not found, or with a value of another key
};

/// Half of the elements stay, and are looked up; the others leave and come back all the time.
struct crowd {
  std::vector<std::uint64_t> all;
  keys staying;
  keys moving;

  explicit crowd(const settings& asked) : all(asked.elements) {
    make_keys(all, 0, asked.seed);
    staying = keys(all).first(all.size() / 2);
    moving = keys(all).subspan(all.size() / 2);
  }
};

/// Erases and inserts moving keys and changes the values of staying ones, in turn.
class busy_writer {
 public:
  busy_writer(shared_map& map, const crowd& elements)
      : map_(&map), elements_(&elements), thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) write_some();
        }) {
    // What is measured beside it must not begin before it has.
    while (writes_.load(std::memory_order_relaxed) == 0) std::this_thread::yield();
  }

  std::uint64_t stop() {
    thread_.request_stop();
    thread_.join();
    return writes_.load(std::memory_order_relaxed);
  }

 private:
  void write_some() {
    constexpr std::uint64_t part = 64;
    for (std::uint64_t i = 0; i < part; ++i, ++count_) {
      const std::uint64_t random = mix_bits(count_);
      const std::uint64_t leaving = elements_->moving[random % elements_->moving.size()];
      map_->erase(leaving);
      map_->insert(leaving, value_of(leaving, count_));
      const std::uint64_t changing = elements_->staying[random % elements_->staying.size()];
      map_->insert_or_assign(changing, value_of(changing, count_));
    }
    writes_.store(3 * count_, std::memory_order_relaxed);
  }

  shared_map* map_;
  const crowd* elements_;
  std::uint64_t count_ = 0;
  std::atomic<std::uint64_t> writes_ = 0;
  std::jthread thread_;  // last: it uses the others
};

/// Time per lookup; counts the wrong answers. `find` gives a pointer or an optional.
template <class Find>
double measure(keys wanted, std::uint64_t lookups, std::uint64_t& wrong, Find find) {
  const double start = cpu_ns();
  std::size_t next = 0;
  for (std::uint64_t i = 0; i < lookups; ++i) {
    const std::uint64_t key = wanted[next];
    wrong += find(key) ? 0u : 1u;
    next = next + 1 == wanted.size() ? 0 : next + 1;
  }
  return (cpu_ns() - start) / static_cast<double>(lookups);
}

results run(const settings& asked) {
  const crowd elements(asked);
  const seeded_hash hash(asked.seed);
  plain_map bounded(asked.elements, hash);
  shared_map shared(asked.elements, hash);
  // By turns: what comes first finds room at its first candidate, and would be found faster.
  for (std::size_t i = 0; i < elements.moving.size(); ++i) {
    for (const keys half : {elements.moving, elements.staying}) {
      if (i == half.size()) continue;
      bounded.insert(half[i], value_of(half[i], 0));
      shared.insert(half[i], value_of(half[i], 0));
    }
  }
  std::vector<std::uint64_t> wanted(elements.staying.begin(), elements.staying.end());
  for (std::size_t i = wanted.size(); i > 1; --i)
    std::swap(wanted[i - 1], wanted[mix_bits(i + asked.seed) % i]);
  const std::uint64_t lookups = std::max<std::uint64_t>(wanted.size(), fewest_lookups);

  results found;
  progress_bar bar;
  for (unsigned round = 0; round < asked.rounds; ++round) {
    bar.show(static_cast<double>(round) / asked.rounds, fmt::format("round {}", round + 1));
    found.bounded_ns.push_back(measure(wanted, lookups, found.wrong, [&](std::uint64_t key) {
      const auto* const element = bounded.find(key);
      return element != nullptr && is_value_of(element->value, key);
    }));
    shared_map::reader reader(shared);
    const auto find = [&](std::uint64_t key) {
      const std::optional<std::uint64_t> value = reader.find(key);
      return value && is_value_of(*value, key);
    };
    found.alone_ns.push_back(measure(wanted, lookups, found.wrong, find));
    busy_writer writer(shared, elements);
    found.beside_ns.push_back(measure(wanted, lookups, found.wrong, find));
    found.writes += writer.stop();
    found.lookups_beside += lookups;
    found.retries += reader.retries();
  }
  return found;
}

settings read_settings(const arguments& in) {
  settings asked;
  asked.elements = in.maybe_count(element_count).value_or(default_elements);
  if (asked.elements < fewest_elements || asked.elements > most_elements)
    throw usage_error(fmt::format("--elements must be from {} to {}; found {}", fewest_elements,
                                  most_elements, asked.elements));
  asked.rounds = in.maybe_whole(round_count).value_or(default_rounds);
  if (asked.rounds < 1 || asked.rounds > most_rounds)
    throw usage_error(
        fmt::format("--rounds must be from 1 to {}; found {}", most_rounds, asked.rounds));
  asked.seed = in.maybe_seed(key_seed).value_or(asked.seed);
  return asked;
}

report answer(const arguments& in) {
  const settings asked = read_settings(in);
  in.refuse_unread();
  const machine_facts machine = describe_machine();
  const results found = run(asked);
  const ratio over_bounded = *ratio_of(found.alone_ns, found.bounded_ns);
  const ratio kept = *ratio_of(found.alone_ns, found.beside_ns);

  report out("Lookups of concurrent_map, alone and beside a busy writer");
  out.whole("elements", asked.elements).whole("rounds", asked.rounds);
  out.number("bounded_map_hit_ns", median(found.bounded_ns), "ns");
  out.number("alone_hit_ns", median(found.alone_ns), "ns");
  out.number("beside_writer_hit_ns", median(found.beside_ns), "ns");
  out.number("alone_over_bounded_map", over_bounded.median);
  out.number("alone_over_bounded_map_least", over_bounded.least);
  out.number("alone_over_bounded_map_most", over_bounded.most);
  out.fraction("throughput_kept", kept.median);
  out.fraction("throughput_kept_least", kept.least);
  out.fraction("throughput_kept_most", kept.most);
  out.whole("lookups_beside_writer", found.lookups_beside);
  out.whole("retries", found.retries);
  out.whole("writes", found.writes);
  out.whole("wrong_answers", found.wrong);
  out.object("machine", object_of(machine));
  out.note(text_of(machine));
  if (found.wrong != 0) out.negative();
  return out;
}

}  // namespace

const command bench_readers_command{
    .name = "readers",
    .summary = "a reader of concurrent_map, alone and beside a busy writer",
    .details =
        "Half of the elements stay and are looked up one by one, in random order; the writer, a "
        "thread of its own, erases and inserts the others and changes the values of those that "
        "stay, without a pause. Each round measures bounded_map, concurrent_map alone and "
        "concurrent_map beside the writer, one after the other: compare ratios. Times are CPU time "
        "of the reading thread in ns per lookup, the median of the rounds. throughput_kept: "
        "lookups per second beside the writer, of those alone. retries: times that a bucket had to "
        "be read again because the writer was in it. An answer that is wrong ends the run with "
        "exit code 1. It needs two cores.",
    .source = "",
    .example = "--elements 1M --rounds 3",
    .options = {{&element_count, need::optional},
                {&round_count, need::optional},
                {&key_seed, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
