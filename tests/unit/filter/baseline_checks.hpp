// What the tests of the baseline filters share: keys, memory side by side, and the rule for errors
// that are measured.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash.hpp"

namespace oneprobe::testing {

inline constexpr std::uint64_t filter_seeds[] = {1, 2, 3, 5, 8};

/// Keys that tests insert, and keys that they never do.
inline constexpr std::uint64_t absent_from = std::uint64_t{1} << 40;

inline std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

template <class Filter>
void expect_same_bytes(const Filter& a, const Filter& b) {
  EXPECT_TRUE(std::ranges::equal(a.memory(), b.memory()));
  EXPECT_EQ(a.counts(), b.counts());
}

template <class Filter>
Filter filled(const filter_plan& plan, std::uint64_t seed, std::size_t elements) {
  Filter filter(plan, seeded_hash(seed));
  filter.bulk_insert(keys_from(0, elements));
  return filter;
}

template <class Filter>
std::vector<char> ask_all(const Filter& filter, const std::vector<std::uint64_t>& keys,
                          std::uint64_t& contained) {
  const std::unique_ptr<bool[]> answers(new bool[keys.size()]);
  contained = filter.bulk_may_contain(keys, std::span<bool>(answers.get(), keys.size()));
  return std::vector<char>(answers.get(), answers.get() + keys.size());
}

/// One after the other and all at once: the same bytes, outcomes and answers; and no element lost.
template <class Filter>
void expect_bulk_calls_do_what_single_calls_do(const filter_plan& plan) {
  // Fewer than the ring is wide, about as many, and more.
  for (const std::size_t elements : {std::size_t{0}, std::size_t{1}, std::size_t{31},
                                     std::size_t{32}, std::size_t{33}, std::size_t{5000}}) {
    const std::vector<std::uint64_t> keys = keys_from(0, elements);
    Filter single(plan, seeded_hash(7));
    Filter bulk(plan, seeded_hash(7));
    std::uint64_t added = 0;
    for (const std::uint64_t key : keys) {
      const bool before = single.may_contain(key);
      const bool said = single.insert(key) == insert_outcome::possibly_present;
      ASSERT_EQ(said, before) << key;
      added += said ? 0 : 1;
    }
    EXPECT_EQ(bulk.bulk_insert(keys), added);
    EXPECT_EQ(bulk.counts().size, added);
    expect_same_bytes(single, bulk);

    std::vector<std::uint64_t> asked = keys;
    for (std::uint64_t i = 0; i < elements; ++i) asked.push_back(absent_from + i);
    std::uint64_t contained = 0;
    const std::vector<char> answers = ask_all(bulk, asked, contained);
    std::uint64_t yes = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const bool answer = single.may_contain(asked[i]);
      ASSERT_EQ(answers[i] != 0, answer) << asked[i];
      ASSERT_EQ(single.explain(asked[i]).may_contain(), answer);
      ASSERT_TRUE(answer || i >= keys.size()) << asked[i];
      yes += answer ? 1 : 0;
    }
    EXPECT_EQ(contained, yes);
  }
}

/// The false positives of `queries` absent keys are binomial around current_fpr(), which is exact
/// for the bits as they are. At 4.5 sigma a comparison raises a false alarm with probability 7e-6;
/// a file makes at most 100.
template <class Filter>
void expect_measured_error_as_stated(const Filter& filter, std::size_t queries) {
  constexpr double tolerance = 4.5;
  std::uint64_t found = 0;
  ask_all(filter, keys_from(absent_from, queries), found);
  const double stated = filter.stats().current_fpr;
  const double sigma = std::sqrt(stated * (1 - stated) / static_cast<double>(queries));
  EXPECT_NEAR(static_cast<double>(found) / static_cast<double>(queries), stated, tolerance * sigma);
}

template <class Filter>
void expect_merge_unites(const filter_plan& plan) {
  const std::vector<std::uint64_t> first = keys_from(0, 2000);
  const std::vector<std::uint64_t> second = keys_from(10'000, 2000);
  Filter a(plan, seeded_hash(3));
  Filter b(plan, seeded_hash(3));
  Filter both(plan, seeded_hash(3));
  a.bulk_insert(first);
  b.bulk_insert(second);
  both.bulk_insert(first);
  both.bulk_insert(second);
  const std::uint64_t sizes = a.counts().size + b.counts().size;
  EXPECT_EQ(a.merge(b), merge_outcome::merged);
  EXPECT_TRUE(std::ranges::equal(a.memory(), both.memory()));
  EXPECT_EQ(a.counts().size, sizes);

  const Filter before = a;
  EXPECT_EQ(a.merge(Filter(plan, seeded_hash(4))), merge_outcome::different_seed);
  filter_plan other = plan;
  other.bits_set = plan.bits_set == 8 ? 16 : plan.bits_set * 2;
  other.cells = plan.cells * 2;
  EXPECT_EQ(a.merge(Filter(other, seeded_hash(3))), merge_outcome::different_plan);
  expect_same_bytes(a, before);
}

template <class Filter>
void expect_value_semantics(const filter_plan& plan) {
  const std::vector<std::uint64_t> keys = keys_from(0, 1000);
  Filter filter(plan, seeded_hash(1));
  filter.bulk_insert(keys);
  const Filter copy = filter;
  filter.clear();
  EXPECT_EQ(filter.counts().size, 0u);
  EXPECT_EQ(filter.stats().fill_fraction, 0);
  EXPECT_TRUE(
      std::ranges::none_of(keys, [&](std::uint64_t key) { return filter.may_contain(key); }));
  EXPECT_TRUE(std::ranges::all_of(keys, [&](std::uint64_t key) { return copy.may_contain(key); }));
  Filter moved(plan, seeded_hash(1));
  moved = copy;
  swap(moved, filter);
  expect_same_bytes(filter, copy);
  EXPECT_EQ(moved.counts().size, 0u);
}

/// A filter in memory of the caller, and a reader over the same bytes.
template <class Filter>
void expect_to_work_in_lent_memory(const filter_plan& plan) {
  line_memory memory(plan.memory().total());
  const Filter own = filled<Filter>(plan, 2, 1000);
  Filter lent(plan, memory.bytes(), seeded_hash(2));
  lent.bulk_insert(keys_from(0, 1000));
  EXPECT_EQ(lent.memory().data(), memory.data());
  expect_same_bytes(own, lent);
  const filter_reader<typename Filter::engine_type, seeded_hash> view(
      plan, std::as_const(memory).bytes(), lent.counts(), seeded_hash(2));
  for (std::uint64_t key = 0; key < 2000; ++key)
    ASSERT_EQ(view.may_contain(key), own.may_contain(key));
}

}  // namespace oneprobe::testing
