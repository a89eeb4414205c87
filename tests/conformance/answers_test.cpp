// What every filter answers, whatever its plan: never no for what was inserted.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allocations.hpp"
#include "configurations.hpp"
#include "keys.hpp"

namespace {

using namespace conformance;

template <class Filter>
class every_filter_answers : public testing::Test {};
TYPED_TEST_SUITE(every_filter_answers, every_filter, filter_names);

TYPED_TEST(every_filter_answers, yes_for_every_kind_of_key_that_was_inserted) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    for_each_kind_of_key(few_elements, [&](const char* name, const auto& keys) {
      TypeParam filter(plan, seeded_hash(11));
      std::size_t lost_at_once = 0, lost_in_the_end = 0;
      for (const auto& key : keys) {
        filter.insert(key);
        if (!filter.may_contain(key)) ++lost_at_once;
      }
      for (const auto& key : keys)
        if (!filter.may_contain(key)) ++lost_in_the_end;
      EXPECT_EQ(lost_at_once, 0u) << name;
      EXPECT_EQ(lost_in_the_end, 0u) << name;
    });
  });
}

TYPED_TEST(every_filter_answers, no_for_everything_while_it_is_empty) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    const TypeParam filter(plan, seeded_hash(3));
    for (std::uint64_t key = 0; key < few_elements; ++key)
      ASSERT_FALSE(filter.may_contain(key)) << key;
    EXPECT_EQ(filter.counts(), filter_counts{});
    EXPECT_EQ(filter.stats().current_fpr, 0);
    EXPECT_EQ(filter.stats().fill_fraction, 0);
  });
}

TYPED_TEST(every_filter_answers, no_for_nearly_all_others) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    TypeParam filter(plan, seeded_hash(4));
    for (std::uint64_t key = 0; key < few_elements; ++key) filter.insert(key);
    std::uint64_t others = 0;
    constexpr std::uint64_t asked = 20'000;
    for (std::uint64_t key = 0; key < asked; ++key)
      if (filter.may_contain(few_elements + key)) ++others;
    // One bit set of twenty: 1 / 20. More bits than make sense, 64: 0.96^64. The statistics of the
    // error are elsewhere; here a filter that says yes to all is told from one that works.
    EXPECT_LT(others, asked / 8);
  });
}

TYPED_TEST(every_filter_answers, to_an_insert_what_a_lookup_before_would_have_said) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    TypeParam filter(plan, seeded_hash(5));
    std::uint64_t added = 0;
    // Twice as many as planned, so that some are there by chance, and each of them twice.
    for (std::uint64_t i = 0; i < 4 * few_elements; ++i) {
      const std::uint64_t key = random_key(i / 2);
      const bool before = filter.may_contain(key);
      const insert_outcome outcome = filter.insert(key);
      ASSERT_EQ(outcome == insert_outcome::possibly_present, before) << i;
      if (i % 2 == 1) {
        ASSERT_EQ(outcome, insert_outcome::possibly_present) << i;
      }
      if (outcome == insert_outcome::added) ++added;
    }
    // A fingerprint filter counts what it holds: an element that is passed on may come to an equal
    // one.
    if constexpr (TypeParam::kind == filter_kind::fingerprint) {
      EXPECT_LE(filter.counts().size, added);
      EXPECT_GT(filter.counts().size, added * 99 / 100);
    } else if constexpr (TypeParam::kind != filter_kind::counting) {
      EXPECT_EQ(filter.counts().size, added);
    }
  });
}

TYPED_TEST(every_filter_answers, the_same_when_it_explains_itself) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    TypeParam filter(plan, seeded_hash(6));
    for (std::uint64_t key = 0; key < 2 * few_elements; ++key) filter.insert(key);
    // One candidate after the other and then the overflow list; or one bit after the other.
    const std::uint32_t most = plan.in_blocks() ? plan.choices + 1 : plan.bits_set;
    for (std::uint64_t key = 0; key < 4 * few_elements; ++key) {
      const lookup_path path = filter.explain(key);
      ASSERT_EQ(path.may_contain(), filter.may_contain(key)) << key;
      ASSERT_GE(path.accesses, 1u);
      ASSERT_LE(path.accesses, most);
      ASSERT_GE(path.lines, 1u);
      if (plan.kind == filter_kind::blocked) {
        ASSERT_EQ(path.accesses, 1u);
      }
    }
  });
}

TYPED_TEST(every_filter_answers, the_same_to_text_in_any_form) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    TypeParam filter(plan, seeded_hash(7));
    filter.insert(std::string("a string"));
    filter.insert("a literal");
    filter.insert(std::string_view("a view"));
    EXPECT_TRUE(filter.may_contain(std::string_view("a string")));
    EXPECT_TRUE(filter.may_contain("a string"));
    EXPECT_TRUE(filter.may_contain(std::string("a literal")));
    EXPECT_TRUE(filter.may_contain(std::string("a view")));
    const std::string text = "a view";
    EXPECT_TRUE(filter.may_contain(std::as_bytes(std::span(text))));
    EXPECT_TRUE(filter.may_contain(filter.hash()("a literal")));
    EXPECT_EQ(filter.insert(std::string_view("a literal")), insert_outcome::possibly_present);
  });
}

TYPED_TEST(every_filter_answers, for_types_with_a_hash_of_their_own) {
  struct point {
    double x, y;
    struct hash {
      std::size_t operator()(const point& p) const noexcept {
        return std::hash<double>{}(p.x) * 31 + std::hash<double>{}(p.y);
      }
    };
  };
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    with_hash<TypeParam, remixed<typename point::hash>> points(plan,
                                                               remixed<typename point::hash>(8));
    with_hash<TypeParam, remixed<std::hash<int>>> numbers(plan, remixed<std::hash<int>>(9));
    for (int i = 0; i < static_cast<int>(few_elements); ++i) {
      points.insert(point{i * 0.5, -i * 0.25});
      numbers.insert(i);
    }
    for (int i = 0; i < static_cast<int>(few_elements); ++i) {
      ASSERT_TRUE(points.may_contain(point{i * 0.5, -i * 0.25})) << i;
      ASSERT_TRUE(numbers.may_contain(i)) << i;
    }
  });
}

TYPED_TEST(every_filter_answers, other_seeds_with_other_bytes) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    TypeParam one(plan, seeded_hash(1)), two(plan, seeded_hash(2)), drawn(plan), again(plan);
    for (TypeParam* filter : {&one, &two, &drawn, &again})
      for (std::uint64_t key = 0; key < few_elements; ++key) filter->insert(key);
    EXPECT_FALSE(std::ranges::equal(one.memory(), two.memory()));
    EXPECT_FALSE(std::ranges::equal(drawn.memory(), again.memory()));
  });
}

TYPED_TEST(every_filter_answers, yes_for_three_times_as_many_as_planned_without_an_allocation) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    TypeParam filter(plan, seeded_hash(10));
    constexpr std::uint64_t inserted = 3 * few_elements;
    const auto keys = make_keys<std::uint64_t>(inserted, random_key);
    const auto answers = std::make_unique<bool[]>(inserted);
    std::uint64_t lost = 0, contained = 0;
    const std::uint64_t before = allocations_so_far();
    filter.bulk_insert(std::span(keys).first(inserted / 2));
    for (std::uint64_t i = inserted / 2; i < inserted; ++i) filter.insert(keys[i]);
    for (const std::uint64_t key : keys)
      if (!filter.may_contain(key)) ++lost;
    contained = filter.bulk_may_contain(std::span(keys), std::span(answers.get(), inserted));
    for (const std::uint64_t key : keys)
      if (!filter.explain(key).may_contain()) ++lost;
    EXPECT_EQ(allocations_so_far(), before);
    EXPECT_EQ(lost, 0u);
    EXPECT_EQ(contained, inserted);
    EXPECT_NE(filter.condition(), filter_condition::as_planned);
    EXPECT_EQ(filter.condition() == filter_condition::degraded, filter.counts().forced != 0);
    // The overflow list takes an eighth of what was planned: twice as many too much is beyond it.
    if (plan.has_candidates() && plan.levels < 8) {
      EXPECT_EQ(filter.condition(), filter_condition::degraded);
    }
    EXPECT_LE(filter.counts().overflow, plan.overflow_reserve);
  });
}

TYPED_TEST(every_filter_answers, yes_to_what_it_had_when_hashes_fail_amid_a_bulk_insert) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    const seeded_hash hash(8);
    TypeParam filter(plan, hash);
    for (std::uint64_t key = 0; key < few_elements; ++key) filter.insert(key);
    // Newcomers are on their way when it happens; all of them come in the end.
    for (const std::size_t fails_at : {0u, 40u, 1000u}) {
      const auto make = [&](std::size_t first, std::span<key_hash> out) {
        for (std::size_t i = 0; i < out.size(); ++i) {
          if (first + i == fails_at) throw std::runtime_error("no hash");
          out[i] = hash(few_elements + first + i);
        }
      };
      EXPECT_THROW(filter.bulk_insert(hash_feed(2000, make)), std::runtime_error);
    }
    const std::uint64_t size = filter.counts().size;
    EXPECT_GT(size, few_elements + 100) << "some were new, of which the filter knows";
    filter.bulk_insert(hash_feed(2000, [&](std::size_t first, std::span<key_hash> out) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = hash(few_elements + first + i);
    }));
    std::size_t lost = 0;
    for (std::uint64_t key = 0; key < few_elements + 2000; ++key)
      if (!filter.may_contain(key)) ++lost;
    EXPECT_EQ(lost, 0u);
  });
}

TYPED_TEST(every_filter_answers, as_planned_up_to_the_planned_number) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    TypeParam filter(plan, seeded_hash(12));
    EXPECT_EQ(filter.condition(), filter_condition::as_planned);
    for (std::uint64_t key = 0; key < few_elements; ++key) filter.insert(random_key(key));
    if (filter.counts().forced == 0) {
      EXPECT_EQ(filter.condition(), filter_condition::as_planned);
      std::uint64_t key = few_elements;
      while (filter.counts().size <= plan.elements && key < 10 * few_elements)
        filter.insert(random_key(key++));
      EXPECT_NE(filter.condition(), filter_condition::as_planned);
    }
  });
}

TYPED_TEST(every_filter_answers, one_key_many_times_as_one) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    TypeParam filter(plan, seeded_hash(13));
    filter.insert(std::uint64_t{42});
    for (int i = 0; i < 10'000; ++i)
      ASSERT_EQ(filter.insert(std::uint64_t{42}), insert_outcome::possibly_present);
    if constexpr (TypeParam::kind != filter_kind::counting) {
      EXPECT_EQ(filter.counts().size, 1u);
      EXPECT_EQ(filter.counts().overflow, 0u);
      EXPECT_EQ(filter.counts().forced, 0u);
    }
    std::uint64_t others = 0;
    for (std::uint64_t key = 100; key < 10'100; ++key)
      if (filter.may_contain(key)) ++others;
    // A single element covers at most one bit of twenty thousand for k = 1, far less otherwise.
    EXPECT_LE(others, 10u);
  });
}

}  // namespace
