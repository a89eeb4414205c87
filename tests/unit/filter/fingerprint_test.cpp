// What only the fingerprint filter promises: same set, same bytes; exact unions; duplicates that
// cost nothing; buckets that saturate when nobody can take what they pass on.
#include "oneprobe/filter/fingerprint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/simd/isa.hpp"
#include "oneprobe/filter/file.hpp"
#include "oneprobe/memory.hpp"

namespace {

using namespace oneprobe;

/// As many elements as the first level has slots, and later levels so small that a tenth more than
/// planned overflow.
filter_plan small_plan(const fingerprint_bucket_shape& fingerprint_bucket = {27, 16},
                       std::uint64_t elements = 27 * 200) {
  filter_plan plan;
  plan.kind = filter_kind::fingerprint;
  plan.elements = elements;
  plan.fingerprint_bucket = fingerprint_bucket;
  plan.levels = plan.choices = 3;
  const std::uint64_t buckets = elements / fingerprint_bucket.bucket_capacity;
  plan.level_buckets = {buckets, buckets / 14 + 1, buckets / 100 + 1};
  plan.overflow_slots = elements / 6 + 16;
  plan.overflow_reserve = elements / 8;
  return plan;
}

std::vector<std::uint64_t> keys_from(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = begin; i < end; ++i) keys.push_back(mix_bits(i + 1));
  return keys;
}
bool same_bytes(const fingerprint_filter& a, const fingerprint_filter& b) {
  return std::ranges::equal(a.memory(), b.memory());
}
/// The whole file, counts and all.
std::vector<std::byte> saved(const fingerprint_filter& filter) {
  std::vector<std::byte> bytes;
  save_to(filter, bytes);
  return bytes;
}
/// Taken slots of the buckets, and the list.
std::uint64_t fingerprints_held(const fingerprint_filter& filter) {
  const filter_plan& plan = filter.plan();
  const auto slots = static_cast<double>(plan.blocks() * plan.fingerprint_bucket.bucket_capacity);
  return static_cast<std::uint64_t>(std::llround(filter.stats().fill_fraction * slots)) +
         filter.counts().overflow;
}
fingerprint_filter filled(const filter_plan& plan, const std::vector<std::uint64_t>& keys) {
  fingerprint_filter filter(plan, seeded_hash(7));
  filter.bulk_insert(keys);
  return filter;
}

const std::array every_width{fingerprint_bucket_shape{58, 6},  fingerprint_bucket_shape{47, 8},
                             fingerprint_bucket_shape{40, 10}, fingerprint_bucket_shape{34, 12},
                             fingerprint_bucket_shape{27, 16}, fingerprint_bucket_shape{23, 20},
                             fingerprint_bucket_shape{13, 32}};

TEST(fingerprint_filter, has_the_same_bytes_for_the_same_set_in_any_order) {
  for (const fingerprint_bucket_shape& fingerprint_bucket : every_width)
    // At the planned number, and with so many more that the overflow list is in use.
    for (const double fill : {0.5, 1.0, 1.1}) {
      const filter_plan plan =
          small_plan(fingerprint_bucket, 200 * fingerprint_bucket.bucket_capacity);
      auto keys =
          keys_from(0, static_cast<std::uint64_t>(fill * static_cast<double>(plan.elements)));
      const fingerprint_filter expected = filled(plan, keys);
      ASSERT_NE(expected.condition(), filter_condition::degraded);
      if (fill > 1) {
        EXPECT_GT(expected.counts().overflow, 0u) << fingerprint_bucket.remainder_bits;
      }
      std::mt19937_64 random(11);
      for (int round = 0; round < 5; ++round) {
        std::ranges::shuffle(keys, random);
        fingerprint_filter filter(plan, seeded_hash(7));
        if (round % 2 == 0)
          filter.bulk_insert(keys);
        else
          for (const std::uint64_t key : keys) filter.insert(key);
        EXPECT_TRUE(same_bytes(filter, expected))
            << fingerprint_bucket.remainder_bits << " " << fill;
        EXPECT_EQ(filter.counts().overflow, expected.counts().overflow);
      }
    }
}

TEST(fingerprint_filter, has_the_same_file_for_the_same_set_in_any_order_and_united) {
  // So few fingerprints that many elements which are passed on come to an equal one: inserts that
  // answered `added` are then more than what is held, and how many more depends on the order.
  for (const fingerprint_bucket_shape& fingerprint_bucket :
       {fingerprint_bucket_shape{84, 4}, fingerprint_bucket_shape{58, 6},
        fingerprint_bucket_shape{27, 16}})
    for (const double fill : {0.5, 1.0, 1.1}) {
      filter_plan plan = small_plan(fingerprint_bucket, 400 * fingerprint_bucket.bucket_capacity);
      auto keys =
          keys_from(0, static_cast<std::uint64_t>(fill * static_cast<double>(plan.elements)));
      const fingerprint_filter expected = filled(plan, keys);
      ASSERT_NE(expected.condition(), filter_condition::degraded);
      EXPECT_EQ(expected.counts().size, fingerprints_held(expected));
      std::mt19937_64 random(17);
      for (int round = 0; round < 5; ++round) {
        std::ranges::shuffle(keys, random);
        EXPECT_EQ(saved(filled(plan, keys)), saved(expected))
            << fingerprint_bucket.remainder_bits << fill;
        fingerprint_filter one(plan, seeded_hash(7)), other(plan, seeded_hash(7));
        // With a third in common.
        const std::span all(keys);
        for (const std::uint64_t key : all.first(keys.size() * 2 / 3)) one.insert(key);
        other.bulk_insert(all.subspan(keys.size() / 3));
        ASSERT_EQ(one.merge(other), merge_outcome::merged);
        EXPECT_EQ(saved(one), saved(expected)) << fingerprint_bucket.remainder_bits << fill;
      }
    }
}

TEST(fingerprint_filter, does_not_notice_how_often_a_key_comes) {
  const filter_plan plan = small_plan();
  const auto keys = keys_from(0, plan.elements * 11 / 10);
  const fingerprint_filter once = filled(plan, keys);
  fingerprint_filter often = once;
  for (int i = 0; i < 100'000; ++i)
    ASSERT_EQ(often.insert(keys[5]), insert_outcome::possibly_present);
  // All of them again, in another order: those in later levels and in the list as well.
  for (auto key = keys.rbegin(); key != keys.rend(); ++key)
    ASSERT_EQ(often.insert(*key), insert_outcome::possibly_present);
  EXPECT_EQ(often.bulk_insert(keys), 0u);
  EXPECT_TRUE(same_bytes(often, once));
  EXPECT_EQ(often.counts(), once.counts());
  EXPECT_GT(once.counts().overflow, 0u);
}

TEST(fingerprint_filter, united_is_the_filter_of_all_elements) {
  for (const fingerprint_bucket_shape& fingerprint_bucket : every_width) {
    const filter_plan plan =
        small_plan(fingerprint_bucket, 200 * fingerprint_bucket.bucket_capacity);
    const std::uint64_t n = plan.elements * 11 / 10;
    // With some in common, with all, and with none.
    for (const std::uint64_t common : {n / 3, n, std::uint64_t{0}}) {
      fingerprint_filter one = filled(plan, keys_from(0, common + (n - common) / 2));
      const std::uint64_t second = common == n ? 0 : (n - common) / 2;
      const fingerprint_filter other = filled(plan, keys_from(second, n));
      ASSERT_EQ(one.merge(other), merge_outcome::merged);
      const fingerprint_filter all = filled(plan, keys_from(0, n));
      ASSERT_NE(all.condition(), filter_condition::degraded);
      EXPECT_GT(all.counts().overflow, 0u);
      EXPECT_TRUE(same_bytes(one, all)) << fingerprint_bucket.remainder_bits << " " << common;
      EXPECT_EQ(one.counts().overflow, all.counts().overflow);
    }
  }
}

TEST(fingerprint_filter, saturates_when_the_list_is_full_and_loses_nothing) {
  for (const fingerprint_bucket_shape& fingerprint_bucket : every_width) {
    const filter_plan plan =
        small_plan(fingerprint_bucket, 200 * fingerprint_bucket.bucket_capacity);
    const auto keys = keys_from(0, plan.elements * 2);
    fingerprint_filter filter(plan, seeded_hash(7));
    std::uint64_t before = 0;
    for (const std::uint64_t key : keys) {
      const bool was_there = filter.may_contain(key);
      ASSERT_EQ(filter.insert(key) == insert_outcome::possibly_present, was_there);
      if (filter.counts().forced > before) {
        EXPECT_EQ(filter.counts().overflow, plan.overflow_reserve);
        before = filter.counts().forced;
      }
    }
    EXPECT_EQ(filter.condition(), filter_condition::degraded);
    EXPECT_GT(filter.counts().forced, 0u);
    EXPECT_LE(filter.counts().forced, plan.level_buckets[2]);  // a bucket is saturated once
    std::uint64_t lost = 0, others = 0;
    constexpr std::uint64_t asked = 20'000;
    for (const std::uint64_t key : keys)
      if (!filter.may_contain(key)) ++lost;
    for (const std::uint64_t key : keys_from(1'000'000, 1'000'000 + asked))
      if (filter.may_contain(key)) ++others;
    EXPECT_EQ(lost, 0u);
    // What it states is what it does: four standard deviations of a binomial number.
    const double stated = filter.stats().current_fpr;
    EXPECT_GT(stated, 0.01);
    EXPECT_NEAR(static_cast<double>(others) / asked, stated,
                4 * std::sqrt(stated * (1 - stated) / asked))
        << fingerprint_bucket.remainder_bits;
    // Saturated buckets survive a file, a union and the way back.
    std::vector<std::byte> bytes;
    save_to(filter, bytes);
    const auto again = load_from<fingerprint_filter>(bytes);
    ASSERT_TRUE(again) << again.failure().sentence;
    fingerprint_filter merged = filled(plan, keys_from(5'000'000, 5'000'100));
    ASSERT_EQ(merged.merge(*again), merge_outcome::merged);
    for (const std::uint64_t key : keys) ASSERT_TRUE(merged.may_contain(key));
    EXPECT_EQ(merged.condition(), filter_condition::degraded);
    // Nor does a count that is at its end begin again.
    fingerprint_filter counted(plan, line_memory(plan.memory().total()), {.forced = UINT64_MAX},
                               seeded_hash(7));
    counted.bulk_insert(keys);
    EXPECT_EQ(counted.counts().forced, UINT64_MAX);
    merged.clear();
    EXPECT_EQ(merged.condition(), filter_condition::as_planned);
    EXPECT_FALSE(merged.may_contain(keys[0]));
  }
}

TEST(fingerprint_filter, believes_a_list_that_a_union_overfilled) {
  const filter_plan plan = small_plan();
  const std::uint64_t n = plan.elements * 115 / 100;
  fingerprint_filter one = filled(plan, keys_from(0, n));
  const fingerprint_filter other = filled(plan, keys_from(n, 2 * n));
  ASSERT_GT(one.counts().overflow, plan.overflow_reserve / 4);
  ASSERT_EQ(one.merge(other), merge_outcome::merged);
  EXPECT_EQ(one.condition(), filter_condition::degraded);
  for (const std::uint64_t key : keys_from(0, 2 * n)) ASSERT_TRUE(one.may_contain(key));
  for (const std::uint64_t key : keys_from(2 * n, 3 * n)) {
    one.insert(key);
    ASSERT_TRUE(one.may_contain(key));
  }
  EXPECT_LE(one.stats().current_fpr, 1.0);
}

/// Throws for one key.
struct stumbling_hash {
  static constexpr std::uint64_t stone = 42;
  seeded_hash hash{7};

  key_hash operator()(std::uint64_t key) const {
    if (key == stone) throw std::runtime_error("a stone");
    return hash(key);
  }
};

TEST(fingerprint_filter, keeps_what_it_had_when_a_hash_throws_amid_a_bulk_insertion) {
  const filter_plan plan = small_plan();
  basic_fingerprint_filter<stumbling_hash> filter(plan, stumbling_hash());
  const auto before = keys_from(0, plan.elements * 9 / 10);
  filter.bulk_insert(before);
  for (std::uint64_t round = 0; round < 20; ++round) {
    // Newcomers take the places of others, who are on their way when it stumbles.
    auto coming = keys_from(plan.elements + 40 * round, plan.elements + 40 * round + 40);
    coming.push_back(stumbling_hash::stone);
    coming.resize(80, 1);
    EXPECT_THROW(filter.bulk_insert(coming), std::runtime_error);
  }
  for (const std::uint64_t key : before) ASSERT_TRUE(filter.may_contain(key));
}

TEST(fingerprint_filter, loses_nothing_to_a_view_of_bytes_that_no_filter_made) {
  const filter_plan plan = small_plan();
  const auto keys = keys_from(0, plan.elements);
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    fingerprint_filter filter = filled(plan, keys_from(0, plan.elements / 2));
    line_memory forged(plan.memory().total());
    // From bytes that are all set to hardly any: full buckets, and marked ones with little in them.
    const std::uint64_t rarity = std::uint64_t{1} << round % 10;
    std::ranges::generate(std::span(forged.data(), forged.size()), [&] {
      return random() % rarity == 0 ? static_cast<std::byte>(random()) : std::byte{0};
    });
    const filter_reader<fingerprint_engine, seeded_hash> view(plan, forged.bytes(), {},
                                                              seeded_hash(7));
    ASSERT_EQ(filter.merge(view), merge_outcome::merged);
    filter.bulk_insert(std::span(keys).subspan(plan.elements / 2));
    for (const std::uint64_t key : keys) ASSERT_TRUE(filter.may_contain(key)) << round;
  }
}

TEST(fingerprint_filter, counts_the_saturated_buckets_that_a_view_did_not) {
  const filter_plan plan = small_plan();
  const fingerprint_filter saturated = filled(plan, keys_from(0, 2 * plan.elements));
  ASSERT_GT(saturated.counts().forced, 0u);
  const filter_reader<fingerprint_engine, seeded_hash> view(plan, saturated.memory(), {},
                                                            seeded_hash(7));
  fingerprint_filter filter = filled(plan, keys_from(0, plan.elements / 2));
  ASSERT_EQ(filter.merge(view), merge_outcome::merged);
  EXPECT_EQ(filter.condition(), filter_condition::degraded);
  std::vector<std::byte> bytes;
  save_to(filter, bytes);
  const auto again = load_from<fingerprint_filter>(bytes);
  ASSERT_TRUE(again) << again.failure().sentence;
}

TEST(fingerprint_filter, touches_no_more_lines_than_levels_and_list) {
  const filter_plan plan = small_plan();
  const fingerprint_filter filter = filled(plan, keys_from(0, plan.elements * 11 / 10));
  std::array<std::uint64_t, 4> by_level{};
  for (const std::uint64_t key : keys_from(0, plan.elements * 11 / 10)) {
    const lookup_path path = filter.explain(key);
    ASSERT_TRUE(path.may_contain());
    ASSERT_LE(path.accesses, 4u);
    const bool listed = path.stopped == lookup_path::stop::overflow;
    ASSERT_EQ(path.accesses, path.level + 1 + (listed ? 1 : 0));
    ASSERT_GE(path.lines, path.accesses);
    ++by_level[path.level + (listed ? 1 : 0)];
  }
  // Everything is somewhere, most of it in the first level.
  EXPECT_GT(by_level[0], by_level[1]);
  EXPECT_GT(by_level[1], by_level[2]);
  EXPECT_GT(by_level[3], 0u);
}

/// Buckets that remember where elements were put, or tried to be.
struct watched_buckets : fingerprint_buckets<> {
  using fingerprint_buckets<>::fingerprint_buckets;

  put_result try_put(position at, item& element, std::uint32_t limit) noexcept {
    visited.push_back(at);
    return fingerprint_buckets<>::try_put(at, element, limit);
  }

  std::vector<position> visited{};
};

TEST(fingerprint_filter, visits_a_bucket_of_each_level_at_most_when_it_inserts) {
  // The walk of an insertion, every bucket it visits written down; up to twice the planned
  // elements, where the list is full and buckets are saturated.
  const filter_plan plan = small_plan();
  const fingerprint_bucket_frame frame(plan.fingerprint_bucket);
  const fingerprint_levels scheme(std::span(plan.level_buckets).first(plan.levels),
                                  plan.fingerprint_bucket.fingerprints());
  line_memory memory(plan.memory().total());
  watched_buckets buckets(memory.data(), frame);
  std::uint64_t entries = 0, saturated = 0;
  fingerprint_list<plain_words, list_order::ascending> list(
      memory.data() + plan.memory().cells,
      {.slots = plan.overflow_slots, .reserve = plan.overflow_reserve}, entries);
  placing walk(scheme, buckets, admission(plan.fingerprint_bucket.bucket_capacity));

  fingerprint_filter filter(plan, seeded_hash(7));
  std::array<std::uint64_t, 4> walks_of{};
  for (const std::uint64_t key : keys_from(0, 2 * plan.elements)) {
    buckets.visited.clear();
    const fingerprint_probe element = scheme.start(seeded_hash(7)(key));
    const auto ended = walk_to_end(walk, walk.start(element, {.fingerprint = element.fingerprint}));
    if (ended.end == walk_end::overflowed &&
        list.insert(overflow_bits(scheme.left_of(ended.probe, ended.at))) == list_outcome::full) {
      buckets.saturate(ended.at.bucket);
      ++saturated;
    }
    ASSERT_EQ(buckets.visited.size(), ended.accesses);
    ASSERT_LE(buckets.visited.size(), plan.choices);
    for (std::uint32_t level = 0; level < buckets.visited.size(); ++level)
      ASSERT_EQ(buckets.visited[level].level, level);
    ++walks_of[buckets.visited.size()];
    filter.insert(key);
  }
  EXPECT_GT(walks_of[1], 0u);
  EXPECT_GT(walks_of[2], 0u);
  EXPECT_GT(walks_of[3], 0u);
  EXPECT_GT(saturated, 0u);
  // It is the filter's own walk.
  EXPECT_TRUE(std::ranges::equal(memory.bytes(), filter.memory()));
  EXPECT_EQ(filter.counts().forced, saturated);
}

TEST(fingerprint_filter, changes_a_line_of_each_level_at_most_when_it_inserts) {
  const filter_plan plan = small_plan();
  fingerprint_filter filter(plan, seeded_hash(7));
  std::vector<std::byte> before(filter.memory().begin(), filter.memory().end());
  std::uint64_t most = 0;
  for (const std::uint64_t key : keys_from(0, 2 * plan.elements)) {
    filter.insert(key);
    std::uint64_t bucket = 0;
    std::uint64_t changed = 0;
    for (std::uint32_t level = 0; level < plan.levels; ++level) {
      std::uint64_t here = 0;
      for (const std::uint64_t end = bucket + plan.level_buckets[level]; bucket < end; ++bucket) {
        const auto line = filter.memory().subspan(bucket * 64, 64);
        std::byte* const old = before.data() + bucket * 64;
        if (std::ranges::equal(line, std::span(old, 64))) continue;
        std::ranges::copy(line, old);
        ++here;
      }
      ASSERT_LE(here, 1u) << level;
      changed += here;
    }
    most = std::max(most, changed);
  }
  EXPECT_EQ(most, plan.levels);  // some go through all of them
  EXPECT_EQ(filter.condition(), filter_condition::degraded);
}

TEST(fingerprint_filter, states_the_elements_it_has_room_for) {
  fingerprint_filter filter(100'000, 1e-3, seeded_hash(3));
  EXPECT_EQ(filter.stats().fill_fraction, 0);
  const auto keys = keys_from(0, 100'000);
  filter.bulk_insert(keys);
  EXPECT_EQ(filter.condition(), filter_condition::as_planned);
  EXPECT_GT(filter.stats().fill_fraction, 0.8);
  EXPECT_LT(filter.stats().fill_fraction, 1.0);
  EXPECT_NEAR(filter.stats().current_fpr / 1e-3, 1, 0.1);
  EXPECT_LT(filter.stats().bits_per_element, 14);
}

TEST(fingerprint_filter, gives_the_same_bytes_and_answers_at_every_level_of_instructions) {
  for (const fingerprint_bucket_shape& fingerprint_bucket : every_width) {
    const filter_plan plan =
        small_plan(fingerprint_bucket, 200 * fingerprint_bucket.bucket_capacity);
    const auto keys = keys_from(0, plan.elements * 3 / 2), others = keys_from(0, plan.elements * 4);
    limit_simd(isa::plain);
    const fingerprint_filter plain = filled(plan, keys);
    std::vector<bool> expected;
    for (const std::uint64_t key : others) expected.push_back(plain.may_contain(key));
    for (const isa level : {isa::avx2, isa::avx512}) {
      limit_simd(level);
      fingerprint_filter one_by_one(plan, seeded_hash(7));
      for (const std::uint64_t key : keys) one_by_one.insert(key);
      const fingerprint_filter bulk = filled(plan, keys);
      EXPECT_TRUE(same_bytes(bulk, plain))
          << fingerprint_bucket.remainder_bits << " " << name_of(level);
      EXPECT_TRUE(same_bytes(one_by_one, plain))
          << fingerprint_bucket.remainder_bits << " " << name_of(level);
      EXPECT_EQ(bulk.counts(), plain.counts());
      const auto answers = std::make_unique<bool[]>(others.size());
      bulk.bulk_may_contain(others, std::span(answers.get(), others.size()));
      for (std::size_t i = 0; i < others.size(); ++i) {
        ASSERT_EQ(answers[i], expected[i])
            << fingerprint_bucket.remainder_bits << " " << name_of(level);
        ASSERT_EQ(one_by_one.may_contain(others[i]), expected[i]);
      }
    }
    limit_simd(most_simd);
  }
}

TEST(fingerprint_filter, refuses_plans_that_no_bucket_follows) {
  const auto refusal = [](const filter_plan& plan) { return find_fault(plan).value_or(""); };
  filter_plan plan = small_plan();
  EXPECT_EQ(refusal(plan), "");
  plan.fingerprint_bucket = {31, 16};
  EXPECT_EQ(refusal(plan).substr(0, 23), "bucket_capacity must be");
  plan.fingerprint_bucket = {27, 41};
  EXPECT_EQ(refusal(plan), "remainder_bits must be 4 to 40; found 41");
  plan = small_plan();
  plan.block_bits = 256;
  EXPECT_EQ(refusal(plan), "block_bits must be 512 in a fingerprint filter; found 256");
  plan = small_plan();
  plan.choices = 2;
  EXPECT_EQ(refusal(plan), "choices must be one per level; found 2");
  plan = small_plan();
  plan.scheme = scheme_kind::sequential;
  EXPECT_EQ(refusal(plan).substr(0, 14), "scheme must be");
  plan = small_plan();
  plan.overflow_reserve = plan.overflow_slots;
  EXPECT_EQ(refusal(plan).substr(0, 16), "overflow_reserve");
}

static_assert(mergeable_engine<fingerprint_engine> && !erasing_engine<fingerprint_engine>);

}  // namespace
