// The bytes of every filter: what decides them, whose they are, and how many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "configurations.hpp"
#include "keys.hpp"
#include "oneprobe/detail/simd/isa.hpp"

namespace {

using namespace conformance;

template <class Filter>
class every_filter_has_bytes : public testing::Test {};
TYPED_TEST_SUITE(every_filter_has_bytes, every_filter, filter_names);

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

template <class Filter>
Filter filled(const filter_plan& plan, std::uint64_t keys, std::uint64_t seed = 21) {
  Filter filter(plan, seeded_hash(seed));
  for (std::uint64_t key = 0; key < keys; ++key) filter.insert(random_key(key));
  return filter;
}

/// Zeroed bytes on a cache line.
class lines {
 public:
  explicit lines(std::uint64_t bytes) : storage_(bytes + 128) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    begin_ = (64 - address % 64) % 64;
    bytes_ = bytes;
  }
  std::span<std::byte> bytes() { return std::span(storage_).subspan(begin_, bytes_); }
  std::span<std::byte> off_the_line() { return std::span(storage_).subspan(begin_ + 8, bytes_); }

 private:
  std::vector<std::byte> storage_;
  std::size_t begin_, bytes_;
};

/// Filters made while it lives use no vector instructions.
class plain_only {
 public:
  plain_only() { limit_simd(isa::plain); }
  ~plain_only() { limit_simd(most_simd); }
  plain_only(const plain_only&) = delete;
  plain_only& operator=(const plain_only&) = delete;
};

TYPED_TEST(every_filter_has_bytes, exactly_as_many_as_planned) {
  for (const std::uint64_t elements : {1u, 7u, 100u, 4321u})
    for_each_plan<TypeParam>(elements, [](const filter_plan& plan) {
      const TypeParam filter(plan, seeded_hash(1));
      EXPECT_EQ(filter.memory().size(), plan.memory().total());
      EXPECT_EQ(filter.stats().memory, plan.memory());
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(filter.memory().data()) % 64, 0u);
      EXPECT_TRUE(
          std::ranges::all_of(filter.memory(), [](std::byte b) { return b == std::byte{0}; }));
    });
}

TYPED_TEST(every_filter_has_bytes, that_do_not_depend_on_how_keys_come) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    // More than planned, so that overflow and forced elements are among them, and some twice.
    constexpr std::uint64_t keys = 2 * few_elements;
    const auto all = make_keys<std::uint64_t>(
        keys, [](std::uint64_t i) { return random_key(i % (keys * 9 / 10)); });
    TypeParam scalar(plan, seeded_hash(22)), bulk(plan, seeded_hash(22)),
        chunks(plan, seeded_hash(22)), hashes(plan, seeded_hash(22));
    std::uint64_t added = 0, added_in_bulk = 0, added_in_chunks = 0;
    for (const std::uint64_t key : all)
      if (scalar.insert(key) == insert_outcome::added) ++added;
    added_in_bulk = bulk.bulk_insert(std::span(all));
    std::size_t size = 0;
    for (std::size_t at = 0; at < all.size(); at += size) {
      size = std::min<std::size_t>(size + 1, all.size() - at);
      added_in_chunks += chunks.bulk_insert(std::span(all).subspan(at, size));
    }
    std::vector<key_hash> hashed;
    for (const std::uint64_t key : all) hashed.push_back(hashes.hash()(key));
    hashes.bulk_insert(hashed);
    EXPECT_TRUE(same_bytes(scalar.memory(), bulk.memory()));
    EXPECT_TRUE(same_bytes(scalar.memory(), chunks.memory()));
    EXPECT_TRUE(same_bytes(scalar.memory(), hashes.memory()));
    EXPECT_EQ(added, added_in_bulk);
    EXPECT_EQ(added, added_in_chunks);
    EXPECT_EQ(scalar.counts(), bulk.counts());
    EXPECT_EQ(scalar.counts(), chunks.counts());
    EXPECT_EQ(scalar.counts(), hashes.counts());
  });
}

TYPED_TEST(every_filter_has_bytes, that_say_the_same_one_by_one_and_in_bulk) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    const auto filter = filled<TypeParam>(plan, 2 * few_elements);
    for (const std::uint64_t count : {0u, 1u, 2u, 31u, 32u, 33u, 8000u}) {
      const auto keys = make_keys<std::uint64_t>(count, random_key);
      const auto answers = std::make_unique<bool[]>(count + 1);
      std::uint64_t contained = 0;
      for (const std::uint64_t key : keys)
        if (filter.may_contain(key)) ++contained;
      EXPECT_EQ(filter.bulk_may_contain(std::span(keys), std::span(answers.get(), count)),
                contained);
      for (std::uint64_t i = 0; i < count; ++i)
        ASSERT_EQ(answers[i], filter.may_contain(keys[i])) << i << " of " << count;
    }
  });
}

TYPED_TEST(every_filter_has_bytes, that_are_the_same_for_the_same_elements_in_the_same_order) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    const auto one = filled<TypeParam>(plan, 2 * few_elements);
    const auto two = filled<TypeParam>(plan, 2 * few_elements);
    EXPECT_TRUE(same_bytes(one.memory(), two.memory()));
    EXPECT_EQ(one.counts(), two.counts());
  });
}

TYPED_TEST(every_filter_has_bytes, that_do_not_depend_on_the_processor) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    constexpr std::uint64_t count = 2 * few_elements;
    const auto keys = make_keys<std::uint64_t>(2 * count, random_key);
    const auto vector_answers = std::make_unique<bool[]>(2 * count);
    const auto plain_answers = std::make_unique<bool[]>(2 * count);
    TypeParam vector_one(plan, seeded_hash(23)), vector_bulk(plan, seeded_hash(23));
    for (std::uint64_t i = 0; i < count; ++i) vector_one.insert(keys[i]);
    vector_bulk.bulk_insert(std::span(keys).first(count));
    vector_bulk.bulk_may_contain(std::span(keys), std::span(vector_answers.get(), 2 * count));
    const double vector_fpr = vector_bulk.stats().current_fpr;
    {
      const plain_only scope;
      TypeParam plain_one(plan, seeded_hash(23)), plain_bulk(plan, seeded_hash(23));
      for (std::uint64_t i = 0; i < count; ++i) plain_one.insert(keys[i]);
      plain_bulk.bulk_insert(std::span(keys).first(count));
      plain_bulk.bulk_may_contain(std::span(keys), std::span(plain_answers.get(), 2 * count));
      EXPECT_TRUE(same_bytes(vector_one.memory(), plain_one.memory()));
      EXPECT_TRUE(same_bytes(vector_bulk.memory(), plain_bulk.memory()));
      EXPECT_EQ(vector_fpr, plain_bulk.stats().current_fpr);
      for (std::uint64_t i = 0; i < 2 * count; ++i) {
        ASSERT_EQ(vector_answers[i], plain_answers[i]) << i;
        ASSERT_EQ(plain_answers[i], plain_one.may_contain(keys[i])) << i;
      }
    }
    for (std::uint64_t i = 0; i < 2 * count; ++i)
      ASSERT_EQ(vector_answers[i], vector_one.may_contain(keys[i])) << i;
  });
}

TYPED_TEST(every_filter_has_bytes, of_the_caller_if_he_gives_them) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    lines memory(plan.memory().total());
    filter_counts counts;
    {
      TypeParam filter(plan, memory.bytes(), seeded_hash(21));
      EXPECT_EQ(filter.memory().data(), memory.bytes().data());
      for (std::uint64_t key = 0; key < few_elements; ++key) filter.insert(random_key(key));
      counts = filter.counts();
    }
    const auto own = filled<TypeParam>(plan, few_elements);
    EXPECT_TRUE(same_bytes(memory.bytes(), own.memory()));
    // Taken up again where it was left.
    TypeParam again(plan, memory.bytes(), seeded_hash(21), counts);
    for (std::uint64_t key = 0; key < few_elements; ++key)
      ASSERT_TRUE(again.may_contain(random_key(key)));
    EXPECT_EQ(again.counts(), own.counts());
    const auto both = filled<TypeParam>(plan, 2 * few_elements);
    for (std::uint64_t key = few_elements; key < 2 * few_elements; ++key)
      again.insert(random_key(key));
    EXPECT_TRUE(same_bytes(memory.bytes(), both.memory()));
    // A copy has memory of its own.
    TypeParam copy = again;
    EXPECT_NE(copy.memory().data(), memory.bytes().data());
    copy.clear();
    EXPECT_TRUE(again.may_contain(random_key(0)));
  });
}

template <class Make>
std::string refusal(Make make) {
  try {
    make();
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "";
}

TYPED_TEST(every_filter_has_bytes, only_of_the_right_size_and_on_a_line) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    const std::uint64_t bytes = plan.memory().total();
    lines memory(bytes), more(bytes + 64);
    const auto with = [&](std::span<std::byte> given) {
      return refusal([&] { TypeParam(plan, given, seeded_hash(1)); });
    };
    const auto view_of = [&](std::span<const std::byte> given) {
      return refusal([&] {
        filter_reader<typename TypeParam::engine_type, seeded_hash>(plan, given, filter_counts{},
                                                                    seeded_hash(1));
      });
    };
    EXPECT_EQ(with(memory.bytes()), "");
    EXPECT_EQ(view_of(memory.bytes()), "");
    const std::string size = "memory must be " + std::to_string(bytes) + " bytes; found ";
    EXPECT_EQ(with(more.bytes()), size + std::to_string(bytes + 64));
    EXPECT_EQ(view_of(more.bytes()), size + std::to_string(bytes + 64));
    EXPECT_EQ(with(memory.bytes().first(bytes - 64)), size + std::to_string(bytes - 64));
    EXPECT_EQ(with({}), size + "0");
    EXPECT_EQ(with(memory.off_the_line()), "memory must be aligned to 64 bytes");
    EXPECT_EQ(view_of(memory.off_the_line()), "memory must be aligned to 64 bytes");
  });
}

TYPED_TEST(every_filter_has_bytes, that_a_view_reads_without_copying) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    const auto filter = filled<TypeParam>(plan, 2 * few_elements);
    const filter_reader<typename TypeParam::engine_type, seeded_hash> view(
        plan, filter.memory(), filter.counts(), seeded_hash(21));
    EXPECT_EQ(view.memory().data(), filter.memory().data());
    for (std::uint64_t key = 0; key < 8 * few_elements; ++key) {
      ASSERT_EQ(view.may_contain(random_key(key)), filter.may_contain(random_key(key)));
      ASSERT_EQ(view.explain(random_key(key)), filter.explain(random_key(key)));
    }
    EXPECT_EQ(view.counts(), filter.counts());
    EXPECT_EQ(view.stats().current_fpr, filter.stats().current_fpr);
    EXPECT_EQ(view.condition(), filter.condition());
  });
}

TYPED_TEST(every_filter_has_bytes, only_for_plans_of_its_kind_without_a_fault) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& good) {
    const auto with = [](const filter_plan& plan) {
      return refusal([&] { TypeParam(plan, seeded_hash(1)); });
    };
    EXPECT_EQ(with(good), "");
    filter_plan plan = good;
    plan.kind = good.kind == filter_kind::blocked ? filter_kind::standard : filter_kind::blocked;
    EXPECT_EQ(with(plan), "kind must be " + std::string(name_of(good.kind)) + "; found " +
                              std::string(name_of(plan.kind)));
    plan = good;
    plan.elements = 0;
    EXPECT_EQ(with(plan), "elements must be 1 to 2^40; found 0");
    plan = good;
    plan.bits_set = 0;
    plan.fingerprint_bucket.remainder_bits = 0;
    const std::string name = plan.sets_bits() ? "bits_set" : "remainder_bits";
    EXPECT_EQ(with(plan).substr(0, name.size() + 8), name + " must be");
  });
}

}  // namespace
