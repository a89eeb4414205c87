#include "oneprobe/filter/parts_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/golden_filters.hpp"
#include "formats/temporary_folder.hpp"
#include "handles/held_filter.hpp"
#include "oneprobe/filter/balanced.hpp"
#include "oneprobe/filter/blocked.hpp"
#include "oneprobe/filter/counting.hpp"
#include "oneprobe/filter/file.hpp"
#include "oneprobe/filter/partitioned.hpp"
#include "oneprobe/filter/standard.hpp"

using namespace oneprobe;

namespace {

using file_bytes = std::vector<std::byte>;
using growing_balanced = golden_growing_filter;
using rotating_blocked = golden_rotating_filter;

template <class Filter>
file_bytes saved(const Filter& filter) {
  file_bytes bytes;
  save_to(filter, bytes);
  return bytes;
}

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

template <class Filter>
void insert_each(Filter& filter, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t key = first; key < end; ++key) filter.insert(key);
}

/// What a load says; every sentence is one line and names the error.
template <class Loaded>
load_failure failure_of(const Loaded& read) {
  EXPECT_FALSE(read);
  if (read) return {load_error::io, "it was loaded"};
  const auto& [error, sentence] = read.failure();
  EXPECT_EQ(sentence.find('\n'), std::string::npos);
  EXPECT_NE(sentence.find(name_of(error)), std::string::npos) << sentence;
  return read.failure();
}
load_failure growing_failure(std::span<const std::byte> bytes) {
  return failure_of(load_from<growing_balanced>(bytes));
}
load_failure rotating_failure(std::span<const std::byte> bytes) {
  return failure_of(load_from<rotating_blocked>(bytes));
}

void expect_words(const load_failure& failure, load_error error, std::string_view words) {
  EXPECT_EQ(failure.error, error) << failure.sentence;
  EXPECT_NE(failure.sentence.find(words), std::string::npos) << failure.sentence;
}

/// A file taken to pieces. Put together again, its checksums fit whatever was changed.
struct pieces {
  parts_parameters parameters;
  std::vector<file_bytes> parts;

  file_bytes together() const {
    file_bytes payload;
    for (const file_bytes& part : parts) payload.insert(payload.end(), part.begin(), part.end());
    const file_bytes section = encode(parameters);
    return with_section(section, payload);
  }
  /// The section may be anything.
  file_bytes with_section(const file_bytes& section, const file_bytes& payload) const {
    const auto head = encode(preamble{.kind = static_cast<std::uint16_t>(parameters.kind),
                                      .parameter_bytes = section.size(),
                                      .payload_bytes = payload.size(),
                                      .parameter_checksum = checksum_of(section),
                                      .payload_checksum = checksum_of(payload)});
    file_bytes bytes(head.begin(), head.end());
    bytes.insert(bytes.end(), section.begin(), section.end());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return bytes;
  }
};

pieces taken_apart(const file_bytes& bytes) {
  const preamble head = decode_preamble(bytes, bytes.size(), "'x'").value();
  const auto section =
      std::span(bytes).subspan(preamble_bytes, static_cast<std::size_t>(head.parameter_bytes));
  pieces apart{decode_parts_parameters(section, head, "'x'").value(), {}};
  auto at = bytes.begin() + static_cast<std::ptrdiff_t>(head.payload_begin());
  for (const std::uint64_t part : apart.parameters.part_bytes) {
    apart.parts.emplace_back(at, at + static_cast<std::ptrdiff_t>(part));
    at += static_cast<std::ptrdiff_t>(part);
  }
  return apart;
}

file_bytes forged(const file_bytes& bytes, const std::function<void(pieces&)>& change) {
  pieces apart = taken_apart(bytes);
  change(apart);
  return apart.together();
}

/// A part with other parameters and checksums that fit.
void forge_part(file_bytes& part, const std::function<void(filter_parameters&)>& change) {
  preamble head = decode_preamble(part, part.size(), "'x'").value();
  auto parameters = decode_filter_parameters(std::span(part).subspan(64, 256), head, "'x'").value();
  change(parameters);
  const auto section = encode(parameters);
  std::ranges::copy(section, part.begin() + 64);
  head.kind = static_cast<std::uint16_t>(parameters.plan.kind);
  head.parameter_checksum = checksum_of(section);
  std::ranges::copy(encode(head), part.begin());
}

// ------------------------------------------------------------------------------------- round trip

template <class Filter>
void expect_round_trip(const Filter& filter, const std::string& path) {
  const auto failure = save(filter, path);
  ASSERT_FALSE(failure) << failure->sentence;
  EXPECT_EQ(bytes_of_file(path), saved(filter));
  for (const auto& again : {load<Filter>(path), load_from<Filter>(saved(filter))}) {
    ASSERT_TRUE(again) << again.failure().sentence;
    EXPECT_EQ(saved(*again), saved(filter));
    EXPECT_EQ(again->counts(), filter.counts());
    EXPECT_EQ(again->hash().seed(), filter.hash().seed());
    EXPECT_EQ(again->stated_fpr(), filter.stated_fpr());
    EXPECT_EQ(again->stats().current_fpr, filter.stats().current_fpr);
    EXPECT_EQ(golden_answers(*again), golden_answers(filter));
  }
}

template <class Filter>
class parts_file : public ::testing::Test {};
using all_kinds = ::testing::Types<standard_filter, partitioned_filter, blocked_filter,
                                   counting_filter, balanced_filter>;
TYPED_TEST_SUITE(parts_file, all_kinds);

TYPED_TEST(parts_file, brings_back_a_growing_filter) {
  const temporary_folder folder;
  growing_filter<TypeParam> filter(100, 1e-2, seeded_hash(20081));
  for (const std::uint64_t elements : {0U, 1U, 100U, 101U, 3000U}) {
    insert_each(filter, filter.counts().size, elements);
    expect_round_trip(filter, folder.file("f.filter"));
  }
  EXPECT_GE(filter.parts().size(), 5U);
  EXPECT_EQ(folder.entries(), 1U);
}

TYPED_TEST(parts_file, brings_back_a_rotating_filter) {
  const temporary_folder folder;
  for (const std::uint32_t generations : {2U, 5U, 64U}) {
    rotating_filter<TypeParam> filter(
        {.elements_per_window = 100, .fpr = 1e-2, .generations = generations}, seeded_hash(20081));
    for (std::uint64_t window = 0; window < 7; ++window) {
      insert_each(filter, 100 * window, 100 * window + 90);
      filter.rotate();
    }
    expect_round_trip(filter, folder.file("f.filter"));
  }
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(parts_in_memory, are_appended_and_read_from_wherever_they_begin) {
  file_bytes bytes = bytes_of("before");
  save_to(build_golden_growing(), bytes);
  EXPECT_TRUE(load_from<growing_balanced>(std::span(bytes).subspan(6)));
}

// So that somebody who maps the file can use each part where it lies.
TEST(parts_in_memory, are_filter_files_of_their_own_on_cache_lines) {
  const growing_balanced filter = build_golden_growing();
  const file_bytes bytes = saved(filter);
  line_memory memory(bytes.size());
  std::ranges::copy(bytes, memory.data());
  const preamble head = decode_preamble(bytes, bytes.size(), "'x'").value();
  auto begin = static_cast<std::size_t>(head.payload_begin());
  for (const balanced_filter& part : filter.parts()) {
    const file_bytes alone = saved(part);
    const auto there = std::as_const(memory).bytes().subspan(begin, alone.size());
    EXPECT_TRUE(std::ranges::equal(there, alone));
    const auto view = view_of<balanced_filter>(there);
    ASSERT_TRUE(view) << view.failure().sentence;
    EXPECT_EQ(golden_answers(*view), golden_answers(part));
    begin += alone.size();
  }
  EXPECT_EQ(begin, bytes.size());
}

TEST(parts_on_disk, are_replaced_as_a_whole_or_not_at_all) {
  const temporary_folder folder;
  const auto failure = save(build_golden_growing(), folder.file("no/such/folder/f.filter"));
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->sentence.find("cannot be written"), std::string::npos) << failure->sentence;
  EXPECT_EQ(folder.entries(), 0U);
}

// ------------------------------------------------------------------------------------- going on

TEST(loaded_growing_filter, grows_as_the_saved_one_would_have) {
  for (const std::uint64_t elements : {0U, 1U, 99U, 100U, 101U, 300U, 1000U, 5000U}) {
    SCOPED_TRACE(elements);
    growing_filter<blocked_filter> filter(
        {.first_elements = 100, .fpr = 1e-3, .growth = 1.5, .tightening = 0.8}, seeded_hash(7));
    insert_each(filter, 0, elements);
    auto again = load_from<growing_filter<blocked_filter>>(saved(filter)).value();
    insert_each(filter, elements, elements + 4000);
    insert_each(again, elements, elements + 4000);
    EXPECT_EQ(saved(again), saved(filter));
    again = load_from<growing_filter<blocked_filter>>(saved(again)).value();
    filter.bulk_insert(keys_from(100'000, 20'000));
    again.bulk_insert(keys_from(100'000, 20'000));
    EXPECT_GT(filter.parts().size(), 8U);
    EXPECT_EQ(saved(again), saved(filter));
    EXPECT_EQ(again.growth(), growth_state::as_planned);
    filter.clear();
    again.clear();
    insert_each(filter, 0, 1000);
    insert_each(again, 0, 1000);
    EXPECT_EQ(saved(again), saved(filter)) << "after both were cleared";
  }
}

TEST(loaded_growing_filter, has_the_planner_that_is_brought_and_else_the_default_one) {
  const file_bytes bytes = saved(build_golden_growing());
  growing_balanced original = build_golden_growing();
  auto with_planner = load_from<growing_balanced>(bytes, golden_part_plan).value();
  auto without = load_from<growing_balanced>(bytes).value();
  insert_each(original, 10'000, 10'200);
  insert_each(with_planner, 10'000, 10'200);
  insert_each(without, 10'000, 10'200);
  ASSERT_EQ(original.parts().size(), 4U);
  EXPECT_EQ(saved(with_planner), saved(original));
  ASSERT_EQ(without.parts().size(), 4U);
  const filter_plan& part = without.parts().back().plan();
  EXPECT_TRUE(same_shape(part, balanced_engine<multilevel>::default_plan(320, 0.140625 / 2)));
}

TEST(loaded_growing_filter, tries_again_when_the_saved_one_would_have) {
  int asked = 0;
  int allowed = 2;
  const auto planner = [&](std::uint64_t elements, double fpr) -> filter_plan {
    if (++asked > allowed) throw std::invalid_argument("no plan");
    return standard_engine::default_plan(elements, fpr);
  };
  using growing = growing_filter<standard_filter>;
  growing filter({.first_elements = 80, .fpr = 0.1}, planner, seeded_hash(5));
  insert_each(filter, 0, 300);
  EXPECT_EQ(filter.growth(), growth_state::no_plan);
  ASSERT_EQ(filter.parts().size(), 2U);
  for (std::uint64_t key = 300; key < 400; ++key) {
    filter.insert(key);
    auto again = load_from<growing>(saved(filter), planner);
    ASSERT_TRUE(again) << key << ": " << again.failure().sentence;
    EXPECT_EQ(again->growth(), growth_state::no_plan);
    EXPECT_EQ(saved(*again), saved(filter));
    // Both ask again at the same element.
    growing copy = filter;
    for (std::uint64_t more = 1000; more < 1060; ++more) {
      asked = 0;
      allowed = 0;
      copy.insert(more);
      const int asked_by_saved = std::exchange(asked, 0);
      again->insert(more);
      ASSERT_EQ(asked, asked_by_saved) << key << " and " << more;
    }
    asked = allowed = 0;
  }
  allowed = 1000;
  auto again = load_from<growing>(saved(filter), planner).value();
  insert_each(again, 2000, 2100);
  EXPECT_EQ(again.growth(), growth_state::as_planned);
  EXPECT_EQ(again.parts().size(), 3U);
  EXPECT_TRUE(load_from<growing>(saved(again))) << "with an over-full part before the newest";
}

TEST(loaded_rotating_filter, rotates_as_the_saved_one_would_have) {
  rotating_filter<balanced_filter> filter(
      {.elements_per_window = 200, .fpr = 1e-3, .generations = 4}, seeded_hash(3));
  for (std::uint64_t window = 0; window < 12; ++window) {
    insert_each(filter, 200 * window, 200 * window + 100);
    auto again = load_from<rotating_filter<balanced_filter>>(saved(filter)).value();
    EXPECT_EQ(again.generations(), 4U);
    for (auto* one : {&filter, &again}) {
      insert_each(*one, 200 * window + 100, 200 * window + 150);
      one->rotate();
      insert_each(*one, 200 * window + 150, 200 * window + 200);
    }
    ASSERT_EQ(saved(again), saved(filter)) << "window " << window;
    if (window % 2 == 0) filter = std::move(again);
  }
  for (std::uint64_t key = 200 * 9; key < 200 * 12; ++key) ASSERT_TRUE(filter.may_contain(key));
}

// ------------------------------------------------------------------------------------- damage

TEST(damaged_parts_file, that_is_cut_off_anywhere_is_truncated) {
  const file_bytes growing = saved(build_golden_growing());
  const file_bytes rotating = saved(build_golden_rotating());
  EXPECT_EQ(growing_failure({}).error, load_error::not_oneprobe_file);
  for (std::size_t size = 1; size < growing.size(); ++size)
    ASSERT_EQ(growing_failure(std::span(growing).first(size)).error, load_error::truncated) << size;
  for (std::size_t size = 64; size < rotating.size(); size += 64)
    ASSERT_EQ(rotating_failure(std::span(rotating).first(size)).error, load_error::truncated);
  file_bytes longer = growing;
  longer.resize(longer.size() + 64);
  EXPECT_EQ(growing_failure(longer).error, load_error::trailing_bytes);
}

// The same with lengths and checksums of the whole that fit what is left.
TEST(damaged_parts_file, whose_last_part_is_cut_off_says_which) {
  const file_bytes whole = saved(build_golden_growing());
  const std::size_t last_bytes = taken_apart(whole).parts.back().size();
  for (std::size_t size = 64; size < last_bytes; size += 64) {
    const load_failure failure = growing_failure(forged(whole, [&](pieces& apart) {
      apart.parts.back().resize(size);
      apart.parameters.part_bytes.back() = size;
    }));
    if (size < parts_parameters::least_part_bytes)
      expect_words(failure, load_error::inconsistent_parameters, "part 3 of 3 must have 384");
    else
      expect_words(failure, load_error::truncated, "part 3 of the memory is truncated");
  }
}

template <class Filter>
void expect_every_changed_byte_is_refused(const Filter& filter) {
  const file_bytes whole = saved(filter);
  const pieces apart = taken_apart(whole);
  const std::size_t payload_begin = preamble_bytes + encode(apart.parameters).size();
  std::size_t part_end = payload_begin;
  std::size_t part = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (at == part_end) part_end += apart.parts[part++].size();
    for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
      file_bytes bytes = whole;
      bytes[at] ^= static_cast<std::byte>(flip);
      const load_failure failure = failure_of(load_from<Filter>(bytes));
      const std::size_t in_part =
          at < payload_begin ? at : at - (part_end - apart.parts[part - 1].size());
      ASSERT_EQ(failure.error,
                in_part < 8 ? load_error::not_oneprobe_file : load_error::checksum_mismatch)
          << "byte " << at << ": " << failure.sentence;
      const std::string name =
          part == 0 ? "the memory" : "part " + std::to_string(part) + " of the memory";
      ASSERT_TRUE(failure.sentence.starts_with(name)) << "byte " << at << ": " << failure.sentence;
    }
  }
  EXPECT_EQ(part, apart.parts.size());
}

TEST(damaged_parts_file, with_any_byte_changed_is_refused) {
  expect_every_changed_byte_is_refused(build_golden_growing());
  expect_every_changed_byte_is_refused(build_golden_rotating());
}

// Each part is whole, and only the file's own checksum knows their order.
TEST(damaged_parts_file, with_parts_of_another_filter_is_found_by_its_own_checksum) {
  const file_bytes whole = saved(build_golden_rotating());
  pieces apart = taken_apart(whole);
  std::swap(apart.parts[0], apart.parts[1]);
  const file_bytes swapped = apart.together();
  EXPECT_TRUE(load_from<rotating_blocked>(swapped)) << "with a checksum that fits nobody can tell";
  file_bytes bytes = whole;
  std::copy(swapped.begin() + 64, swapped.end(), bytes.begin() + 64);
  EXPECT_EQ(rotating_failure(bytes).sentence, "the memory has a checksum mismatch in its payload");
}

TEST(damaged_parts_file, on_disk_is_refused_by_name) {
  const temporary_folder folder;
  const std::string path = folder.file("f.filter");
  expect_words(failure_of(load<growing_balanced>(path)), load_error::io, "No such file");
  file_bytes bytes = saved(build_golden_growing());
  bytes.back() ^= std::byte{1};
  write_file(path, bytes);
  const load_failure failure = failure_of(load<growing_balanced>(path));
  EXPECT_EQ(failure.error, load_error::checksum_mismatch);
  EXPECT_TRUE(failure.sentence.starts_with("part 3 of '")) << failure.sentence;
  EXPECT_NE(failure.sentence.find("f.filter' has a checksum mismatch"), std::string::npos);
}

// ------------------------------------------------------------------------------------- kinds

TEST(parts_file_kind, that_is_not_the_one_asked_for_is_named) {
  const file_bytes growing = saved(build_golden_growing());
  const file_bytes rotating = saved(build_golden_rotating());
  const file_bytes single = saved(build_golden_growing().parts().front());
  const auto complaint = [](const load_failure& failure) {
    EXPECT_EQ(failure.error, load_error::wrong_kind);
    return failure.sentence;
  };
  const std::string wrong = "the memory is of the wrong kind: it holds ";
  EXPECT_EQ(complaint(growing_failure(rotating)),
            wrong + "a rotating filter, asked for was a growing filter");
  EXPECT_EQ(complaint(rotating_failure(growing)),
            wrong + "a growing filter, asked for was a rotating filter");
  EXPECT_EQ(complaint(growing_failure(single)),
            wrong + "a balanced filter, asked for was a growing filter");
  EXPECT_EQ(complaint(failure_of(load_from<balanced_filter>(growing))),
            wrong + "a growing filter, asked for was a single filter");
  EXPECT_EQ(complaint(failure_of(load_from<held_filter>(growing))),
            wrong + "a growing filter, asked for was a single filter");
  EXPECT_EQ(complaint(failure_of(load_from<held_filter>(rotating))),
            wrong + "a rotating filter, asked for was a single filter");
  EXPECT_EQ(complaint(failure_of(load_from<growing_filter<blocked_filter>>(growing))),
            "part 1 of the memory is of the wrong kind: it holds a balanced filter, asked for was "
            "a blocked filter");
  EXPECT_EQ(
      complaint(growing_failure(forged(
          growing, [](pieces& apart) { apart.parameters.kind = static_cast<parts_kind>(77); }))),
      wrong + "something of the unknown kind 77, asked for was a growing filter");
}

// The section is then longer than what is read of a file for one filter.
TEST(parts_file_kind, of_many_parts_is_named_too) {
  const temporary_folder folder;
  const std::string path = folder.file("f.filter");
  const rotating_blocked filter({.elements_per_window = 10, .fpr = 0.1, .generations = 64},
                                seeded_hash(1));
  ASSERT_FALSE(save(filter, path));
  const std::string sentence = "f.filter' is of the wrong kind: it holds a rotating filter";
  expect_words(failure_of(read_facts(path)), load_error::wrong_kind, sentence);
  expect_words(failure_of(load<held_filter>(path)), load_error::wrong_kind, sentence);
  expect_words(failure_of(mapped_filter<held_filter>::map(path)), load_error::wrong_kind, sentence);
}

struct salted_hash {  // one that is not made from a seed
  explicit salted_hash(std::string text) : salt(std::move(text)) {}
  key_hash operator()(std::uint64_t key) const noexcept { return seeded_hash(salt.size())(key); }
  std::string salt;
};

TEST(parts_file_hash, of_your_own_is_needed_again) {
  using own_growing = growing_filter<basic_standard_filter<salted_hash>>;
  using own_rotating = rotating_filter<basic_standard_filter<salted_hash>>;
  own_growing growing({.first_elements = 10, .fpr = 0.01}, salted_hash("abc"));
  own_rotating rotating({.elements_per_window = 10, .fpr = 0.01}, salted_hash("abc"));
  insert_each(growing, 0, 100);
  insert_each(rotating, 0, 10);
  auto again = load_from<own_growing>(saved(growing), salted_hash("abc")).value();
  insert_each(growing, 100, 300);
  insert_each(again, 100, 300);
  EXPECT_EQ(saved(again), saved(growing));
  const auto rotating_again = load_from<own_rotating>(saved(rotating), salted_hash("abc")).value();
  for (std::uint64_t key = 0; key < 10; ++key) EXPECT_TRUE(rotating_again.may_contain(key));

  expect_words(failure_of(load_from<growing_filter<standard_filter>>(saved(growing))),
               load_error::wrong_kind, "the writer's own policy");
  const file_bytes seeded = saved(build_golden_growing());
  expect_words(failure_of(load_from<growing_balanced>(seeded, seeded_hash(1))),
               load_error::wrong_kind, "another seed");
  EXPECT_TRUE(load_from<growing_balanced>(seeded, seeded_hash(golden_seed)));
}

// ------------------------------------------------------------------------------------- harm

TEST(forged_parts_file, with_a_part_of_another_seed_or_hash_is_inconsistent) {
  const std::string sentence =
      "part 2 of the memory has inconsistent parameters: its hash and seed must be those of the "
      "whole file";
  const file_bytes growing = saved(build_golden_growing());
  const file_bytes rotating = saved(build_golden_rotating());
  EXPECT_EQ(forged(growing, [](pieces&) {}), growing) << "the forger must be good at it";
  const auto other_seed = [](pieces& apart) {
    forge_part(apart.parts[1], [](auto& parameters) { ++parameters.seed; });
  };
  const auto other_hash = [](pieces& apart) {
    forge_part(apart.parts[1], [](auto& parameters) { parameters.hash = file_hash::own; });
  };
  EXPECT_EQ(growing_failure(forged(growing, other_seed)).sentence, sentence);
  EXPECT_EQ(growing_failure(forged(growing, other_hash)).sentence, sentence);
  EXPECT_EQ(rotating_failure(forged(rotating, other_seed)).sentence, sentence);
  EXPECT_EQ(growing_failure(forged(growing, [](pieces& apart) { ++apart.parameters.seed; })).error,
            load_error::inconsistent_parameters);
}

TEST(forged_parts_file, with_a_part_of_another_kind_says_which) {
  const file_bytes standard = saved(standard_filter(100, 0.01, seeded_hash(golden_seed)));
  expect_words(growing_failure(forged(saved(build_golden_growing()),
                                      [&](pieces& apart) {
                                        apart.parts[1] = standard;
                                        apart.parameters.part_bytes[1] = standard.size();
                                      })),
               load_error::wrong_kind,
               "part 2 of the memory is of the wrong kind: it holds a standard filter");
}

// A file inside a file inside a file is none of ours.
TEST(forged_parts_file, with_a_growing_filter_as_its_part_is_of_the_wrong_kind) {
  const file_bytes inner = saved(build_golden_growing());
  expect_words(growing_failure(forged(inner,
                                      [&](pieces& apart) {
                                        apart.parts[1] = inner;
                                        apart.parameters.part_bytes[1] = inner.size();
                                      })),
               load_error::wrong_kind,
               "part 2 of the memory is of the wrong kind: it holds a growing");
}

TEST(forged_parts_file, whose_part_lengths_lie_is_inconsistent) {
  const file_bytes growing = saved(build_golden_growing());
  const auto with_lengths = [&](const std::function<void(std::vector<std::uint64_t>&)>& change) {
    return growing_failure(
        forged(growing, [&](pieces& apart) { change(apart.parameters.part_bytes); }));
  };
  constexpr std::uint64_t giant = ~std::uint64_t{63};
  const auto inconsistent = [&](std::uint64_t bytes, std::string_view words) {
    expect_words(with_lengths([&](auto& lengths) { lengths[1] = bytes; }),
                 load_error::inconsistent_parameters, words);
  };
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{320},
                                    std::uint64_t{577}, giant, std::uint64_t{1} << 63})
    inconsistent(bytes, "part 2 of 3 must have 384 bytes or more, a multiple of 64");
  // Two that wrap around to the right sum.
  expect_words(with_lengths([](auto& lengths) {
                 lengths[1] += std::uint64_t{1} << 63;
                 lengths[2] += std::uint64_t{1} << 63;
               }),
               load_error::inconsistent_parameters, "part 2 of 3 must have");
  // The sum is right, the parts are elsewhere: each is held to its own lengths.
  expect_words(with_lengths([](auto& lengths) {
                 lengths[0] += 64;
                 lengths[1] -= 64;
               }),
               load_error::trailing_bytes, "part 1 of the memory has trailing bytes");
  expect_words(with_lengths([](auto& lengths) {
                 lengths[1] -= 64;
                 lengths[2] += 64;
               }),
               load_error::truncated, "part 2 of the memory is truncated");
  expect_words(with_lengths([](auto& lengths) { lengths[2] -= 64; }),
               load_error::inconsistent_parameters, "64 bytes are left over");
  expect_words(with_lengths([](auto& lengths) { lengths.pop_back(); }),
               load_error::inconsistent_parameters, "bytes are left over");
  expect_words(with_lengths([](auto& lengths) { lengths.push_back(384); }),
               load_error::inconsistent_parameters, "part 4 of 4 must have");
}

TEST(forged_parts_file, whose_section_is_not_that_of_its_parts_is_inconsistent) {
  const pieces apart = taken_apart(saved(build_golden_growing()));
  const file_bytes whole = apart.together();
  const file_bytes section = encode(apart.parameters);
  const file_bytes payload(whole.begin() + 64 + static_cast<std::ptrdiff_t>(section.size()),
                           whole.end());
  const auto with = [&](const std::function<void(file_bytes&)>& change) {
    file_bytes changed = section;
    change(changed);
    return growing_failure(apart.with_section(changed, payload));
  };
  const auto with_number = [&](std::size_t at, std::uint64_t value) {
    return with(
        [&](file_bytes& bytes) { byte_writer(std::span(bytes).subspan(at, 8)).put(value); });
  };
  using enum load_error;
  ASSERT_EQ(section.size(), 192U);
  // The last one wraps around to a section of the right length.
  for (const std::uint64_t parts :
       {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{1} << 61,
        std::numeric_limits<std::uint64_t>::max(), (std::uint64_t{1} << 61) + 3})
    expect_words(with_number(24, parts), inconsistent_parameters, "number of parts must be");
  for (const std::size_t at : {76U, 127U, 152U, 191U})
    expect_words(with([&](file_bytes& bytes) { bytes[at] = std::byte{1}; }),
                 inconsistent_parameters, "is not 0");
  expect_words(with([](file_bytes& bytes) { bytes.resize(256); }), inconsistent_parameters,
               "number of parts must be");
  expect_words(with([](file_bytes& bytes) { bytes.resize(128); }), inconsistent_parameters,
               "number of parts must be");
  expect_words(with([](file_bytes& bytes) { bytes.resize(64); }), inconsistent_parameters,
               "64 bytes");
  expect_words(with([](file_bytes& bytes) { bytes.clear(); }), inconsistent_parameters, "0 bytes");
  expect_words(with([](file_bytes& bytes) { bytes[0] = std::byte{2}; }), newer_format, "version 2");
  expect_words(with([](file_bytes& bytes) { bytes[0] = std::byte{0}; }), inconsistent_parameters,
               "192 bytes");
  expect_words(with([](file_bytes& bytes) { bytes[4] = std::byte{7}; }), inconsistent_parameters,
               "hash must be 0 or 1; found 7");
  expect_words(with([](file_bytes& bytes) { bytes[72] = std::byte{3}; }), inconsistent_parameters,
               "growth state must be 0 to 2; found 3");

  // What a growing filter says means nothing in a rotating one.
  const pieces ring = taken_apart(saved(build_golden_rotating()));
  file_bytes ring_section = encode(ring.parameters);
  const file_bytes ring_whole = ring.together();
  const file_bytes ring_payload(
      ring_whole.begin() + 64 + static_cast<std::ptrdiff_t>(ring_section.size()), ring_whole.end());
  for (std::size_t at = 32; at < 128; ++at) {
    file_bytes changed = ring_section;
    changed[at] = std::byte{1};
    expect_words(rotating_failure(ring.with_section(changed, ring_payload)),
                 inconsistent_parameters, "means nothing in a rotating filter");
  }
}

TEST(forged_parts_file, with_numbers_that_no_growing_filter_has_is_inconsistent) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const file_bytes whole = saved(build_golden_growing());  // 0.140625 is left; grows at 160
  using change = std::function<void(parts_parameters&)>;
  const std::vector<std::pair<std::string, change>> changes = {
      {"fpr", [](auto& p) { p.fpr = 0; }},
      {"fpr", [](auto& p) { p.fpr = 1; }},
      {"fpr", [](auto& p) { p.fpr = nan; }},
      {"growth", [](auto& p) { p.growth = 1; }},
      {"growth", [](auto& p) { p.growth = infinity; }},
      {"growth", [](auto& p) { p.growth = nan; }},
      {"tightening", [](auto& p) { p.tightening = 0; }},
      {"tightening", [](auto& p) { p.tightening = 1; }},
      {"tightening", [](auto& p) { p.tightening = -nan; }},
      {"left", [](auto& p) { p.left = 0; }},
      {"left", [](auto& p) { p.left = nan; }},
      {"left", [](auto& p) { p.left = infinity; }},
      {"left", [](auto& p) { p.left += 1e-6; }},
      {"left", [](auto& p) { p.fpr = 0.125; }},
      {"left", [](auto& p) { p.fpr = 0.0625; }},
      {"left", [](auto& p) { p.fpr = 0.109375, p.left = 0; }},  // the parts have taken all of it
      {"grow_at", [](auto& p) { p.grow_at = 0; }},
      {"grow_at", [](auto& p) { p.grow_at = 161; }},
      {"grow_at", [](auto& p) { p.growth_state = 1; }},
      {"grow_at", [](auto& p) { p.growth_state = 2, p.grow_at = 161; }},  // far from being full
      {"grow_at", [](auto& p) { p.growth_state = 2, p.grow_at = ~std::uint64_t{0}; }},
  };
  for (const auto& [name, apply] : changes) {
    pieces apart = taken_apart(whole);
    apply(apart.parameters);
    expect_words(growing_failure(apart.together()), load_error::inconsistent_parameters,
                 "the memory has inconsistent parameters: " + name + " must be");
  }
  // A part that is fuller than it can have become, and counts that sums would wrap around with.
  const auto with_size = [&](std::uint64_t size, std::uint32_t state, std::uint64_t grow_at) {
    return forged(whole, [&](pieces& apart) {
      forge_part(apart.parts.back(), [&](auto& parameters) { parameters.counts.size = size; });
      apart.parameters.growth_state = state;
      apart.parameters.grow_at = grow_at;
    });
  };
  constexpr std::uint64_t giant = std::uint64_t{1} << 62;
  for (const file_bytes& bytes :
       {with_size(161, 0, 160), with_size(200, 1, 199), with_size(200, 1, 221),
        with_size(giant, 1, giant + 1), with_size(~std::uint64_t{0}, 1, ~std::uint64_t{0}),
        with_size(~std::uint64_t{0}, 1, 15)})
    expect_words(growing_failure(bytes), load_error::inconsistent_parameters, "grow_at must be");
  EXPECT_TRUE(load_from<growing_balanced>(with_size(160, 0, 160)));
  EXPECT_TRUE(load_from<growing_balanced>(with_size(200, 1, 200)));
  EXPECT_TRUE(load_from<growing_balanced>(with_size(200, 2, 220)));
  // The elements that the first part was asked for decide nothing any more.
  EXPECT_TRUE(load_from<growing_balanced>(
      forged(whole, [](pieces& apart) { apart.parameters.first_elements = 0; })));
}

TEST(forged_parts_file, with_numbers_that_no_rotating_filter_has_is_inconsistent) {
  const file_bytes whole = saved(build_golden_rotating());
  const auto inconsistent = [&](const std::function<void(pieces&)>& change,
                                std::string_view words) {
    expect_words(rotating_failure(forged(whole, change)), load_error::inconsistent_parameters,
                 words);
  };
  for (const double fpr : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    inconsistent([&](pieces& apart) { apart.parameters.fpr = fpr; }, "fpr must be 0 to 1");
  const auto with_generations = [](std::size_t generations) {
    return [generations](pieces& apart) {
      apart.parts.resize(generations, apart.parts.front());
      apart.parameters.part_bytes.resize(generations, apart.parts.front().size());
    };
  };
  inconsistent(with_generations(1), "generations must be 2 to 64; found 1");
  inconsistent(with_generations(65), "generations must be 2 to 64; found 65");
  EXPECT_TRUE(load_from<rotating_blocked>(forged(whole, with_generations(64))));
  inconsistent(
      [](pieces& apart) {
        forge_part(apart.parts[2], [](auto& parameters) { ++parameters.plan.elements; });
      },
      "part 3 has another plan than part 1");
  inconsistent(
      [](pieces& apart) {
        forge_part(apart.parts[1], [](auto& parameters) { ++parameters.plan.bits_set; });
      },
      "part 2 has another plan than part 1");
}

// Nothing may be allocated for a length that the file does not have.
TEST(forged_parts_file, with_giant_lengths_is_truncated_before_anything_is_allocated) {
  file_bytes bytes = saved(build_golden_growing());
  const preamble head = decode_preamble(bytes, bytes.size(), "'x'").value();
  for (const std::uint64_t length :
       {std::uint64_t{1} << 37, std::uint64_t{1} << 60, ~std::uint64_t{63}}) {
    preamble payload = head;
    payload.payload_bytes = length;
    std::ranges::copy(encode(payload), bytes.begin());
    EXPECT_EQ(growing_failure(bytes).error, load_error::truncated);
    preamble parameters = head;
    parameters.parameter_bytes = length;
    std::ranges::copy(encode(parameters), bytes.begin());
    EXPECT_EQ(growing_failure(bytes).error, load_error::truncated);
  }
  // A part that says so of itself.
  expect_words(growing_failure(forged(
                   saved(build_golden_growing()),
                   [](pieces& apart) {
                     preamble part =
                         decode_preamble(apart.parts[0], apart.parts[0].size(), "'x'").value();
                     part.payload_bytes = std::uint64_t{1} << 37;
                     std::ranges::copy(encode(part), apart.parts[0].begin());
                   })),
               load_error::truncated, "part 1 of the memory is truncated");
}

// ------------------------------------------------------------------------------------- by hand

TEST(growing_progress, is_refused_where_no_filter_can_have_it) {
  const growing_balanced filter = build_golden_growing();
  const std::vector<balanced_filter> parts(filter.parts().begin(), filter.parts().end());
  EXPECT_EQ(saved(growing_balanced(filter.progress(), parts)), saved(filter));
  EXPECT_THROW(growing_balanced(filter.progress(), std::vector<balanced_filter>()),
               std::invalid_argument);
  growing_progress progress = filter.progress();
  progress.left *= 2;
  EXPECT_THROW(growing_balanced(progress, parts), std::invalid_argument);
  EXPECT_THROW(rotating_filter<balanced_filter>(0.5, parts), std::invalid_argument);
}

// The checksum of a payload in pieces is that of all its bytes in a row.
TEST(running_checksum, is_that_of_the_bytes_in_a_row) {
  file_bytes bytes(5000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i >> 3);
  for (const std::size_t step : {1U, 7U, 64U, 240U, 241U, 1024U, 5000U}) {
    running_checksum checksum;
    for (std::size_t at = 0; at < bytes.size(); at += step)
      checksum.add(std::span(bytes).subspan(at, std::min(step, bytes.size() - at)));
    checksum.add({});
    EXPECT_EQ(checksum.value(), checksum_of(bytes)) << step;
  }
  EXPECT_EQ(running_checksum().value(), checksum_of({}));
}

}  // namespace
