// Files whose writer ended early, and tables that two processes see.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "formats/temporary_folder.hpp"
#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/bounded_set.hpp"
#include "oneprobe/map/file.hpp"
#include "support/shared_with_child.hpp"
#include "support/small_plan.hpp"
#include "unit/map/table_files.hpp"

using namespace oneprobe;
using namespace table_files;

namespace {

void leave_open(table_parameters& parameters) { parameters.state = table_file_state::open; }

/// What is recovered from bytes must be without a fault, and say what it dropped.
template <class Map = few_numbers>
Map recovered(const file_bytes& bytes, std::uint64_t dropped) {
  recovered_table<Map> read = recover_from<Map>(bytes).value();
  EXPECT_EQ(read.dropped, dropped);
  const auto again = load_from<Map>(saved(read.table), every_element);
  EXPECT_TRUE(again) << again.failure().sentence;
  return std::move(read.table);
}

/// All elements but those with these keys.
void expect_all_but(const few_numbers& found, const few_numbers& expected,
                    const std::vector<number>& gone) {
  std::uint64_t there = 0;
  for (const auto& [key, value] : expected) {
    const auto* const one = found.find(key);
    if (std::ranges::find(gone, key) != gone.end()) {
      EXPECT_EQ(one, nullptr) << key;
      continue;
    }
    ASSERT_NE(one, nullptr) << key;
    EXPECT_EQ(one->value, value);
    ++there;
  }
  EXPECT_EQ(found.size(), there);
}

TEST(table_recovery, counts_anew_what_is_there) {
  const few_numbers table = churned<few_numbers>();
  const file_bytes bytes = forged(saved(table), [](auto& p) {
    leave_open(p);
    p.counts = {};
  });
  EXPECT_EQ(failure_of(load_from<few_numbers>(bytes)).error, load_error::not_closed);
  const few_numbers again = recovered(bytes, 0);
  EXPECT_EQ(again.counts(), table.counts());
  expect_all_but(again, table, {});
  EXPECT_EQ(saved(again), saved(table)) << "nothing else had to be changed";
}

TEST(table_recovery, makes_notes_anew) {
  const few_numbers table = churned<few_numbers>();
  for (const std::byte note : {std::byte{0}, std::byte{0xff}}) {
    const file_bytes bytes = forged(saved(table), leave_open, [&](auto payload) {
      for (std::size_t bucket = 0; bucket < 18; ++bucket)
        std::ranges::fill(payload.subspan(bucket * 32 + 24, 8), note);
    });
    const few_numbers again = recovered(bytes, 0);
    expect_all_but(again, table, {});
    EXPECT_EQ(saved(again), saved(table));
  }
}

TEST(table_recovery, drops_what_is_not_where_it_belongs) {
  const few_numbers table = churned<few_numbers>();
  const auto place_of = [&](number key) {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(table.find(key)) -
                                    table.memory().data());
  };
  // A key that was never written, and one whose tag is another's.
  const std::size_t first_slot = place_of(1);
  const file_bytes bytes = forged(saved(table), leave_open, [&](auto payload) {
    std::ranges::fill(payload.subspan(first_slot, 16), std::byte{0});
    const std::size_t slot = (place_of(2) - 18 * 32) / 16;
    payload[slot / 4 * 32 + slot % 4] ^= std::byte{0x80};
  });
  expect_all_but(recovered(bytes, 2), table, {1, 2});
}

TEST(table_recovery, keeps_one_of_two_equal_keys) {
  few_numbers table = churned<few_numbers>();
  ASSERT_GT(table.counts().overflow, 0u);
  // As draining leaves it when it ends between its two steps: the element is in the overflow, and
  // already in a bucket.
  const file_bytes before = saved(table);
  std::uint64_t moved = 0;
  for (number key = 0; key < 80 && moved == 0; ++key) {
    table.erase(key);
    moved = table.drain(2);
  }
  ASSERT_GT(moved, 0u);
  const std::size_t overflow = 18 * 32 + 18 * 4 * 16;
  const file_bytes bytes = forged(saved(table), leave_open, [&](auto payload) {
    std::ranges::copy(std::span(before).subspan(head_bytes + overflow),
                      payload.subspan(overflow).begin());
  });
  expect_all_but(recovered(bytes, moved), table, {});
}

TEST(table_recovery, clears_what_no_table_has) {
  const few_numbers table = churned<few_numbers>();
  // Low tags of slots 4 and 15, which a bucket of four has not, and high tags of slots 5 and 15;
  // the same in the overflow.
  const std::size_t overflow_side = 18 * 32 + 18 * 4 * 16;
  const file_bytes bytes = forged(saved(table), leave_open, [&](auto payload) {
    for (const std::size_t side : {std::size_t{32}, overflow_side + 32})
      for (const std::size_t at : {4u, 15u, 16u + 2, 16u + 7}) payload[side + at] = std::byte{0xff};
  });
  EXPECT_EQ(saved(recovered(bytes, 0)), saved(table));

  // 1 bucket of 4 slots of 4 bytes in both parts: all paddings there can be.
  using set_of_four = bounded_set<std::uint32_t, seeded_hash, std::equal_to<>, single, 4>;
  table_plan plan = small_plan(4, scheme_kind::single, 1);
  plan.level_buckets[0] = 1;
  set_of_four set(plan, seeded_hash(1));
  for (std::uint32_t key = 0; key < 6; ++key) set.insert(key);
  const file_bytes padded = forged(saved(set), leave_open, [](auto payload) {
    for (const std::size_t at : {32u, 63u, 64u + 16, 64u + 63, 128u + 32, 192u + 16, 192u + 63})
      payload[at] = std::byte{1};
  });
  const auto again = recover_from<set_of_four>(padded);
  ASSERT_TRUE(again) << again.failure().sentence;
  EXPECT_EQ(saved(again->table), saved(set));
}

TEST(table_recovery, brings_elements_of_one_tag_into_one_line) {
  const pair_of_one_tag pair = find_pair_of_one_tag();
  const file_bytes bytes = forged(saved(pair.table), leave_open, [&](auto payload) {
    move_to_another_line(pair.table, pair.second, payload);
  });
  const numbers again = recovered<numbers>(bytes, 0);
  EXPECT_EQ(again.counts(), pair.table.counts());
  EXPECT_TRUE(again.contains(pair.first) && again.contains(pair.second));
}

// ---- buckets of a payload, elements of 16 bytes ----

struct forged_bucket {
  detail::bucket_entry entry;
  std::span<std::byte> slots;

  /// Elements change places with their tags, as no table does it.
  void exchange(std::uint32_t one, std::uint32_t other) {
    const detail::bucket_tag tag = entry.tag_of(one);
    entry.take(one, entry.tag_of(other));
    entry.take(other, tag);
    std::ranges::swap_ranges(slots.subspan(one * 16, 16), slots.subspan(other * 16, 16));
  }
};

/// Those of the overflow come after the others.
forged_bucket bucket_of(const table_plan& plan, std::span<std::byte> payload, std::uint64_t i) {
  const table_memory_parts parts = plan.memory(16);
  std::uint64_t side = 0;
  std::uint64_t slots = parts.side;
  if (i >= plan.buckets()) {
    i -= plan.buckets();
    side = slots + parts.slots;
    slots = side + parts.overflow_side;
  }
  const std::uint64_t bucket_bytes = 16 * plan.bucket_capacity;
  return {detail::bucket_entry(payload.data() + side + i * table_plan::side_bytes),
          payload.subspan(slots + i * bucket_bytes, bucket_bytes)};
}

std::uint64_t taken_slots(const table_plan& plan, std::span<std::byte> payload) {
  const std::uint32_t slots = (1u << plan.bucket_capacity) - 1;
  int taken = 0;
  for (std::uint64_t i = 0; i < plan.buckets() + plan.overflow_buckets; ++i)
    taken += std::popcount(bucket_of(plan, payload, i).entry.tags().occupied() & slots);
  return static_cast<std::uint64_t>(taken);
}

TEST(table_recovery, drops_an_element_for_whose_tag_there_is_no_room) {
  using one_bucket = bounded_map<number, number, seeded_hash, std::equal_to<>, single>;
  table_plan plan = small_plan(16, scheme_kind::single, 1);
  plan.level_buckets[0] = 1;
  one_bucket table(plan, seeded_hash(5));
  const auto tag_of = [&](number key) { return table.hash()(key).value & 0xfff; };
  const number first = 0;
  number second = 1;
  while (tag_of(second) != tag_of(first)) ++second;
  table.insert(first, 0);
  table.insert(second, 0);
  for (number key = 1; table.size() < 2 * 16; ++key) table.insert(key, key);

  // One of the two into another line; where the first of these is, all slots are taken.
  const auto* const slots = table.memory().data() + plan.memory(16).side;
  const auto slot = static_cast<std::uint32_t>(
      (reinterpret_cast<const std::byte*>(table.find(second)) - slots) / 16);
  const file_bytes bytes = forged(saved(table), leave_open, [&](auto payload) {
    bucket_of(plan, payload, 0).exchange(slot, (slot + 4) % 16);
  });
  const one_bucket again = recovered<one_bucket>(bytes, 1);
  EXPECT_EQ(again.size(), 31u);
  EXPECT_NE(again.contains(first), again.contains(second));
}

/// As `churned`, but of 48 tags only: buckets have several elements of one.
template <class Map>
Map crowded() {
  constexpr std::uint32_t capacity = Map::bucket_capacity;
  Map map(small_plan(capacity), seeded_hash(5));
  for (number key = 0; key < 64 * 20 * capacity; ++key)
    if ((map.hash()(key).value & 0xfc) == 0) map.insert(key, ~key);
  map.sweep(20, [](const auto& one) { return one.key % 3 == 0; });
  return map;
}

/// Exchanges elements within their buckets, and overwrites bytes: returns how many.
std::uint64_t spoil(const table_plan& plan, std::span<std::byte> payload, std::mt19937_64& random) {
  const auto below = [&](std::uint64_t end) { return static_cast<std::uint32_t>(random() % end); };
  const std::uint32_t capacity = plan.bucket_capacity;
  for (std::uint32_t left = below(40); left > 0; --left) {
    const std::uint32_t bucket = below(plan.buckets() + plan.overflow_buckets);
    const std::uint32_t slot = below(capacity);
    const std::uint32_t other = (slot + 1 + below(capacity - 1)) % capacity;
    bucket_of(plan, payload, bucket).exchange(slot, other);
  }
  const std::uint32_t overwritten = below(40);
  for (std::uint32_t left = overwritten; left > 0; --left) {
    const std::uint32_t at = below(payload.size());
    payload[at] = static_cast<std::byte>(random());
  }
  return overwritten;
}

template <class Map>
void recovers_from_any_payload() {
  const Map table = crowded<Map>();
  const file_bytes whole = forged(saved(table), leave_open);
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    file_bytes bytes = whole;
    const std::span<std::byte> payload = std::span(bytes).subspan(head_bytes);
    const std::uint64_t overwritten = spoil(table.plan(), payload, random);
    const auto read = recover_from<Map>(bytes);
    ASSERT_TRUE(read) << read.failure().sentence;
    ASSERT_EQ(read->dropped + read->table.size(), taken_slots(table.plan(), payload));
    ASSERT_LE(read->dropped, 2 * overwritten) << "a byte has the high tags of two slots";
    const auto again = load_from<Map>(saved(read->table), every_element);
    ASSERT_TRUE(again) << again.failure().sentence;
  }
}

TEST(table_recovery, of_any_payload_is_a_whole_table) {
  recovers_from_any_payload<few_numbers>();
  recovers_from_any_payload<numbers>();
}

TEST(table_recovery, in_the_file_makes_it_whole) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  const few_numbers table = churned<few_numbers>();
  write_file(path, forged(saved(table, 4), leave_open));
  EXPECT_EQ(failure_of(recover<few_numbers>(path)).error, load_error::wrong_kind) << "the schema";
  const auto recovery = recover<few_numbers>(path, {.schema = 4});
  ASSERT_TRUE(recovery) << recovery.failure().sentence;
  EXPECT_EQ(recovery->counts, table.counts());
  EXPECT_EQ(recovery->dropped, 0u);
  EXPECT_EQ(bytes_of_file(path), saved(table, 4));
  EXPECT_EQ(folder.entries(), 1u);
}

struct salted {  // a policy that a file cannot tell from another
  explicit salted(std::uint64_t salt) : hash(salt) {}
  key_hash operator()(number key) const noexcept { return hash(key); }
  seeded_hash hash;
};

TEST(table_recovery, by_another_hash_leaves_the_file_as_it_is) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  using own = bounded_map<number, number, salted>;
  for (const number elements : {1u, 16u, 100u}) {
    own table(small_plan(16), salted(1));
    for (number key = 0; key < elements; ++key) table.insert(key, key);
    const file_bytes whole = forged(saved(table), leave_open);
    write_file(path, whole);
    EXPECT_EQ(failure_of(recover<own>(path, {}, salted(2))).error, load_error::wrong_kind);
    EXPECT_EQ(bytes_of_file(path), whole);
    const auto recovery = recover<own>(path, {}, salted(1));
    ASSERT_TRUE(recovery) << recovery.failure().sentence;
    EXPECT_EQ(recovery->counts.size, elements);
  }
}

TEST(table_recovery, of_an_empty_file_is_an_empty_table) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  write_file(path, forged(saved(numbers(small_plan(16), seeded_hash(5))), leave_open));
  const auto recovery = recover<numbers>(path);
  ASSERT_TRUE(recovery) << recovery.failure().sentence;
  EXPECT_TRUE(load<numbers>(path)->empty());
}

struct interrupted {  // a policy during which something happens once
  key_hash operator()(number key) const {
    if (happens) std::exchange(happens, nullptr)();
    return seeded_hash(1)(key);
  }
  mutable std::function<void()> happens;
};
using interrupted_map = bounded_map<number, number, interrupted>;

interrupted_map one_element() {
  interrupted_map map(small_plan(16), interrupted{});
  map.insert(1, 2);
  return map;
}

TEST(table_recovery, does_not_undo_a_save_that_came_meanwhile) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  interrupted_map table = one_element();
  write_file(path, forged(saved(table), leave_open));
  table.insert(2, 3);
  const auto save_newer = [&] { ASSERT_FALSE(save(table, path)); };
  const load_failure failure =
      failure_of(recover<interrupted_map>(path, {}, interrupted{save_newer}));
  EXPECT_EQ(failure.error, load_error::io);
  EXPECT_NE(failure.sentence.find("replaced meanwhile"), std::string::npos) << failure.sentence;
  EXPECT_EQ(bytes_of_file(path), saved(table));
}

TEST(table_loading, keeps_writers_away_until_it_is_done) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  ASSERT_FALSE(save(one_element(), path));
  const auto can_write = [&] {
    return writable_table<interrupted_map>::open(path, {}, interrupted{}).has_value();
  };
  bool could_write = true;
  const auto read =
      load<interrupted_map>(path, every_element, interrupted{[&] { could_write = can_write(); }});
  EXPECT_TRUE(read) << read.failure().sentence;
  EXPECT_FALSE(could_write);
  EXPECT_TRUE(can_write());
}

// ------------------------------------------------------------------------------------- kill -9

constexpr number writers_keys = 600;  // half of them at a time: sometimes the table is full

number key_of_operation(std::uint64_t i) { return mix_bits(i + 1) % writers_keys; }
/// Operation number i of a writer: the same in every process.
void operate(numbers& table, std::uint64_t i) {
  if (mix_bits(i + 1) >> 32 & 1)
    table.insert_or_assign(key_of_operation(i), i);
  else
    table.erase(key_of_operation(i));
}

/// Opens the file and changes it until somebody ends the process.
[[noreturn]] void write_for_ever(const std::string& path, std::atomic<std::uint64_t>& done) {
  auto table = writable_table<numbers>::open(path);
  if (!table) ::_exit(1);
  (*table)->drain_on_erase(1);
  for (std::uint64_t i = 0;; ++i) {
    operate(**table, i);
    done.store(i + 1, std::memory_order_release);
  }
}

TEST(table_recovery, after_kill_9_loses_nothing_that_was_finished) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  const numbers empty(small_plan(16), seeded_hash(5));
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    ASSERT_FALSE(save(empty, path));
    shared_with_child<std::atomic<std::uint64_t>> done;
    const pid_t writer = ::fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) write_for_ever(path, *done);
    int status = 0;
    while (*done < 1000 && ::waitpid(writer, &status, WNOHANG) == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(137 * round));
    ASSERT_EQ(::kill(writer, SIGKILL), 0);
    ASSERT_EQ(::waitpid(writer, &status, 0), writer);
    ASSERT_TRUE(WIFSIGNALED(status));

    ASSERT_EQ(failure_of(load<numbers>(path)).error, load_error::not_closed);
    const auto recovery = recover<numbers>(path);
    ASSERT_TRUE(recovery) << recovery.failure().sentence;
    const auto table = load<numbers>(path, every_element);
    ASSERT_TRUE(table) << table.failure().sentence;

    numbers twin = empty;
    twin.drain_on_erase(1);
    const std::uint64_t finished = *done;
    for (std::uint64_t i = 0; i < finished; ++i) operate(twin, i);
    for (number key = 0; key < writers_keys; ++key) {
      if (key == key_of_operation(finished)) continue;
      const auto* const found = table->find(key);
      ASSERT_EQ(found != nullptr, twin.contains(key)) << key << " after " << finished;
      if (found != nullptr) {
        ASSERT_EQ(found->value, twin.find(key)->value) << key << " after " << finished;
      }
    }
  }
}

// ------------------------------------------------------------------------------------- sharing

/// A file in memory, mapped wherever the system likes.
class shared_region {
 public:
  shared_region(int file, std::size_t bytes)
      : bytes_(bytes),
        memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  shared_region(const shared_region&) = delete;
  shared_region& operator=(const shared_region&) = delete;
  ~shared_region() { ::munmap(memory_, bytes_); }
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(memory_), bytes_}; }

 private:
  std::size_t bytes_;
  void* memory_;
};

TEST(shared_memory, of_one_process_is_a_table_in_another) {
  const table_plan plan = small_plan(16);
  const std::size_t table_bytes = plan.memory(16).total();
  const std::size_t all_bytes = table_bytes + 4096;
  const int file = ::memfd_create("table", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::ftruncate(file, static_cast<off_t>(all_bytes)), 0);
  const shared_region region(file, all_bytes);
  numbers map(plan, region.bytes().first(table_bytes), seeded_hash(5));
  for (number key = 0; key < 320; ++key) map.insert(key, ~key);
  ASSERT_GT(map.counts().overflow, 0u);
  // Everything that is not in the region itself: plan, seed and counts.
  ::new (region.bytes().data() + table_bytes) table_counts(map.counts());

  const pid_t other = ::fork();
  ASSERT_GE(other, 0);
  if (other == 0) {
    const shared_region own(file, all_bytes);
    if (own.bytes().data() == region.bytes().data()) ::_exit(2);
    const auto& counts = *reinterpret_cast<const table_counts*>(own.bytes().data() + table_bytes);
    numbers there(plan, line_memory::lend(own.bytes().first(table_bytes)), counts, seeded_hash(5));
    for (const auto& [key, value] : map)
      if (!there.contains(key) || there.find(key)->value != ~key) ::_exit(3);
    if (there.size() != map.size() || there.contains(320)) ::_exit(4);
    there.find(7)->value = 77;
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(map.find(7)->value, 77u) << "what the other wrote is seen here";
  ::close(file);
}

TEST(shared_memory, can_hold_a_file_that_another_process_writes) {
  const int file = ::memfd_create("table", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const file_bytes bytes = saved(churned<numbers>());
  ASSERT_EQ(::write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  const pid_t other = ::fork();
  ASSERT_GE(other, 0);
  if (other == 0) {
    auto table = writable_table<numbers>::open(path);
    if (!table) ::_exit(2);
    (*table)->insert(5000, 1);
    ::_exit(table->close() ? 3 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const auto mapped = mapped_table<numbers>::map(path, every_element);
  ASSERT_TRUE(mapped) << mapped.failure().sentence;
  EXPECT_TRUE((*mapped)->contains(5000));
  ::close(file);
}

}  // namespace
