// The benchmark of tables notices wrong answers, and its percentiles and targets are what they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "bench/latency_histogram.hpp"
#include "bench/table_contest.hpp"
#include "bench/table_loops.hpp"
#include "bench/table_race.hpp"
#include "oneprobe/detail/hash/derive.hpp"

namespace oneprobe::cli {
namespace {

TEST(latency_histogram, quantiles_are_at_most_a_32nd_below_the_exact_ones) {
  latency_histogram histogram;
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    // From one tick to 2^40 of them, every magnitude as often.
    const std::uint64_t random = mix_bits(i + 1);
    all.push_back(random >> (24 + random % 40));
    histogram.record(all.back());
  }
  std::sort(all.begin(), all.end());
  for (const double share : {0.001, 0.5, 0.9, 0.99, 0.999, 0.9999}) {
    const auto rank = static_cast<std::size_t>(share * static_cast<double>(all.size()));
    const std::uint64_t exact = all[rank - 1];
    EXPECT_LE(histogram.quantile(share), exact) << share;
    EXPECT_GE(histogram.quantile(share) + exact / 32, exact) << share;
  }
  EXPECT_EQ(histogram.largest(), all.back());
  EXPECT_EQ(histogram.count(), all.size());
}

TEST(latency_histogram, small_durations_are_exact_and_the_largest_of_all_fits) {
  latency_histogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0u);
  for (std::uint64_t i = 0; i < 64; ++i) histogram.record(i);
  for (std::uint64_t i = 1; i <= 64; ++i)
    EXPECT_EQ(histogram.quantile(static_cast<double>(i) / 64), i - 1);
  histogram.record(~std::uint64_t{0});
  EXPECT_EQ(histogram.quantile(1), std::uint64_t{63} << 58);
  EXPECT_EQ(histogram.largest(), ~std::uint64_t{0});
}

TEST(tick_clock, ticks_pass_as_fast_as_the_system_s_clock) {
  const tick_clock clock;
  const auto now = [] { return static_cast<double>(detail::monotonic_ns()); };
  const double before = now();
  const std::uint64_t begin = begin_ticks();
  const double after = now();
  while (now() - after < 1e6) {
  }
  const double before_end = now();
  const std::uint64_t end = end_ticks();
  const double after_end = now();
  // Whatever comes between two readings, the true time is between these.
  EXPECT_GT(clock.ns(end - begin), 0.99 * (before_end - after));
  EXPECT_LT(clock.ns(end - begin), 1.01 * (after_end - before));
}

/// A map that answers as it is told.
class liar {
 public:
  enum class lie { none, forgets, errs, changes, keeps, refuses };
  static constexpr std::uint64_t room = 900;

  explicit liar(lie how) : how_(how) {}

  bool insert(std::uint64_t key, std::uint64_t value) {
    if (how_ == lie::refuses && map_.size() == room) return false;
    return map_.emplace(key, value).second;
  }
  bool find(std::uint64_t key, std::uint64_t& value) {
    const auto found = map_.find(key);
    if (found == map_.end()) return how_ == lie::errs && is_chosen(key);
    if (how_ == lie::forgets && is_chosen(key)) return false;
    value = found->second + (how_ == lie::changes && is_chosen(key) ? 1u : 0u);
    return true;
  }
  bool erase(std::uint64_t key) {
    if (how_ == lie::keeps && is_chosen(key)) return false;
    return map_.erase(key) != 0;
  }
  std::uint64_t size() const { return map_.size(); }
  double load_factor() const { return 0.5; }
  std::uint64_t memory_bytes() const { return 16 * map_.size(); }

 private:
  static bool is_chosen(std::uint64_t key) { return key % 100 == 0; }

  lie how_;
  std::unordered_map<std::uint64_t, std::uint64_t> map_{};
};

constexpr table_race_settings settings{.queries = 800, .churn = 3, .rounds = 3, .seed = 7};
constexpr std::uint64_t elements = 1000;

table_entry raced(liar::lie how, const table_race_settings& how_long = settings) {
  table_list list;
  list.push_back(
      std::make_unique<looped_table<liar>>(table_facts{.name = "liar", .elements = elements},
                                           [how] { return std::make_unique<liar>(how); }));
  auto results = race_tables(list, how_long, [](double done, std::string_view) {
    EXPECT_GE(done, 0);
    EXPECT_LE(done, 1);
  });
  return {list.front()->facts(), std::move(results.front())};
}

std::string faults_of_a(liar::lie how) {
  std::string all;
  for (const std::string& each : faults_of(raced(how))) all += each + '\n';
  return all;
}

TEST(table_race, an_honest_table_has_no_fault_and_a_time_for_each_round) {
  const table_entry entry = raced(liar::lie::none);
  EXPECT_EQ(faults_of(entry), std::vector<std::string>{});
  EXPECT_EQ(entry.result.filled_size, elements);
  EXPECT_EQ(entry.result.fill_failures + entry.result.churn_failures, 0u);
  EXPECT_FALSE(entry.result.first_failure);
  EXPECT_EQ(bytes_per_element(entry.result), 16);
  EXPECT_EQ(entry.result.churned_memory_bytes, entry.result.memory_bytes);
  for (std::size_t i = 0; i < table_metrics; ++i)
    EXPECT_EQ(entry.result.rounds_ns[i].size(),
              table_metric_names[i].starts_with("bulk") ? 0 : settings.rounds)
        << table_metric_names[i];
}

TEST(table_race, without_churn_nothing_is_said_of_it) {
  const table_entry entry =
      raced(liar::lie::none, {.queries = 100, .churn = 0, .rounds = 1, .seed = 7});
  for (std::size_t i = 0; i < table_metrics; ++i) {
    const bool is_of_churn = table_metric_names[i].starts_with("churn");
    EXPECT_TRUE(!is_of_churn || entry.result.rounds_ns[i].empty()) << table_metric_names[i];
  }
}

TEST(table_race, wrong_answers_are_faults) {
  EXPECT_NE(faults_of_a(liar::lie::forgets).find("not found"), std::string::npos);
  EXPECT_NE(faults_of_a(liar::lie::changes).find("not with their value"), std::string::npos);
  EXPECT_NE(faults_of_a(liar::lie::errs).find("not there"), std::string::npos);
  EXPECT_NE(faults_of_a(liar::lie::keeps).find("could not be erased"), std::string::npos);
}

TEST(table_race, insertions_that_are_refused_are_counted_and_no_fault) {
  const table_entry entry = raced(liar::lie::refuses);
  EXPECT_EQ(faults_of(entry), std::vector<std::string>{});
  EXPECT_EQ(entry.result.filled_size, liar::room);
  EXPECT_EQ(entry.result.fill_failures, settings.rounds * (elements - liar::room));
  EXPECT_EQ(entry.result.churn_failures, 0u);
  ASSERT_TRUE(entry.result.first_failure);
  EXPECT_DOUBLE_EQ(*entry.result.first_failure, 0.9);
}

TEST(table_targets, are_ratios_within_a_round_and_say_what_is_missing) {
  const auto entry = [](table_kind kind, std::vector<double> hits) {
    table_entry made{{.name = "some", .kind = kind}, {}};
    made.result.rounds_ns[static_cast<std::size_t>(table_metric::hit)] = std::move(hits);
    made.result.filled_size = 1;
    return made;
  };
  table_contest contest;
  contest.entries.push_back(entry(table_kind::ours, {10, 100, 12}));
  contest.entries.push_back(entry(table_kind::boost, {10, 100, 10}));
  contest.entries.push_back(entry(table_kind::absl, {5, 50, 12}));
  const auto verdict = [&](std::string_view what) {
    for (const table_target& each : table_targets(contest))
      if (each.what == what) return each.verdict();
    ADD_FAILURE() << what;
    return table_verdict::not_measured;
  };
  EXPECT_EQ(verdict("hit / boost"), table_verdict::held);
  EXPECT_EQ(verdict("hit / absl"), table_verdict::missed);
  EXPECT_EQ(verdict("hit / rte_hash"), table_verdict::not_measured);
  std::vector<unsigned> numbers;
  for (const table_target& each : table_targets(contest)) {
    numbers.push_back(each.number);
    EXPECT_EQ(each.measured.has_value(), each.why_not.empty()) << each.what;
  }
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_EQ(std::unique(numbers.begin(), numbers.end()) - numbers.begin(), 6);
}

}  // namespace
}  // namespace oneprobe::cli
