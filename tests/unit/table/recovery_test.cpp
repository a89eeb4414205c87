// Files whose writer ended early, and tables that two processes see.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "formats/temporary_folder.hpp"
#include "oneprobe/table/bounded_map.hpp"
#include "oneprobe/table/file.hpp"
#include "support/small_plan.hpp"
#include "unit/table/table_files.hpp"

using namespace oneprobe;
using namespace table_files;

namespace {

void leave_open(table_parameters& parameters) { parameters.state = table_file_state::open; }

/// What is recovered from bytes must be without a fault, and say what it dropped.
few_numbers recovered(const file_bytes& bytes, std::uint64_t dropped) {
  auto read = recover_from<few_numbers>(bytes);
  EXPECT_TRUE(read);
  if (!read) return churned<few_numbers>();
  EXPECT_EQ(read->dropped, dropped);
  const auto again = load_from<few_numbers>(saved(read->table), every_element);
  EXPECT_TRUE(again) << again.failure().sentence;
  return std::move(read->table);
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

TEST(table_recovery, of_hostile_bytes_ends_with_a_table_or_a_sentence) {
  const file_bytes whole = forged(saved(churned<few_numbers>()), leave_open);
  std::mt19937_64 random(1);
  std::uint64_t tables = 0;
  for (int i = 0; i < 3000; ++i) {
    file_bytes bytes = whole;
    for (std::uint64_t changes = 1 + random() % 40; changes > 0; --changes)
      bytes[head_bytes + random() % (bytes.size() - head_bytes)] = static_cast<std::byte>(random());
    const auto read = recover_from<few_numbers>(bytes);
    if (!read) continue;
    const auto again = load_from<few_numbers>(saved(read->table), every_element);
    ASSERT_TRUE(again) << again.failure().sentence;
    ++tables;
  }
  EXPECT_GT(tables, 100u);
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
  own table(small_plan(16), salted(1));
  for (number key = 0; key < 100; ++key) table.insert(key, key);
  const file_bytes whole = forged(saved(table), leave_open);
  write_file(path, whole);
  EXPECT_EQ(failure_of(recover<own>(path, {}, salted(2))).error, load_error::wrong_kind);
  EXPECT_EQ(bytes_of_file(path), whole);
  const auto recovery = recover<own>(path, {}, salted(1));
  ASSERT_TRUE(recovery) << recovery.failure().sentence;
  EXPECT_EQ(recovery->counts.size, 100u);
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

/// Memory that a child process shares.
template <class T>
class shared_with_child {
 public:
  shared_with_child()
      : memory_(
            ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    ::new (memory_) T();
  }
  shared_with_child(const shared_with_child&) = delete;
  shared_with_child& operator=(const shared_with_child&) = delete;
  ~shared_with_child() { ::munmap(memory_, sizeof(T)); }
  T& operator*() { return *static_cast<T*>(memory_); }

 private:
  void* memory_;
};

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
