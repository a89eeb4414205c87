// Tables as files: every byte that can be wrong, every way that a writer can end.
#include "oneprobe/map/file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/golden_tables.hpp"
#include "formats/temporary_folder.hpp"
#include "oneprobe/filter/file.hpp"
#include "oneprobe/filter/standard.hpp"
#include "support/small_plan.hpp"
#include "support/tests_dir.hpp"
#include "unit/map/table_files.hpp"

using namespace oneprobe;
using namespace table_files;

namespace {

const std::string golden_folder = tests_dir() + "/golden/tables/";

template <class Table>
void expect_same(const Table& found, const Table& expected) {
  EXPECT_EQ(found.counts(), expected.counts());
  EXPECT_EQ(found.plan().level_buckets, expected.plan().level_buckets);
  EXPECT_EQ(found.plan().predicted, expected.plan().predicted);
  EXPECT_EQ(found.hash().seed(), expected.hash().seed());
  for (const auto& one : expected) {
    const auto* const there = found.find(one.key);
    ASSERT_NE(there, nullptr);
    if constexpr (requires { one.value; }) {
      ASSERT_EQ(there->value, one.value);
    }
  }
}

template <class Table>
load_error error_of(std::span<const std::byte> bytes, table_file_options options = {}) {
  return failure_of(load_from<Table>(bytes, options)).error;
}

// ------------------------------------------------------------------------------------- golden

TEST(golden_tables, are_read_as_every_version_before_wrote_them) {
  if (std::getenv("ONEPROBE_WRITE_GOLDEN") != nullptr)
    for_each_golden_table([](const std::string& name, const auto& table) {
      write_file(golden_folder + name + ".table", saved(table, golden_table_schema));
    });
  for_each_golden_table([](const std::string& name, const auto& built) {
    SCOPED_TRACE(name);
    const std::string path = golden_folder + name + ".table";
    const auto table = load<std::remove_cvref_t<decltype(built)>>(
        path, {.schema = golden_table_schema, .check = table_check::elements});
    ASSERT_TRUE(table) << table.failure().sentence;
    EXPECT_GT(table->counts().overflow, 0u);
    expect_same(*table, built);
    EXPECT_EQ(saved(*table, golden_table_schema), bytes_of_file(path));
  });
}

// ------------------------------------------------------------------------------------- round trip

template <class Table>
void comes_back(const Table& table) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  const auto failure = save(table, path, {.schema = 9});
  ASSERT_FALSE(failure) << failure->sentence;
  EXPECT_EQ(bytes_of_file(path), saved(table, 9));
  const table_file_options options{.schema = 9, .check = table_check::elements};

  const auto again = load<Table>(path, options);
  ASSERT_TRUE(again) << again.failure().sentence;
  expect_same(*again, table);
  EXPECT_EQ(saved(*again, 9), saved(table, 9));

  {
    const auto mapped = mapped_table<Table>::map(path, options);
    ASSERT_TRUE(mapped) << mapped.failure().sentence;
    expect_same(**mapped, table);
    EXPECT_EQ((*mapped)->stats().miss_accesses, table.stats().miss_accesses);
  }

  auto writable = writable_table<Table>::open(path, options);
  ASSERT_TRUE(writable) << writable.failure().sentence;
  expect_same(**writable, table);
  ASSERT_FALSE(writable->close());
  EXPECT_EQ(bytes_of_file(path), saved(table, 9)) << "nothing was changed";
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(table_file, brings_back_tables_of_every_scheme_and_capacity) {
  const auto of = []<class Scheme, std::uint32_t Capacity>(
                      Scheme*, scheme_kind kind, std::integral_constant<std::uint32_t, Capacity>) {
    using map = bounded_map<number, number, seeded_hash, std::equal_to<>, Scheme, Capacity>;
    SCOPED_TRACE(std::string(name_of(kind)) + ", " + std::to_string(Capacity));
    const map table = churned<map>(kind);
    ASSERT_GT(table.counts().overflow, 0u);
    comes_back(table);
  };
  using sixteen = std::integral_constant<std::uint32_t, 16>;
  of(static_cast<multilevel*>(nullptr), scheme_kind::multilevel, sixteen());
  of(static_cast<single*>(nullptr), scheme_kind::single, sixteen());
  of(static_cast<sequential*>(nullptr), scheme_kind::sequential, sixteen());
  of(static_cast<d_random*>(nullptr), scheme_kind::d_random, sixteen());
  of(static_cast<d_left*>(nullptr), scheme_kind::d_left, sixteen());
  of(static_cast<multilevel*>(nullptr), scheme_kind::multilevel,
     std::integral_constant<std::uint32_t, 1>());
  of(static_cast<multilevel*>(nullptr), scheme_kind::multilevel,
     std::integral_constant<std::uint32_t, 7>());
  of(static_cast<sequential*>(nullptr), scheme_kind::sequential,
     std::integral_constant<std::uint32_t, 2>());
}

struct point {
  std::int32_t x;
  std::int32_t y;
  bool operator==(const point&) const = default;
};
struct reading {
  double value;
  char unit;  // and seven bytes that mean nothing
  bool operator==(const reading&) const = default;
};
struct nothing {
  bool operator==(const nothing&) const = default;
};

TEST(table_file, brings_back_keys_and_values_of_any_plain_type) {
  bounded_map<point, reading> readings(100, seeded_hash(1));
  for (int i = 0; i < 50; ++i) readings.insert({i, -i}, {i / 3.0, 'm'});
  comes_back(readings);
  bounded_set<std::uint32_t> set(100, seeded_hash(1));
  for (std::uint32_t i = 0; i < 50; ++i) set.insert(i * i);
  comes_back(set);
  bounded_map<std::uint16_t, nothing> bare(100, seeded_hash(1));
  for (std::uint16_t i = 0; i < 50; ++i) bare.insert(i, nothing{});
  comes_back(bare);
  EXPECT_EQ(read_table_facts(saved(bare))->parameters.shape.value_bytes, 0u);
}

TEST(table_file, brings_back_an_empty_table) {
  comes_back(numbers(small_plan(16), seeded_hash(1)));
  comes_back(bounded_set<number>(1, seeded_hash(1)));
}

TEST(table_file, of_a_loaded_table_goes_on_as_the_table_itself) {
  few_numbers table = churned<few_numbers>();
  few_numbers again = load_from<few_numbers>(saved(table)).value();
  for (few_numbers* const one : {&table, &again}) {
    for (number key = 0; key < 80; key += 2) one->insert(key, key);
    for (number key = 0; key < 80; key += 5) one->erase(key);
    one->drain(2);
  }
  EXPECT_EQ(saved(again), saved(table));
}

TEST(table_file, says_what_it_holds) {
  const numbers table = churned<numbers>();
  const auto facts = read_table_facts(saved(table, 77));
  ASSERT_TRUE(facts) << facts.failure().sentence;
  EXPECT_EQ(facts->kind, table_kind::map);
  EXPECT_EQ(facts->file_bytes, head_bytes + table.memory().size());
  EXPECT_EQ(facts->parameters.schema, 77u);
  EXPECT_EQ(facts->parameters.seed, 5u);
  EXPECT_EQ(facts->parameters.state, table_file_state::closed);
  EXPECT_EQ(facts->parameters.counts, table.counts());
  EXPECT_EQ(
      facts->parameters.shape,
      (element_shape{.key_bytes = 8, .value_bytes = 8, .slot_bytes = 16, .slot_alignment = 8}));
}

// ------------------------------------------------------------------------------------- other kinds

TEST(table_file, of_another_table_says_what_differs) {
  const file_bytes bytes = saved(churned<numbers>(), 3);
  const auto complaint = [](const auto& read) {
    const load_failure failure = failure_of(read);
    EXPECT_EQ(failure.error, load_error::wrong_kind);
    constexpr std::string_view begin = "the memory is of the wrong kind: ";
    EXPECT_TRUE(failure.sentence.starts_with(begin)) << failure.sentence;
    return failure.sentence.substr(begin.size());
  };
  constexpr table_file_options third{.schema = 3};
  EXPECT_TRUE(load_from<numbers>(bytes, third));
  EXPECT_EQ(complaint(load_from<numbers>(bytes)), "schema must be 0; found 3");
  EXPECT_EQ(complaint(load_from<bounded_set<number>>(bytes, third)),
            "it holds a map, asked for was a set");
  EXPECT_EQ(complaint(load_from<bounded_map<std::uint32_t, number>>(bytes, third)),
            "key bytes must be 4; found 8");
  EXPECT_EQ(complaint(load_from<bounded_map<number, std::uint32_t>>(bytes, third)),
            "value bytes must be 4; found 8");
  struct alignas(32) wide {
    number value;
  };
  EXPECT_EQ(complaint(load_from<bounded_map<number, wide>>(bytes, third)),
            "value bytes must be 32; found 8");
  EXPECT_EQ(complaint(load_from<few_numbers>(bytes, third)), "bucket_capacity must be 4; found 16");
  using in_sequence = bounded_map<number, number, seeded_hash, std::equal_to<>, sequential>;
  EXPECT_EQ(complaint(load_from<in_sequence>(bytes, third)),
            "scheme must be sequential; found multilevel");
  using own = bounded_map<number, number, remixed<std::hash<number>>>;
  EXPECT_EQ(complaint(load_from<own>(bytes, third)),
            "it holds keys hashed by seeded_hash, asked for was a policy of your own");
  EXPECT_EQ(complaint(load_from<numbers>(bytes, third, seeded_hash(6))),
            "the hash that was given has another seed");
  EXPECT_EQ(complaint(load_from<numbers>(
                forged(bytes, [](auto& p) { p.shape.order = byte_order::big_endian; }), third)),
            "byte order must be little-endian; found big-endian");
  EXPECT_EQ(complaint(load_from<standard_filter>(bytes)),
            "it holds a map, asked for was a single filter");
  file_bytes filter;
  save_to(
      standard_filter({.kind = filter_kind::standard, .elements = 9, .bits_set = 3, .cells = 99},
                      seeded_hash(1)),
      filter);
  EXPECT_EQ(complaint(load_from<numbers>(filter)),
            "it holds a standard filter, asked for was a table");
}

struct needs_salt {  // a policy that no seed makes
  explicit needs_salt(std::string text) : salt(std::move(text)) {}
  key_hash operator()(number key) const noexcept { return seeded_hash(salt.size())(key); }
  std::string salt;
};

TEST(table_file, takes_a_hash_of_your_own) {
  using own = bounded_map<number, number, remixed<std::hash<number>>>;
  own table(small_plan(16), remixed<std::hash<number>>(77));
  table.insert(1, 2);
  const auto again = load_from<own>(saved(table), every_element);
  ASSERT_TRUE(again) << again.failure().sentence;
  EXPECT_EQ(again->hash().seed(), 77u);
  EXPECT_EQ(again->find(1)->value, 2u);
  EXPECT_EQ(error_of<numbers>(saved(table)), load_error::wrong_kind);

  using salted = bounded_map<number, number, needs_salt>;
  salted salty(small_plan(16), needs_salt("abc"));
  salty.insert(1, 2);
  EXPECT_EQ(failure_of(load_from<salted>(saved(salty))).sentence,
            "the memory is of the wrong kind: its hash cannot be made from a seed and must be "
            "given");
  const auto with_hash = load_from<salted>(saved(salty), every_element, needs_salt("abc"));
  ASSERT_TRUE(with_hash) << with_hash.failure().sentence;
  EXPECT_TRUE(with_hash->contains(1));
  // A file cannot know such a policy from another; the elements do.
  EXPECT_EQ(failure_of(load_from<salted>(saved(salty), every_element, needs_salt("abcd"))).error,
            load_error::inconsistent_parameters);
}

struct keeps_its_seed {  // made from a number, which it does not tell
  explicit keeps_its_seed(std::uint64_t from) : hash(from) {}
  key_hash operator()(number key) const noexcept { return hash(key); }
  seeded_hash hash;
};

TEST(table_file, does_not_make_up_a_seed_that_it_was_not_told) {
  using own = bounded_map<number, number, keeps_its_seed>;
  own table(small_plan(16), keeps_its_seed(9));
  table.insert(1, 2);
  EXPECT_EQ(failure_of(load_from<own>(saved(table))).error, load_error::wrong_kind);
  const auto again = load_from<own>(saved(table), every_element, keeps_its_seed(9));
  ASSERT_TRUE(again) << again.failure().sentence;
  EXPECT_TRUE(again->contains(1));
}

// ------------------------------------------------------------------------------------- damage

TEST(table_file, with_any_byte_changed_is_refused) {
  const file_bytes whole = saved(churned<few_numbers>());
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
      file_bytes bytes = whole;
      bytes[at] ^= static_cast<std::byte>(flip);
      ASSERT_EQ(error_of<few_numbers>(bytes),
                at < 8 ? load_error::not_oneprobe_file : load_error::checksum_mismatch)
          << "byte " << at;
    }
}

TEST(table_file, that_is_cut_off_anywhere_is_truncated) {
  const temporary_folder folder;
  const file_bytes whole = saved(churned<few_numbers>());
  EXPECT_EQ(error_of<few_numbers>({}), load_error::not_oneprobe_file);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const auto part = std::span(whole).first(size);
    ASSERT_EQ(error_of<few_numbers>(part), load_error::truncated) << size;
    if (size > head_bytes + 8) continue;
    write_file(folder.file("t"), part);
    ASSERT_EQ(failure_of(load<few_numbers>(folder.file("t"))).error, load_error::truncated);
    ASSERT_EQ(failure_of(mapped_table<few_numbers>::map(folder.file("t"))).error,
              load_error::truncated);
    ASSERT_EQ(failure_of(writable_table<few_numbers>::open(folder.file("t"))).error,
              load_error::truncated);
    ASSERT_EQ(failure_of(recover<few_numbers>(folder.file("t"))).error, load_error::truncated);
  }
  file_bytes longer = whole;
  longer.resize(longer.size() + 64);
  EXPECT_EQ(error_of<few_numbers>(longer), load_error::trailing_bytes);
}

TEST(table_file, that_is_not_there_is_refused_by_name) {
  const temporary_folder folder;
  const auto expect = [](const auto& read, std::string_view words) {
    const load_failure failure = failure_of(read);
    EXPECT_EQ(failure.error, load_error::io);
    EXPECT_NE(failure.sentence.find(words), std::string::npos) << failure.sentence;
  };
  for (const auto& [path, words] :
       {std::pair(folder.file("none"), "none' cannot be read: No such file or directory"),
        std::pair(folder.file(""), "Is a directory")}) {
    expect(load<numbers>(path), words);
    expect(mapped_table<numbers>::map(path), words);
    expect(writable_table<numbers>::open(path), words);
    expect(recover<numbers>(path), words);
  }
  write_file(folder.file("empty"), {});
  EXPECT_EQ(failure_of(writable_table<numbers>::open(folder.file("empty"))).error,
            load_error::not_oneprobe_file);
  const auto failure = save(churned<numbers>(), folder.file("none/t"));
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->sentence.find("cannot be written"), std::string::npos) << failure->sentence;
}

// ------------------------------------------------------------------------------------- harm

TEST(table_file, with_any_wrong_field_says_which) {
  const file_bytes bytes = saved(churned<few_numbers>());
  ASSERT_TRUE(load_from<few_numbers>(forged(bytes, {}), every_element)) << "a forger must be good";
  struct wrong_field {
    std::function<void(table_parameters&)> change;
    std::string_view words;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<wrong_field> wrong{
      {[](auto& p) { p.hash = static_cast<file_hash>(2); }, "hash must be 0 or 1; found 2"},
      {[](auto& p) { p.state = static_cast<table_file_state>(2); }, "state must be 0 or 1"},
      {[](auto& p) { p.shape.order = static_cast<byte_order>(0); }, "byte order must be 1"},
      {[](auto& p) { p.plan.workload = static_cast<table_workload>(2); }, "workload must be"},
      {[](auto& p) { p.plan.scheme = static_cast<scheme_kind>(5); }, "scheme must be"},
      {[](auto& p) { p.plan.scheme = scheme_kind::d_left; }, "equal in d-left"},
      {[](auto& p) { p.shape.key_bytes = 17; }, "key bytes must be no more than"},
      {[](auto& p) { p.shape.value_bytes = 17; }, "value bytes must be no more than"},
      {[](auto& p) { p.shape.slot_bytes = 0; }, "slot bytes must be 1 to 65536; found 0"},
      {[](auto& p) { p.shape.slot_bytes = 1u << 20; }, "slot bytes must be"},
      {[](auto& p) { p.shape.slot_bytes = 32; }, "the payload must have"},
      {[](auto& p) { p.shape.slot_alignment = 3; }, "slot alignment must be"},
      {[](auto& p) { p.shape.slot_alignment = 128; }, "slot alignment must be"},
      {[](auto& p) { p.plan.bucket_capacity = 0; }, "bucket_capacity must be 1 to 16; found 0"},
      {[](auto& p) { p.plan.bucket_capacity = 17; }, "bucket_capacity must be"},
      {[](auto& p) { p.plan.choices = 2; }, "choices must be one per level"},
      {[](auto& p) { p.plan.levels = 0; }, "levels must be 1 to 8; found 0"},
      {[](auto& p) { p.plan.levels = 9; }, "levels must be 1 to 8; found 9"},
      {[](auto& p) { p.plan.elements = 0; }, "elements must be 1 to 2^40; found 0"},
      {[](auto& p) { p.plan.level_buckets[1] = 0; }, "level_buckets must be"},
      {[](auto& p) { p.plan.level_buckets[0] = ~std::uint64_t{0}; }, "level_buckets must be"},
      {[](auto& p) { p.plan.level_buckets[0] = 20; }, "the payload must have"},
      {[](auto& p) { p.plan.overflow_buckets = 0; }, "overflow_buckets must be"},
      {[](auto& p) { p.plan.overflow_buckets = ~std::uint64_t{0}; }, "overflow_buckets must be"},
      {[](auto& p) { p.plan.overflow_reserve = 9; }, "overflow_reserve must be"},
      {[&](auto& p) { p.plan.predicted.insert_accesses = nan; }, "a prediction must be"},
      {[](auto& p) { p.plan.predicted.exceed_probability = -1; }, "a prediction must be"},
      {[](auto& p) { ++p.counts.size; }, "size must be the sum"},
      {[](auto& p) { p.counts.size = p.counts.overflow = 9; }, "overflow must be no more than"},
      {[](auto& p) { p.counts.levels[0] = 49; }, "elements of a level must be no more than"},
      {[](auto& p) { p.counts.levels[0] = ~std::uint64_t{0}; }, "elements of a level must be"},
      {[](auto& p) { ++p.counts.levels[3], ++p.counts.size; }, "elements of a level must be"},
      {[](auto& p) { --p.counts.levels[0], --p.counts.size; }, "level 0 must have"},
      {[](auto& p) { --p.counts.levels[2], ++p.counts.levels[1]; }, "level 1 must have"},
      {[](auto& p) { --p.counts.overflow, --p.counts.size; }, "the overflow must have"},
  };
  for (const wrong_field& field : wrong) {
    SCOPED_TRACE(field.words);
    const load_failure failure = failure_of(
        load_from<few_numbers>(forged(bytes, field.change), {.check = table_check::tags}));
    EXPECT_EQ(failure.error, load_error::inconsistent_parameters);
    EXPECT_NE(failure.sentence.find(field.words), std::string::npos) << failure.sentence;
  }
}

/// The same for bytes that no field writes.
TEST(table_file, with_anything_in_a_reserved_byte_is_inconsistent) {
  const file_bytes bytes = saved(churned<few_numbers>());
  for (const std::size_t at : {31u, 60u, 63u, 72u + 3 * 8, 72u + 7 * 8, 288u, 447u}) {
    file_bytes changed = bytes;
    changed[preamble_bytes + at] = std::byte{1};
    preamble head = *decode_preamble(changed, changed.size(), "'x'");
    head.parameter_checksum = checksum_of(std::span(changed).subspan(64, table_parameters::bytes));
    std::ranges::copy(encode(head), changed.begin());
    EXPECT_EQ(error_of<few_numbers>(changed), load_error::inconsistent_parameters) << at;
  }
}

TEST(table_file, of_a_later_version_is_newer) {
  file_bytes bytes = saved(churned<few_numbers>());
  bytes[preamble_bytes] = std::byte{2};
  preamble head = *decode_preamble(bytes, bytes.size(), "'x'");
  head.parameter_checksum = checksum_of(std::span(bytes).subspan(64, table_parameters::bytes));
  std::ranges::copy(encode(head), bytes.begin());
  EXPECT_EQ(error_of<few_numbers>(bytes), load_error::newer_format);
}

TEST(table_file, whose_side_array_no_table_can_have_is_inconsistent) {
  const file_bytes bytes = saved(churned<few_numbers>());
  const auto expect = [&](std::function<void(std::span<std::byte>)> change,
                          std::string_view words) {
    const load_failure failure =
        failure_of(load_from<few_numbers>(forged(bytes, {}, change), {.check = table_check::tags}));
    EXPECT_EQ(failure.error, load_error::inconsistent_parameters);
    EXPECT_NE(failure.sentence.find(words), std::string::npos) << failure.sentence;
  };
  // Low tags of slots 4 and 15, which a bucket of four has not, and high tags of slots 5 and 15.
  for (const std::size_t at : {4u, 15u, 16u + 2, 16u + 7})
    expect([&](auto payload) { payload[at] = std::byte{0xff}; }, "beyond the bucket capacity");
  const std::size_t overflow_side = 18 * 32 + 18 * 4 * 16;
  expect([&](auto payload) { payload[overflow_side + 32 + 4] = std::byte{1}; },
         "beyond the bucket capacity");
  // A tag that is not there, and one too many.
  const auto clear = [](std::span<std::byte> slots) {
    *std::ranges::find_if(slots, [](std::byte b) { return b != std::byte{0}; }) = std::byte{0};
  };
  expect([&](auto payload) { clear(payload.first(4)); }, "level 0 must have");
  expect([&](auto payload) { clear(payload.subspan(17 * 32, 4)); }, "level 2 must have");
  // 1 bucket of 4 slots of 4 bytes: 16 bytes, and 48 that must be 0.
  bounded_set<std::uint32_t, seeded_hash, std::equal_to<>, single, 4> set(
      [] {
        table_plan plan = small_plan(4, scheme_kind::single);
        plan.level_buckets[0] = 1;
        return plan;
      }(),
      seeded_hash(1));
  for (const std::size_t at : {32u, 63u, 64u + 16, 64u + 63}) {
    const auto read = load_from<decltype(set)>(
        forged(saved(set), {}, [&](auto payload) { payload[at] = std::byte{1}; }));
    EXPECT_NE(failure_of(read).sentence.find("after the last bucket"), std::string::npos) << at;
  }
}

/// Everything a table can do, on one that may be any nonsense.
template <class Map>
void use(Map& map) {
  number sum = 0;
  for (const auto& one : map) sum += one.value;
  for (number key = 0; key < 100; ++key) {
    if (const auto* const found = map.find(key)) sum += found->value;
    sum += map.explain(key).lines;
  }
  for (number key = 0; key < 60; ++key) map.erase(key);
  for (number key = 0; key < 100; ++key) map.insert(key, sum);
  map.drain(10);
  map.sweep(30, [](const auto& one) { return one.value % 2 == 0; });
  sum += map.stats().counts.size;
  few_numbers other(map.plan(), seeded_hash(1));
  map.copy_into(other);
  ASSERT_LE(other.size(), 20u * 4);
}

TEST(table_file, that_is_not_verified_does_no_harm) {
  const file_bytes whole = saved(churned<few_numbers>());
  std::uint64_t used = 0;
  for (std::size_t at = head_bytes; at < whole.size(); ++at)
    for (const unsigned flip : {0x01U, 0x10U, 0xffU}) {
      file_bytes bytes = whole;
      bytes[at] ^= static_cast<std::byte>(flip);
      auto read = load_from<few_numbers>(bytes, {.check = table_check::tags});
      if (!read) continue;
      use(*read);
      ++used;
    }
  EXPECT_GT(used, 1000u);
}

TEST(table_file, whose_elements_are_not_where_they_belong_is_found_out) {
  const few_numbers table = churned<few_numbers>();
  const auto fault = [&](std::function<void(table_parameters&)> change,
                         std::function<void(std::span<std::byte>)> change_payload) {
    const file_bytes bytes = forged(saved(table), change, change_payload);
    EXPECT_TRUE(load_from<few_numbers>(bytes)) << "only the elements say so";
    return failure_of(load_from<few_numbers>(bytes, every_element)).sentence;
  };
  const auto slot_of = [&](number key, std::span<std::byte> payload) {
    const auto* const place = reinterpret_cast<const std::byte*>(table.find(key));
    return payload.subspan(static_cast<std::size_t>(place - table.memory().data()), 16);
  };
  EXPECT_NE(fault({}, [&](auto payload) { slot_of(1, payload)[0] ^= std::byte{255}; })
                .find("is not where its key belongs"),
            std::string::npos);
  // Two elements of one bucket that change places, but not tags.
  EXPECT_NE(fault({},
                  [&](auto payload) {
                    const auto first = payload.subspan(18 * 32, 16);
                    std::ranges::swap_ranges(first, payload.subspan(18 * 32 + 16, 16));
                  })
                .find("slot 0 of bucket 0 is not"),
            std::string::npos);
  // The notes of a bucket: none that should be, one too many, one too few to erase all.
  const auto notes = [](auto payload) { return payload.subspan(24, 8); };
  EXPECT_NE(fault({}, [&](auto payload) { std::ranges::fill(notes(payload), std::byte{0}); })
                .find("is not where its key belongs"),
            std::string::npos);
  EXPECT_NE(fault({},
                  [&](auto payload) {
                    for (std::byte& two : notes(payload))
                      if (two == std::byte{0}) two = std::byte{1};
                  })
                .find("a note does not count"),
            std::string::npos);
  // Notes that are stuck say less than they could, and nothing wrong.
  EXPECT_TRUE(load_from<few_numbers>(
      forged(saved(table), {},
             [&](auto payload) { std::ranges::fill(notes(payload), std::byte{0xff}); }),
      every_element));
}

TEST(table_file, with_one_tag_in_two_lines_of_a_bucket_is_found_out) {
  const pair_of_one_tag pair = find_pair_of_one_tag();
  const file_bytes bytes = forged(saved(pair.table), {}, [&](auto payload) {
    move_to_another_line(pair.table, pair.second, payload);
  });
  const auto read = load_from<numbers>(bytes);
  ASSERT_TRUE(read) << "only the elements say so";
  EXPECT_TRUE(read->contains(pair.first) && read->contains(pair.second));
  EXPECT_NE(failure_of(load_from<numbers>(bytes, every_element))
                .sentence.find("has its tag in another line, too"),
            std::string::npos);
}

TEST(table_file, with_candidates_counted_wrongly_is_found_out_by_its_elements) {
  using in_sequence = bounded_map<number, number, seeded_hash, std::equal_to<>, sequential>;
  const file_bytes bytes = forged(saved(churned<in_sequence>(scheme_kind::sequential)),
                                  [](auto& p) { --p.counts.levels[0], ++p.counts.levels[2]; });
  EXPECT_TRUE(load_from<in_sequence>(bytes));
  EXPECT_NE(failure_of(load_from<in_sequence>(bytes, every_element)).sentence.find("counts"),
            std::string::npos);
}

// ------------------------------------------------------------------------------------- writing

TEST(writable_table, keeps_its_changes_in_the_file) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  numbers twin = churned<numbers>();
  ASSERT_FALSE(save(twin, path));
  auto opened = writable_table<numbers>::open(path);
  ASSERT_TRUE(opened) << opened.failure().sentence;
  auto table = *std::move(opened);  // may be moved
  for (numbers* const one : {&twin, &*table}) {
    for (number key = 1000; key < 1050; ++key) one->insert(key, key);
    for (number key = 1; key < 100; key += 3) one->erase(key);
    one->find(2)->value = 99;
  }
  EXPECT_EQ(bytes_of_file(path).size(), head_bytes + twin.memory().size());
  ASSERT_FALSE(table.close());
  EXPECT_FALSE(table.close()) << "the second does nothing";
  EXPECT_EQ(bytes_of_file(path), saved(twin));
  const auto again = load<numbers>(path, every_element);
  ASSERT_TRUE(again) << again.failure().sentence;
  EXPECT_EQ(again->find(2)->value, 99u);
}

TEST(writable_table, closes_its_file_when_it_ends) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  ASSERT_FALSE(save(churned<numbers>(), path));
  writable_table<numbers>::open(path).value()->insert(5000, 1);
  const auto again = load<numbers>(path, every_element);
  ASSERT_TRUE(again) << again.failure().sentence;
  EXPECT_TRUE(again->contains(5000));
}

TEST(writable_table, has_its_file_for_itself) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  ASSERT_FALSE(save(churned<numbers>(), path));
  auto table = writable_table<numbers>::open(path).value();
  EXPECT_EQ(read_table_facts(path)->parameters.state, table_file_state::open);
  const auto expect = [](const auto& read, std::string_view words) {
    const load_failure failure = failure_of(read);
    EXPECT_EQ(failure.error, load_error::not_closed);
    EXPECT_NE(failure.sentence.find(words), std::string::npos) << failure.sentence;
  };
  expect(load<numbers>(path), "open for writing elsewhere");
  expect(mapped_table<numbers>::map(path), "open for writing elsewhere");
  expect(writable_table<numbers>::open(path), "open for writing elsewhere");
  expect(recover<numbers>(path), "open for writing elsewhere");
  ASSERT_FALSE(table.close());
  EXPECT_TRUE(load<numbers>(path));
  EXPECT_TRUE(writable_table<numbers>::open(path)) << "a closed one lets go of its file";
}

TEST(writable_table, does_not_hide_damage_behind_a_fresh_checksum) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  file_bytes bytes = saved(churned<numbers>());
  bytes.back() ^= std::byte{1};
  write_file(path, bytes);
  const auto table = writable_table<numbers>::open(path, {.check = table_check::tags});
  EXPECT_EQ(failure_of(table).error, load_error::checksum_mismatch);
  EXPECT_EQ(bytes_of_file(path), bytes) << "a file that is refused stays as it is";
}

/// While it lives, no file is written from this byte on.
class write_limit {
 public:
  explicit write_limit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const struct rlimit now { bytes, before_.rlim_max };
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  write_limit(const write_limit&) = delete;
  write_limit& operator=(const write_limit&) = delete;
  ~write_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  struct rlimit before_ {};
};

TEST(writable_table, leaves_a_file_closed_that_it_cannot_mark_as_open) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  ASSERT_FALSE(save(churned<numbers>(), path));
  const file_bytes before = bytes_of_file(path);
  // Checksums are new and the state is not; both are.
  for (const rlim_t written : {preamble_bytes, preamble_bytes + 32}) {
    {
      const write_limit limit(written);
      const auto table = writable_table<numbers>::open(path);
      ASSERT_FALSE(table);
      EXPECT_NE(table.failure().sentence.find("cannot be written"), std::string::npos)
          << table.failure().sentence;
    }
    EXPECT_EQ(bytes_of_file(path), before) << written;
  }
  EXPECT_TRUE(writable_table<numbers>::open(path));
}

TEST(writable_table, says_so_if_its_table_left_the_file) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  ASSERT_FALSE(save(churned<numbers>(), path));
  auto table = writable_table<numbers>::open(path).value();
  *table = numbers(100, seeded_hash(1));
  const auto failure = table.close();
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->sentence.find("assigned to"), std::string::npos) << failure->sentence;
  const load_failure left_open = failure_of(load<numbers>(path));
  EXPECT_EQ(left_open.error, load_error::not_closed);
  EXPECT_NE(left_open.sentence.find("recover()"), std::string::npos) << left_open.sentence;
}

TEST(writable_table, says_so_if_its_file_lost_its_name) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  const auto expect_lost = [&](const std::function<void()>& happens) {
    ASSERT_FALSE(save(churned<numbers>(), path));
    auto table = writable_table<numbers>::open(path).value();
    table->insert(5000, 1);
    happens();
    const auto failure = table.close();
    ASSERT_TRUE(failure);
    EXPECT_NE(failure->sentence.find("replaced, renamed or removed"), std::string::npos)
        << failure->sentence;
  };
  expect_lost([&] { ASSERT_FALSE(save(numbers(100, seeded_hash(1)), path)); });
  EXPECT_TRUE(load<numbers>(path)->empty()) << "what replaced it stays as it is";
  expect_lost([&] { std::filesystem::remove(path); });
  EXPECT_EQ(folder.entries(), 0u);
  expect_lost([&] { std::filesystem::rename(path, folder.file("moved")); });
  const auto moved = load<numbers>(folder.file("moved"), every_element);
  ASSERT_TRUE(moved) << moved.failure().sentence;
  EXPECT_TRUE(moved->contains(5000)) << "whole, under its new name";
}

TEST(writable_table, knows_its_file_from_another_folder) {
  const temporary_folder folder;
  ASSERT_FALSE(save(churned<numbers>(), folder.file("t.table")));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.file(""));
  auto table = writable_table<numbers>::open("t.table").value();
  std::filesystem::current_path(before);
  EXPECT_FALSE(table.close());
}

/// Pages of this table that the system had to make ready while each of them was written.
std::uint64_t faults_of_writing(numbers& table) {
  const auto faults = [] {
    struct rusage used {};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<std::uint64_t>(used.ru_minflt);
  };
  const std::uint64_t before = faults();
  for (auto& one : table) ++one.value;
  return faults() - before;
}

TEST(writable_table, is_touched_for_writing_at_once_if_asked) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  numbers table(100'000, seeded_hash(1));
  for (number key = 0; key < 100'000; ++key) table.insert(key, key);
  ASSERT_FALSE(save(table, path));
  // Untouched, every page has to be made ready. Touched, only those that the system happens to
  // write to the disk meanwhile: where it is busy doing so these can be many, hence the least of
  // some.
  const std::uint64_t half = table.memory().size() / 4096 / 2;
  std::uint64_t faults = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 20 && faults >= half; ++i) {
    auto now =
        writable_table<numbers>::open(path, {.memory = {.touch = page_touch::at_once}}).value();
    faults = std::min(faults, faults_of_writing(*now));
    ASSERT_FALSE(now.close());
  }
  EXPECT_LT(faults, half);
}

TEST(writable_table, needs_a_file_that_may_be_written) {
  // A program that runs may be written by nobody.
  const load_failure failure = failure_of(writable_table<numbers>::open("/proc/self/exe"));
  EXPECT_EQ(failure.error, load_error::io);
  EXPECT_NE(failure.sentence.find("Text file busy"), std::string::npos) << failure.sentence;
}

// ------------------------------------------------------------------------------------- mapping

TEST(mapped_table, keeps_its_bytes_when_the_file_is_replaced) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  numbers table = churned<numbers>();
  ASSERT_FALSE(save(table, path));
  const auto mapped =
      mapped_table<numbers>::map(path, {.memory = {.touch = page_touch::at_once}}).value();
  const numbers before = table;
  table.clear();
  ASSERT_FALSE(save(table, path));
  expect_same(*mapped, before);
  EXPECT_TRUE(load<numbers>(path)->empty());
}

TEST(mapped_table, shares_its_file_with_readers_and_with_no_writer) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  const numbers table = churned<numbers>();
  ASSERT_FALSE(save(table, path));
  const auto expect_refused = [](const auto& opened) {
    const load_failure failure = failure_of(opened);
    EXPECT_EQ(failure.error, load_error::io);
    EXPECT_NE(failure.sentence.find("being read elsewhere"), std::string::npos) << failure.sentence;
  };
  {
    const auto one = mapped_table<numbers>::map(path).value();
    {
      const auto other = mapped_table<numbers>::map(path).value();
      expect_same(*other, table);
      EXPECT_TRUE(load<numbers>(path));
    }
    expect_refused(writable_table<numbers>::open(path));
    expect_refused(recover<numbers>(path));
    expect_same(*one, table);
    // A save gives the name to another file, which nobody has mapped.
    ASSERT_FALSE(save(table, path));
    EXPECT_TRUE(writable_table<numbers>::open(path));
  }
  EXPECT_TRUE(writable_table<numbers>::open(path));
}

TEST(mapped_table, needs_no_right_to_write) {
  // A program that runs may be written by nobody, and be read.
  EXPECT_EQ(failure_of(mapped_table<numbers>::map("/proc/self/exe")).error,
            load_error::not_oneprobe_file);
}

TEST(mapped_table, is_copied_into_memory_of_its_own) {
  const temporary_folder folder;
  const std::string path = folder.file("t.table");
  const numbers table = churned<numbers>();
  ASSERT_FALSE(save(table, path));
  numbers copy = *mapped_table<numbers>::map(path).value();
  copy.insert(5000, 1);
  EXPECT_TRUE(copy.contains(5000));
  expect_same(*load<numbers>(path), table);
}

}  // namespace
