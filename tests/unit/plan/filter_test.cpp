#include "oneprobe/plan/filter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "oneprobe/model/bloom.hpp"

namespace {

using namespace oneprobe;

constexpr std::uint64_t million = 1'000'000;

filter_plan planned(filter_needs needs) {
  needs.detail = plan_detail::plan_only;
  const filter_proposal proposal = plan_filter(needs);
  EXPECT_TRUE(proposal.plan) << proposal.reason;
  if (!proposal.plan) throw std::logic_error(proposal.reason);
  EXPECT_FALSE(find_fault(*proposal.plan)) << *find_fault(*proposal.plan);
  return *proposal.plan;
}

std::string refusal_of(const filter_needs& needs) {
  try {
    plan_filter(needs);
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "";
}

TEST(plan_filter, meets_an_error_with_every_kind) {
  for (const filter_kind kind :
       {filter_kind::standard, filter_kind::partitioned, filter_kind::blocked,
        filter_kind::counting, filter_kind::balanced, filter_kind::fingerprint})
    for (const double fpr : {1e-4, 1e-7}) {
      const filter_plan plan = planned({.elements = million, .fpr = fpr, .kind = kind});
      EXPECT_EQ(plan.kind, kind);
      EXPECT_LE(plan.predicted.fpr, fpr) << name_of(kind);
      EXPECT_GE(plan.predicted.fpr, 0.98 * fpr) << name_of(kind);
    }
}

TEST(plan_filter, never_uses_more_memory_than_given_and_leaves_little) {
  for (const std::uint64_t n : {std::uint64_t{1000}, 20 * million + 457})
    for (const filter_kind kind :
         {filter_kind::standard, filter_kind::partitioned, filter_kind::blocked,
          filter_kind::counting, filter_kind::balanced, filter_kind::fingerprint})
      for (const double bits : {26.3}) {
        const filter_plan plan = planned({.elements = n, .bits_per_element = bits, .kind = kind});
        EXPECT_LE(plan.bits_per_element(), bits) << name_of(kind) << ' ' << n;
        // Whole lines; and a small balanced filter keeps slack of whole blocks.
        EXPECT_GE(8 * static_cast<double>(plan.memory().total() + 3 * 64),
                  0.995 * bits * static_cast<double>(n))
            << name_of(kind) << ' ' << n;
        const auto bytes = static_cast<std::uint64_t>(bits * static_cast<double>(n) / 8) + 17;
        EXPECT_LE(planned({.elements = n, .bytes = bytes, .kind = kind}).memory().total(), bytes);
      }
}

// The line: at most 0.55, 1/5 and 1/20 of the error of the best blocked filter of the same
// total memory, at no more than 1.25 blocks per negative query and up to 4 choices.
TEST(plan_filter, balanced_filters_err_far_less_than_the_best_blocked_ones_from_24_bits_on) {
  const struct { double bits, ratio; } wanted[] = {{24, 0.55}, {32, 1.0 / 5}, {40, 1.0 / 20}};
  for (const auto& [bits, ratio] : wanted) {
    const filter_plan balanced = planned({.elements = 10 * million,
                                          .bits_per_element = bits,
                                          .accesses = 1.25,
                                          .largest_choices = 4,
                                          .kind = filter_kind::balanced});
    const filter_plan blocked =
        planned({.elements = 10 * million, .bits_per_element = bits, .kind = filter_kind::blocked});
    EXPECT_LE(balanced.memory().total(), blocked.memory().total() + 64);
    EXPECT_LE(balanced.predicted.fpr, ratio * blocked.predicted.fpr) << bits;
    EXPECT_LE(balanced.predicted.miss_accesses, 1.25);
    // Nothing is better about the blocked one than its own best number of bits.
    EXPECT_NEAR(blocked.predicted.fpr,
                model::blocked_error(
                    {bits, 512, model::best_bits_set_blocked(bits, 512, block_layout::independent),
                     block_layout::independent}),
                1e-3 * blocked.predicted.fpr);
  }
}

TEST(plan_filter, chooses_blocked_where_errors_are_large_and_fingerprints_elsewhere) {
  EXPECT_EQ(planned({.elements = million, .bits_per_element = 6}).kind, filter_kind::blocked);
  EXPECT_EQ(planned({.elements = million, .bits_per_element = 11}).kind, filter_kind::fingerprint);
  EXPECT_EQ(planned({.elements = million, .bits_per_element = 20}).kind, filter_kind::fingerprint);
  EXPECT_EQ(planned({.elements = million, .fpr = 0.1}).kind, filter_kind::blocked);
  EXPECT_EQ(planned({.elements = million, .fpr = 1e-3}).kind, filter_kind::fingerprint);
}

// A rule, a scheme or another block is a wish for what a fingerprint filter has not.
TEST(plan_filter, chooses_blocked_below_14_bits_and_balanced_from_16_on_among_bloom_filters) {
  const auto chosen = [](filter_needs needs) {
    needs.elements = million;
    needs.block_bits = 512;
    return planned(needs).kind;
  };
  EXPECT_EQ(chosen({.bits_per_element = 13}), filter_kind::blocked);
  EXPECT_EQ(chosen({.bits_per_element = 20}), filter_kind::balanced);
  EXPECT_EQ(chosen({.fpr = 0.01}), filter_kind::blocked);
  EXPECT_EQ(chosen({.fpr = 1e-5}), filter_kind::balanced);
}

// Issue 7: the error of a standard filter of the same memory, and a third and a fifth of it.
TEST(plan_filter, fingerprints_err_less_than_a_standard_filter_of_the_same_memory) {
  for (const double bits : {10., 11., 12., 14., 16., 18., 20., 24.}) {
    const filter_plan plan = planned(
        {.elements = 10 * million, .bits_per_element = bits, .kind = filter_kind::fingerprint});
    const filter_plan standard = planned(
        {.elements = 10 * million, .bits_per_element = bits, .kind = filter_kind::standard});
    EXPECT_LE(plan.memory().total(), standard.memory().total());
    const double promised = bits >= 20 ? 1.0 / 5 : bits >= 16 ? 1.0 / 3 : 1;
    EXPECT_LE(plan.predicted.fpr, promised * standard.predicted.fpr) << bits;
    EXPECT_LE(plan.predicted.miss_accesses, 1.2) << bits;
    EXPECT_LE(plan.predicted.hit_accesses, 1.2) << bits;
    EXPECT_EQ(forecast(plan, 10'190'000).condition, filter_condition::over_full) << bits;
  }
}

TEST(plan_filter, says_what_more_elements_would_do) {
  const filter_proposal proposal = plan_filter({.elements = million, .fpr = 1e-4});
  ASSERT_TRUE(proposal.plan);
  double before = proposal.plan->predicted.fpr;
  for (const overfill_forecast& each : proposal.overfill) {
    EXPECT_GT(each.predicted.fpr, before);
    before = each.predicted.fpr;
    const overfill_forecast again = forecast(*proposal.plan, each.elements);
    EXPECT_DOUBLE_EQ(again.predicted.fpr, each.predicted.fpr);
  }
  EXPECT_EQ(proposal.overfill[0].elements, 1'010'000u);
  EXPECT_EQ(proposal.overfill[0].condition, filter_condition::over_full);
  EXPECT_EQ(proposal.overfill[2].condition, filter_condition::degraded);
  // The promise of the slack: with an error to keep, nothing is saturated up to 5 %.
  EXPECT_EQ(forecast(*proposal.plan, 1'049'000).condition, filter_condition::over_full);
  EXPECT_LT(forecast(*proposal.plan, 1'049'000).predicted.fpr, 1.3e-4);
  EXPECT_EQ(forecast(*proposal.plan, million).condition, filter_condition::as_planned);
  EXPECT_LT(proposal.slack_bytes, proposal.plan->memory().total() / 16);
  EXPECT_GT(proposal.slack_bytes, 0u);
}

TEST(plan_filter, room_for_more_elements_can_be_asked_for) {
  const filter_plan plan =
      planned({.elements = million, .fpr = 1e-4, .overfill = 0.05, .kind = filter_kind::balanced});
  EXPECT_EQ(forecast(plan, 1'049'000).condition, filter_condition::over_full);
  EXPECT_LT(forecast(plan, 1'049'000).predicted.fpr, 2e-4);
}

TEST(plan_filter, room_for_more_fingerprints_is_in_later_levels_and_cheap) {
  const filter_needs roomy{.elements = million, .fpr = 1e-4, .kind = filter_kind::fingerprint};
  filter_needs tight = roomy;
  tight.overfill = 0.02;
  const filter_plan plan = planned(roomy);
  EXPECT_EQ(forecast(plan, 1'049'000).condition, filter_condition::over_full);
  EXPECT_LT(forecast(plan, 1'049'000).predicted.fpr, 1.2e-4);
  EXPECT_EQ(forecast(planned(tight), 1'049'000).condition, filter_condition::degraded);
  EXPECT_LT(plan.bits_per_element(), 1.04 * planned(tight).bits_per_element());
}

// Whoever states an error wants it kept; whoever states the memory wants the least error in it.
TEST(plan_filter,
     fingerprints_for_an_error_have_room_for_five_percent_and_those_in_memory_for_two) {
  filter_needs needs{.elements = million, .fpr = 1e-4, .kind = filter_kind::fingerprint};
  const filter_plan by_error = planned(needs);
  needs.overfill = 0.05;
  EXPECT_TRUE(same_shape(by_error, planned(needs)));
  filter_needs memory{
      .elements = million, .bits_per_element = 16, .kind = filter_kind::fingerprint};
  const filter_plan by_memory = planned(memory);
  memory.overfill = 0.02;
  EXPECT_TRUE(same_shape(by_memory, planned(memory)));
  filter_needs balanced{.elements = million, .fpr = 1e-4, .kind = filter_kind::balanced};
  const filter_plan usual = planned(balanced);
  balanced.overfill = 0.02;
  EXPECT_TRUE(same_shape(usual, planned(balanced)));
}

TEST(plan_filter, warns_of_cliffs_and_of_filters_too_small_for_their_model) {
  const auto warned = [](const filter_needs& needs, const char* of) {
    for (const std::string& each : plan_filter(needs).warnings)
      if (each.find(of) == 0) return true;
    return false;
  };
  const auto kind = filter_kind::fingerprint;
  EXPECT_TRUE(warned({.elements = million, .bits_per_element = 16, .kind = kind}, "Sensitive"));
  EXPECT_FALSE(warned({.elements = million, .fpr = 1e-4, .kind = kind}, "Sensitive"));
  EXPECT_TRUE(warned({.elements = 300, .fpr = 1e-4, .kind = kind}, "Too small"));
  EXPECT_FALSE(warned({.elements = million, .fpr = 1e-4, .kind = kind}, "Too small"));
  EXPECT_TRUE(warned({.elements = 1000 * million, .fpr = 2e-10, .kind = kind}, "Near the end"));
  EXPECT_FALSE(warned({.elements = million, .fpr = 1e-9, .kind = kind}, "Near the end"));
}

// An absent key has the hash of one of n elements with probability n / 2^64, whatever the filter.
TEST(plan_filter, an_error_that_hashes_cannot_keep_is_refused_with_the_nearest) {
  const filter_needs needs{
      .elements = 1000 * million, .fpr = 1e-11, .kind = filter_kind::fingerprint};
  const filter_proposal proposal = plan_filter(needs);
  EXPECT_FALSE(proposal.plan);
  EXPECT_NE(proposal.reason.find("64 bits"), std::string::npos) << proposal.reason;
  ASSERT_TRUE(proposal.nearest);
  EXPECT_NEAR(*proposal.nearest->fpr, std::ldexp(1e9, -64), 0.02 * std::ldexp(1e9, -64));
  EXPECT_TRUE(plan_filter(*proposal.nearest).plan);
}

TEST(plan_filter, shows_the_alternatives_and_why_they_were_beaten) {
  const filter_proposal proposal = plan_filter({.elements = million, .fpr = 1e-4});
  ASSERT_TRUE(proposal.plan);
  EXPECT_EQ(proposal.plan->kind, filter_kind::fingerprint);
  EXPECT_EQ(proposal.alternatives.size(), 7u);
  for (const filter_alternative& other : proposal.alternatives) {
    ASSERT_TRUE(other.plan) << other.name;
    EXPECT_FALSE(other.why.empty());
    EXPECT_LE(other.plan->predicted.fpr, 1e-4);
    // Who needs less memory reads more.
    if (other.plan->memory().total() < proposal.plan->memory().total()) {
      EXPECT_GT(other.plan->predicted.miss_accesses, 1.2);
    }
  }
  EXPECT_FALSE(proposal.reason.empty());
}

TEST(plan_filter, the_list_overflows_as_rarely_as_it_says) {
  const filter_proposal proposal = plan_filter({.elements = 10 * million,
                                                .bits_per_element = 40,
                                                .largest_choices = 2,
                                                .kind = filter_kind::balanced});
  ASSERT_TRUE(proposal.plan);
  EXPECT_GT(proposal.overflow.mean, 1000);
  EXPECT_GT(proposal.overflow.deviation, std::sqrt(proposal.overflow.mean) / 2);
  EXPECT_LT(proposal.overflow.mean + 8 * std::sqrt(proposal.overflow.mean),
            static_cast<double>(proposal.plan->overflow_reserve));
  EXPECT_LT(proposal.overflow.tail_probability, 1e-6);
}

TEST(plan_filter, a_need_that_cannot_be_met_gets_the_nearest_that_can) {
  const filter_needs impossible[] = {
      {.elements = million, .bytes = 100},
      {.elements = million, .bits_per_element = 0.3, .kind = filter_kind::standard},
      {.elements = 100'000 * million, .fpr = 1e-9, .kind = filter_kind::blocked},
  };
  for (const filter_needs& needs : impossible) {
    const filter_proposal proposal = plan_filter(needs);
    EXPECT_FALSE(proposal.plan);
    EXPECT_NE(proposal.reason.find("No plan"), std::string::npos);
    ASSERT_TRUE(proposal.nearest) << proposal.reason;
    filter_needs nearest = *proposal.nearest;
    nearest.detail = plan_detail::plan_only;
    EXPECT_TRUE(plan_filter(nearest).plan) << proposal.reason;
  }
}

TEST(plan_filter, nonsense_is_refused_by_name) {
  EXPECT_NE(refusal_of({.elements = 0, .fpr = 0.1}).find("elements"), std::string::npos);
  EXPECT_NE(refusal_of({.elements = 5}).find("exactly one of"), std::string::npos);
  EXPECT_NE(refusal_of({.elements = 5, .fpr = 0.1, .bytes = 9}).find("exactly one of"),
            std::string::npos);
  EXPECT_NE(refusal_of({.elements = 5, .fpr = 0.7}).find("fpr"), std::string::npos);
  EXPECT_NE(refusal_of({.elements = 5, .fpr = std::nan("")}).find("fpr"), std::string::npos);
  EXPECT_NE(refusal_of({.elements = 5, .fpr = 0.1, .accesses = 0.9}).find("accesses"),
            std::string::npos);
  EXPECT_NE(refusal_of({.elements = 5, .fpr = 0.1, .largest_choices = 9}).find("largest_choices"),
            std::string::npos);
  EXPECT_NE(refusal_of({.elements = 5, .fpr = 0.1, .overfill = 2}).find("overfill"),
            std::string::npos);
  EXPECT_NE(refusal_of({.elements = 5, .fpr = 0.1, .block_bits = 100}).find("block_bits"),
            std::string::npos);
  EXPECT_NE(
      refusal_of(
          {.elements = 5, .fpr = 0.1, .kind = filter_kind::standard, .rule = lookup_rule::flag})
          .find("rule applies to balanced"),
      std::string::npos);
  EXPECT_NE(refusal_of({.elements = 5, .fpr = 0.1, .scheme = scheme_kind::d_left}).find("scheme"),
            std::string::npos);
}

TEST(plan_filter, lanes_are_a_wish_for_speed) {
  const filter_plan plan =
      planned({.elements = million, .fpr = 1e-3, .layout = block_layout::lanes});
  EXPECT_EQ(plan.kind, filter_kind::blocked);
  EXPECT_EQ(plan.layout, block_layout::lanes);
  EXPECT_LE(plan.predicted.fpr, 1e-3);
}

}  // namespace
