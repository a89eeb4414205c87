// Power fails at every single write and sync: nothing that was acknowledged is lost, and nothing
// else appears.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/shared_with_child.hpp"
#include "unit/page_store/failing_file.hpp"
#include "unit/page_store/store_files.hpp"

using namespace oneprobe;
using namespace store_files;

namespace {

/// What a run did before it ended: the contents after each change, and how many are acknowledged.
struct history {
  std::vector<contents> after{contents{}};
  std::size_t acknowledged = 0;
  std::uint64_t refused_as_full = 0;
  std::uint64_t overflowed = 0;

  void acknowledge_all() { acknowledged = after.size() - 1; }
};

/// Changes of all kinds, until the end or until the first that fails. What is in `past` is in the
/// store.
void work(page_store& store, std::uint64_t seed, int changes, history& past) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < changes; ++i) {
    contents next = past.after.back();
    const std::uint64_t key = random() % 300;
    const bool batch = i / 20 % 2 == 1;
    const acknowledge when = batch ? acknowledge::at_commit : acknowledge::at_once;
    bool changed = true;
    bool failed = false;
    if (random() % 5 == 0) {
      const removal outcome = erase(store, key, when);
      failed = outcome == removal::failed;
      if (!failed) {
        ASSERT_EQ(outcome == removal::erased, next.contains(key));
      }
      changed = next.erase(key) == 1;
    } else {
      const std::uint64_t value = random();
      const put_outcome outcome = put(store, key, value, when);
      failed = outcome == put_outcome::failed;
      if (!failed && outcome != put_outcome::full) {
        ASSERT_EQ(outcome == put_outcome::assigned, next.contains(key));
      }
      changed = outcome != put_outcome::full;
      past.refused_as_full += outcome == put_outcome::full ? 1u : 0u;
      past.overflowed += outcome == put_outcome::overflowed ? 1u : 0u;
      if (changed) next[key] = value;
    }
    if (changed) past.after.push_back(std::move(next));
    if (failed) return;
    if (changed && !batch) past.acknowledge_all();
    if (i % 7 == 6) {
      if (store.commit()) return;
      past.acknowledge_all();
    }
    if (i % 53 == 52) {
      if (store.checkpoint()) return;
      past.acknowledge_all();
    }
  }
  if (store.commit()) return;
  past.acknowledge_all();
}

std::optional<page_store> opened(const std::shared_ptr<failing::disk>& disk) {
  auto store = page_store::open(std::make_unique<failing::file>(disk), file_access::update);
  if (store) return *std::move(store);
  ADD_FAILURE() << store.failure().sentence;
  return std::nullopt;
}

/// Two writers one after the other, the first of which closes the store. Ends with the first
/// operation that fails.
void run(const std::shared_ptr<failing::disk>& disk, history& past) {
  for (const std::uint64_t seed : {1u, 2u}) {
    auto store = page_store::open(std::make_unique<failing::file>(disk), file_access::update);
    if (!store && disk->operations >= std::min(disk->power_until, disk->failing_operation)) return;
    ASSERT_TRUE(store) << store.failure().sentence;
    ASSERT_NO_FATAL_FAILURE(work(*store, seed, 220, past));
    if (store->close()) return;
  }
}

/// The number of changes that the store shows, if that is one that it may show.
std::optional<std::size_t> find_moment(const page_store& store, const history& past) {
  const contents found = contents_of(store);
  for (std::size_t i = past.acknowledged; i < past.after.size(); ++i)
    if (past.after[i] == found) return i;
  return std::nullopt;
}

/// After a crash: what is there is right, and the store goes on working, through another crash.
void expect_recovers(failing::file_bytes bytes, const history& past, std::uint64_t seed) {
  const auto disk = std::make_shared<failing::disk>(std::move(bytes));
  history next;
  {
    std::optional<page_store> store = opened(disk);
    ASSERT_TRUE(store);
    const std::optional<std::size_t> moment = find_moment(*store, past);
    ASSERT_TRUE(moment) << "acknowledged changes are lost, or others are there";
    const auto failure = store->verify();
    ASSERT_FALSE(failure) << failure->sentence;
    next.after = {past.after[*moment]};
    disk->power_until = disk->operations + 1 + seed % 40;
    ASSERT_NO_FATAL_FAILURE(work(*store, seed, 30, next));
  }
  const auto how = failing::all_survivals[seed % std::size(failing::all_survivals)];
  const auto again = std::make_shared<failing::disk>(failing::after_power_loss(*disk, how, seed));
  const std::optional<page_store> store = opened(again);
  ASSERT_TRUE(store);
  ASSERT_TRUE(find_moment(*store, next)) << "the second crash has lost something";
}

/// A writer ends without the loss of power: the next one sees what the system shows. It is stopped
/// by such a loss, soon.
void expect_second_writer_recovers(const failing::disk& left, const history& past) {
  for (std::uint64_t more = 1; more <= 6; ++more) {
    const auto disk = std::make_shared<failing::disk>(left);
    disk->failing_operation = UINT64_MAX;
    disk->power_until = left.operations + more;
    history next = past;
    auto store = page_store::open(std::make_unique<failing::file>(disk), file_access::update);
    if (store) {
      const std::optional<std::size_t> moment = find_moment(*store, past);
      ASSERT_TRUE(moment) << "acknowledged changes are lost, or others are there";
      // What it has shown stays, since it is on the disk before that.
      next = {};
      next.after = {past.after[*moment]};
      ASSERT_NO_FATAL_FAILURE(work(*store, left.operations, 30, next));
    }
    for (const failing::survival how : failing::all_survivals) {
      SCOPED_TRACE(std::to_string(more) + " operations later, survival " +
                   std::to_string(static_cast<int>(how)));
      const std::optional<page_store> third =
          opened(std::make_shared<failing::disk>(failing::after_power_loss(*disk, how, more)));
      ASSERT_TRUE(third);
      ASSERT_TRUE(find_moment(*third, next)) << "the second writer has lost something";
      ASSERT_EQ(third->verify(), std::nullopt);
    }
  }
}

}  // namespace

TEST(page_store_crash, loses_nothing_acknowledged_at_any_write_or_sync) {
  const failing::file_bytes empty = empty_store(crowded_plan());
  const auto whole = std::make_shared<failing::disk>(empty);
  history all;
  run(whole, all);
  // The run meets all that there is to meet.
  ASSERT_GT(all.refused_as_full, 0u);
  ASSERT_GT(all.overflowed, 10u);
  ASSERT_GT(whole->operations, 400u);
  ASSERT_EQ(all.acknowledged, all.after.size() - 1);

  for (std::uint64_t last = 1; last <= whole->operations; ++last) {
    const auto disk = std::make_shared<failing::disk>(empty);
    disk->power_until = last;
    history past;
    ASSERT_NO_FATAL_FAILURE(run(disk, past));
    for (const failing::survival how : failing::all_survivals) {
      SCOPED_TRACE("power failed at operation " + std::to_string(last) + ", survival " +
                   std::to_string(static_cast<int>(how)));
      ASSERT_NO_FATAL_FAILURE(
          expect_recovers(failing::after_power_loss(*disk, how, last), past, last));
    }
  }
}

TEST(page_store_crash, a_writer_builds_on_nothing_that_a_killed_one_has_not_synced) {
  const failing::file_bytes empty = empty_store(crowded_plan());
  const auto whole = std::make_shared<failing::disk>(empty);
  history all;
  run(whole, all);
  for (std::uint64_t last = 1; last <= whole->operations; ++last) {
    SCOPED_TRACE("killed at operation " + std::to_string(last));
    const auto disk = std::make_shared<failing::disk>(empty);
    disk->power_until = last;
    history past;
    ASSERT_NO_FATAL_FAILURE(run(disk, past));
    ASSERT_NO_FATAL_FAILURE(expect_second_writer_recovers(*disk, past));
  }
}

TEST(page_store_crash, a_writer_builds_on_nothing_that_a_failed_sync_has_lost) {
  const failing::file_bytes empty = empty_store(crowded_plan());
  const auto whole = std::make_shared<failing::disk>(empty);
  history all;
  run(whole, all);
  for (std::uint64_t failing = 1; failing <= whole->operations; ++failing) {
    SCOPED_TRACE("operation " + std::to_string(failing) + " failed");
    const auto disk = std::make_shared<failing::disk>(empty);
    disk->failing_operation = failing;
    history past;
    ASSERT_NO_FATAL_FAILURE(run(disk, past));
    ASSERT_NO_FATAL_FAILURE(expect_second_writer_recovers(*disk, past));
  }
}

TEST(page_store_crash, what_one_writer_lost_does_not_come_back_behind_the_next) {
  const auto disk = std::make_shared<failing::disk>(empty_store(crowded_plan()));
  {
    std::optional<page_store> store = opened(disk);
    ASSERT_TRUE(store);
    put(*store, 1, 10, acknowledge::at_commit);
    put(*store, 1, 20, acknowledge::at_commit);
    disk->power_until = disk->operations + 1;
    ASSERT_TRUE(store->commit());
  }
  // Of the write that failed, only the second entry is on the disk: a record of 16 bytes.
  const failing::disk::write& torn = disk->unsynced.back();
  constexpr std::size_t entry_bytes = page_store_plan::log_entry_bytes + 16;
  failing::file_bytes left = disk->durable;
  std::copy(
      torn.bytes.end() - entry_bytes, torn.bytes.end(),
      left.begin() + static_cast<std::ptrdiff_t>(torn.begin + torn.bytes.size() - entry_bytes));
  const auto after = std::make_shared<failing::disk>(std::move(left));
  {
    std::optional<page_store> store = opened(after);
    ASSERT_TRUE(store);
    EXPECT_EQ(store->size(), 0u);
    ASSERT_EQ(put(*store, 1, 10), put_outcome::inserted);
  }
  const std::optional<page_store> store = opened(after);
  ASSERT_TRUE(store);
  EXPECT_EQ(get(*store, 1), 10u);
}

TEST(page_store_crash, a_write_that_fails_is_not_acknowledged_and_the_store_says_so_from_then_on) {
  const auto disk = std::make_shared<failing::disk>(empty_store(crowded_plan()));
  std::optional<page_store> store = opened(disk);
  ASSERT_TRUE(store);
  ASSERT_EQ(put(*store, 1, 10), put_outcome::inserted);
  disk->power_until = disk->operations + 1;
  disk->error = ENOSPC;
  EXPECT_EQ(put(*store, 2, 20), put_outcome::failed);
  EXPECT_EQ(store->failure()->sentence, "'the disk' cannot be written: No space left on device");
  disk->power_until = UINT64_MAX;
  EXPECT_EQ(put(*store, 3, 30), put_outcome::failed);
  EXPECT_EQ(erase(*store, 1), removal::failed);
  EXPECT_TRUE(store->commit());
  EXPECT_TRUE(store->checkpoint());
  EXPECT_TRUE(store->close());
  EXPECT_EQ(get(*store, 1), 10u);
}

TEST(page_store_crash, a_killed_writer_has_left_everything_that_it_acknowledged) {
  const temporary_folder folder;
  const std::string path = folder.file("killed.store");
  {
    auto builder = page_store_builder::create(path, default_page_store_plan(20'000, 8, 8, 4096), 1);
    ASSERT_TRUE(builder) << builder.failure().sentence;
    ASSERT_FALSE(builder->finish());
  }
  shared_with_child<std::atomic<std::uint64_t>> acknowledged;  // how many there are
  std::mt19937_64 random(1);
  std::uint64_t first = 0;
  for (int round = 0; round < 12; ++round) {
    (*acknowledged).store(first);
    const pid_t writer = ::fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) {
      auto store = page_store::open(path, {.access = file_access::update});
      if (!store) ::_exit(1);
      for (std::uint64_t key = first;; ++key) {
        const acknowledge when = key % 64 == 63 ? acknowledge::at_once : acknowledge::at_commit;
        const put_outcome outcome = put(*store, key % 15'000, key, when);
        if (outcome == put_outcome::failed || outcome == put_outcome::full) ::_exit(2);
        if (when == acknowledge::at_once) (*acknowledged).store(key + 1);
      }
    }
    // Not before it has acknowledged something, however slow the disk is.
    int status = 0;
    while ((*acknowledged).load() == first) {
      ASSERT_EQ(::waitpid(writer, &status, WNOHANG), 0)
          << "the writer ended by itself: " << WEXITSTATUS(status);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 40));
    ::kill(writer, SIGKILL);
    ASSERT_EQ(::waitpid(writer, &status, 0), writer);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << WEXITSTATUS(status);

    const std::uint64_t done = (*acknowledged).load();
    const auto store = page_store::open(path);
    ASSERT_TRUE(store) << store.failure().sentence;
    std::uint64_t newest = 0;
    for (std::uint64_t key = 0; key < std::min<std::uint64_t>(done, 15'000); ++key) {
      const std::optional<std::uint64_t> value = get(*store, key);
      ASSERT_TRUE(value) << "key " << key << " of " << done;
      ASSERT_EQ(*value % 15'000, key);
      // The last acknowledged one, or a later one of this round.
      ASSERT_GE(*value + 15'000, done);
      newest = std::max(newest, *value + 1);
    }
    ASSERT_FALSE(store->verify());
    first = std::max(done, newest);
  }
  ASSERT_GE(first, 12u * 64);
}
