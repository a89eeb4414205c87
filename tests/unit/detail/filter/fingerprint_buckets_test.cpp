// Buckets of fingerprints beside a sorted set that obeys the same law.
#include "oneprobe/detail/filter/fingerprint_buckets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace oneprobe;

constexpr position here{1, 0};

/// Three buckets, of which the one in the middle is used: writing outside it shows.
template <class Buckets>
class one_bucket {
 public:
  explicit one_bucket(const fingerprint_bucket_shape& shape) : shape_(shape), frame_(shape) {}

  Buckets buckets() { return {memory_.data(), frame_}; }
  bool neighbours_are_empty() const {
    const auto zero = [](std::byte b) { return b == std::byte{0}; };
    return std::all_of(memory_.begin(), memory_.begin() + 64, zero) &&
           std::all_of(memory_.begin() + 128, memory_.end(), zero);
  }
  std::vector<std::byte> bytes() const { return {memory_.begin() + 64, memory_.begin() + 128}; }
  std::byte* data() { return memory_.data(); }

 private:
  fingerprint_bucket_shape shape_;
  fingerprint_bucket_frame frame_;
  alignas(64) std::array<std::byte, 192> memory_{};
};

/// What a bucket is to do.
class twin {
 public:
  explicit twin(std::uint32_t capacity) : capacity_(capacity) {}

  put_result put(std::uint64_t& fingerprint) {
    if (kept_.contains(fingerprint)) return put_result::present;
    if (kept_.size() < capacity_) {
      kept_.insert(fingerprint);
      return put_result::placed;
    }
    passed_on_ = true;
    const std::uint64_t largest = *kept_.rbegin();
    if (fingerprint > largest) return put_result::refused;
    kept_.erase(largest);
    kept_.insert(fingerprint);
    fingerprint = largest;
    return put_result::exchanged;
  }
  bool contains(std::uint64_t fingerprint) const { return kept_.contains(fingerprint); }
  bool may_be_beyond(std::uint64_t fingerprint) const {
    return passed_on_ && fingerprint > *kept_.rbegin();
  }
  bool passed_on() const { return passed_on_; }
  const std::set<std::uint64_t>& kept() const { return kept_; }

 private:
  std::uint32_t capacity_;
  std::set<std::uint64_t> kept_;
  bool passed_on_ = false;
};

const std::vector<fingerprint_bucket_shape>& shapes() {
  static const std::vector<fingerprint_bucket_shape> all{
      {102, 4}, {64, 4},  {66, 5},  {58, 6},  {53, 7},  {47, 8},  {56, 8},
      {32, 8},  {44, 9},  {40, 10}, {34, 12}, {33, 13}, {32, 14}, {30, 15},
      {27, 16}, {30, 16}, {16, 16}, {23, 20}, {17, 28}, {13, 32}, {12, 40}};
  return all;
}

/// Calls `use` with every way to search buckets of a shape that the processor allows, as a
/// std::type_identity.
template <class Use>
void with_each_search(const fingerprint_bucket_shape& shape, Use use) {
  const fingerprint_bucket_frame frame(shape);
  use(std::type_identity<fingerprint_buckets<>>());
#if ONEPROBE_HAS_SIMD
  if (simd_supported() >= isa::avx2) {
    use(std::type_identity<fingerprint_buckets<isa::avx2>>());
    with_fastest_buckets(isa::avx2, frame, use);
    with_fastest_search(isa::avx2, frame, use);
  }
  if (simd_supported() >= isa::avx512) {
    use(std::type_identity<fingerprint_buckets<isa::avx512>>());
    with_fastest_buckets(isa::avx512, frame, use);
    with_fastest_search(isa::avx512, frame, use);
  }
#endif
}

/// Fingerprints that come: from everywhere, from few quotients, from the two ends.
std::uint64_t draw(std::mt19937_64& random, const fingerprint_bucket_shape& shape,
                   unsigned manner) {
  const std::uint64_t all = shape.fingerprints();
  switch (manner) {
    case 0:
      return random() % all;
    case 1:
      return (random() % std::min<std::uint32_t>(2, shape.quotients())) << shape.remainder_bits |
             random() % std::min<std::uint64_t>(200, std::uint64_t{1} << shape.remainder_bits);
    default:
      return random() % 2 == 0 ? random() % std::min<std::uint64_t>(80, all)
                               : all - 1 - random() % std::min<std::uint64_t>(80, all);
  }
}

template <class Buckets>
void behave_like_sorted_sets(const fingerprint_bucket_shape& shape, unsigned manner) {
  std::mt19937_64 random(shape.remainder_bits + 100 * manner);
  one_bucket<Buckets> memory(shape);
  auto buckets = memory.buckets();
  twin expected(shape.bucket_capacity);
  for (int step = 0; step < 300; ++step) {
    std::uint64_t fingerprint = draw(random, shape, manner);
    typename Buckets::item element{.fingerprint = fingerprint};
    const bool marked_before = expected.passed_on();
    const put_result answer = buckets.try_put(here, element, 0);
    ASSERT_EQ(answer, expected.put(fingerprint)) << step;
    ASSERT_EQ(element.fingerprint, fingerprint) << step;
    // A lookup before would have come as far, unless it stopped here.
    ASSERT_EQ(element.could_be_found,
              answer == put_result::present || (answer == put_result::refused && marked_before));
    const std::uint64_t asked = step % 2 == 0 ? draw(random, shape, manner) : fingerprint;
    const fingerprint_probe probe{.fingerprint = asked, .bucket = 1};
    ASSERT_EQ(static_cast<bool>(buckets.find(here, asked)), expected.contains(asked)) << step;
    ASSERT_EQ(buckets.may_be_beyond(here, probe), expected.may_be_beyond(asked)) << step;
    const bucket_look said = buckets.look(here, asked, probe);
    ASSERT_EQ(said.found, expected.contains(asked) ? 1u : 0u) << step;
    ASSERT_EQ(said.beyond, expected.may_be_beyond(asked) ? 1u : 0u) << step;
    ASSERT_EQ(*buckets.load(here), expected.kept().size());
  }
  std::vector<std::uint64_t> kept;
  buckets.for_each(1, [&](std::uint64_t one) { kept.push_back(one); });
  EXPECT_TRUE(std::ranges::equal(kept, expected.kept()));
  EXPECT_EQ(buckets.read(1).passed_on, expected.passed_on());
  if (expected.passed_on()) {
    EXPECT_EQ(buckets.read(1).largest, kept.back());
  }
  for (const std::uint64_t one : kept) ASSERT_TRUE(buckets.find(here, one).found);
  EXPECT_TRUE(memory.neighbours_are_empty());
}

TEST(fingerprint_buckets, behave_like_sorted_sets_however_they_are_searched) {
  for (const fingerprint_bucket_shape& shape : shapes()) {
    ASSERT_TRUE(shape.fits());
    with_each_search(shape, [&](auto search) {
      using buckets = typename decltype(search)::type;
      for (unsigned manner = 0; manner < 3; ++manner) {
        SCOPED_TRACE(std::to_string(shape.bucket_capacity) + " of " +
                     std::to_string(shape.remainder_bits) + " bits, manner " +
                     std::to_string(manner) + ", " + std::string(name_of(buckets::level)));
        behave_like_sorted_sets<buckets>(shape, manner);
      }
    });
  }
}

TEST(fingerprint_buckets, of_most_widths_are_searched_by_all_remainders_at_once) {
  const auto is_by_run = [](isa level, std::uint32_t h, std::uint32_t f) {
    return with_fastest_buckets(level, fingerprint_bucket_frame({h, f}), [](auto chosen) {
      using buckets = typename decltype(chosen)::type;
      return std::is_same_v<buckets, fingerprint_buckets<buckets::level>>;
    });
  };
  EXPECT_TRUE(is_by_run(isa::plain, 27, 16));
#if ONEPROBE_HAS_SIMD
  for (const auto& [h, f] : {std::pair{47u, 8u}, std::pair{27u, 16u}})
    EXPECT_FALSE(is_by_run(isa::avx2, h, f)) << f;
  for (const fingerprint_bucket_shape& shape : shapes())
    EXPECT_EQ(is_by_run(isa::avx512, shape.bucket_capacity, shape.remainder_bits),
              shape.remainder_bits < 8 || shape.remainder_bits > 28)
        << shape.remainder_bits;
#endif
}

TEST(fingerprint_buckets, of_known_shapes_are_searched_by_code_of_their_own) {
  const auto is_known = [](isa level, std::uint32_t h, std::uint32_t f) {
    return with_fastest_search(level, fingerprint_bucket_frame({h, f}), [](auto chosen) {
      using buckets = typename decltype(chosen)::type;
      return requires { buckets::known_shape::shape; };
    });
  };
  EXPECT_FALSE(is_known(isa::plain, 27, 16));
#if ONEPROBE_HAS_SIMD
  for (const isa level : {isa::avx2, isa::avx512})
    for (const fingerprint_bucket_shape& shape : shapes())
      EXPECT_EQ(
          is_known(level, shape.bucket_capacity, shape.remainder_bits),
          (shape == fingerprint_bucket_shape{47, 8} || shape == fingerprint_bucket_shape{27, 16}))
          << shape.bucket_capacity;
#endif
}

TEST(fingerprint_buckets, hold_the_same_bytes_whatever_the_order) {
  for (const fingerprint_bucket_shape& shape : shapes()) {
    std::mt19937_64 random(shape.bucket_capacity);
    std::vector<std::uint64_t> all;
    for (std::uint32_t i = 0; i < shape.bucket_capacity * 3 / 2; ++i)
      all.push_back(draw(random, shape, 0));
    std::vector<std::byte> bytes;
    for (int round = 0; round < 5; ++round) {
      std::ranges::shuffle(all, random);
      one_bucket<fingerprint_buckets<>> memory(shape);
      auto buckets = memory.buckets();
      for (const std::uint64_t one : all) {
        fingerprint_buckets<>::item element{.fingerprint = one};
        buckets.try_put(here, element, 0);
      }
      if (round == 0) bytes = memory.bytes();
      EXPECT_EQ(memory.bytes(), bytes) << shape.remainder_bits;
    }
  }
}

TEST(fingerprint_buckets, know_when_they_are_saturated) {
  const fingerprint_bucket_shape shape{27, 16};
  one_bucket<fingerprint_buckets<>> memory(shape);
  auto buckets = memory.buckets();
  for (std::uint64_t one = 0; one < 40; ++one) {
    fingerprint_buckets<>::item element{.fingerprint = one * 1000};
    buckets.try_put(here, element, 0);
  }
  EXPECT_FALSE(buckets.is_saturated(1));
  buckets.saturate(1);
  EXPECT_TRUE(buckets.is_saturated(1));
  EXPECT_TRUE(buckets.read(1).saturated());
  EXPECT_EQ(*buckets.load(here), 0u);
  for (const std::uint64_t one :
       {std::uint64_t{0}, std::uint64_t{1000}, shape.fingerprints() - 1}) {
    EXPECT_TRUE(buckets.may_be_beyond(here, {.fingerprint = one, .bucket = 1}));
    fingerprint_buckets<>::item element{.fingerprint = one};
    EXPECT_EQ(buckets.try_put(here, element, 0), put_result::present);
    EXPECT_TRUE(element.could_be_found);
  }
  EXPECT_TRUE(buckets.is_saturated(1));
  EXPECT_TRUE(memory.neighbours_are_empty());
}

template <class Buckets>
void stay_within_their_bytes(const fingerprint_bucket_shape& shape) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    one_bucket<Buckets> memory(shape);
    for (std::size_t i = 64; i < 128; ++i)
      memory.data()[i] =
          round < 2 ? static_cast<std::byte>(0xff * round) : static_cast<std::byte>(random());
    auto buckets = memory.buckets();
    for (int step = 0; step < 20; ++step) {
      const std::uint64_t one = draw(random, shape, static_cast<unsigned>(step % 3));
      typename Buckets::item element{.fingerprint = one};
      buckets.try_put(here, element, 0);
      buckets.look(here, one, {.fingerprint = one, .bucket = 1});
    }
    std::uint32_t kept = 0;
    buckets.for_each(1, [&](std::uint64_t) { ++kept; });
    ASSERT_LE(kept, shape.bucket_capacity);
    ASSERT_TRUE(memory.neighbours_are_empty());
  }
}

TEST(fingerprint_buckets, stay_within_their_bytes_whatever_these_are) {
  for (const fingerprint_bucket_shape& shape : shapes())
    with_each_search(shape, [&](auto search) {
      stay_within_their_bytes<typename decltype(search)::type>(shape);
    });
}

TEST(fingerprint_buckets, fill_their_line_and_no_more) {
  for (std::uint32_t h = 1; h <= 120; ++h)
    for (std::uint32_t f = 1; f <= 50; ++f) {
      const fingerprint_bucket_shape shape{h, f};
      if (!shape.fits()) continue;
      EXPECT_EQ(shape.quotients() + h + 1 + h * f, 512u);
      EXPECT_GE(shape.quotients(), 1u);
      EXPECT_LE(shape.header_bits(), 256u);
    }
  EXPECT_FALSE((fingerprint_bucket_shape{0, 16}).fits());
  EXPECT_FALSE((fingerprint_bucket_shape{31, 16}).fits());
  EXPECT_FALSE((fingerprint_bucket_shape{15, 16}).fits());
  EXPECT_FALSE((fingerprint_bucket_shape{60, 3}).fits());
  EXPECT_FALSE((fingerprint_bucket_shape{4'000'000'000u, 4'000'000'000u}).fits());
}

}  // namespace
