#include "oneprobe/model/grouped_slots.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "oneprobe/detail/map/tagged_buckets.hpp"
#include "oneprobe/memory.hpp"
#include "oneprobe/model/poisson.hpp"
#include "support/sampled.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

TEST(grouped_slots, in_one_group_lose_what_any_slots_do) {
  for (const unsigned slots : {4u, 8u, 16u})
    for (const double arrivals : {0.1, 3.0, 12.0, 40.0}) {
      const grouped_slots bucket{.slots = slots, .group_slots = slots};
      expect_relative(refused_churning(bucket, arrivals), erlang_b(slots, arrivals), 1e-13);
      expect_relative(refused_filling(bucket, arrivals), poisson_excess(arrivals, slots) / arrivals,
                      1e-12);
    }
}

TEST(grouped_slots, refuse_by_hand_while_four_elements_are_all_there_is) {
  // A bucket that fills has a full group among its first four elements if all have one home; so few
  // come that hardly anybody finds more.
  for (const unsigned slots : {8u, 16u}) {
    const grouped_slots bucket{.slots = slots, .group_slots = 4};
    const double mean = 1e-4, groups = slots / 4;
    const double found = poisson_at_least(mean, 5) / mean;  // four others are there
    expect_relative(refused_filling(bucket, mean),
                    4 * bucket.same_tag / std::pow(groups, 3) * found, 1e-3);
  }
}

/// A bucket of the tables, as it is.
class real_bucket {
 public:
  /// Whether it took an element with this hash.
  bool take(oneprobe::key_hash hash) {
    buckets::item item{.hash = hash, .element = {}};
    return bucket_.try_put({}, item, 16) == oneprobe::put_result::placed;
  }
  unsigned load() const { return static_cast<unsigned>(std::popcount(bucket_.occupied({}))); }
  /// Erases the element in the i-th of the slots that are taken.
  void erase(unsigned i) {
    std::uint32_t taken = bucket_.occupied({});
    for (; i > 0; --i) taken &= taken - 1;
    bucket_.erase({}, static_cast<std::uint32_t>(std::countr_zero(taken)));
  }
  void clear() {
    while (load() > 0) erase(0);
  }

 private:
  struct element {
    std::uint64_t key, value;
  };
  using buckets = oneprobe::tagged_buckets<element, 16>;

  oneprobe::line_memory side_{64};
  oneprobe::line_memory slots_{16 * sizeof(element)};
  buckets bucket_{side_.data(), slots_.data(), 1};
};

/// The mean of batches is within five of its standard errors, and further from what is expected
/// without groups. Of 40 batches five are exceeded once in 80,000 times by chance; there are five
/// comparisons, hence 6e-5 in all.
void expect_refused_share(const std::vector<double>& batches, double expected, double without) {
  const auto [mean, error] = sampled::of(batches);
  std::printf("refused %.4g +- %.2g, model %.4g, without groups %.4g\n", mean, error, expected,
              without);
  EXPECT_NEAR(mean, expected, 5 * error);
  EXPECT_GT(std::abs(mean - without), 5 * error);
}

TEST(grouped_slots, churn_as_a_bucket_of_the_tables_does) {
  constexpr int batches = 40, arrivals_per_batch = 100'000;
  for (const double offered : {5.0, 6.5, 8.0}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(100 * offered));
    real_bucket bucket;
    std::vector<double> shares;
    // Arrivals see a bucket as it is over time, so that times need not be drawn.
    for (int batch = -1; batch < batches; ++batch) {
      int refused = 0;
      for (int arrivals = 0; arrivals < arrivals_per_batch;) {
        const unsigned load = bucket.load();
        if (std::generate_canonical<double, 53>(random) * (offered + load) < offered) {
          refused += bucket.take({random()}) ? 0 : 1;
          ++arrivals;
        } else {
          bucket.erase(static_cast<unsigned>(random() % load));
        }
      }
      if (batch >= 0) shares.push_back(refused / static_cast<double>(arrivals_per_batch));
    }
    bucket.clear();
    expect_refused_share(shares, refused_churning({}, offered), erlang_b(16, offered));
  }
}

TEST(grouped_slots, fill_as_a_bucket_of_the_tables_does) {
  constexpr int batches = 40, buckets_per_batch = 20'000;
  for (const double mean : {6.0, 8.0}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(100 * mean));
    std::poisson_distribution<int> came(mean);
    real_bucket bucket;
    std::vector<double> shares;
    for (int batch = 0; batch < batches; ++batch) {
      int refused = 0;
      for (int i = 0; i < buckets_per_batch; ++i) {
        for (int arrivals = came(random); arrivals > 0; --arrivals)
          refused += bucket.take({random()}) ? 0 : 1;
        bucket.clear();
      }
      shares.push_back(refused / (buckets_per_batch * mean));
    }
    expect_refused_share(shares, refused_filling({}, mean), poisson_excess(mean, 16) / mean);
  }
}

RC_GTEST_PROP(grouped_slots, refuse_a_little_more_than_others, ()) {
  const grouped_slots bucket{.slots = *rc::gen::element(8u, 12u, 16u),
                             .same_tag = *rc::gen::inRange(1, 100) / 1e4};
  const double arrivals = *rc::gen::inRange(1, 3000) / 1000.0 * bucket.slots;
  const double churning = refused_churning(bucket, arrivals);
  const double filling = refused_filling(bucket, arrivals);
  RC_ASSERT(churning > erlang_b(bucket.slots, arrivals));
  RC_ASSERT(filling > poisson_excess(arrivals, bucket.slots) / arrivals);
  // No more than if all groups but one were always full.
  const double most = bucket.same_tag * (bucket.slots - 4);
  RC_ASSERT(churning < erlang_b(bucket.slots, arrivals) + most);
  RC_ASSERT(filling < poisson_excess(arrivals, bucket.slots) / arrivals + most);
}

TEST(grouped_slots, make_tables_of_levels) {
  const std::vector<double> fractions{0.7, 0.2, 0.1};
  const double load = 0.85, per_bucket = 16 * load;
  double churning = 1, filling = 1;
  for (const double fraction : fractions) {
    churning *= refused_churning({}, per_bucket * churning / fraction);
    filling *= refused_filling({}, per_bucket * filling / fraction);
  }
  const churn_parameters churned{
      .load_factor = load, .bucket_capacity = 16, .level_fractions = fractions};
  const fluid_parameters filled{.scheme = scheme_kind::multilevel,
                                .load_factor = load,
                                .bucket_capacity = 16,
                                .level_fractions = fractions};
  expect_relative(grouped_overflow_churning(churned, {}), churning);
  expect_relative(grouped_overflow_filling(filled, {}), filling);
}

TEST(grouped_slots, of_one_group_make_the_tables_of_the_other_models) {
  const grouped_slots plain{.slots = 16, .group_slots = 16};
  for (const scheme_kind scheme :
       {scheme_kind::single, scheme_kind::sequential, scheme_kind::multilevel}) {
    const churn_parameters churned{.scheme = scheme,
                                   .load_factor = 0.9,
                                   .bucket_capacity = 16,
                                   .choices = scheme == scheme_kind::single ? 1u : 2u,
                                   .level_fractions = {0.8, 0.2}};
    expect_relative(grouped_overflow_churning(churned, plain),
                    churn_limit(churned).overflow_fraction);
    EXPECT_GT(grouped_overflow_churning(churned, {}), churn_limit(churned).overflow_fraction);
    if (scheme == scheme_kind::sequential) continue;
    const fluid_parameters filled{.scheme = scheme,
                                  .load_factor = 0.9,
                                  .bucket_capacity = 16,
                                  .choices = churned.choices,
                                  .level_fractions = {0.8, 0.2}};
    expect_relative(grouped_overflow_filling(filled, plain), fluid_limit(filled).overflow_fraction);
  }
}

TEST(grouped_slots, refuse_nonsense_by_name) {
  expect_refused([] { refused_churning({.slots = 17}, 1); }, "slots");
  expect_refused([] { refused_churning({.slots = 16, .group_slots = 5}, 1); }, "group slots");
  expect_refused([] { refused_filling({.same_tag = 0.5}, 1); }, "same tag");
  expect_refused([] { refused_filling({}, -1); }, "arrivals");
  expect_refused([] { grouped_overflow_churning({.bucket_capacity = 8}, {}); }, "bucket capacity");
  expect_refused(
      [] {
        grouped_overflow_churning(
            {.scheme = scheme_kind::d_left, .bucket_capacity = 16, .choices = 2}, {});
      },
      "scheme");
  expect_refused(
      [] {
        grouped_overflow_filling(
            {.scheme = scheme_kind::sequential, .bucket_capacity = 16, .choices = 2}, {});
      },
      "scheme");
}

}  // namespace
