#include "oneprobe/filter/any_filter.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "formats/golden_filters.hpp"
#include "formats/temporary_folder.hpp"
#include "support/tests_dir.hpp"

using namespace oneprobe;

namespace {

/// Everything that differs between a filter and what its golden file says of it.
struct said {
  std::vector<std::byte> bytes{};
  std::string answers{};
  bool contains_all = false;
  lookup_path path{};
  double fpr = 0;

  friend bool operator==(const said&, const said&) = default;
};

template <class Reader>
said ask(const golden_filter& golden, const Reader& filter) {
  said all{.answers = golden_answers(filter),
           .contains_all = contains_all_golden_keys(golden, filter),
           .path = filter.explain(first_absent_integer),
           .fpr = filter.stats().current_fpr};
  save_to(filter, all.bytes);
  return all;
}

// The type that a plan leads to is the only thing that differs here from file_test.cpp.
TEST(any_filter, is_the_filter_that_a_file_or_its_bytes_hold) {
  for (const golden_filter& golden : golden_filters()) {
    SCOPED_TRACE(golden.name);
    const std::string path = tests_dir() + "/golden/filters/" + golden.name + ".filter";
    const said expected = ask(golden, build_golden(golden));
    ASSERT_EQ(expected.bytes, bytes_of_file(path));
    EXPECT_TRUE(expected.contains_all);

    const auto as_expected = [&](const auto& filter) {
      EXPECT_EQ(filter.kind, golden.plan.kind);
      EXPECT_EQ(ask(golden, filter), expected);
    };
    const loaded<any_filter> whole = load_any(path);
    ASSERT_TRUE(whole) << whole.failure().sentence;
    std::visit(as_expected, *whole);
    const loaded<any_filter> from = load_any_from(expected.bytes);
    ASSERT_TRUE(from) << from.failure().sentence;
    EXPECT_EQ(from->index(), whole->index());
    const loaded<any_mapped_filter> mapped = map_any(path);
    ASSERT_TRUE(mapped) << mapped.failure().sentence;
    EXPECT_EQ(mapped->index(), whole->index());
    std::visit([&](const auto& filter) { as_expected(*filter); }, *mapped);

    any_filter made = make_any(golden.plan, seeded_hash(golden_seed));
    EXPECT_EQ(made.index(), whole->index());
    std::visit(
        [&](auto& filter) {
          EXPECT_EQ(filter.counts(), filter_counts{});
          filter.insert("a key");
          EXPECT_TRUE(filter.may_contain("a key"));
        },
        made);
  }
}

TEST(any_filter, of_a_plan_or_a_file_with_a_fault_is_refused) {
  filter_plan plan = golden_filters().front().plan;
  plan.cells = 0;
  EXPECT_THROW(make_any(plan), std::invalid_argument);

  const temporary_folder folder;
  const std::string path = folder.file("f.filter");
  EXPECT_EQ(load_any(path).failure().error, load_error::io);
  EXPECT_EQ(map_any(path).failure().error, load_error::io);
  ASSERT_FALSE(save(build_golden_growing(), path));
  const std::string wrong = "it holds a growing filter, asked for was a single filter";
  for (const load_failure& failure : {load_any(path).failure(), map_any(path).failure(),
                                      load_any_from(bytes_of_file(path)).failure()}) {
    EXPECT_EQ(failure.error, load_error::wrong_kind);
    EXPECT_NE(failure.sentence.find(wrong), std::string::npos) << failure.sentence;
  }
}

}  // namespace
