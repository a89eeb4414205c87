// bounded_map against std::unordered_map, at its rated load, full and beyond, with elements of
// every temper.
#include "oneprobe/map/bounded_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "oneprobe/detail/map/bucket_tags.hpp"
#include "oneprobe/map/bounded_set.hpp"
#include "support/small_plan.hpp"
#include "unit/map/checked_map.hpp"
#include "unit/map/operations.hpp"

using namespace oneprobe;

namespace {

using number = std::uint64_t;
using numbers = bounded_map<number, number>;

number itself(std::uint64_t i) { return i; }

template <class Scheme, std::uint32_t Capacity>
void agrees_with_its_twin(scheme_kind kind) {
  using map = bounded_map<number, number, seeded_hash, std::equal_to<>, Scheme, Capacity>;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    checked_map<map> checked(map(small_plan(Capacity, kind), seeded_hash(seed)));
    // A third of the keys at once, about as many as there is room for, and far too many.
    for (const double times : {0.7, 2.0, 4.0})
      random_operations(checked,
                        {.operations = 30'000,
                         .keys = static_cast<std::uint64_t>(times * 18 * Capacity),
                         .seed = seed},
                        itself);
    EXPECT_GT(checked.overflowed(), 0u);
    EXPECT_GT(checked.refused(), 0u);
  }
}

TEST(bounded_map, agrees_with_its_twin_under_every_scheme) {
  agrees_with_its_twin<multilevel, 16>(scheme_kind::multilevel);
  agrees_with_its_twin<single, 16>(scheme_kind::single);
  agrees_with_its_twin<sequential, 16>(scheme_kind::sequential);
  agrees_with_its_twin<d_random, 16>(scheme_kind::d_random);
  agrees_with_its_twin<d_left, 16>(scheme_kind::d_left);
}

TEST(bounded_map, agrees_with_its_twin_in_buckets_of_any_size) {
  agrees_with_its_twin<multilevel, 1>(scheme_kind::multilevel);
  agrees_with_its_twin<multilevel, 3>(scheme_kind::multilevel);
  agrees_with_its_twin<multilevel, 4>(scheme_kind::multilevel);
  agrees_with_its_twin<multilevel, 8>(scheme_kind::multilevel);
  agrees_with_its_twin<sequential, 2>(scheme_kind::sequential);
}

TEST(bounded_map, holds_text_and_is_asked_by_views) {
  using map = bounded_map<std::string, std::string>;
  checked_map<map> checked(map(small_plan(16), seeded_hash(5)));
  const auto text = [](std::uint64_t i) {
    return "a key that needs memory, number " + std::to_string(i);
  };
  random_operations(checked, {.operations = 40'000, .keys = 400}, text);
  checked.clear();
  checked.insert(text(1), "one");
  map& plain = checked.map();
  const std::string_view view = "a key that needs memory, number 1";
  ASSERT_NE(plain.find(view), nullptr);
  EXPECT_EQ(plain.find(view)->value, "one");
  EXPECT_TRUE(plain.contains("a key that needs memory, number 1"));
  EXPECT_EQ(plain.try_emplace(view, "two").outcome, insertion::present);
  EXPECT_EQ(plain.try_emplace("another", "two").outcome, insertion::inserted);
  EXPECT_EQ(plain.insert(view, "three").outcome, insertion::present);
  EXPECT_EQ(plain.insert(view, "three", plain.hash()(view)).outcome, insertion::present);
  EXPECT_TRUE(plain.visit(view, plain.hash()(view), [](auto& element) { element.value += '!'; }));
  EXPECT_EQ(plain.find(view)->value, "one!");
  EXPECT_EQ(plain.erase(view), erase_outcome::erased);
  EXPECT_FALSE(plain.contains(view));
}

TEST(bounded_map, moves_what_cannot_be_copied) {
  bounded_map<number, std::unique_ptr<number>> map(small_plan(16), seeded_hash(1));
  auto value = std::make_unique<number>(7);
  EXPECT_EQ(map.insert(1, std::move(value)).outcome, insertion::inserted);
  EXPECT_EQ(value, nullptr);
  // What is not inserted is not moved from.
  auto other = std::make_unique<number>(8);
  EXPECT_EQ(map.try_emplace(1, std::move(other)).outcome, insertion::present);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(*map.find(1)->value, 7u);
  EXPECT_EQ(map.insert_or_assign(1, std::move(other)).outcome, insertion::present);
  EXPECT_EQ(*map.find(1)->value, 8u);
}

/// Counts its kind, and throws when it is told to.
struct tempered {
  static inline int alive = 0;
  static inline int copies_left = 0;
  number value;

  explicit tempered(number v) : value(v) { ++alive; }
  tempered(const tempered& other) : value(other.value) {
    if (copies_left-- == 0) throw std::runtime_error("no more copies");
    ++alive;
  }
  tempered& operator=(const tempered&) = default;
  ~tempered() { --alive; }
};

TEST(bounded_map, is_as_before_when_a_constructor_throws) {
  {
    bounded_map<number, tempered> map(small_plan(16), seeded_hash(3));
    std::mt19937_64 random(1);
    std::vector<number> there;
    for (int i = 0; i < 20'000; ++i) {
      const number key = random() % 400;
      const bool present = map.contains(key);
      const table_counts before = map.counts();
      tempered::copies_left = static_cast<int>(random() % 2);
      const tempered value(key);
      if (tempered::copies_left == 1) {
        map.insert(key, value);
      } else if (!present) {
        bool full = false;
        try {
          full = map.insert(key, value).outcome == insertion::full;
          EXPECT_TRUE(full) << "it was constructed without a copy";
        } catch (const std::runtime_error&) {
        }
        EXPECT_EQ(map.counts(), before);
        EXPECT_FALSE(map.contains(key));
      }
      if (random() % 2 == 0) map.erase(random() % 400);
      ASSERT_EQ(tempered::alive, static_cast<int>(map.size()) + 1);
    }
    // Notes that a failed insertion had left would keep misses long.
    for (number key = 0; key < 400; ++key) map.erase(key);
    EXPECT_EQ(map.stats().miss_accesses, 1.0);
  }
  EXPECT_EQ(tempered::alive, 0);
}

/// A number that is moved and never copied.
struct only_moved {
  std::unique_ptr<number> value;

  explicit only_moved(number v) : value(std::make_unique<number>(v)) {}
  friend bool operator==(const only_moved& one, number other) {
    return one.value != nullptr && *one.value == other;
  }
};

/// A number of which every fifth copy fails, and that cannot be moved otherwise.
struct fragile {
  static inline int copies = 0;
  number value;

  explicit fragile(number v) : value(v) {}
  fragile(const fragile& other) : value(other.value) {
    if (++copies % 5 == 0) throw std::runtime_error("this copy failed");
  }
  fragile& operator=(const fragile&) = default;
  friend bool operator==(const fragile& one, number other) { return one.value == other; }
};

/// A table of such values, its twin of plain numbers: nearly full, full, and with far too many
/// keys.
template <class Value>
checked_map<bounded_map<number, Value>, number> checked_with_numbers() {
  using map = bounded_map<number, Value>;
  checked_map<map, number> checked(map(small_plan(16), seeded_hash(1)));
  for (const std::uint64_t keys : {450u, 600u, 1200u})
    random_operations(checked, {.operations = 4'000, .keys = keys}, itself);
  EXPECT_GT(checked.refused(), 0u);
  EXPECT_GT(checked.gave_way(), 0u);
  EXPECT_GT(checked.drained(), 0u);
  return checked;
}

TEST(bounded_map, agrees_with_its_twin_on_what_is_only_moved) {
  EXPECT_EQ(checked_with_numbers<only_moved>().thrown(), 0u);
}

TEST(bounded_map, agrees_with_its_twin_on_what_throws_when_copied) {
  auto checked = checked_with_numbers<fragile>();
  EXPECT_GT(checked.thrown(), 100u);
  for (number key = 0; key < 1200; ++key) checked.erase(key);
  EXPECT_EQ(checked.map().stats().miss_accesses, 1.0) << "a note was left";
}

TEST(bounded_map, ends_the_life_of_its_elements_once) {
  tempered::copies_left = 1'000'000;
  {
    bounded_map<number, tempered> map(small_plan(16), seeded_hash(3));
    for (number key = 0; key < 100; ++key) map.try_emplace(key, key);
    EXPECT_EQ(tempered::alive, 100);
    bounded_map<number, tempered> moved(std::move(map));
    EXPECT_EQ(tempered::alive, 100);
    bounded_map<number, tempered> assigned(small_plan(16), seeded_hash(4));
    assigned.try_emplace(1, number{1});
    assigned = std::move(moved);
    EXPECT_EQ(tempered::alive, 100);
    EXPECT_EQ(assigned.size(), 100u);
    assigned.clear();
    EXPECT_EQ(tempered::alive, 0);
    EXPECT_TRUE(assigned.empty());
    assigned.try_emplace(1, number{1});
  }
  EXPECT_EQ(tempered::alive, 0);
}

TEST(bounded_map, keeps_references_until_an_element_is_erased) {
  numbers map(small_plan(16), seeded_hash(1));
  std::vector<std::pair<number, const map_element<number, number>*>> kept;
  for (number key = 0; key < 100; ++key) kept.emplace_back(key, map.insert(key, key).element);
  for (number key = 1000; key < 3000; ++key) {
    map.insert(key, key);
    map.erase(key - 50);
  }
  for (const auto& [key, element] : kept) {
    EXPECT_EQ(element->key, key);
    EXPECT_EQ(map.find(key), element);
  }
}

TEST(bounded_map, says_full_and_keeps_everything) {
  numbers map(small_plan(16), seeded_hash(1));
  number key = 0;
  std::vector<number> there;
  for (std::uint64_t refused = 0; refused < 1000; ++key) {
    const auto result = map.insert(key, key);
    if (result.outcome == insertion::full)
      ++refused;
    else
      there.push_back(key);
  }
  EXPECT_EQ(map.size(), there.size());
  EXPECT_LE(map.size(), 20u * 16);
  EXPECT_GT(map.size(), 18u * 16);
  for (const number one : there) ASSERT_TRUE(map.contains(one));
  // Once something is erased there is room for something.
  for (const number one : there) map.erase(one);
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.stats().counts, table_counts{});
}

TEST(bounded_map, lowers_every_note_that_it_raised) {
  numbers map(small_plan(8 * 2), seeded_hash(9));
  std::mt19937_64 random(4);
  for (int i = 0; i < 100'000; ++i) {
    const number key = random() % 500;
    if (random() % 2 == 0)
      map.insert(key, key);
    else
      map.erase(key);
  }
  ASSERT_EQ(map.stats().stuck_notes, 0u);
  for (number key = 0; key < 500; ++key) map.erase(key);
  EXPECT_EQ(map.stats().miss_accesses, 1.0);
}

/// A hash that the keys choose.
struct chosen_hash {
  explicit chosen_hash(std::uint64_t = 0) {}
  key_hash operator()(number key) const { return {key}; }
};

/// Tells which keys of the table it was asked about.
struct telling_equal {
  std::vector<const number*>* compared = nullptr;

  bool operator()(const number& there, const number& wanted) const {
    compared->push_back(&there);
    return there == wanted;
  }
};

/// A table that somebody attacks, and what its operations read.
template <class Hash, class Scheme = multilevel>
class attacked_map {
 public:
  explicit attacked_map(const Hash& hash, const table_plan& plan = small_plan(16))
      : checked_(map(plan, hash, telling_equal{&compared_})) {}

  /// Inserts and erases these keys, again and again.
  void use(const std::vector<number>& keys) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 20; ++round) {
      for (const number key : keys) {
        // An erasure goes the way of the lookup before it; an insertion, too, and then on to where
        // the lookup after it ends.
        look(key);
        compared_.clear();
        if (random() % 3 == 0)
          checked_.erase(key);
        else
          checked_.insert(key, key);
        expect_one_line_per_bucket();
        look(key);
        if (testing::Test::HasFailure()) return;
      }
    }
  }

  std::uint32_t most_lines() const { return most_lines_; }
  std::size_t most_lines_of_slots() const { return most_lines_of_slots_; }
  /// Lines of slots that a lookup had asked for and did not compare.
  std::uint32_t most_unread() const { return most_unread_; }
  std::uint64_t refused() const { return checked_.refused(); }

 private:
  using map = bounded_map<number, number, Hash, telling_equal, Scheme>;

  void look(number key) {
    const table_path path = checked_.explain(key);
    EXPECT_LE(path.lines, 2 * (path.accesses + path.overflow_accesses));
    EXPECT_LE(path.unread_lines, path.accesses + path.overflow_accesses);
    most_lines_ = std::max(most_lines_, path.lines);
    most_unread_ = std::max(most_unread_, path.unread_lines);
  }
  /// Of what the last operation compared.
  void expect_one_line_per_bucket() {
    const table_memory_parts parts =
        checked_.map().plan().memory(sizeof(map_element<number, number>));
    const std::byte* const slots = checked_.map().memory().data() + parts.side;
    std::set<std::ptrdiff_t> lines, buckets;
    for (const number* const key : compared_) {
      std::ptrdiff_t at = reinterpret_cast<const std::byte*>(key) - slots;
      // The slots of the overflow, as if they followed on the others.
      if (at >= static_cast<std::ptrdiff_t>(parts.slots))
        at -= static_cast<std::ptrdiff_t>(parts.overflow_side);
      lines.insert(at / 64);
      buckets.insert(at / 256);
    }
    EXPECT_EQ(lines.size(), buckets.size());
    EXPECT_LE(buckets.size(), checked_.map().plan().choices + table_plan::overflow_choices);
    most_lines_of_slots_ = std::max(most_lines_of_slots_, lines.size());
  }

  std::vector<const number*> compared_;
  checked_map<map> checked_;
  std::uint32_t most_lines_ = 0;
  std::uint32_t most_unread_ = 0;
  std::size_t most_lines_of_slots_ = 0;
};

/// All in a few buckets, with few different tags and notes: such keys need not be rare if somebody
/// looks for them.
template <class Scheme>
void reads_two_lines_per_bucket_of_chosen_keys(const table_plan& plan, int count = 1000) {
  SCOPED_TRACE(std::string(name_of(plan.scheme)) + ", " + std::to_string(plan.choices));
  attacked_map<chosen_hash, Scheme> attacked{chosen_hash(), plan};
  std::mt19937_64 random(1);
  std::vector<number> keys;
  for (int i = 0; i < count; ++i)
    keys.push_back((random() % 3) << 60 | (random() & 0x0fff'ffff) << 28 | random() % 3);
  attacked.use(keys);
  EXPECT_GT(attacked.most_lines(), 2 * plan.choices) << "these keys were meant to be expensive";
  EXPECT_GE(attacked.most_lines_of_slots(), plan.choices);
  EXPECT_GT(attacked.most_unread(), 0u);
  EXPECT_GT(attacked.refused(), 0u);
}

TEST(bounded_map, reads_at_most_two_lines_per_bucket_for_any_keys) {
  reads_two_lines_per_bucket_of_chosen_keys<multilevel>(small_plan(16), 4000);
  table_plan plan = small_plan(16);
  plan.levels = plan.choices = 2;
  plan.level_buckets = {12, 6};
  reads_two_lines_per_bucket_of_chosen_keys<multilevel>(plan);
  plan.levels = plan.choices = 4;
  plan.level_buckets = {10, 4, 2, 2};
  reads_two_lines_per_bucket_of_chosen_keys<multilevel>(plan);
  reads_two_lines_per_bucket_of_chosen_keys<d_left>(small_plan(16, scheme_kind::d_left));
  reads_two_lines_per_bucket_of_chosen_keys<d_random>(small_plan(16, scheme_kind::d_random));
  reads_two_lines_per_bucket_of_chosen_keys<sequential>(small_plan(16, scheme_kind::sequential));
}

TEST(bounded_map, counts_the_lines_of_slots_that_it_asked_for_in_vain) {
  bounded_map<number, number, chosen_hash> map(small_plan(16));
  // Six tags with one line of slots, which has room for four.
  for (number key = 1; key <= 6; ++key)
    ASSERT_EQ(map.insert(key, key).outcome, insertion::inserted);
  for (number key = 1; key <= 8; ++key) {
    SCOPED_TRACE(key);
    const table_path path = map.explain(key);
    EXPECT_EQ(path.accesses, 1u);
    EXPECT_EQ(path.contains(), key <= 6);
    EXPECT_EQ(path.lines, key <= 6 ? 2u : 1u);
    EXPECT_EQ(path.unread_lines, key <= 4 ? 0u : 1u) << "elsewhere, or absent";
  }
  // Slots of 24 bytes straddle lines: the bucket is one group, and the tag does not tell the line.
  bounded_map<number, std::pair<number, number>, chosen_hash> wide(small_plan(16));
  for (number key = 1; key <= 6; ++key)
    ASSERT_EQ(wide.try_emplace(key).outcome, insertion::inserted);
  for (number key = 1; key <= 8; ++key) EXPECT_EQ(wide.explain(key).unread_lines, 0u);
}

/// Keys with one first candidate and one tag, found as anybody finds them who knows the seed: by
/// trying. One of 50,000 will do, of the 12 buckets and 4096 tags.
std::vector<number> colliding_keys(const seeded_hash& hash, std::size_t wanted) {
  const table_plan plan = small_plan(16);
  const multilevel scheme(std::span(plan.level_buckets).first(plan.levels));
  const auto bucket_and_tag = [&](number key) {
    const key_hash hashed = hash(key);
    const auto tag = detail::bucket_tag::of(hashed);
    return std::tuple(scheme.first(hashed).bucket, tag.low, tag.high);
  };
  const auto one = bucket_and_tag(0);
  std::vector<number> keys;
  for (number key = 0; keys.size() < wanted; ++key)
    if (bucket_and_tag(key) == one) keys.push_back(key);
  return keys;
}

TEST(bounded_map, reads_at_most_two_lines_per_bucket_for_keys_that_collide_by_its_hash) {
  const seeded_hash hash(7);
  attacked_map attacked(hash);
  attacked.use(colliding_keys(hash, 300));
  EXPECT_GT(attacked.most_lines(), 6u);
  EXPECT_GE(attacked.most_lines_of_slots(), 3u) << "all of one tag, in every level";
  EXPECT_GT(attacked.refused(), 0u);
}

TEST(bounded_map, refuses_plans_that_are_not_for_it) {
  const auto fault_of = [](const table_plan& plan) -> std::string {
    try {
      numbers map(plan);
    } catch (const std::invalid_argument& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_EQ(fault_of(small_plan(16)), "");
  EXPECT_EQ(fault_of(small_plan(8)), "bucket_capacity must be 16; found 8");
  EXPECT_EQ(fault_of(small_plan(16, scheme_kind::sequential)),
            "scheme must be multilevel; found sequential");
  table_plan plan = small_plan(16);
  plan.level_buckets[1] = 0;
  EXPECT_EQ(fault_of(plan), "level_buckets must be 1 and up, 2^40 in all; found 0");
  plan = small_plan(16);
  plan.overflow_buckets = 0;
  EXPECT_EQ(fault_of(plan), "overflow_buckets must be 1 to 2^40; found 0");
}

TEST(bounded_map, lives_in_memory_of_the_caller) {
  const table_plan plan = small_plan(16);
  line_memory memory(plan.memory(16).total());
  numbers map(plan, memory.bytes(), seeded_hash(1));
  for (number key = 0; key < 200; ++key) map.insert(key, key + 1);
  EXPECT_EQ(map.memory().data(), memory.data());
  for (number key = 0; key < 200; ++key) ASSERT_EQ(map.find(key)->value, key + 1);
  EXPECT_THROW(numbers(plan, memory.bytes().first(64), seeded_hash(1)), std::invalid_argument);
}

TEST(bounded_map, sweeps_all_elements_in_turn) {
  numbers map(small_plan(16), seeded_hash(1));
  for (number key = 0; key < 250; ++key) map.insert(key, key % 2);
  std::uint64_t erased = 0;
  for (int call = 0; call < 5; ++call)
    erased += map.sweep(4, [](const auto& element) { return element.value == 1; });
  EXPECT_EQ(erased, 125u);
  EXPECT_EQ(map.size(), 125u);
  for (const auto& [key, value] : map) EXPECT_EQ(value, 0u);
}

TEST(bounded_map, is_copied_with_all_it_has) {
  bounded_map<std::string, std::string> map(small_plan(16), seeded_hash(1));
  for (int i = 0; i < 300; ++i) map.try_emplace("key " + std::to_string(i), std::to_string(i));
  ASSERT_GT(map.counts().overflow, 0u);
  const bounded_map<std::string, std::string> copy(map);
  map.clear();
  EXPECT_GT(copy.size(), 280u);
  std::uint64_t found = 0;
  for (int i = 0; i < 300; ++i) found += copy.contains("key " + std::to_string(i)) ? 1u : 0u;
  EXPECT_EQ(found, copy.size());
  map = copy;
  EXPECT_EQ(map.counts(), copy.counts());
  EXPECT_EQ(map.stats().miss_accesses, copy.stats().miss_accesses);
  numbers plain(small_plan(16), seeded_hash(1));
  for (number key = 0; key < 300; ++key) plain.insert(key, key);
  numbers same(plain);
  EXPECT_EQ(same.size(), plain.size());
  for (const auto& [key, value] : plain) EXPECT_EQ(same.find(key)->value, value);
}

TEST(bounded_map, loses_nothing_when_a_copy_throws) {
  {
    tempered::copies_left = 1'000'000;
    bounded_map<number, tempered> map(small_plan(16), seeded_hash(3));
    for (number key = 0; key < 300; ++key) map.try_emplace(key, key);
    const int alive = tempered::alive;
    for (const int copies : {0, 1, 100, 250}) {
      tempered::copies_left = copies;
      EXPECT_THROW((bounded_map<number, tempered>(map)), std::runtime_error);
      EXPECT_EQ(tempered::alive, alive);
    }
    tempered::copies_left = 1'000'000;
  }
  EXPECT_EQ(tempered::alive, 0);
}

TEST(bounded_map, grows_by_copying_into_a_larger_one) {
  numbers map(small_plan(16), seeded_hash(1));
  number key = 0;
  while (map.insert(key, key).outcome != insertion::full) ++key;
  numbers larger(1000, seeded_hash(2));
  EXPECT_EQ(map.copy_into(larger), 0u);
  EXPECT_EQ(larger.size(), map.size());
  EXPECT_EQ(larger.insert(key, key).outcome, insertion::inserted);
  for (number more = 10'000; more < 10'500; ++more) larger.insert(more, more);
  numbers smaller(small_plan(16), seeded_hash(3));
  const std::uint64_t without_room = larger.copy_into(smaller);
  EXPECT_GT(without_room, 0u);
  EXPECT_EQ(without_room, larger.size() - smaller.size());
}

TEST(bounded_map, drains_its_overflow_when_there_is_room_again) {
  numbers map(small_plan(16), seeded_hash(1));
  number key = 0;
  while (map.insert(key, key).outcome != insertion::full) ++key;
  const std::uint64_t overflowed = map.counts().overflow;
  ASSERT_GT(overflowed, 4u);
  EXPECT_EQ(map.drain(2), 0u) << "there was no room";
  for (number one = 0; one < key; one += 2) map.erase(one);
  EXPECT_GT(map.counts().overflow, 0u) << "nothing is drained unless it is asked for";
  while (map.drain(1) + map.drain(1) > 0) {
  }
  EXPECT_EQ(map.counts().overflow, 0u);
  for (number one = 0; one < key; ++one) ASSERT_EQ(map.contains(one), one % 2 == 1);
  for (number one = 0; one < key; ++one) map.erase(one);
  EXPECT_EQ(map.stats().miss_accesses, 1.0);
  EXPECT_EQ(map.stats().counts, table_counts{});
}

TEST(bounded_map, agrees_with_its_twin_while_it_drains) {
  numbers map(small_plan(16), seeded_hash(1));
  map.drain_on_erase(1);
  checked_map<numbers> checked(std::move(map));
  for (const std::uint64_t keys : {250u, 400u, 800u})
    random_operations(checked, {.operations = 30'000, .keys = keys}, itself);
  EXPECT_GT(checked.overflowed(), 0u);
}

TEST(bounded_map, asks_who_shall_give_way_when_it_is_full) {
  using map = bounded_map<number, number, seeded_hash>;
  map table(small_plan(16), seeded_hash(1));
  number time = 0;
  std::uint64_t evicted = 0;
  const auto oldest = [&](std::span<map_element<number, number>* const> candidates) {
    EXPECT_GT(candidates.size(), 0u);
    EXPECT_LE(candidates.size(), 16u * (3 + 4));
    auto* chosen = candidates.front();
    for (auto* one : candidates) chosen = one->value < chosen->value ? one : chosen;
    ++evicted;
    return chosen;
  };
  for (; time < 5000; ++time) {
    const auto result = table.try_emplace_evicting(time * 7, oldest, time);
    ASSERT_NE(result.outcome, insertion::full);
    ASSERT_TRUE(table.contains(time * 7));
  }
  EXPECT_EQ(table.size(), 5000 - evicted);
  EXPECT_EQ(
      table.insert(1, 1).outcome == insertion::full || table.erase(1) == erase_outcome::erased,
      true);
  // Who picks nobody keeps all.
  const std::uint64_t size = table.size();
  for (number key = 1'000'001; key < 1'000'100; ++key)
    if (table
            .try_emplace_evicting(
                key, [](auto) -> map_element<number, number>* { return nullptr; }, 0u)
            .outcome != insertion::full)
      table.erase(key);
  EXPECT_EQ(table.size(), size);
}

TEST(bounded_map, gives_the_place_of_whom_it_evicts_to_the_new_element) {
  numbers table(small_plan(16), seeded_hash(1));
  table.drain_on_erase(100);  // all of the overflow
  for (number key = 0; key < 5000; ++key) {
    const auto result = table.try_emplace_evicting(
        key, [](auto candidates) { return candidates.front(); }, key);
    ASSERT_NE(result.outcome, insertion::full) << key;
    ASSERT_EQ(table.find(key), result.element);
  }
}

TEST(bounded_map, can_be_cleared_after_it_was_moved_from) {
  numbers from(small_plan(16), seeded_hash(1));
  from.insert(1, 2);
  const numbers to(std::move(from));
  from.clear();
  EXPECT_EQ(from.size(), 0u);
  EXPECT_TRUE(to.contains(1));
}

TEST(bounded_map, goes_on_sweeping_and_draining_where_it_was_after_it_was_moved) {
  numbers from(small_plan(16), seeded_hash(1));
  number key = 0;
  // Something in both buckets of the overflow.
  while (from.counts().overflow < 12) from.insert(key++, 0);
  std::vector<number> regular;
  for (const auto& [one, value] : from)
    if (from.explain(one).stopped == table_path::stop::found) regular.push_back(one);
  std::uint64_t seen = 0;
  const auto count = [&](const auto&) {
    ++seen;
    return false;
  };
  from.sweep(7, count);
  numbers swept(std::move(from));
  swept.sweep(20 - 7, count);
  EXPECT_EQ(seen, swept.size()) << "each once";

  for (const number one : regular) swept.erase(one);
  const std::uint64_t first = swept.drain(1);
  EXPECT_GT(first, 0u);
  EXPECT_GT(swept.counts().overflow, 0u);
  numbers drained(small_plan(16), seeded_hash(2));
  drained = std::move(swept);
  drained.drain(1);
  EXPECT_EQ(drained.counts().overflow, 0u);
}

TEST(bounded_map, takes_hashes_that_were_made_before) {
  numbers map(1000, seeded_hash(1));
  std::vector<number> keys;
  std::vector<key_hash> hashes;
  for (number key = 0; key < 1000; ++key) {
    keys.push_back(key);
    hashes.push_back(map.hash()(key));
    EXPECT_NE(map.try_emplace_hashed(hashes.back(), key, key).outcome, insertion::full);
  }
  std::vector<map_element<number, number>*> found(keys.size());
  EXPECT_EQ(map.bulk_find(keys, hashes, found), 1000u);
  for (const number key : keys) {
    EXPECT_EQ(map.find(key, hashes[key]), found[key]);
    EXPECT_TRUE(map.contains(key, hashes[key]));
  }
  EXPECT_EQ(map.insert(5, 0, hashes[5]).element, found[5]);
  EXPECT_TRUE(std::as_const(map).visit(
      5, hashes[5], [&](const auto& element) { EXPECT_EQ(&element, found[5]); }));
  EXPECT_EQ(map.erase(keys[3], hashes[3]), erase_outcome::erased);
  EXPECT_FALSE(map.visit(3, [](auto&) { FAIL(); }));
  EXPECT_TRUE(map.visit(4, [](auto& element) { element.value = 9; }));
  EXPECT_EQ(map.find(4)->value, 9u);
}

TEST(bounded_set, inserts_finds_and_erases) {
  bounded_set<std::string> set(1000, seeded_hash(2));
  EXPECT_EQ(set.insert("a").outcome, insertion::inserted);
  EXPECT_EQ(set.insert(std::string("a")).outcome, insertion::present);
  EXPECT_EQ(set.insert(std::string_view("b")).outcome, insertion::inserted);
  EXPECT_TRUE(set.contains("a"));
  EXPECT_TRUE(set.contains(std::string("b")));
  EXPECT_EQ(set.erase("a"), erase_outcome::erased);
  EXPECT_EQ(set.erase("a"), erase_outcome::absent);
  EXPECT_EQ(set.size(), 1u);
}

TEST(bounded_set, takes_hashes_that_were_made_before) {
  bounded_set<std::string> set(1000, seeded_hash(2));
  std::string key = "a key that needs memory of its own";
  const key_hash hash = set.hash()(key);
  EXPECT_EQ(set.insert(std::string_view(key), hash).outcome, insertion::inserted);
  EXPECT_EQ(set.insert(std::move(key), hash).outcome, insertion::present);
  EXPECT_EQ(key, "a key that needs memory of its own") << "moved from, and not inserted";
  EXPECT_TRUE(set.contains(key));
  EXPECT_EQ(set.insert(key, hash).element, set.find(key, hash));
  EXPECT_EQ(set.erase(key, hash), erase_outcome::erased);
  EXPECT_EQ(set.insert(std::move(key), hash).outcome, insertion::inserted);
  EXPECT_EQ(key, "");
}

TEST(bounded_set, asks_who_shall_give_way_when_it_is_full) {
  bounded_set<std::string> set(small_plan(16), seeded_hash(1));
  std::set<std::string> twin;
  const auto least = [&](std::span<set_element<std::string>* const> candidates) {
    auto* chosen = candidates.front();
    for (auto* one : candidates) chosen = one->key < chosen->key ? one : chosen;
    twin.erase(chosen->key);
    return chosen;
  };
  std::uint64_t inserted = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string key = "a key that needs memory, number " + std::to_string(i * 7 % 1000);
    twin.insert(key);
    const key_hash hash = set.hash()(key);
    // Every other one by its hash, and moved.
    const std::string copy = key;
    const auto result = i % 2 == 0 ? set.insert_evicting(key, least)
                                   : set.insert_evicting(std::move(key), least, hash);
    ASSERT_NE(result.outcome, insertion::full);
    ASSERT_EQ(result.element->key, copy);
    inserted += result.outcome == insertion::present ? 0u : 1u;
  }
  EXPECT_GT(inserted, set.size()) << "nobody gave way";
  ASSERT_EQ(set.size(), twin.size());
  for (const std::string& key : twin) ASSERT_TRUE(set.contains(key));
  // Who picks nobody keeps all, and a key that is not inserted is not moved from.
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    std::string key = "another key that needs memory, number " + std::to_string(i);
    const std::string copy = key;
    const auto nobody = [](auto) -> set_element<std::string>* { return nullptr; };
    const auto result = set.insert_evicting(std::move(key), nobody, set.hash()(copy));
    if (result.outcome != insertion::full) continue;
    ++refused;
    ASSERT_EQ(key, copy);
    ASSERT_EQ(result.element, nullptr);
  }
  EXPECT_GT(refused, 0);
  for (const std::string& key : twin) ASSERT_TRUE(set.contains(key));
}

TEST(bounded_set, of_numbers_needs_no_more_than_its_plan) {
  bounded_set<number> set(10'000, seeded_hash(2));
  EXPECT_EQ(set.memory().size(), set.plan().memory(8).total());
  for (number key = 0; key < 10'000; ++key) ASSERT_NE(set.insert(key).outcome, insertion::full);
  for (number key = 0; key < 10'000; ++key) ASSERT_TRUE(set.contains(key));
  for (number key = 10'000; key < 20'000; ++key) ASSERT_FALSE(set.contains(key));
}

}  // namespace
