// Plans of tables with summaries: the paper's, better ones, and refusals.
#include "oneprobe/plan/summary.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>

#include "oneprobe/model/summary.hpp"

using namespace oneprobe;

namespace {

double fails(const summary_plan& plan) {
  return plan.predicted.failure_probability + plan.predicted.crisis_probability;
}

TEST(plan_summary, of_the_papers_need_takes_less_than_the_papers_design_and_fails_less) {
  const summary_plan theirs = paper_summary("ssh-10k-multi").value();
  const summary_proposal ours =
      plan_summary({.elements = 10'000,
                    .false_positive_probability = theirs.predicted.false_positive_probability,
                    .failure_probability = fails(theirs)});
  ASSERT_TRUE(ours.plan);
  EXPECT_EQ(ours.plan->kind, summary_kind::multi_filter);
  EXPECT_LE(ours.plan->buckets(), theirs.buckets());
  EXPECT_LT(ours.plan->summary_bytes(), theirs.summary_bytes());
  EXPECT_LE(fails(*ours.plan), fails(theirs));
  EXPECT_LE(ours.plan->predicted.false_positive_probability,
            theirs.predicted.false_positive_probability * 1.000001);
  ASSERT_EQ(ours.alternatives.size(), 2u);
  EXPECT_EQ(ours.alternatives[0].name, "single-filter");
  EXPECT_GT(ours.alternatives[0].plan->summary_bytes(), ours.plan->summary_bytes());
  EXPECT_EQ(ours.alternatives[1].name, "interpolation");
}

TEST(plan_summary, keeps_what_it_is_asked_for) {
  for (const std::uint64_t elements : {1u, 100u, 10'000u, 1'000'000u})
    for (const std::uint32_t capacity : {1u, 4u, 16u})
      for (const auto deletion : {summary_deletion::none, summary_deletion::lazy,
                                  summary_deletion::incremental, summary_deletion::counting})
        for (const auto kind : {summary_kind::single_filter, summary_kind::multi_filter,
                                summary_kind::interpolation}) {
          SCOPED_TRACE(std::to_string(elements) + " in buckets of " + std::to_string(capacity) +
                       ", " + std::string(name_of(deletion)) + ", " + std::string(name_of(kind)));
          if (kind == summary_kind::interpolation &&
              (deletion == summary_deletion::lazy || deletion == summary_deletion::incremental))
            continue;
          // A second or two each.
          if (elements == 1'000'000 && (capacity != 16 || deletion != summary_deletion::counting))
            continue;
          const summary_proposal proposal = plan_summary({.elements = elements,
                                                          .bucket_capacity = capacity,
                                                          .deletion = deletion,
                                                          .kind = kind,
                                                          .failure_probability = 1e-8,
                                                          .detail = plan_detail::plan_only});
          ASSERT_TRUE(proposal.plan) << proposal.reason;
          const summary_plan& plan = *proposal.plan;
          EXPECT_EQ(find_fault(plan), std::nullopt);
          EXPECT_EQ(plan.kind, kind);
          EXPECT_EQ(plan.deletion, deletion);
          EXPECT_LE(fails(plan), 1e-8);
          EXPECT_LE(plan.predicted.false_positive_probability, 0.01 * 1.000001);
          EXPECT_LE(plan.predicted.absent_read_probability,
                    plan.predicted.false_positive_probability);
          EXPECT_EQ(plan.predicted, predict_summary(plan));
          double stored = 0;
          for (const double level : expected_levels(plan)) stored += level;
          EXPECT_NEAR(stored,
                      static_cast<double>(elements + (plan.is_lazy() ? plan.deleted_limit : 0)),
                      1e-6 * stored);
        }
}

TEST(plan_summary, fails_no_more_often_than_asked_or_is_refused) {
  int planned = 0;
  for (const double failure : {1e-4, 1e-12, 1e-20})
    for (const std::optional<std::uint64_t>& slow_bytes :
         std::initializer_list<std::optional<std::uint64_t>>{std::nullopt, 900, 1'800}) {
      const summary_proposal proposal = plan_summary({.elements = 10,
                                                      .kind = summary_kind::multi_filter,
                                                      .failure_probability = failure,
                                                      .slow_bytes = slow_bytes,
                                                      .detail = plan_detail::plan_only});
      if (!proposal.plan) continue;
      ++planned;
      EXPECT_LE(fails(*proposal.plan), failure) << slow_bytes.value_or(0) << " bytes";
    }
  EXPECT_GT(planned, 5);
}

TEST(plan_summary, within_bytes_fails_least) {
  double before = 1;
  for (const std::uint64_t bytes : {24'000u, 28'000u, 32'450u, 40'000u}) {
    const summary_proposal proposal = plan_summary(
        {.elements = 10'000, .summary_bytes = bytes, .detail = plan_detail::plan_only});
    ASSERT_TRUE(proposal.plan);
    EXPECT_LE(proposal.plan->summary_bytes(), bytes);
    EXPECT_GT(proposal.plan->summary_bytes(), bytes * 95 / 100);
    EXPECT_LT(fails(*proposal.plan), before / 100);
    before = fails(*proposal.plan);
  }
}

TEST(plan_summary, uses_the_slow_memory_that_is_allowed) {
  std::uint64_t before = ~std::uint64_t{0};
  for (const std::uint64_t bytes : {1'000'000u, 2'000'000u, 4'000'000u}) {
    const summary_proposal proposal =
        plan_summary({.elements = 10'000, .slow_bytes = bytes, .detail = plan_detail::plan_only});
    ASSERT_TRUE(proposal.plan);
    const std::uint64_t used = proposal.plan->slot_bytes(16) + proposal.plan->guard_bytes();
    EXPECT_LE(used, bytes);
    EXPECT_GT(used, bytes * 99 / 100);
    // More buckets: fewer elements beyond the first level, smaller filters for them.
    EXPECT_LT(proposal.plan->filter_bytes(), before);
    before = proposal.plan->filter_bytes();
  }
}

TEST(plan_summary, has_work_enough_to_end_a_reconstruction_in_time) {
  const summary_plan plan =
      plan_summary({.elements = 10'000, .deletion = summary_deletion::incremental}).plan.value();
  EXPECT_EQ(plan.deleted_limit, 1'000u);
  EXPECT_GE(plan.work_per_change * plan.deleted_limit / 2, plan.slots());
  EXPECT_NEAR(plan.predicted.reconstruction_moves, 100, 40);
  EXPECT_GT(static_cast<double>(plan.overflow_reserve), plan.predicted.reconstruction_moves);
}

/// What docs/summaries.md says in words: half as much again as the paper's counting design; two
/// fifths more, and three and a half times as much, if only elements of the first level leave.
TEST(plan_summary, takes_more_for_churn_and_for_the_worst_departures) {
  const auto bytes = [](summary_deletion deletion, summary_departures departures) {
    return static_cast<double>(plan_summary({.elements = 10'000,
                                             .deletion = deletion,
                                             .departures = departures,
                                             .kind = summary_kind::multi_filter,
                                             .detail = plan_detail::plan_only})
                                   .plan->summary_bytes());
  };
  using enum summary_deletion;
  using enum summary_departures;
  const double theirs = static_cast<double>(paper_summary("ssh-10k-counting")->summary_bytes());
  EXPECT_NEAR(bytes(counting, any) / theirs, 1.5, 0.05);
  EXPECT_NEAR(bytes(lazy, first_level) / bytes(lazy, any), 1.4, 0.05);
  EXPECT_NEAR(bytes(counting, first_level) / bytes(counting, any), 3.6, 0.1);
}

TEST(plan_summary, refuses_what_cannot_be_had_and_names_the_nearest) {
  summary_proposal proposal = plan_summary({.elements = 10'000, .slow_bytes = 300'000});
  EXPECT_FALSE(proposal.plan);
  EXPECT_NE(proposal.reason.find("slow memory"), std::string::npos);
  ASSERT_TRUE(proposal.nearest);
  EXPECT_TRUE(plan_summary(*proposal.nearest).plan);
  proposal = plan_summary({.elements = 10'000, .summary_bytes = 9'000});
  EXPECT_FALSE(proposal.plan);
  ASSERT_TRUE(proposal.nearest);
  EXPECT_GT(proposal.nearest->summary_bytes, 9'000u);
  EXPECT_TRUE(plan_summary(*proposal.nearest).plan);
}

TEST(plan_summary, refuses_more_slots_than_it_can_number) {
  const summary_proposal proposal = plan_summary({.elements = 1'000'000'000});
  EXPECT_FALSE(proposal.plan);
  EXPECT_NE(proposal.reason.find("2^32 - 2 slots"), std::string::npos);
}

TEST(plan_summary, refuses_needs_out_of_range_by_name) {
  const auto refusal = [](const summary_needs& needs) -> std::string {
    try {
      plan_summary(needs);
    } catch (const std::invalid_argument& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({.elements = 0}), "elements must be 1 to 2^31 - 1; found 0");
  EXPECT_EQ(refusal({.elements = 10, .bucket_capacity = 17}),
            "bucket_capacity must be from 1 to 16; found 17");
  EXPECT_EQ(refusal({.elements = 10, .false_positive_probability = 2}),
            "false_positive_probability must be from 1e-09 to 0.5; found 2");
  EXPECT_EQ(refusal({.elements = 10, .failure_probability = 0}),
            "failure_probability must be from 1e-30 to 0.5; found 0");
  EXPECT_EQ(refusal({.elements = 10, .failure_probability = 0.1, .summary_bytes = 10}),
            "at most one of failure_probability and summary_bytes must be given; found both");
  EXPECT_EQ(refusal({.elements = 10,
                     .deletion = summary_deletion::lazy,
                     .kind = summary_kind::interpolation}),
            "deletion must be none or counting where kind is interpolation; found lazy");
  EXPECT_EQ(refusal({.elements = 10, .summary_bytes = 0}),
            "summary_bytes must be at least 1; found 0");
}

/// SSH, Table III: the last columns, and Section X.
TEST(paper_summaries, fail_as_the_paper_says) {
  EXPECT_NEAR(fails(*paper_summary("ssh-10k-single")), 7.64e-10, 0.005e-10);
  EXPECT_NEAR(fails(*paper_summary("ssh-10k-multi")), 4.97e-12, 0.005e-12);
  EXPECT_NEAR(fails(*paper_summary("ssh-100k-single")), 7.27e-9, 0.005e-9);
  EXPECT_NEAR(fails(*paper_summary("ssh-100k-multi")), 1.38e-11, 0.005e-11);
  EXPECT_NEAR(fails(*paper_summary("ssh-10k-single-small")), 2.1e-6, 0.05e-6);
  // The paper counts equal strings of one level, too: 1.39e-9 and 2.17e-9.
  const summary_plan strings = *paper_summary("ssh-10k-interpolation");
  EXPECT_NEAR(strings.predicted.false_positive_probability, 2.78e-13, 0.005e-13);
  double one_level = 0;
  for (const double stored : expected_levels(strings)) one_level += stored * stored / 1e8;
  EXPECT_NEAR(strings.predicted.failure_probability, (1 - one_level) * 1.388e-9, 0.005e-9);
  EXPECT_LT(fails(*paper_summary("ssh-100k-interpolation")), 2.17e-9);
  EXPECT_NEAR(paper_summary("ssh-10k-lazy")->predicted.reconstruction_moves, 100.02, 0.005);
  EXPECT_FALSE(paper_summary("ssh-1m-multi"));
}

/// SSH, Section XI-B sizes counting filters for a table that was filled once. While elements come
/// and go more of them are beyond the first levels, and its third filter has nearly all bits set.
TEST(paper_summaries, that_count_are_too_small_for_churn) {
  const summary_prediction churning = paper_summary("ssh-10k-counting")->predicted;
  EXPECT_GT(churning.overflow_mean, 100);
  const summary_plan ours =
      plan_summary({.elements = 10'000, .deletion = summary_deletion::counting}).plan.value();
  EXPECT_LT(ours.predicted.overflow_mean, 1e-8);
}

TEST(plan_summary, has_use_for_no_more_than_64_slots_for_an_element) {
  const auto bytes_with = [](std::uint64_t slow_bytes) {
    const summary_proposal proposal = plan_summary({.elements = 10'000, .slow_bytes = slow_bytes});
    EXPECT_TRUE(proposal.plan) << proposal.reason;
    return proposal.plan ? proposal.plan->summary_bytes() : 0;
  };
  EXPECT_EQ(bytes_with(std::uint64_t{1} << 30), bytes_with(std::uint64_t{1} << 45));
  EXPECT_LT(bytes_with(std::uint64_t{1} << 30), 1'000'000u);
}

}  // namespace
