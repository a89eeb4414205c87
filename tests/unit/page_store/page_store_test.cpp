// The page store against a map, its page reads against one, and its file against damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "oneprobe/detail/page_store/record_partitions.hpp"
#include "oneprobe/detail/placement/load_counters.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "unit/page_store/failing_file.hpp"
#include "unit/page_store/store_files.hpp"

using namespace oneprobe;
using namespace store_files;

namespace {

std::uint64_t key_number(std::uint64_t i) { return mix_bits(i); }

/// A store of the numbers below `elements`, each with its double.
void build_numbers(const std::string& path, std::uint64_t elements, std::uint64_t seed) {
  auto builder = page_store_builder::create(path, default_page_store_plan(elements, 8, 8), seed);
  ASSERT_TRUE(builder) << builder.failure().sentence;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const put_outcome outcome =
        builder->put(bytes_of_number(key_number(i)), bytes_of_number(2 * key_number(i)));
    ASSERT_TRUE(outcome == put_outcome::inserted || outcome == put_outcome::overflowed);
  }
  const auto failure = builder->finish();
  ASSERT_FALSE(failure) << failure->sentence;
}

load_failure failure_of(std::vector<std::byte> bytes) {
  const auto store = page_store::open(
      std::make_unique<failing::file>(std::make_shared<failing::disk>(std::move(bytes))),
      file_access::read);
  EXPECT_FALSE(store) << "the damage was not seen";
  return store ? load_failure{} : store.failure();
}

}  // namespace

TEST(page_store, reads_one_page_for_a_present_key_and_hardly_one_for_an_absent_one) {
  const temporary_folder folder;
  const std::string path = folder.file("numbers.store");
  constexpr std::uint64_t elements = 100'000;
  // Five seeds, 4 sigma two-sided, of which each store has two numbers: a false alarm in 1,500
  // runs.
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ASSERT_NO_FATAL_FAILURE(build_numbers(path, elements, seed));
    const auto store = page_store::open(path);
    ASSERT_TRUE(store) << store.failure().sentence;
    ASSERT_EQ(store->size(), elements);
    EXPECT_EQ(store->stats().recovery, store_recovery::snapshot);
    std::uint64_t in_overflow = 0;
    for (std::uint64_t i = 0; i < elements; ++i) {
      ASSERT_EQ(get(*store, key_number(i)), 2 * key_number(i));
      const store_path path_to = store->explain(bytes_of_number(key_number(i)));
      ASSERT_TRUE(path_to.contains());
      const bool overflowed = path_to.stopped == store_path::stop::found_in_overflow;
      ASSERT_EQ(path_to.page_reads, overflowed ? 0u : 1u);
      in_overflow += overflowed ? 1u : 0u;
    }
    // By get() and by explain().
    ASSERT_EQ(store->page_reads(), 2 * (elements - in_overflow));
    ASSERT_EQ(store->stats().counts.overflow, in_overflow);

    constexpr std::uint64_t asked = 200'000;
    const std::uint64_t before = store->page_reads();
    for (std::uint64_t i = 0; i < asked; ++i)
      ASSERT_EQ(get(*store, key_number(elements + i)), std::nullopt);
    const auto reads = static_cast<double>(store->page_reads() - before);
    const auto in_pages = static_cast<double>(elements - in_overflow);
    const double predicted = asked * store->plan().summary.false_positive_probability(in_pages);
    EXPECT_NEAR(reads, predicted, 4 * std::sqrt(predicted));
    EXPECT_LE(reads / asked, 0.01);
    // Fill-only overflows less than churn, for which the plan is made: failures are half of that,
    // since those who come early meet few.
    const double failures = store->plan().predicted.failures_mean / 2;
    EXPECT_LE(static_cast<double>(in_overflow), failures + 4 * std::sqrt(failures) + 30);
    EXPECT_EQ(store->verify(), std::nullopt);
  }
}

TEST(page_store, reads_a_page_once_for_each_operation_and_counts_it) {
  const temporary_folder folder;
  const std::string path = folder.file("numbers.store");
  constexpr std::uint64_t elements = 2000;
  ASSERT_NO_FATAL_FAILURE(build_numbers(path, elements, 1));
  const auto disk = std::make_shared<failing::disk>(bytes_of_file(path));
  auto store = page_store::open(std::make_unique<failing::file>(disk), file_access::update);
  ASSERT_TRUE(store) << store.failure().sentence;
  // Reads of the disk that an operation makes, all of which the store has to count. No page but
  // those of the overflow is in memory when it begins.
  const auto reads_of = [&](auto operation) {
    EXPECT_FALSE(store->checkpoint());
    const std::uint64_t disk_before = disk->reads;
    const std::uint64_t counted_before = store->page_reads();
    operation();
    EXPECT_EQ(store->page_reads() - counted_before, disk->reads - disk_before);
    return disk->reads - disk_before;
  };
  const auto path_of = [&](const number_bytes& key) {
    EXPECT_FALSE(store->checkpoint());
    return store->explain(key);
  };
  std::uint64_t misled_to_its_own = 0;
  std::uint64_t misled_in_vain = 0;
  for (std::uint64_t i = 0; i < 2 * elements; ++i) {
    SCOPED_TRACE("key " + std::to_string(i));
    const number_bytes key = bytes_of_number(key_number(i));
    const bool present = i < elements;
    const store_path before = path_of(key);
    ASSERT_EQ(before.contains(), present);
    // One page for a key that is there, unless it is in the overflow; for another if its string is
    // that of one that is.
    const std::uint64_t to_look = before.page_reads;
    number_bytes value{};
    ASSERT_EQ(reads_of([&] { static_cast<void>(store->get(key, value)); }), to_look);
    ASSERT_EQ(reads_of([&] {
                ASSERT_EQ(erase(*store, key_number(i)),
                          present ? removal::erased : removal::absent);
              }),
              to_look);
    // The page it goes to. One whose string is there has read it, or goes to the overflow.
    const store_path gone = path_of(key);
    ASSERT_FALSE(gone.contains());
    const std::uint64_t reads_to_insert =
        reads_of([&] { ASSERT_NE(put(*store, key_number(i), 5), put_outcome::failed); });
    const store_path there = path_of(key);
    const bool to_page = there.stopped == store_path::stop::found;
    ASSERT_EQ(reads_to_insert, to_page || gone.page_reads == 1 ? 1u : 0u);
    if (gone.page_reads == 1) ++(to_page ? misled_to_its_own : misled_in_vain);
    const std::uint64_t to_find = to_page ? 1 : 0;
    ASSERT_EQ(reads_of([&] { ASSERT_EQ(put(*store, key_number(i), 6), put_outcome::assigned); }),
              to_find);
    if (!present) {
      ASSERT_EQ(reads_of([&] { ASSERT_EQ(erase(*store, key_number(i)), removal::erased); }),
                to_find);
    }
  }
  EXPECT_GT(misled_to_its_own, 0u);
  EXPECT_GT(misled_in_vain, 0u);
  EXPECT_EQ(store->size(), elements);
  EXPECT_EQ(store->verify(), std::nullopt);
}

TEST(page_store, goes_where_the_walks_over_load_counters_go) {
  const temporary_folder folder;
  const std::string path = folder.file("numbers.store");
  constexpr std::uint64_t elements = 20'000;
  ASSERT_NO_FATAL_FAILURE(build_numbers(path, elements, 7));
  const auto store = page_store::open(path);
  ASSERT_TRUE(store) << store.failure().sentence;
  const page_store_plan& plan = store->plan();
  const multilevel scheme(std::span(plan.level_pages).first(plan.levels));
  load_counters<std::uint16_t> loads(plan.pages());
  placing walk(scheme, loads, admission(plan.page_records()));
  const seeded_hash hash(7);
  std::uint64_t compared = 0;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const key_hash hashed = hash(std::span<const std::byte>(bytes_of_number(key_number(i))));
    const store_path found = store->explain(bytes_of_number(key_number(i)));
    // Who is in the overflow for its string has left its place to others.
    if (found.stopped == store_path::stop::found_in_overflow) continue;
    const auto placed = walk_to_end(walk, walk.start(hashed));
    ASSERT_EQ(placed.at.bucket, *found.page);
    ASSERT_EQ(placed.at.level, *found.level);
    ++compared;
  }
  EXPECT_GT(compared, elements - 200);
}

TEST(page_store, agrees_with_a_map_through_churn_checkpoints_and_reopening) {
  constexpr std::uint64_t elements = 3000;
  const auto disk =
      std::make_shared<failing::disk>(empty_store(default_page_store_plan(elements, 8, 8, 512)));
  const auto opened = [&] {
    return page_store::open(std::make_unique<failing::file>(disk), file_access::update);
  };
  contents expected;
  std::mt19937_64 random(3);
  for (int opening = 0; opening < 8; ++opening) {
    auto store = opened();
    ASSERT_TRUE(store) << store.failure().sentence;
    ASSERT_EQ(contents_of(*store), expected);
    for (std::uint64_t i = 0; i < 5000; ++i) {
      const std::uint64_t key = random() % (2 * elements);
      if (expected.size() >= elements || random() % 2 == 0) {
        ASSERT_EQ(erase(*store, key, acknowledge::at_commit) == removal::erased,
                  expected.erase(key) == 1);
      } else {
        const put_outcome outcome = put(*store, key, i, acknowledge::at_commit);
        ASSERT_TRUE(outcome != put_outcome::full && outcome != put_outcome::failed);
        ASSERT_EQ(outcome == put_outcome::assigned, !expected.insert_or_assign(key, i).second);
      }
      const std::uint64_t asked = random() % (2 * elements);
      const auto found = expected.find(asked);
      ASSERT_EQ(get(*store, asked),
                found == expected.end() ? std::nullopt : std::optional(found->second));
    }
    ASSERT_FALSE(store->commit());
    ASSERT_EQ(store->verify(), std::nullopt);
    // Closed or not: what is committed is there.
    if (opening % 2 == 0) {
      ASSERT_FALSE(store->close());
    }
  }
  const auto store = opened();
  ASSERT_TRUE(store) << store.failure().sentence;
  EXPECT_EQ(contents_of(*store), expected);
}

TEST(page_store, answers_full_and_keeps_what_it_had) {
  const auto disk = std::make_shared<failing::disk>(empty_store(crowded_plan()));
  auto store = page_store::open(std::make_unique<failing::file>(disk), file_access::update);
  ASSERT_TRUE(store) << store.failure().sentence;
  contents expected;
  std::uint64_t refused = 0;
  for (std::uint64_t key = 0; key < 400; ++key) {
    const put_outcome outcome = put(*store, key, key, acknowledge::at_commit);
    if (outcome == put_outcome::full)
      ++refused;
    else
      expected[key] = key;
  }
  // Five pages of 30, and the overflow's.
  EXPECT_GT(expected.size(), 90u);
  EXPECT_LE(expected.size(), 180u);
  EXPECT_EQ(expected.size() + refused, 400u);
  EXPECT_EQ(store->stats().counts.overflow, 30u);
  EXPECT_EQ(contents_of(*store), expected);
  // A value of a record that is there can be changed all the same, and an erased one makes room.
  const std::uint64_t first = expected.begin()->first;
  EXPECT_EQ(put(*store, first, 1), put_outcome::assigned);
  EXPECT_EQ(erase(*store, first), removal::erased);
  EXPECT_EQ(erase(*store, first), removal::absent);
}

TEST(page_store, refuses_keys_and_values_of_other_sizes) {
  const auto disk = std::make_shared<failing::disk>(empty_store(crowded_plan()));
  auto store = page_store::open(std::make_unique<failing::file>(disk), file_access::update);
  ASSERT_TRUE(store);
  const std::array<std::byte, 9> nine{};
  EXPECT_EQ(store->put(nine, bytes_of_number(1)), put_outcome::failed);
  EXPECT_EQ(store->failure()->sentence,
            "'the disk' cannot be written: keys must have 8 bytes; found 9");
  EXPECT_EQ(store->put(bytes_of_number(1), nine), put_outcome::failed);
  EXPECT_EQ(store->failure()->sentence,
            "'the disk' cannot be written: values must have 8 bytes; found 9");
  EXPECT_EQ(store->erase(nine), removal::failed);
  // It is none the worse for it.
  EXPECT_EQ(put(*store, 1, 1), put_outcome::inserted);
}

TEST(page_store, has_one_writer_or_many_readers) {
  const temporary_folder folder;
  const std::string path = folder.file("numbers.store");
  ASSERT_NO_FATAL_FAILURE(build_numbers(path, 100, 1));
  {
    auto writer = page_store::open(path, {.access = file_access::update});
    ASSERT_TRUE(writer);
    const auto second = page_store::open(path, {.access = file_access::update});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.failure().error, load_error::not_closed);
    EXPECT_FALSE(page_store::open(path));
    // Nor is it replaced under the writer.
    auto builder = page_store_builder::create(path, default_page_store_plan(10, 8, 8));
    ASSERT_TRUE(builder);
    const auto failure = builder->finish();
    ASSERT_TRUE(failure);
    EXPECT_NE(failure->sentence.find("it is open for writing elsewhere"), std::string::npos);
    EXPECT_EQ(put(*writer, key_number(200), 1), put_outcome::inserted);
  }
  auto reader = page_store::open(path);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(page_store::open(path));
  EXPECT_FALSE(page_store::open(path, {.access = file_access::update}));
  EXPECT_EQ(put(*reader, 1, 1), put_outcome::failed);
  EXPECT_EQ(reader->close(), std::nullopt);
  EXPECT_EQ(get(*reader, key_number(200)), 1u);
  // A reader keeps the file that it has opened.
  ASSERT_NO_FATAL_FAILURE(build_numbers(path, 10, 1));
  EXPECT_EQ(reader->size(), 101u);
  EXPECT_EQ(get(*reader, key_number(50)), 2 * key_number(50));
}

TEST(page_store, answers_the_same_however_it_reads) {
  const temporary_folder folder;
  const std::string path = folder.file("numbers.store");
  ASSERT_NO_FATAL_FAILURE(build_numbers(path, 1000, 1));
  for (const page_reading reading :
       {page_reading::cached, page_reading::mapped, page_reading::direct}) {
    auto store = page_store::open(path, {.access = file_access::update, .reading = reading});
    if (!store) {
      ASSERT_EQ(reading, page_reading::direct);
      EXPECT_NE(store.failure().sentence.find("no direct reading"), std::string::npos);
      return;
    }
    for (std::uint64_t i = 0; i < 1000; ++i)
      ASSERT_EQ(get(*store, key_number(i)), 2 * key_number(i));
    // But for the page that the log holds.
    EXPECT_GE(store->page_reads(), 700u);
    // What a checkpoint has written is seen as well.
    const auto changed = static_cast<std::uint64_t>(reading);
    ASSERT_EQ(put(*store, key_number(7), changed), put_outcome::assigned);
    ASSERT_FALSE(store->checkpoint());
    ASSERT_EQ(get(*store, key_number(7)), changed);
    ASSERT_EQ(put(*store, key_number(7), 2 * key_number(7)), put_outcome::assigned);
  }
}

TEST(page_store, refuses_to_read_small_pages_directly) {
  const temporary_folder folder;
  const std::string path = folder.file("small.store");
  auto builder = page_store_builder::create(path, default_page_store_plan(100, 8, 8, 1024), 1);
  ASSERT_TRUE(builder) << builder.failure().sentence;
  ASSERT_FALSE(builder->finish());
  EXPECT_TRUE(page_store::open(path));
  const auto store = page_store::open(path, {.reading = page_reading::direct});
  ASSERT_FALSE(store);
  EXPECT_NE(store.failure().sentence.find("no direct reading"), std::string::npos);
}

TEST(page_store, sees_damage_in_mapped_pages_as_well) {
  const temporary_folder folder;
  const std::string path = folder.file("numbers.store");
  ASSERT_NO_FATAL_FAILURE(build_numbers(path, 500, 1));
  std::vector<std::byte> bytes = bytes_of_file(path);
  bytes[default_page_store_plan(500, 8, 8).page_begin(1) + 50] ^= std::byte{4};
  write_file(path, bytes);
  const auto store = page_store::open(path, {.reading = page_reading::mapped});
  ASSERT_TRUE(store) << store.failure().sentence;
  std::uint64_t unreadable = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const store_path to = store->explain(bytes_of_number(key_number(i)));
    ASSERT_EQ(to.stopped == store_path::stop::unreadable, to.page == 1);
    unreadable += to.page == 1 ? 1u : 0u;
  }
  EXPECT_GT(unreadable, 10u);
}

TEST(page_store, names_what_is_wrong_with_a_file) {
  const temporary_folder folder;
  const std::string path = folder.file("numbers.store");
  ASSERT_NO_FATAL_FAILURE(build_numbers(path, 500, 1));
  const std::vector<std::byte> whole = bytes_of_file(path);
  const page_store_plan plan = default_page_store_plan(500, 8, 8);
  ASSERT_EQ(whole.size(), plan.file_bytes());
  const auto changed = [&](std::uint64_t at) {
    std::vector<std::byte> bytes = whole;
    bytes[at] ^= std::byte{1};
    return bytes;
  };
  const auto cut = [&](std::size_t bytes) {
    return std::vector<std::byte>(whole.begin(),
                                  whole.begin() + static_cast<std::ptrdiff_t>(bytes));
  };
  EXPECT_EQ(failure_of({}).error, load_error::not_oneprobe_file);
  EXPECT_EQ(failure_of(changed(0)).error, load_error::not_oneprobe_file);
  EXPECT_EQ(failure_of(changed(9)).error, load_error::checksum_mismatch);
  EXPECT_EQ(failure_of(changed(100)).error, load_error::checksum_mismatch);
  EXPECT_EQ(failure_of(cut(63)).error, load_error::truncated);
  EXPECT_EQ(failure_of(cut(whole.size() - 1)).error, load_error::truncated);
  EXPECT_EQ(failure_of(changed(page_store_plan::state_begin(1))).sentence,
            "'the disk' has a checksum mismatch in both its states");
  // Pages of the overflow are read when it is opened, others when they are asked for.
  EXPECT_EQ(failure_of(changed(plan.page_begin(plan.pages()) + 100)).sentence,
            "'the disk' has a checksum mismatch in page " + std::to_string(plan.pages()));

  const auto opened = [](std::vector<std::byte> bytes) {
    return page_store::open(
        std::make_unique<failing::file>(std::make_shared<failing::disk>(std::move(bytes))),
        file_access::read);
  };
  // A snapshot that is damaged is made again from the pages.
  const auto scanned = opened(changed(page_store_plan::snapshot_begin() + 70));
  ASSERT_TRUE(scanned) << scanned.failure().sentence;
  EXPECT_EQ(scanned->stats().recovery, store_recovery::scan);
  EXPECT_EQ(scanned->size(), 500u);
  EXPECT_EQ(scanned->verify(), std::nullopt);

  const auto damaged = opened(changed(plan.page_begin(0) + 100));
  ASSERT_TRUE(damaged);
  const auto failure = damaged->verify();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->sentence, "'the disk' has a checksum mismatch in page 0");
  std::uint64_t unreadable = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    number_bytes value{};
    const store_path to = damaged->explain(bytes_of_number(key_number(i)));
    const get_outcome outcome = damaged->get(bytes_of_number(key_number(i)), value);
    ASSERT_NE(outcome, get_outcome::absent);
    ASSERT_EQ(outcome == get_outcome::unreadable, to.page == 0 && to.level == 0);
    unreadable += outcome == get_outcome::unreadable ? 1u : 0u;
  }
  EXPECT_GT(unreadable, 10u);
}

TEST(page_store, verifies_with_one_read_of_each_page) {
  const temporary_folder folder;
  const std::string path = folder.file("numbers.store");
  ASSERT_NO_FATAL_FAILURE(build_numbers(path, 2000, 1));
  const auto disk = std::make_shared<failing::disk>(bytes_of_file(path));
  const auto store = page_store::open(std::make_unique<failing::file>(disk), file_access::read);
  ASSERT_TRUE(store) << store.failure().sentence;
  const std::uint64_t before = disk->reads;
  EXPECT_EQ(store->verify(), std::nullopt);
  EXPECT_EQ(disk->reads - before, store->plan().pages());
}

TEST(page_store, refuses_entries_of_the_log_that_no_store_writes) {
  const page_store_plan plan = crowded_plan();
  const std::vector<std::byte> empty = empty_store(plan);
  const page_shape shape = page_shape::of(plan);
  store_state_bytes state{};
  std::copy_n(empty.begin() + static_cast<std::ptrdiff_t>(page_store_plan::state_begin(1)),
              state.size(), state.begin());
  const auto with_log = [&](std::span<const log_entry> entries) {
    log_writer log(decode_store_state(state).value().checksum);
    for (const log_entry& each : entries) log.append(each);
    std::vector<std::byte> bytes = empty;
    std::ranges::copy(log.bytes(), bytes.begin() + static_cast<std::ptrdiff_t>(plan.log_begin()));
    return bytes;
  };
  // Two records of the same first page, and a third.
  const seeded_hash hash(1);
  const auto hash_of = [&](std::uint64_t key) {
    return hash(std::span<const std::byte>(bytes_of_number(key)));
  };
  const auto page_of = [&](std::uint64_t key) {
    return reduce(hash_of(key).value, plan.level_pages[0]);
  };
  const std::uint64_t first = 1;
  std::uint64_t second = 2;
  while (page_of(second) != page_of(first)) ++second;
  std::vector<std::byte> page(plan.page_bytes);
  record_page(shape, page.data()).append(bytes_of_number(first), bytes_of_number(10));
  std::vector<std::byte> record(page.begin() + page_store_plan::page_head_bytes,
                                page.begin() + page_store_plan::page_head_bytes + 16);
  std::vector<std::byte> next = record;
  std::ranges::copy(bytes_of_number(second), next.begin());

  const log_entry session{.hash = 77};
  const log_entry whole{.change = store_change::insert,
                        .form = logged_form::page,
                        .page = page_of(first),
                        .hash = hash_of(first).value,
                        .content = page};
  const log_entry inserted{.change = store_change::insert,
                           .form = logged_form::record,
                           .slot = 1,
                           .page = page_of(first),
                           .hash = hash_of(second).value,
                           .content = next};
  const log_entry assigned{.change = store_change::assign,
                           .form = logged_form::record,
                           .page = page_of(first),
                           .hash = hash_of(first).value,
                           .content = record};
  const log_entry erased{
      .change = store_change::erase, .page = page_of(first), .hash = hash_of(first).value};
  {
    const auto store = page_store::open(
        std::make_unique<failing::file>(std::make_shared<failing::disk>(
            with_log(std::vector<log_entry>{session, whole, inserted, assigned, erased}))),
        file_access::read);
    ASSERT_TRUE(store) << store.failure().sentence;
    EXPECT_EQ(contents_of(*store), (contents{{second, 10}}));
  }
  const auto expect_refused = [&](const log_entry& good, auto forge) {
    log_entry bad = good;
    forge(bad);
    std::vector<log_entry> entries{session};
    if (good.form != logged_form::page) entries.push_back(whole);
    entries.push_back(bad);
    EXPECT_EQ(failure_of(with_log(entries)).sentence,
              "'the disk' has inconsistent parameters: an entry of the log that no store writes");
  };
  for (const log_entry& good : {whole, inserted, assigned, erased}) {
    SCOPED_TRACE("change " + std::to_string(static_cast<int>(good.change)) + ", form " +
                 std::to_string(static_cast<int>(good.form)));
    expect_refused(good, [](log_entry& bad) { bad.change = store_change{0}; });
    expect_refused(good, [](log_entry& bad) { bad.change = store_change{5}; });
    expect_refused(good, [](log_entry& bad) { bad.form = logged_form{0}; });
    expect_refused(good, [](log_entry& bad) { bad.form = logged_form{4}; });
    expect_refused(good, [&](log_entry& bad) {
      bad.form = bad.form == logged_form::nothing ? logged_form::record : logged_form::nothing;
    });
    expect_refused(good, [](log_entry& bad) { ++bad.slot; });
    expect_refused(good, [](log_entry& bad) { ++bad.hash; });
    expect_refused(good, [&](log_entry& bad) { bad.page = plan.all_pages(); });
    expect_refused(good, [&](log_entry& bad) {
      bad.content = std::span<const std::byte>(page).first(
          bad.content.size() + 8 <= page.size() ? bad.content.size() + 8 : page.size() - 8);
    });
  }
  expect_refused(inserted, [](log_entry& bad) { bad.slot = 0; });
  // The record of another key.
  expect_refused(assigned, [&](log_entry& bad) {
    bad.content = next;
    bad.hash = hash_of(second).value;
  });
  // A page for the second time.
  expect_refused(inserted, [&](log_entry& bad) { bad = whole; });
}

TEST(page_store, replaces_a_damaged_snapshot_when_it_is_closed) {
  std::vector<std::byte> bytes = empty_store(crowded_plan());
  bytes[page_store_plan::snapshot_begin() + 70] ^= std::byte{1};
  const auto disk = std::make_shared<failing::disk>(std::move(bytes));
  for (const store_recovery expected : {store_recovery::scan, store_recovery::snapshot}) {
    auto store = page_store::open(std::make_unique<failing::file>(disk), file_access::update);
    ASSERT_TRUE(store) << store.failure().sentence;
    EXPECT_EQ(store->stats().recovery, expected);
    ASSERT_EQ(store->close(), std::nullopt);
    // Once is enough.
    const std::uint64_t operations = disk->operations;
    ASSERT_EQ(store->close(), std::nullopt);
    EXPECT_EQ(disk->operations, operations);
  }
}

TEST(page_store, takes_no_state_from_where_no_writer_puts_it) {
  const std::vector<std::byte> empty = empty_store(crowded_plan());
  const auto with_state = [&](std::uint32_t copy, std::uint64_t epoch) {
    std::vector<std::byte> bytes = empty;
    store_state_record state{.epoch = epoch};
    std::ranges::copy(encode(state), bytes.begin() + static_cast<std::ptrdiff_t>(
                                                         page_store_plan::state_begin(copy)));
    return bytes;
  };
  const auto recovery_of = [](std::vector<std::byte> bytes) {
    const auto store = page_store::open(
        std::make_unique<failing::file>(std::make_shared<failing::disk>(std::move(bytes))),
        file_access::read);
    EXPECT_TRUE(store) << store.failure().sentence;
    return store->stats().recovery;
  };
  // The builder's state has a snapshot, these have none.
  EXPECT_EQ(recovery_of(with_state(0, 2)), store_recovery::scan);
  EXPECT_EQ(recovery_of(with_state(0, 3)), store_recovery::snapshot);
  EXPECT_EQ(failure_of(with_state(1, 2)).error, load_error::checksum_mismatch);
  // There is no next one.
  EXPECT_EQ(failure_of(with_state(1, UINT64_MAX)).error, load_error::checksum_mismatch);
}

TEST(page_store, partitions_bring_records_into_the_order_of_their_first_pages) {
  const temporary_folder folder;
  // 600 MB of pages, if they were written.
  const page_store_plan plan = default_page_store_plan(4'000'000, 8, 120);
  auto parts = record_partitions::create(folder.file("numbers.store"), plan, 5);
  ASSERT_TRUE(parts) << parts.failure().sentence;
  EXPECT_GE(parts->parts(), 7u);
  constexpr std::uint64_t records = 50'000;
  std::array<std::byte, 120> value{};
  for (std::uint64_t i = 0; i < 2 * records; ++i) {
    value[0] = static_cast<std::byte>(i / records);  // each key twice
    ASSERT_FALSE(parts->add(bytes_of_number(key_number(i % records)), value));
  }
  EXPECT_EQ(folder.entries(), 1u);
  const seeded_hash hash(5);
  std::uint64_t last_page = 0;
  std::uint64_t highest = 0;
  std::map<std::uint64_t, std::uint32_t> seen;
  const auto failure = parts->for_each_part(
      [&](std::span<const std::byte> record) {
        const key_hash hashed = hash(record.first(8));
        const std::uint64_t page = reduce(hashed.value, plan.level_pages[0]);
        ASSERT_GE(page, last_page) << "a page of an earlier part";
        highest = std::max(highest, page);
        std::uint32_t& times = seen[number_of(record.first(8))];
        ASSERT_EQ(std::to_integer<std::uint32_t>(record[8]), times) << "not in their order";
        ++times;
      },
      [&] { last_page = highest; });
  EXPECT_FALSE(failure);
  EXPECT_EQ(seen.size(), records);
  EXPECT_TRUE(std::ranges::all_of(seen, [](const auto& each) { return each.second == 2; }));
}

TEST(page_store, plans_for_what_it_is_told_and_refuses_the_rest) {
  const page_store_plan plan = default_page_store_plan(10'000'000, 16, 100);
  EXPECT_EQ(plan.page_records(), 35u);
  EXPECT_GT(plan.load_factor(), 0.84);
  EXPECT_LT(plan.predicted.false_positive_probability, 0.01);
  EXPECT_LT(plan.predicted.overflow_mean, 1e-3 * 1e7);
  EXPECT_EQ(find_fault(plan), std::nullopt);
  EXPECT_EQ(plan.page_begin(0) % 4096, 0u);
  EXPECT_EQ(plan.level_of(plan.pages()), plan.levels);
  EXPECT_EQ(plan.level_of(plan.level_pages[0] - 1), 0u);
  EXPECT_EQ(plan.level_of(plan.level_pages[0]), 1u);
  for (const std::uint64_t elements : {1u, 2u, 10u, 100u, 1000u})
    for (const std::uint32_t page_bytes : {512u, 4096u, 65536u})
      EXPECT_EQ(find_fault(default_page_store_plan(elements, 1, 0, page_bytes)), std::nullopt);
  EXPECT_THROW(default_page_store_plan(0, 8, 8), std::invalid_argument);
  EXPECT_THROW(default_page_store_plan(10, 0, 8), std::invalid_argument);
  EXPECT_THROW(default_page_store_plan(10, 8, 4096), std::invalid_argument);
  EXPECT_THROW(default_page_store_plan(10, 8, 8, 1000), std::invalid_argument);
  EXPECT_THROW(default_page_store_plan(std::uint64_t{1} << 33, 8, 8), std::invalid_argument);
}

TEST(page_store, overflows_under_churn_as_predicted) {
  constexpr std::uint64_t elements = 40'000;
  const page_store_plan plan = default_page_store_plan(elements, 16, 100);
  constexpr int turnovers = 6;
  // Five seeds, 4 sigma two-sided: a false alarm in 3,000 runs. Sigma is that of a Poisson count:
  // failures are rare and hardly know of each other.
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    page_directory directory(plan, seed);
    std::vector<std::pair<key_hash, std::uint64_t>> there;
    std::mt19937_64 random(seed);
    const auto put = [&] {
      const key_hash hash{random()};
      const page_directory::placement placed = directory.place(hash);
      ASSERT_NE(placed.ended, page_directory::destination::none);
      there.emplace_back(hash, placed.page);
    };
    while (there.size() < elements) put();
    std::uint64_t failures = 0;
    for (std::uint64_t i = 0; i < (3 + turnovers) * elements; ++i) {
      if (i == 3 * elements) failures = directory.failures();
      std::swap(there[random() % there.size()], there.back());
      directory.leave(there.back().first, there.back().second);
      there.pop_back();
      put();
    }
    const double predicted = turnovers * plan.predicted.failures_mean;
    EXPECT_GT(predicted, 50);
    EXPECT_NEAR(static_cast<double>(directory.failures() - failures), predicted,
                4 * std::sqrt(predicted));
    // Hardly any of the others.
    EXPECT_LT(plan.predicted.overflow_mean - plan.predicted.failures_mean, 0.5);
    EXPECT_LE(directory.counts().overflow, 2 * plan.predicted.overflow_mean + 15);
  }
}

TEST(page_store, small_stores_take_what_they_were_planned_for) {
  for (const std::uint64_t elements : {1u, 5u, 40u, 300u, 2000u}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      page_directory directory(default_page_store_plan(elements, 16, 100), seed);
      for (std::uint64_t i = 0; i < elements; ++i)
        ASSERT_NE(directory.place({mix_bits(seed * 1'000'000 + i)}).ended,
                  page_directory::destination::none)
            << elements << " elements, seed " << seed;
    }
  }
}
