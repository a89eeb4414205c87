#include "oneprobe/filter/growing.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "unit/filter/plain_engine.hpp"

namespace oneprobe {
namespace {

using testing::plain_engine;
using testing::plain_filter;
using growing_plain = growing_filter<plain_filter>;

constexpr std::uint64_t seeds[] = {1, 2, 3, 5, 8};

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

template <class Growing>
void insert_each(Growing& filter, const std::vector<std::uint64_t>& keys) {
  for (const std::uint64_t key : keys) filter.insert(key);
}

template <class Growing>
void expect_same(const Growing& a, const Growing& b) {
  ASSERT_EQ(a.parts().size(), b.parts().size());
  EXPECT_EQ(a.growth(), b.growth());
  for (std::size_t i = 0; i < a.parts().size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(a.parts()[i].memory(), b.parts()[i].memory())) << "part " << i;
    EXPECT_EQ(a.parts()[i].counts(), b.parts()[i].counts()) << "part " << i;
  }
}

/// A filter that cannot be had while `fails` is set.
class scarce_filter : public plain_filter {
 public:
  static inline bool fails = false;

  scarce_filter(const filter_plan& plan, seeded_hash hash)
      : plain_filter(if_there_is_memory(plan), hash) {}

 private:
  static const filter_plan& if_there_is_memory(const filter_plan& plan) {
    if (fails) throw std::bad_alloc();
    return plan;
  }
};

TEST(growing, loses_no_element_while_it_grows) {
  for (const std::uint64_t seed : seeds) {
    growing_plain filter(100, 1e-3, seeded_hash(seed));
    std::size_t parts = 1;
    for (std::uint64_t key = 0; key < 20'000; ++key) {
      filter.insert(key);
      ASSERT_TRUE(filter.may_contain(key));
      if (filter.parts().size() == parts) continue;
      parts = filter.parts().size();
      for (std::uint64_t before = 0; before < key; ++before)
        ASSERT_TRUE(filter.may_contain(before)) << "after part " << parts << " was added";
    }
    EXPECT_EQ(parts, 8u);  // 100 + 200 + ... + 12,800
  }
}

TEST(growing, a_key_is_text_or_number_or_a_hash) {
  growing_plain filter(100, 1e-3, seeded_hash(1));
  filter.insert("text");
  filter.insert(seeded_hash(1)(42));
  EXPECT_TRUE(filter.may_contain(std::string("text")));
  EXPECT_TRUE(filter.may_contain(42));
  EXPECT_TRUE(filter.may_contain(seeded_hash(1)(std::string_view("text"))));
}

// The error of the whole follows from the fill of the parts and stays below the stated one, at the
// moment when it is largest: all parts full.
TEST(growing, the_stated_error_holds_when_all_parts_are_full) {
  constexpr double stated = 0.02;
  constexpr std::uint64_t queries = 200'000;
  constexpr double sigmas = 4;
  for (const std::uint64_t seed : seeds) {
    growing_plain filter(500, stated, seeded_hash(seed));
    std::uint64_t key = 0;
    while (filter.counts().size < 500 * 127) filter.insert(key++);
    ASSERT_EQ(filter.parts().size(), 7u);
    double found = 0;
    for (std::uint64_t i = 0; i < queries; ++i) found += filter.may_contain(key + i) ? 1 : 0;
    const filter_stats stats = filter.stats();
    const double expected = queries * stats.current_fpr;
    const double sigma = std::sqrt(expected * (1 - stats.current_fpr));
    EXPECT_NEAR(found, expected, sigmas * sigma);
    // Seven parts of infinitely many: 1 - t^7 of the stated error, up to noise of the fill.
    const double planned = stated * (1 - std::pow(growing_plan{}.tightening, 7));
    EXPECT_NEAR(stats.current_fpr, planned, 0.05 * planned);
    EXPECT_LT(stats.current_fpr, stated);
    EXPECT_EQ(stats.planned_fpr, stated);
    EXPECT_EQ(stats.condition, filter_condition::as_planned);
  }
}

TEST(growing, parts_grow_and_tighten_as_the_plan_says) {
  struct request {
    std::uint64_t elements;
    double fpr;
  };
  std::vector<request> asked;
  const growing_plan plan{.first_elements = 64, .fpr = 0.01, .growth = 3, .tightening = 0.5};
  growing_plain filter(
      plan,
      [&](std::uint64_t elements, double fpr) {
        asked.push_back({elements, fpr});
        filter_plan part = plain_engine::default_plan(elements, fpr);
        part.predicted.fpr = fpr;  // exactly as asked
        return part;
      },
      seeded_hash(1));
  insert_each(filter, keys_from(0, 64 + 192 + 576 + 10));
  ASSERT_EQ(asked.size(), 4u);
  double sum = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ(asked[i].elements, 64 * static_cast<std::uint64_t>(std::pow(3, i)));
    EXPECT_NEAR(asked[i].fpr, 0.01 * std::pow(0.5, i + 1), 1e-12);
    sum += asked[i].fpr;
    EXPECT_LE(filter.parts()[i].counts().size, asked[i].elements);
  }
  EXPECT_LT(sum, 0.01);
}

TEST(growing, what_a_part_leaves_of_its_error_goes_to_those_behind_it) {
  std::vector<double> asked;
  growing_plain filter(
      {.first_elements = 64, .fpr = 0.01, .tightening = 0.5},
      [&](std::uint64_t elements, double fpr) {
        asked.push_back(fpr);
        filter_plan part = plain_engine::default_plan(elements, fpr);
        part.predicted.fpr = 0.001;
        return part;
      },
      seeded_hash(1));
  insert_each(filter, keys_from(0, 100));
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_DOUBLE_EQ(asked[0], 0.005);
  EXPECT_DOUBLE_EQ(asked[1], 0.0045);
}

TEST(growing, an_element_that_may_be_there_is_not_inserted_again) {
  growing_plain filter(100, 1e-3, seeded_hash(1));
  const auto keys = keys_from(0, 700);  // three parts, all full but for false positives
  insert_each(filter, keys);
  const growing_plain before = filter;
  for (const std::uint64_t key : keys)
    EXPECT_EQ(filter.insert(key), insert_outcome::possibly_present);
  EXPECT_EQ(filter.bulk_insert(keys), 0u);
  expect_same(filter, before);
}

TEST(growing, insert_says_what_may_contain_would_have_said) {
  for (const std::uint64_t seed : seeds) {
    growing_plain filter(50, 0.1, seeded_hash(seed));
    std::uint64_t added = 0, refused = 0;
    for (std::uint64_t key = 0; key < 5000; ++key) {
      const bool before = filter.may_contain(key);
      const insert_outcome outcome = filter.insert(key);
      ASSERT_EQ(outcome == insert_outcome::possibly_present, before);
      ++(before ? refused : added);
    }
    EXPECT_EQ(filter.counts().size, added);
    EXPECT_GT(refused, 0u);
  }
}

RC_GTEST_PROP(growing, bulk_inserts_make_the_same_bytes_as_single_ones, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto first = *rc::gen::inRange<std::uint64_t>(1, 600);
  const auto range = *rc::gen::inRange<std::uint64_t>(1, 8000);  // few: many come again
  const double fpr = *rc::gen::element(0.3, 0.01, 1e-5);
  growing_plain one_by_one(first, fpr, seeded_hash(seed));
  growing_plain at_once = one_by_one;
  for (int round = 0; round < 4; ++round) {
    std::vector<std::uint64_t> keys(*rc::gen::inRange<std::size_t>(0, 2000));
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = mix_bits(seed + i + static_cast<std::uint64_t>(round) * 2000) % range;
    std::uint64_t added = 0;
    for (const std::uint64_t key : keys)
      if (one_by_one.insert(key) == insert_outcome::added) ++added;
    RC_ASSERT(at_once.bulk_insert(keys) == added);
    RC_ASSERT(at_once.parts().size() == one_by_one.parts().size());
    for (std::size_t i = 0; i < at_once.parts().size(); ++i)
      RC_ASSERT(std::ranges::equal(at_once.parts()[i].memory(), one_by_one.parts()[i].memory()));
    RC_ASSERT(at_once.counts() == one_by_one.counts());
  }
}

TEST(growing, bulk_queries_answer_as_single_ones) {
  growing_plain filter(100, 0.05, seeded_hash(3));
  filter.bulk_insert(keys_from(0, 3000));
  for (const std::size_t count : {0u, 1u, 511u, 512u, 513u, 6000u}) {
    const auto keys = keys_from(1500, count);
    const auto answers = std::make_unique<bool[]>(count + 1);
    const std::uint64_t contained = filter.bulk_may_contain(keys, std::span(answers.get(), count));
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(answers[i], filter.may_contain(keys[i])) << i;
      if (answers[i]) ++expected;
    }
    EXPECT_EQ(contained, expected);
    EXPECT_FALSE(answers[count]);
  }
}

TEST(growing, explain_sums_what_the_parts_cost) {
  growing_plain filter(100, 0.05, seeded_hash(3));
  filter.bulk_insert(keys_from(0, 3000));
  ASSERT_GT(filter.parts().size(), 3u);
  for (std::uint64_t key = 0; key < 6000; ++key) {
    const lookup_path path = filter.explain(key);
    EXPECT_EQ(path.may_contain(), filter.may_contain(key));
    std::uint32_t accesses = 0;
    for (std::size_t i = filter.parts().size(); i-- > 0;) {
      const lookup_path one = filter.parts()[i].explain(key);
      accesses += one.accesses;
      if (one.may_contain()) break;
    }
    EXPECT_EQ(path.accesses, accesses);
    EXPECT_EQ(path.lines, accesses);
  }
}

TEST(growing, stats_are_sums_over_the_parts) {
  growing_plain filter(100, 0.05, seeded_hash(3));
  filter.bulk_insert(keys_from(0, 3000));
  const filter_stats stats = filter.stats();
  std::uint64_t bytes = 0, elements = 0, size = 0;
  double none = 1, set = 0;
  for (const plain_filter& part : filter.parts()) {
    bytes += part.memory().size();
    elements += part.plan().elements;
    size += part.counts().size;
    none *= 1 - part.engine().current_fpr();
    set += part.engine().fill_fraction() * static_cast<double>(part.memory().size());
  }
  EXPECT_EQ(stats.memory.total(), bytes);
  EXPECT_EQ(stats.planned_elements, elements);
  EXPECT_EQ(stats.counts.size, size);
  EXPECT_NEAR(stats.current_fpr, 1 - none, 1e-12);
  EXPECT_NEAR(stats.fill_fraction, set / static_cast<double>(bytes), 1e-12);
  EXPECT_DOUBLE_EQ(stats.bits_per_element,
                   8 * static_cast<double>(bytes) / static_cast<double>(elements));
}

TEST(growing, without_memory_the_last_part_takes_everything_and_says_so) {
  using growing_scarce = growing_filter<scarce_filter>;
  growing_scarce filter(80, 0.01, seeded_hash(1));
  growing_scarce at_once = filter;
  const auto keys = keys_from(0, 1000);
  insert_each(filter, {keys.begin(), keys.begin() + 80});
  ASSERT_LE(filter.counts().size, 80u);
  EXPECT_EQ(filter.condition(), filter_condition::as_planned);

  scarce_filter::fails = true;
  insert_each(filter, {keys.begin() + 80, keys.begin() + 200});
  at_once.bulk_insert(std::span(keys).first(200));
  scarce_filter::fails = false;
  EXPECT_EQ(filter.parts().size(), 1u);
  EXPECT_EQ(filter.growth(), growth_state::no_memory);
  EXPECT_EQ(filter.condition(), filter_condition::over_full);
  EXPECT_GT(filter.stats().current_fpr, 0.01);
  for (std::uint64_t key = 0; key < 200; ++key) EXPECT_TRUE(filter.may_contain(key));
  expect_same(filter, at_once);

  // Memory is back: it grows with the next eighth, ten elements, and keeps to its plan again.
  std::uint64_t key = 200;
  const std::uint64_t size = filter.counts().size;
  while (filter.parts().size() == 1 && key < 1000) filter.insert(key++);
  EXPECT_EQ(filter.growth(), growth_state::as_planned);
  EXPECT_LE(filter.counts().size, size + 11);
  EXPECT_EQ(filter.parts()[1].plan().elements, 160u);
  for (std::uint64_t before = 0; before < key; ++before) EXPECT_TRUE(filter.may_contain(before));
}

TEST(growing, a_part_without_a_plan_is_not_added) {
  enum class answer { fine, throws, faulty, too_bad } next = answer::fine;
  const auto plan_part = [&next](std::uint64_t elements, double fpr) {
    filter_plan part = plain_engine::default_plan(elements, fpr);
    if (next == answer::throws) throw std::runtime_error("no such plan");
    if (next == answer::faulty) part.cells = 0;
    if (next == answer::too_bad) part.predicted.fpr = 0.01;
    return part;
  };
  for (const answer bad : {answer::throws, answer::faulty, answer::too_bad}) {
    next = answer::fine;
    growing_plain filter({.first_elements = 40, .fpr = 0.01}, plan_part, seeded_hash(1));
    next = bad;
    insert_each(filter, keys_from(0, 100));
    EXPECT_EQ(filter.growth(), growth_state::no_plan);
    EXPECT_EQ(filter.parts().size(), 1u);
    for (std::uint64_t key = 0; key < 100; ++key) EXPECT_TRUE(filter.may_contain(key));
    next = answer::fine;
    insert_each(filter, keys_from(100, 20));
    EXPECT_EQ(filter.growth(), growth_state::as_planned);
    EXPECT_EQ(filter.parts().size(), 2u);
  }
}

TEST(growing, who_asks_for_a_part_is_told_whether_it_came) {
  using growing_scarce = growing_filter<scarce_filter>;
  growing_scarce filter(80, 0.01, seeded_hash(1));
  growing_scarce by_itself = filter;
  const auto keys = keys_from(0, 200);
  insert_each(filter, {keys.begin(), keys.begin() + 80});
  const filter_plan next =
      plain_engine::default_plan(filter.elements_of_next_part(), filter.error_of_next_part());
  EXPECT_EQ(next.elements, 160u);
  const growing_progress before = filter.progress();

  scarce_filter::fails = true;
  EXPECT_EQ(filter.grow_by(next), growth_state::no_memory);
  scarce_filter::fails = false;
  filter_plan bad = next;
  bad.cells = 0;
  EXPECT_EQ(filter.grow_by(bad), growth_state::no_plan);
  bad = next;
  bad.predicted.fpr = before.left;
  EXPECT_EQ(filter.grow_by(bad), growth_state::no_plan);
  EXPECT_EQ(filter.parts().size(), 1u);
  EXPECT_EQ(filter.growth(), growth_state::as_planned);
  EXPECT_EQ(filter.progress().grow_at, before.grow_at);
  EXPECT_EQ(filter.progress().left, before.left);

  EXPECT_EQ(filter.grow_by(next), growth_state::as_planned);
  EXPECT_EQ(filter.parts().size(), 2u);
  insert_each(filter, {keys.begin() + 80, keys.end()});
  insert_each(by_itself, keys);
  expect_same(filter, by_itself);
}

// The default plans end at an error of 1e-9: as many parts of that error as the stated one allows.
TEST(growing, at_the_smallest_errors_parts_stop_being_tighter) {
  growing_plain filter(1000, 5e-9, seeded_hash(1));
  filter.bulk_insert(keys_from(0, 70'000));
  EXPECT_EQ(filter.growth(), growth_state::no_plan);
  EXPECT_GE(filter.parts().size(), 4u);
  double sum = 0;
  for (const plain_filter& part : filter.parts()) sum += part.plan().predicted.fpr;
  EXPECT_LT(sum, 5e-9);
}

TEST(growing, clear_makes_it_as_new) {
  growing_plain filter(100, 0.01, seeded_hash(7));
  growing_plain fresh = filter;
  filter.bulk_insert(keys_from(0, 5000));
  filter.clear();
  EXPECT_EQ(filter.counts().size, 0u);
  expect_same(filter, fresh);
  filter.bulk_insert(keys_from(9000, 5000));
  fresh.bulk_insert(keys_from(9000, 5000));
  expect_same(filter, fresh);
}

TEST(growing, copies_are_their_own_and_swap_exchanges) {
  growing_plain a(100, 0.01, seeded_hash(7));
  a.bulk_insert(keys_from(0, 1000));
  growing_plain b = a;
  b.bulk_insert(keys_from(1000, 1000));
  EXPECT_LT(a.counts().size, b.counts().size);
  const growing_plain was_a = a, was_b = b;
  swap(a, b);
  expect_same(a, was_b);
  expect_same(b, was_a);
  const growing_plain moved = std::move(a);
  expect_same(moved, was_b);
}

TEST(growing, the_key_is_hashed_once) {
  struct counting_hash {
    explicit counting_hash(std::uint64_t) {}
    explicit counting_hash(int* counted) : calls(counted) {}
    key_hash operator()(std::uint64_t key) const {
      ++*calls;
      return {mix_bits(key)};
    }
    int* calls = nullptr;
  };
  int calls = 0;
  growing_filter<basic_filter<plain_engine, counting_hash>> filter(10, 0.01, counting_hash(&calls));
  const auto keys = keys_from(0, 500);
  filter.bulk_insert(keys);
  EXPECT_EQ(std::exchange(calls, 0), 500);
  ASSERT_GT(filter.parts().size(), 3u);
  filter.insert(std::uint64_t{1'000'000});
  EXPECT_EQ(std::exchange(calls, 0), 1);
  EXPECT_FALSE(filter.may_contain(std::uint64_t{1'000'001}));
  EXPECT_EQ(std::exchange(calls, 0), 1);
}

// What best_tightening minimises, summed part by part.
double bits_beyond_the_stated_error(unsigned parts, double growth, double tightening) {
  double elements = 0, bits = 0;
  for (unsigned i = 0; i < parts; ++i) {
    const double size = std::pow(growth, i);
    elements += size;
    bits -= size * std::log2((1 - tightening) * std::pow(tightening, i));
  }
  return bits / elements;
}

TEST(growing, the_best_tightening_needs_least_memory) {
  EXPECT_DOUBLE_EQ(best_tightening(511), growing_plan{}.tightening);
  for (const double growth : {1.5, 2.0, 4.0}) {
    for (const unsigned parts : {6u, 9u, 15u}) {
      const double times = (std::pow(growth, parts) - 1) / (growth - 1);
      const double best = best_tightening(times, growth);
      double least = 1e9;
      for (double t = 0.5; t < 0.999; t += 0.001)
        least = std::min(least, bits_beyond_the_stated_error(parts, growth, t));
      EXPECT_LT(bits_beyond_the_stated_error(parts, growth, best), least * 1.01);
    }
  }
  EXPECT_EQ(best_tightening(1), 0.5);
}

TEST(growing, bad_parameters_are_refused_by_name) {
  const auto sentence = [](const growing_plan& plan) -> std::string {
    try {
      growing_plain(plan, seeded_hash(1));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  const growing_plan good{.first_elements = 10, .fpr = 0.01};
  EXPECT_EQ(sentence(good), "accepted");
  growing_plan bad = good;
  for (const double fpr : {0.0, 1.0, -1.0, std::nan("")}) {
    bad.fpr = fpr;
    EXPECT_EQ(sentence(bad).find("fpr must be above 0 and below 1; found "), 0u);
  }
  bad = good;
  for (const double growth : {1.0, 0.0, std::nan(""), HUGE_VAL}) {
    bad.growth = growth;
    EXPECT_EQ(sentence(bad).find("growth must be above 1; found "), 0u);
  }
  bad = good;
  for (const double tightening : {0.0, 1.0, std::nan("")}) {
    bad.tightening = tightening;
    EXPECT_EQ(sentence(bad).find("tightening must be above 0 and below 1; found "), 0u);
  }
}

}  // namespace
}  // namespace oneprobe
