#include "bench/table_race.hpp"

#include <algorithm>
#include <utility>

#include "bench/measuring.hpp"
#include "bench/tick_clock.hpp"

namespace oneprobe::cli {
namespace {

// Dependent lookups wait for memory one after the other: fewer of them do.
constexpr std::uint64_t queries_per_chained = 4;
constexpr std::uint64_t elements_per_erased = 16;
// Keys per call of a bulk function: as many as the caller likes, and as many as rte_hash takes.
constexpr std::size_t many_keys = 8192;
constexpr std::size_t few_keys = 64;
// Churn goes by parts of at most so many operations, and of a small share of the table, in each of
// which an element leaves once at most.
constexpr std::uint64_t largest_part = 4096;
constexpr std::uint64_t elements_per_part = 8;
// So many keys tell a mean number of accesses to about 0.1 %.
constexpr std::uint64_t keys_for_costs = 1'000'000;
// Newcomers of the churn have numbers that no other key has.
constexpr std::uint64_t first_newcomer = std::uint64_t{1} << 48;

// Of the single insertions of a phase; after them come the largest and the largest while it ran.
constexpr std::array<double, 4> watched_quantiles{0.5, 0.99, 0.999, 0.9999};

/// A table's way through one round.
class lap {
 public:
  lap(table_contender& table, table_result& result, table_keys inserted, table_keys absent,
      const table_race_settings& settings, const tick_clock& clock, std::uint64_t round)
      : table_(table),
        result_(result),
        keys_(inserted.first(static_cast<std::size_t>(table.facts().elements))),
        absent_(absent),
        settings_(settings),
        clock_(clock),
        is_last_(round + 1 == settings.rounds),
        draws_{settings.seed ^ round << 32} {}

  template <class Tell>
  void run(Tell tell) {
    tell(0.0, "filling");
    table_.build();
    fill();
    tell(0.1, "lookups");
    ask();
    tell(0.15, "erasing");
    erase_and_return();
    if (settings_.churn > 0) {
      churn([&](double done) { tell(0.2 + 0.75 * done, "churn"); });
      tell(0.95, "lookups after churn");
      ask_again();
      insert_again();
    }
    table_.drop();
    tell(0.98, "filling once more");
    fill_watched();
    if (is_last_) result_.insert_accesses = table_.count_insert_accesses(keys_, keys_for_costs);
  }

 private:
  void add_time(table_metric what, double ns, std::uint64_t operations) {
    if (operations != 0)
      result_.rounds_ns[static_cast<std::size_t>(what)].push_back(ns /
                                                                  static_cast<double>(operations));
  }
  template <class Work>
  auto timed(table_metric what, std::uint64_t operations, Work work) {
    const double begin = cpu_ns();
    const auto answer = work();
    add_time(what, cpu_ns() - begin, operations);
    return answer;
  }
  std::uint64_t draw(std::uint64_t below) {
    return reduce(mix_bits(draws_ += golden_ratio_64), below);
  }

  void fill() {
    const auto watched =
        static_cast<std::size_t>(std::max(1.0, watched_share * static_cast<double>(keys_.size())));
    const std::size_t first = keys_.size() - watched;
    std::vector<std::size_t> refused;
    const double begin = cpu_ns();
    table_.insert(keys_.first(first), refused);
    std::vector<std::size_t> refused_late;
    latency_watch watch(clock_);
    table_.insert_watched(keys_.subspan(first), watch, refused_late);
    const double clock_ns = clock_.cost_ns() * static_cast<double>(watched);
    add_time(table_metric::insert, cpu_ns() - begin - clock_ns, keys_.size());
    add_latencies(watch, table_metric::insert_p50);

    for (const std::size_t each : refused_late) refused.push_back(first + each);
    if (!refused.empty()) {
      result_.fill_failures += refused.size();
      const double reached =
          static_cast<double>(refused.front()) / static_cast<double>(keys_.size());
      result_.first_failure = std::min(reached, result_.first_failure.value_or(1));
    }
    live_.clear();
    live_.reserve(keys_.size());
    auto next = refused.begin();
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (next != refused.end() && *next == i)
        ++next;
      else
        live_.push_back(keys_[i]);
    }
    check_size();
    result_.filled_size = table_.size();
    result_.load_factor = table_.load_factor();
    result_.memory_bytes = table_.memory_bytes();
  }

  /// Every insertion with a time of its own, which a clock around each of them makes slower in all.
  void fill_watched() {
    table_.build();
    latency_watch watch(clock_);
    std::vector<std::size_t> refused;
    table_.insert_watched(keys_, watch, refused);
    add_latencies(watch, table_metric::fill_insert_p50);
    table_.drop();
  }

  /// The six figures of a phase, of which this is the first.
  void add_latencies(const latency_watch& watch, table_metric first) {
    if (watch.times().count() == 0) return;
    auto next = static_cast<std::size_t>(first);
    const auto add = [&](double ns) { result_.rounds_ns[next++].push_back(ns); };
    for (const double share : watched_quantiles) add(watch.quantile_ns(share));
    add(watch.largest_ns());
    add(watch.largest_running_ns());
  }

  /// So many of the elements there, drawn at random: they move to the front.
  table_keys some_live(std::uint64_t wanted) {
    const std::size_t count = std::min<std::size_t>(wanted, live_.size());
    for (std::size_t i = 0; i < count; ++i)
      std::swap(live_[i], live_[i + static_cast<std::size_t>(draw(live_.size() - i))]);
    return table_keys(live_).first(count);
  }

  void expect_right(table_keys asked, std::uint64_t right) {
    result_.not_found += asked.size() - std::min<std::uint64_t>(right, asked.size());
  }
  void check_size() { result_.wrong_size += table_.size() != live_.size() ? 1u : 0u; }

  void ask() {
    const table_keys present = some_live(settings_.queries);
    expect_right(present, timed(table_metric::hit, present.size(),
                                [&] { return table_.count_right(present); }));
    result_.found_wrongly +=
        timed(table_metric::miss, absent_.size(), [&] { return table_.count_present(absent_); });
    const table_keys chain = present.first(present.size() / queries_per_chained);
    expect_right(chain, timed(table_metric::dependent_hit, chain.size(),
                              [&] { return table_.count_right_chained(chain); }));
    ask_in_bulk(present, many_keys, table_metric::bulk_hit, table_metric::bulk_miss);
    ask_in_bulk(present, few_keys, table_metric::bulk64_hit, table_metric::bulk64_miss);
    if (is_last_) {
      result_.costs = count_costs();
      result_.overflow_fraction = table_.overflow_fraction();
    }
  }

  void ask_in_bulk(table_keys present, std::size_t at_a_time, table_metric hit, table_metric miss) {
    // A table without such a function says so to a question about nothing.
    if (!table_.count_right_bulk({}, at_a_time)) return;
    expect_right(present, timed(hit, present.size(),
                                [&] { return *table_.count_right_bulk(present, at_a_time); }));
    result_.found_wrongly += timed(miss, absent_.size(), [&] {
      return table_.count_present_bulk(absent_, at_a_time).value_or(0);
    });
  }

  std::optional<table_costs> count_costs() {
    return table_.count_costs(some_live(keys_for_costs),
                              absent_.first(std::min<std::size_t>(absent_.size(), keys_for_costs)));
  }

  void erase_and_return() {
    const table_keys leaving = some_live(live_.size() / elements_per_erased);
    const std::uint64_t erased =
        timed(table_metric::erase, leaving.size(), [&] { return table_.erase(leaving); });
    result_.not_erased += leaving.size() - erased;
    result_.found_wrongly += table_.count_present(leaving);
    std::vector<std::size_t> refused;
    latency_watch watch(clock_);
    table_.insert_watched(leaving, watch, refused);
    add_latencies(watch, table_metric::rated_insert_p50);
    result_.churn_failures += refused.size();
    forget(refused);
    check_size();
  }

  /// Elements that did not get in: those with these places, which are in order.
  void forget(const std::vector<std::size_t>& places) {
    for (auto each = places.rbegin(); each != places.rend(); ++each) {
      live_[*each] = live_.back();
      live_.pop_back();
    }
  }

  template <class Tell>
  void churn(Tell tell) {
    const auto all =
        static_cast<std::uint64_t>(settings_.churn * static_cast<double>(live_.size()));
    latency_watch watch(clock_);
    std::vector<std::uint64_t> leaving, coming;
    std::vector<std::size_t> places, refused, refused_places;
    std::uint64_t looks = 0;
    double overflow = 0;
    for (std::uint64_t done = 0; done < all && !live_.empty();) {
      const std::uint64_t part =
          std::min({all - done, largest_part,
                    std::max<std::uint64_t>(
                        1, static_cast<std::uint64_t>(live_.size()) / elements_per_part)});
      leaving.resize(static_cast<std::size_t>(part));
      coming.resize(leaving.size());
      places.resize(leaving.size());
      for (std::size_t i = 0; i < leaving.size(); ++i) {
        // One of each stretch of elements, so that none is drawn twice. They lie there in an order
        // that has nothing to do with the table's.
        const std::size_t begin = i * live_.size() / leaving.size();
        const std::size_t end = (i + 1) * live_.size() / leaving.size();
        places[i] = begin + static_cast<std::size_t>(draw(end - begin));
        leaving[i] = live_[places[i]];
      }
      make_keys(coming, first_newcomer + newcomers_, settings_.seed);
      newcomers_ += part;
      refused.clear();
      result_.not_erased += part - table_.churn(leaving, coming, watch, refused);
      for (std::size_t i = 0; i < places.size(); ++i) live_[places[i]] = coming[i];
      refused_places.clear();
      for (const std::size_t each : refused) refused_places.push_back(places[each]);
      result_.churn_failures += refused.size();
      forget(refused_places);

      const bool was_first_half = done < all / 2;
      done += part;
      if (was_first_half && done >= all / 2 && is_last_) result_.half_churned_costs = count_costs();
      if (const auto now = table_.overflow_fraction(); now && !was_first_half) {
        overflow += *now;
        ++looks;
      }
      tell(static_cast<double>(done) / static_cast<double>(all));
    }
    add_latencies(watch, table_metric::churn_insert_p50);
    check_size();
    result_.churned_memory_bytes = table_.memory_bytes();
    if (is_last_) {
      result_.churned_costs = count_costs();
      if (looks != 0) result_.churned_overflow_fraction = overflow / static_cast<double>(looks);
      result_.predicted_overflow_fraction = table_.predicted_overflow_fraction();
    }
  }

  void ask_again() {
    const table_keys present = some_live(settings_.queries);
    expect_right(present, timed(table_metric::churned_hit, present.size(),
                                [&] { return table_.count_right(present); }));
    result_.found_wrongly += timed(table_metric::churned_miss, absent_.size(),
                                   [&] { return table_.count_present(absent_); });
    // Every element once, whatever became of it.
    if (is_last_) expect_right(live_, table_.count_right(live_));
  }

  void insert_again() {
    const table_keys leaving = some_live(live_.size() / elements_per_erased);
    std::vector<std::uint64_t> coming(leaving.size());
    make_keys(coming, first_newcomer + newcomers_, settings_.seed);
    result_.not_erased += leaving.size() - table_.erase(leaving);
    std::vector<std::size_t> refused;
    timed(table_metric::churned_insert, coming.size(), [&] {
      table_.insert(coming, refused);
      return refused.size();
    });
    result_.churn_failures += refused.size();
  }

  table_contender& table_;
  table_result& result_;
  table_keys keys_;
  table_keys absent_;
  const table_race_settings& settings_;
  const tick_clock& clock_;
  bool is_last_;
  std::uint64_t draws_;
  std::uint64_t newcomers_ = 0;
  std::vector<std::uint64_t> live_{};
};

}  // namespace

std::vector<table_result> race_tables(const table_list& tables, const table_race_settings& settings,
                                      const table_progress& tell) {
  std::uint64_t most = 0;
  for (const auto& each : tables) most = std::max(most, each->facts().elements);
  std::vector<std::uint64_t> inserted(static_cast<std::size_t>(most));
  std::vector<std::uint64_t> absent(static_cast<std::size_t>(settings.queries));
  make_keys(inserted, 0, settings.seed);
  const tick_clock clock;
  std::vector<table_result> results(tables.size());
  const double laps = static_cast<double>(tables.size()) * settings.rounds;
  double laps_done = 0;
  for (std::uint64_t round = 0; round < settings.rounds; ++round) {
    make_keys(absent, most + round * settings.queries, settings.seed);
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const std::size_t who = (i + round) % tables.size();
      lap(*tables[who], results[who], inserted, absent, settings, clock, round)
          .run([&](double done, std::string_view what) {
            tell((laps_done + done) / laps, tables[who]->facts().name + ", " + std::string(what));
          });
      ++laps_done;
    }
  }
  return results;
}

}  // namespace oneprobe::cli
