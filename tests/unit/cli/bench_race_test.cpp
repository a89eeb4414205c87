// The benchmark of filters notices wrong answers, and its ratios are those of neighbouring times.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "bench/contest.hpp"
#include "bench/race.hpp"

namespace oneprobe::cli {
namespace {

/// A set that answers as a filter would, and lies as it is told.
class liar final : public contender {
 public:
  enum class lie { none, forgets, errs, bulk_differs };
  static constexpr double claimed_fpr = 0.1;

  explicit liar(lie how) : how_(how) { facts_.name = "liar"; }

  const contender_facts& facts() const override { return facts_; }
  std::span<const std::byte> memory() const override { return {}; }
  void clear() override {
    keys_.clear();
    ++clears;
  }
  void insert_one_by_one(key_span keys) override {
    keys_.insert(keys.begin(), keys.end());
    one_by_one += keys.size();
  }
  void insert_bulk(key_span keys) override {
    keys_.insert(keys.begin(), keys.end());
    bulk += keys.size();
  }
  void insert_watched(key_span keys, latency_watch& watch) override {
    insert_each_watched(*this, keys, watch);
    watched += keys.size();
  }
  void insert(std::uint64_t key) { keys_.insert(key); }
  std::uint64_t count_one_by_one(key_span keys) const override {
    std::uint64_t yes = 0;
    for (const std::uint64_t key : keys) yes += may_contain(key) ? 1u : 0u;
    return yes;
  }
  std::uint64_t count_bulk(key_span keys) const override {
    return count_one_by_one(keys) + (how_ == lie::bulk_differs ? 1u : 0u);
  }
  counted_costs count_costs(key_span inserted, key_span absent) const override {
    for (const std::uint64_t key : inserted) EXPECT_TRUE(keys_.contains(key));
    for (const std::uint64_t key : absent) EXPECT_FALSE(keys_.contains(key));
    return {};
  }
  std::optional<double> current_fpr() const override { return claimed_fpr; }

  std::uint64_t clears = 0;
  std::uint64_t one_by_one = 0;
  std::uint64_t bulk = 0;
  std::uint64_t watched = 0;

 private:
  bool may_contain(std::uint64_t key) const {
    if (keys_.contains(key)) return how_ != lie::forgets || key % 1000 != 0;
    // The keys are random: this is an error rate.
    return static_cast<double>(key % 1000) < (how_ == lie::errs ? 130 : 100);
  }

  contender_facts facts_{};
  lie how_;
  std::set<std::uint64_t> keys_{};
};

constexpr race_settings settings{.elements = 20'000, .queries = 8'000, .rounds = 3, .seed = 7};

std::vector<std::string> faults_of_a(liar::lie how) {
  contender_list list;
  list.push_back(std::make_unique<liar>(how));
  auto results = race(list, settings, [](double, std::string_view) {});
  return faults_of({list.front()->facts(), std::move(results.front())});
}

TEST(bench_race, an_honest_filter_has_no_fault) {
  EXPECT_EQ(faults_of_a(liar::lie::none), std::vector<std::string>{});
}

TEST(bench_race, false_negatives_are_a_fault) {
  const auto faults = faults_of_a(liar::lie::forgets);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_NE(faults.front().find("false negatives"), std::string::npos) << faults.front();
}

TEST(bench_race, more_false_positives_than_chance_explains_are_a_fault) {
  const auto faults = faults_of_a(liar::lie::errs);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_NE(faults.front().find("false positives"), std::string::npos) << faults.front();
}

TEST(bench_race, bulk_answers_that_differ_are_a_fault) {
  const auto faults = faults_of_a(liar::lie::bulk_differs);
  ASSERT_FALSE(faults.empty());
  EXPECT_NE(faults.back().find("differ"), std::string::npos) << faults.back();
}

TEST(bench_race, every_round_fills_anew_half_one_by_one_and_half_in_bulk) {
  contender_list list;
  list.push_back(std::make_unique<liar>(liar::lie::none));
  const auto results = race(list, settings, [](double done, std::string_view) {
    EXPECT_GE(done, 0);
    EXPECT_LT(done, 1);
  });
  const auto& filled = dynamic_cast<const liar&>(*list.front());
  EXPECT_EQ(filled.clears, settings.rounds + 1);  // once before, for the pages
  EXPECT_EQ(filled.one_by_one + filled.bulk + filled.watched, settings.rounds * settings.elements);
  EXPECT_EQ(filled.one_by_one, filled.bulk);
  for (const operation what : all_operations)
    EXPECT_EQ(results.front().ns(what).size(), settings.rounds);
  EXPECT_EQ(results.front().negatives_asked, settings.rounds * settings.queries);
}

TEST(bench_race, the_last_two_percent_of_every_filling_are_watched_one_by_one) {
  contender_list list;
  list.push_back(std::make_unique<liar>(liar::lie::none));
  const auto results = race(list, settings, [](double, std::string_view) {});
  const auto& filled = dynamic_cast<const liar&>(*list.front());
  EXPECT_EQ(filled.watched, settings.rounds * settings.elements / 50);
  ASSERT_EQ(results.front().latencies.size(), settings.rounds);
  for (const insert_latencies& round : results.front().latencies) {
    EXPECT_LT(0, round.p50_ns);  // an insertion into a tree
    EXPECT_LE(round.p50_ns, round.p99_ns);
    EXPECT_LE(round.p99_ns, round.p999_ns);
    EXPECT_LE(round.p999_ns, round.p9999_ns);
    EXPECT_LE(round.p9999_ns, round.max_ns);
    EXPECT_LE(round.max_running_ns, round.max_ns);
  }
}

TEST(bench_race, latencies_of_rounds_are_the_median_percentile_and_the_worst) {
  const auto round = [](double ns) {
    return insert_latencies{.p50_ns = ns,
                            .p99_ns = 2 * ns,
                            .p999_ns = 3 * ns,
                            .p9999_ns = 4 * ns,
                            .max_ns = 5 * ns,
                            .max_running_ns = 4.5 * ns};
  };
  const auto all = summary_of({round(10), round(30), round(20)});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->p50_ns, 20);
  EXPECT_EQ(all->p99_ns, 40);
  EXPECT_EQ(all->p999_ns, 60);
  EXPECT_EQ(all->p9999_ns, 80);
  EXPECT_EQ(all->max_ns, 150);
  EXPECT_EQ(all->max_running_ns, 135);
  EXPECT_FALSE(summary_of({}));
}

TEST(bench_race, the_median_is_the_middle) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({8, 1, 2, 4}), 3);
}

TEST(bench_race, ratios_are_taken_round_by_round) {
  // Both slow down in the second round: the ratio does not.
  const auto found = ratio_of({2, 20, 3}, {1, 10, 1});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->median, 2);
  EXPECT_EQ(found->least, 2);
  EXPECT_EQ(found->most, 3);
  EXPECT_FALSE(ratio_of({}, {}));
  EXPECT_FALSE(ratio_of({1, 2}, {1}));
}

}  // namespace
}  // namespace oneprobe::cli
