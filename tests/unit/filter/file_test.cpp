#include "oneprobe/filter/file.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/golden_filters.hpp"
#include "formats/temporary_folder.hpp"
#include "handles/held_filter.hpp"
#include "oneprobe/filter/balanced.hpp"
#include "oneprobe/filter/blocked.hpp"
#include "oneprobe/filter/concurrent.hpp"
#include "oneprobe/filter/parts_file.hpp"
#include "oneprobe/filter/standard.hpp"
#include "support/tests_dir.hpp"

using namespace oneprobe;

namespace {

using file_bytes = std::vector<std::byte>;

const std::string golden_folder = tests_dir() + "/golden/filters/";

golden_filter golden_named(std::string_view name) {
  for (golden_filter& golden : golden_filters())
    if (golden.name == name) return std::move(golden);
  throw std::invalid_argument("no golden filter " + std::string(name));
}

template <class Filter>
file_bytes saved(const Filter& filter) {
  file_bytes bytes;
  save_to(filter, bytes);
  return bytes;
}
file_bytes saved_golden(std::string_view name) { return saved(build_golden(golden_named(name))); }

/// The error that bytes get; every sentence is one line, says what it is about, and names the
/// error.
load_error error_of(std::span<const std::byte> bytes) {
  const auto read = load_from<held_filter>(bytes);
  EXPECT_FALSE(read);
  if (read) return load_error::io;
  const auto& [error, sentence] = read.failure();
  EXPECT_EQ(sentence.find('\n'), std::string::npos);
  EXPECT_TRUE(sentence.starts_with("the memory ")) << sentence;
  EXPECT_NE(sentence.find(error == load_error::io ? "cannot be read" : name_of(error)),
            std::string::npos)
      << sentence;
  return error;
}

/// A file with changed sections whose checksums fit: what somebody who means harm would write.
file_bytes forged(file_bytes bytes, const std::function<void(filter_parameters&)>& change,
                  const std::function<void(std::span<std::byte>)>& change_payload = {}) {
  const auto head = decode_preamble(bytes, bytes.size(), "'x'");
  auto parameters = *decode_filter_parameters(std::span(bytes).subspan(64, 256), *head, "'x'");
  if (change) change(parameters);
  const std::span<std::byte> payload = std::span(bytes).subspan(320);
  if (change_payload) change_payload(payload);
  const auto section = encode(parameters);
  std::ranges::copy(section, bytes.begin() + 64);
  preamble sealed = *head;
  sealed.kind = static_cast<std::uint16_t>(parameters.plan.kind);
  sealed.parameter_checksum = checksum_of(section);
  sealed.payload_checksum = checksum_of(payload);
  std::ranges::copy(encode(sealed), bytes.begin());
  return bytes;
}

// ------------------------------------------------------------------------------------- golden

TEST(golden_filters, have_the_bytes_and_answers_of_every_version_before) {
  const bool write = std::getenv("ONEPROBE_WRITE_GOLDEN") != nullptr;
  std::map<std::string, std::string> expected;
  if (write) {
    std::ofstream answers(golden_folder + "answers.txt");
    for (const golden_filter& golden : golden_filters()) {
      const held_filter built = build_golden(golden);
      write_file(golden_folder + golden.name + ".filter", saved(built));
      answers << golden.name << ' ' << golden_answers(built) << '\n';
    }
    for_each_golden_parts([&](const std::string& name, const auto& built, std::uint64_t) {
      write_file(golden_folder + name + ".filter", saved(built));
      answers << name << ' ' << golden_answers(built) << '\n';
    });
  }
  std::ifstream answers(golden_folder + "answers.txt");
  for (std::string name, digits; answers >> name >> digits;) expected[name] = digits;
  EXPECT_EQ(expected.size(), golden_filters().size() + golden_parts_files);

  for (const golden_filter& golden : golden_filters()) {
    SCOPED_TRACE(golden.name);
    const std::string path = golden_folder + golden.name + ".filter";
    const auto filter = load<held_filter>(path);
    ASSERT_TRUE(filter) << filter.failure().sentence;
    EXPECT_EQ(saved(build_golden(golden)), bytes_of_file(path));
    EXPECT_TRUE(contains_all_golden_keys(golden, *filter));
    EXPECT_EQ(golden_answers(*filter), expected[golden.name]);
  }
  for_each_golden_parts([&](const std::string& name, const auto& built, std::uint64_t first_key) {
    SCOPED_TRACE(name);
    const std::string path = golden_folder + name + ".filter";
    const auto filter = load<std::remove_cvref_t<decltype(built)>>(path);
    ASSERT_TRUE(filter) << filter.failure().sentence;
    EXPECT_EQ(saved(built), bytes_of_file(path));
    EXPECT_TRUE(contains_golden_keys_from(first_key, *filter));
    EXPECT_EQ(golden_answers(*filter), expected[name]);
  });
}

// Otherwise the files above would say nothing about refusals, overflow and force.
TEST(golden_filters, with_candidates_reach_every_part_of_a_lookup) {
  for (const golden_filter& golden : golden_filters()) {
    if (!golden.plan.has_candidates()) continue;
    SCOPED_TRACE(golden.name);
    const held_filter filter = build_golden(golden);
    EXPECT_GT(filter.counts().overflow, 0U);
    std::vector<int> stops(4);
    for (std::uint64_t i = 0; i < 100'000; ++i)
      ++stops[static_cast<std::size_t>(filter.explain(first_absent_integer + i).stopped)];
    EXPECT_GT(stops[static_cast<std::size_t>(lookup_path::stop::matched)], 0);
    // The least loaded of all candidates takes an element: once any overflows, all are full.
    if (golden.plan.scheme != scheme_kind::d_left) {
      EXPECT_GT(stops[static_cast<std::size_t>(lookup_path::stop::ruled_out)], 0);
    }
    // Where all buckets of the last level are saturated, nobody asks the list any more.
    if (golden.name != "fingerprint-saturated") {
      EXPECT_GT(stops[static_cast<std::size_t>(lookup_path::stop::not_in_overflow)], 0);
    }
  }
}

// ------------------------------------------------------------------------------------- round trip

TEST(filter_file, brings_back_every_kind_of_filter) {
  const temporary_folder folder;
  const std::string path = folder.file("f.filter");
  for (const golden_filter& golden : golden_filters()) {
    SCOPED_TRACE(golden.name);
    const held_filter filter = build_golden(golden);
    const auto failure = save(filter, path);
    ASSERT_FALSE(failure) << failure->sentence;
    EXPECT_EQ(bytes_of_file(path), saved(filter));

    const auto again = load<held_filter>(path);
    ASSERT_TRUE(again) << again.failure().sentence;
    EXPECT_TRUE(same_shape(again->plan(), filter.plan()));
    EXPECT_EQ(again->plan().elements, filter.plan().elements);
    EXPECT_EQ(again->plan().predicted, filter.plan().predicted);
    EXPECT_EQ(again->counts(), filter.counts());
    EXPECT_EQ(again->hash().seed(), filter.hash().seed());
    EXPECT_TRUE(std::ranges::equal(again->memory(), filter.memory()));
    EXPECT_EQ(saved(*again), saved(filter));
    EXPECT_EQ(again->stats().current_fpr, filter.stats().current_fpr);
  }
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(filter_file, of_a_loaded_filter_can_be_filled_and_merged) {
  const golden_filter golden = golden_named("blocked-512-independent");
  auto filter = build_golden<blocked_filter>(golden);
  auto again = load_from<blocked_filter>(saved(filter)).value();
  filter.insert("one more");
  again.insert("one more");
  EXPECT_EQ(saved(again), saved(filter));
  EXPECT_EQ(again.merge(filter), merge_outcome::merged);
}

TEST(filter_file, is_appended_to_what_is_in_memory) {
  file_bytes bytes = bytes_of("before");
  const auto filter = build_golden<standard_filter>(golden_named("standard"));
  save_to(filter, bytes);
  // And is read from wherever it begins.
  EXPECT_TRUE(load_from<standard_filter>(std::span(bytes).subspan(6)));
}

template <class Concurrent, class Plain>
void expect_same_file(std::string_view name) {
  const golden_filter golden = golden_named(name);
  const auto concurrent = build_golden<Concurrent>(golden);
  EXPECT_EQ(saved(concurrent), saved(build_golden<Plain>(golden)));
  const auto again = load_from<Concurrent>(saved(concurrent));
  ASSERT_TRUE(again) << again.failure().sentence;
  EXPECT_EQ(again->counts(), concurrent.counts());
  EXPECT_TRUE(contains_all_golden_keys(golden, *again));
}

TEST(filter_file, of_a_concurrent_filter_is_that_of_the_plain_one) {
  expect_same_file<concurrent_blocked_filter, blocked_filter>("blocked-512-independent");
  expect_same_file<concurrent_balanced_filter, balanced_filter>("balanced-popcount");
  // What a concurrent filter cannot follow is refused before it is built.
  const auto read = load_from<concurrent_balanced_filter>(saved_golden("balanced-tracking"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.failure().error, load_error::wrong_kind);
  EXPECT_NE(read.failure().sentence.find("rule must be popcount"), std::string::npos);
}

// ------------------------------------------------------------------------------------- damage

TEST(filter_file, with_any_byte_changed_is_refused) {
  for (const char* const name : {"standard", "balanced-popcount"}) {
    const file_bytes whole = saved_golden(name);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
        file_bytes bytes = whole;
        bytes[at] ^= static_cast<std::byte>(flip);
        ASSERT_EQ(error_of(bytes),
                  at < 8 ? load_error::not_oneprobe_file : load_error::checksum_mismatch)
            << name << ", byte " << at;
      }
    }
  }
}

TEST(filter_file, that_is_cut_off_anywhere_is_truncated) {
  const file_bytes whole = saved_golden("balanced-tracking");
  EXPECT_EQ(error_of({}), load_error::not_oneprobe_file);
  for (std::size_t size = 1; size < whole.size(); ++size)
    ASSERT_EQ(error_of(std::span(whole).first(size)), load_error::truncated) << size;
}

TEST(filter_file, that_goes_on_has_trailing_bytes) {
  file_bytes bytes = saved_golden("counting-4");
  bytes.push_back(std::byte{0});
  EXPECT_EQ(error_of(bytes), load_error::trailing_bytes);
  bytes.resize(bytes.size() + 63);
  EXPECT_EQ(error_of(bytes), load_error::trailing_bytes);
}

TEST(filter_file, that_is_another_file_is_not_ours) {
  EXPECT_EQ(error_of(bytes_of("{\"json\": true}")), load_error::not_oneprobe_file);
  EXPECT_EQ(error_of(file_bytes(10'000)), load_error::not_oneprobe_file);
}

TEST(filter_file, on_disk_is_refused_by_name) {
  const temporary_folder folder;
  const std::string path = folder.file("f.filter");
  const auto expect = [](const auto& read, load_error error, std::string_view words) {
    ASSERT_FALSE(read);
    EXPECT_EQ(read.failure().error, error);
    EXPECT_NE(read.failure().sentence.find(words), std::string::npos) << read.failure().sentence;
  };
  const auto load_held = [](const std::string& name) { return load<held_filter>(name); };
  const auto map_held = [](const std::string& name) {
    return mapped_filter<held_filter>::map(name);
  };
  expect(load_held(path), load_error::io, "No such file or directory");
  expect(map_held(path), load_error::io, "No such file or directory");
  expect(load_held(folder.file("")), load_error::io, "Is a directory");
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  expect(load_held(folder.file("pipe")), load_error::io, "not a regular file");

  write_file(path, {});
  expect(load_held(path), load_error::not_oneprobe_file, "f.filter' is not an oneprobe file");
  expect(map_held(path), load_error::not_oneprobe_file, "f.filter' is not an oneprobe file");
  file_bytes bytes = saved_golden("standard");
  bytes.resize(400);
  write_file(path, bytes);
  expect(read_facts(path), load_error::truncated, "f.filter' is truncated");
  write_file(folder.file("two\nlines"), bytes);
  expect(load_held(folder.file("two\nlines")), load_error::truncated, "two?lines' is truncated");
}

// ------------------------------------------------------------------------------------- harm

TEST(filter_file, whose_sections_do_not_fit_each_other_is_inconsistent) {
  const auto inconsistent = [](const file_bytes& bytes, std::string_view words) {
    EXPECT_EQ(error_of(bytes), load_error::inconsistent_parameters);
    const auto read = load_from<held_filter>(bytes);
    EXPECT_NE(read.failure().sentence.find(words), std::string::npos) << read.failure().sentence;
  };
  const file_bytes standard = saved_golden("standard");
  EXPECT_TRUE(load_from<held_filter>(forged(standard, {}))) << "the forger must be good at it";
  inconsistent(forged(standard, [](auto& p) { p.plan.cells = std::uint64_t{1} << 40; }), "payload");
  inconsistent(forged(standard, [](auto& p) { p.plan.cells = 1025; }), "payload");
  inconsistent(forged(standard, [](auto& p) { p.plan.kind = filter_kind::blocked; }), "must be");
  inconsistent(forged(standard, {}, [](auto payload) { payload[125] |= std::byte{0x08}; }),
               "after the last cell");
  inconsistent(forged(standard, {}, [](auto payload) { payload[127] = std::byte{1}; }),
               "after the last cell");

  const file_bytes balanced = saved_golden("balanced-tracking");
  inconsistent(forged(balanced, [](auto& p) { p.plan.choices = 8; }), "choices");
  inconsistent(forged(balanced, [](auto& p) { --p.counts.overflow; }), "entries");
  const file_bytes fingerprint = saved_golden("fingerprint-16");
  const auto no_bucket = [&](auto change) {
    inconsistent(forged(fingerprint, {}, change), "a bucket of fingerprints is none");
  };
  // One fingerprint more than was there; the same one twice; a mark on a bucket that is not full;
  // a remainder in a free slot. The first bucket of level 0 has 27 or fewer, those of the last
  // level can be emptied.
  no_bucket([](auto payload) { payload[0] = std::byte{0xff}; });
  no_bucket([](auto payload) {
    std::ranges::fill(payload.first(64), std::byte{0}), payload[9] = std::byte{0x80};
  });
  no_bucket([](auto payload) {
    std::ranges::fill(payload.first(64), std::byte{0}), payload[63] = std::byte{1};
  });
  no_bucket([](auto payload) {
    std::ranges::fill(payload.first(64), std::byte{0}), payload[0] = std::byte{3};
  });
  // Saturated buckets that nobody counted would pass for a filter as planned.
  const file_bytes saturated = saved_golden("fingerprint-saturated");
  EXPECT_TRUE(load_from<held_filter>(forged(saturated, [](auto& p) { p.counts.forced = 2; })));
  inconsistent(forged(saturated, [](auto& p) { p.counts.forced = 1; }),
               "forced must be at least the number of saturated buckets, 2; found 1");
  inconsistent(forged(saturated, [](auto& p) { p.counts.forced = 0; }), "found 0");
  inconsistent(forged(balanced, {}, [](auto payload) { payload.back() = std::byte{1}; }),
               "after the last slot");
  // A list without a free slot: a search in it would not find its end.
  inconsistent(forged(balanced, {},
                      [](auto payload) {
                        std::ranges::fill(payload.last(128).first(23 * 4), std::byte{0xff});
                      }),
               "entries");
  // The counters of blocks of up to 37 elements have 6 bits, the last ones.
  inconsistent(forged(saved_golden("balanced-coin"), {},
                      [](auto payload) { payload[31] |= std::byte{0xfc}; }),
               "load counter");
  const file_bytes d_left = saved_golden("balanced-d-left");
  inconsistent(forged(d_left, [](auto& p) { p.plan.level_buckets = {2, 3, 5}; }), "level_buckets");
}

// Nothing may be allocated for a length that the file does not have: this one asks for 2^60 bytes.
TEST(filter_file, with_giant_lengths_is_truncated_before_anything_is_allocated) {
  file_bytes bytes = saved_golden("standard");
  preamble head = *decode_preamble(bytes, bytes.size(), "'x'");
  for (const std::uint64_t length :
       {std::uint64_t{1} << 37, std::uint64_t{1} << 60, ~std::uint64_t{63}}) {
    head.payload_bytes = length;
    std::ranges::copy(encode(head), bytes.begin());
    EXPECT_EQ(error_of(bytes), load_error::truncated);
  }
  head = *decode_preamble(saved_golden("standard"), bytes.size(), "'x'");
  head.parameter_bytes = ~std::uint64_t{63};
  std::ranges::copy(encode(head), bytes.begin());
  EXPECT_EQ(error_of(bytes), load_error::truncated);
}

// ------------------------------------------------------------------------------------- kinds,
// hashes

TEST(filter_file, of_another_kind_or_scheme_says_both) {
  const auto complaint = [](const auto& read) {
    EXPECT_FALSE(read);
    if (read) return std::string();
    EXPECT_EQ(read.failure().error, load_error::wrong_kind);
    return read.failure().sentence;
  };
  const file_bytes standard = saved_golden("standard");
  EXPECT_EQ(complaint(load_from<blocked_filter>(standard)),
            "the memory is of the wrong kind: it holds a standard filter, asked for was a blocked "
            "filter");
  EXPECT_EQ(complaint(load_from<balanced_filter>(saved_golden("balanced-d-left"))),
            "the memory is of the wrong kind: scheme must be multilevel; found d-left");
  // A single level is what a multilevel filter of one level is.
  EXPECT_TRUE(load_from<balanced_filter>(saved_golden("balanced-single")));
}

struct last_digit {  // a hash policy without a seed
  key_hash operator()(std::uint64_t key) const noexcept { return {mix_bits(key % 10)}; }
};
struct needs_salt {  // one that is not made from a seed
  explicit needs_salt(std::string text) : salt(std::move(text)) {}
  key_hash operator()(std::uint64_t key) const noexcept { return seeded_hash(salt.size())(key); }
  std::string salt;
};

TEST(filter_file, with_a_hash_of_your_own_needs_it_again) {
  const filter_plan plan = golden_named("standard").plan;
  using own_filter = basic_standard_filter<remixed<std::hash<std::string>>>;
  own_filter filter(plan, remixed<std::hash<std::string>>(77));
  filter.insert(std::string("a key"));
  const file_bytes bytes = saved(filter);
  EXPECT_EQ(read_facts(bytes)->hash, file_hash::own);
  EXPECT_EQ(read_facts(bytes)->seed, 77U);
  const auto again = load_from<own_filter>(bytes);
  ASSERT_TRUE(again) << again.failure().sentence;
  EXPECT_EQ(again->hash().seed(), 77U);
  EXPECT_TRUE(again->may_contain(std::string("a key")));

  const auto with_ours = load_from<standard_filter>(bytes);
  ASSERT_FALSE(with_ours);
  EXPECT_EQ(with_ours.failure().error, load_error::wrong_kind);
  EXPECT_NE(with_ours.failure().sentence.find("the writer's own policy"), std::string::npos);
  EXPECT_EQ(error_of(bytes), load_error::wrong_kind);
  const auto ours_with_own = load_from<own_filter>(saved_golden("standard"));
  ASSERT_FALSE(ours_with_own);
  EXPECT_NE(ours_with_own.failure().sentence.find("seeded_hash"), std::string::npos);
}

TEST(filter_file, takes_a_hash_that_no_seed_makes) {
  const filter_plan plan = golden_named("standard").plan;
  basic_standard_filter<last_digit> digits(plan, last_digit{});
  digits.insert(std::uint64_t{7});
  const auto same = load_from<basic_standard_filter<last_digit>>(saved(digits));
  ASSERT_TRUE(same) << same.failure().sentence;
  EXPECT_TRUE(same->may_contain(std::uint64_t{17}));

  basic_standard_filter<needs_salt> salted(plan, needs_salt("abc"));
  salted.insert(std::uint64_t{7});
  const auto again = load_from<basic_standard_filter<needs_salt>>(saved(salted), needs_salt("abc"));
  ASSERT_TRUE(again) << again.failure().sentence;
  EXPECT_TRUE(again->may_contain(std::uint64_t{7}));

  const auto other = load_from<standard_filter>(saved_golden("standard"), seeded_hash(1));
  ASSERT_FALSE(other);
  EXPECT_NE(other.failure().sentence.find("another seed"), std::string::npos);
  EXPECT_TRUE(load_from<standard_filter>(saved_golden("standard"), seeded_hash(golden_seed)));
}

// ------------------------------------------------------------------------------------- views

TEST(mapped_filter, answers_from_the_file_itself) {
  for (const golden_filter& golden : golden_filters()) {
    SCOPED_TRACE(golden.name);
    auto mapped = mapped_filter<held_filter>::map(golden_folder + golden.name + ".filter");
    ASSERT_TRUE(mapped) << mapped.failure().sentence;
    const auto moved = *std::move(mapped);
    EXPECT_FALSE(moved.verify_payload());
    EXPECT_TRUE(contains_all_golden_keys(golden, *moved));
    EXPECT_EQ(golden_answers(*moved), golden_answers(build_golden(golden)));
    EXPECT_EQ(moved.facts().file_bytes, moved.facts().payload_begin + moved->memory().size());
  }
}

TEST(mapped_filter, finds_damage_when_asked_and_survives_it) {
  const temporary_folder folder;
  const std::string path = folder.file("f.filter");
  file_bytes bytes = saved_golden("balanced-popcount");
  std::ranges::fill(std::span(bytes).subspan(320), std::byte{0xff});
  write_file(path, bytes);
  const auto mapped = mapped_filter<balanced_filter>::map(path);
  ASSERT_TRUE(mapped) << "the payload is read on request only";
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_TRUE((*mapped)->may_contain(i));
  const auto failure = mapped->verify_payload();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->error, load_error::checksum_mismatch);
  EXPECT_NE(failure->sentence.find("f.filter'"), std::string::npos) << failure->sentence;
  EXPECT_FALSE(load<balanced_filter>(path)) << "a load verifies";
}

TEST(mapped_filter, keeps_its_bytes_when_the_file_is_replaced) {
  const temporary_folder folder;
  const std::string path = folder.file("f.filter");
  const golden_filter golden = golden_named("blocked-256-independent");
  auto filter = build_golden<blocked_filter>(golden);
  ASSERT_FALSE(save(filter, path));
  const auto mapped = mapped_filter<blocked_filter>::map(path).value();
  filter.clear();
  ASSERT_FALSE(save(filter, path));
  EXPECT_TRUE(contains_all_golden_keys(golden, *mapped));
  EXPECT_FALSE(contains_all_golden_keys(golden, *load<blocked_filter>(path)));
}

TEST(filter_view, needs_bytes_on_a_cache_line) {
  const file_bytes bytes = saved_golden("standard");
  line_memory memory(bytes.size() + 64);
  std::ranges::copy(bytes, memory.data());
  const auto view = view_of<standard_filter>(memory.bytes().first(bytes.size()));
  ASSERT_TRUE(view) << view.failure().sentence;
  EXPECT_EQ(view->memory().data(), memory.data() + 320) << "nothing is copied";
  EXPECT_TRUE(contains_all_golden_keys(golden_named("standard"), *view));

  std::ranges::copy(bytes, memory.data() + 8);
  const auto crooked = view_of<standard_filter>(memory.bytes().subspan(8, bytes.size()));
  ASSERT_FALSE(crooked);
  EXPECT_NE(crooked.failure().sentence.find("multiple of 64"), std::string::npos);
}

TEST(filter_facts, of_a_later_version_are_said_to_be_newer_however_long_they_are) {
  // A parameter section twice as long, whose first word says version 2.
  const file_bytes golden = saved_golden("standard");
  file_bytes parameters(golden.begin() + 64, golden.begin() + 320);
  parameters.resize(512);
  parameters[0] = std::byte{2};
  const std::span<const std::byte> payload = std::span(golden).subspan(320);
  const auto head = encode(preamble{.kind = 1,
                                    .parameter_bytes = parameters.size(),
                                    .payload_bytes = payload.size(),
                                    .parameter_checksum = checksum_of(parameters),
                                    .payload_checksum = checksum_of(payload)});
  file_bytes later(head.begin(), head.end());
  later.insert(later.end(), parameters.begin(), parameters.end());
  later.insert(later.end(), payload.begin(), payload.end());
  const temporary_folder folder;
  write_file(folder.file("later"), later);
  const auto from_memory = read_facts(later);
  const auto from_file = read_facts(folder.file("later"));
  ASSERT_FALSE(from_memory);
  ASSERT_FALSE(from_file);
  EXPECT_EQ(from_memory.failure().error, load_error::newer_format);
  EXPECT_EQ(from_file.failure().error, load_error::newer_format);
}

struct own_salt {  // a policy with a seed of its own choice
  explicit own_salt(std::string text = "salt") : salt(std::move(text)) {}
  key_hash operator()(std::uint64_t key) const noexcept { return seeded_hash(seed())(key); }
  std::uint64_t seed() const noexcept { return salt.size(); }
  std::string salt;
};

TEST(filter_view, holds_a_hash_to_the_seed_of_the_file) {
  using own_filter = basic_standard_filter<own_salt>;
  own_filter filter(golden_named("standard").plan, own_salt("longer salt"));
  filter.insert(std::uint64_t{7});
  const file_bytes bytes = saved(filter);
  line_memory memory(bytes.size());
  std::ranges::copy(bytes, memory.data());
  const auto other = view_of<own_filter>(memory.bytes());
  ASSERT_FALSE(other);
  EXPECT_NE(other.failure().sentence.find("another seed"), std::string::npos);
  const auto same = view_of<own_filter>(memory.bytes(), own_salt("longer salt"));
  ASSERT_TRUE(same) << same.failure().sentence;
  EXPECT_TRUE(same->may_contain(std::uint64_t{7}));

  const temporary_folder folder;
  ASSERT_FALSE(save(filter, folder.file("own")));
  EXPECT_FALSE(mapped_filter<own_filter>::map(folder.file("own")));
  const auto mapped = mapped_filter<own_filter>::map(folder.file("own"), own_salt("longer salt"));
  ASSERT_TRUE(mapped) << mapped.failure().sentence;
  EXPECT_TRUE((*mapped)->may_contain(std::uint64_t{7}));
  EXPECT_FALSE((*mapped).verify_payload());
}

TEST(filter_facts, are_read_without_the_payload) {
  const temporary_folder folder;
  const std::string path = folder.file("f.filter");
  file_bytes bytes = saved_golden("balanced-sequential");
  bytes.back() ^= std::byte{1};
  write_file(path, bytes);
  const auto facts = read_facts(path);
  ASSERT_TRUE(facts) << facts.failure().sentence;
  EXPECT_EQ(facts->kind(), filter_kind::balanced);
  EXPECT_EQ(facts->plan.scheme, scheme_kind::sequential);
  EXPECT_EQ(facts->plan.choices, 3U);
  EXPECT_EQ(facts->hash, file_hash::seeded);
  EXPECT_EQ(facts->seed, golden_seed);
  EXPECT_EQ(facts->version, 1);
  EXPECT_EQ(facts->file_bytes, bytes.size());
  EXPECT_EQ(facts->payload_bytes, facts->plan.memory().total());
  EXPECT_GT(facts->counts.size, 0U);
}

/// A file in memory and all its bytes, which can be written: holes cost nothing.
class sparse_file {
 public:
  explicit sparse_file(std::uint64_t bytes)
      : file_(::memfd_create("sparse", MFD_CLOEXEC)), bytes_(bytes) {
    if (file_ >= 0 && ::ftruncate(file_, static_cast<off_t>(bytes)) == 0)
      data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  }
  sparse_file(const sparse_file&) = delete;
  sparse_file& operator=(const sparse_file&) = delete;
  ~sparse_file() {
    if (exists()) ::munmap(data_, bytes_);
    ::close(file_);
  }

  bool exists() const { return data_ != MAP_FAILED; }
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), bytes_}; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
  void* data_ = MAP_FAILED;
  std::uint64_t bytes_;
};

TEST(mapped_filter, of_2_to_the_40_bits_is_opened_at_once) {
  const filter_parameters parameters{.plan = {.kind = filter_kind::blocked,
                                              .elements = std::uint64_t{1} << 36,
                                              .bits_set = 8,
                                              .level_buckets = {filter_plan::most_bits / 512}},
                                     .counts = {.size = 1000},
                                     .seed = golden_seed};
  const preamble head{.kind = static_cast<std::uint16_t>(filter_kind::blocked),
                      .parameter_bytes = filter_parameters::bytes,
                      .payload_bytes = parameters.plan.memory().total(),
                      .parameter_checksum = checksum_of(encode(parameters))};
  const sparse_file file(head.file_bytes());
  if (!file.exists()) GTEST_SKIP() << "no sparse files of 128 GiB here";
  std::ranges::copy(encode(head), file.bytes().begin());
  std::ranges::copy(encode(parameters), file.bytes().begin() + 64);
  blocked_filter filter(parameters.plan, file.bytes().subspan(320), seeded_hash(golden_seed));
  for (std::uint64_t i = 0; i < 1000; ++i) filter.insert(i);

  const auto mapped = mapped_filter<blocked_filter>::map(file.path());
  ASSERT_TRUE(mapped) << mapped.failure().sentence;
  EXPECT_EQ((*mapped)->memory().size(), std::uint64_t{1} << 37);
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE((*mapped)->may_contain(i));
  for (std::uint64_t i = 1000; i < 2000; ++i) ASSERT_FALSE((*mapped)->may_contain(i));
}

}  // namespace
