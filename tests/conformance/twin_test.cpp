// Random calls to two filters of one plan, each held to account by a twin.
#include "twin.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "configurations.hpp"
#include "keys.hpp"

namespace {

using namespace conformance;

enum class call : std::uint8_t { insert, bulk_insert, ask, erase, merge, copy, save, swap, clear };

/// Small filters and few different keys, so that a hundred calls fill a filter, meet keys again and
/// go three times over what was planned.
constexpr std::uint64_t planned = 40;
constexpr std::uint64_t different_keys = 300;
/// Half of the calls are for these few, so that counters saturate.
constexpr std::uint64_t frequent_keys = 3;

template <class Filter>
void run_calls(const filter_plan& plan, std::uint64_t seed) {
  twin<Filter> one(plan, seed), two(plan, seed);
  const int calls = *rc::gen::inRange(0, 150);
  for (int i = 0; i < calls; ++i) {
    const bool first = *rc::gen::arbitrary<bool>();
    twin<Filter>& target = first ? one : two;
    const bool frequent = *rc::gen::arbitrary<bool>();
    const auto key = *rc::gen::inRange<std::uint64_t>(0, frequent ? frequent_keys : different_keys);
    // Mostly inserts and questions; what ends a history is rare.
    switch (*rc::gen::weightedElement<call>({{40, call::insert},
                                             {10, call::bulk_insert},
                                             {20, call::ask},
                                             {12, call::erase},
                                             {2, call::merge},
                                             {2, call::copy},
                                             {2, call::save},
                                             {2, call::swap},
                                             {1, call::clear}})) {
      case call::insert:
        target.insert(key);
        break;
      case call::bulk_insert:
        target.bulk_insert(*rc::gen::container<std::vector<std::uint64_t>>(
            rc::gen::inRange<std::uint64_t>(0, different_keys)));
        break;
      case call::ask:
        target.ask(key);
        break;
      case call::erase:
        target.erase(key);
        break;
      case call::merge:
        target.merge(*rc::gen::arbitrary<bool>() ? one : two);
        break;
      case call::copy:
        target.copy_and_move();
        break;
      case call::save:
        target.save_and_load();
        break;
      case call::swap:
        one.swap(two);
        break;
      case call::clear:
        target.clear();
        break;
    }
    RC_ASSERT(!testing::Test::HasFailure());
  }
  one.check();
  two.check();
  RC_ASSERT(!testing::Test::HasFailure());
}

template <class Filter>
class every_filter_has_a_twin : public testing::Test {};
TYPED_TEST_SUITE(every_filter_has_a_twin, every_filter, filter_names);

TYPED_TEST(every_filter_has_a_twin, that_agrees_after_any_calls) {
  const std::vector<configuration> plans = plans_of<TypeParam>(planned);
  const bool held = rc::check([&] {
    const auto plan = *rc::gen::inRange<std::size_t>(0, plans.size());
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    run_calls<TypeParam>(plans[plan].plan, seed);
  });
  EXPECT_TRUE(held);
}

}  // namespace
