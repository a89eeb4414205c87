#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "reproduce/experiment.hpp"
#include "reproduce/row_text.hpp"

namespace {

using namespace oneprobe::cli;

row bare() { return {.source = "OFH, Fig. 5a", .what = "full buckets"}; }

oneprobe::sim::estimate estimate(double mean, double standard_error) {
  return {mean, standard_error, mean, mean};
}

TEST(as_printed, takes_value_and_half_a_digit_from_the_text) {
  const printed_number percent = as_printed("57.68 %", 0.01);
  EXPECT_EQ(percent.text, "57.68 %");
  EXPECT_DOUBLE_EQ(percent.value, 0.5768);
  EXPECT_DOUBLE_EQ(percent.half_unit, 0.00005);
  EXPECT_EQ(percent.how, printed_number::kind::rounded);
  EXPECT_DOUBLE_EQ(as_printed("2.17e-9").half_unit, 0.005e-9);
  EXPECT_DOUBLE_EQ(as_printed("2.17e-9").value, 2.17e-9);
  EXPECT_DOUBLE_EQ(as_printed(".006").half_unit, 0.0005);
  EXPECT_DOUBLE_EQ(as_printed("379000 bytes").half_unit, 0.5);
  EXPECT_DOUBLE_EQ(as_printed("100,000").value, 100000);
  EXPECT_DOUBLE_EQ(as_printed("-3.00e-5").value, -3e-5);
  EXPECT_DOUBLE_EQ(as_printed("about 1.1.").value, 1.1);
}

TEST(as_printed, a_sign_before_the_number_makes_it_a_bound) {
  EXPECT_EQ(as_printed("< 1.01e-12").how, printed_number::kind::upper_bound);
  EXPECT_EQ(as_printed("at least 3").how, printed_number::kind::lower_bound);
  EXPECT_EQ(as_printed("> 0.5").how, printed_number::kind::lower_bound);
}

TEST(as_printed, words_without_a_number_are_a_mistake_of_ours) {
  EXPECT_THROW(as_printed("larger"), std::logic_error);
}

TEST(verdict, a_model_that_rounds_to_the_print_agrees) {
  row r = bare();
  r.printed = as_printed("57.68 %", 0.01);
  r.model = 0.576849;
  EXPECT_EQ(verdict(r), "agrees");
  r.model = 0.576851;
  EXPECT_EQ(verdict(r), "DISAGREES: the model is not what is printed");
}

TEST(verdict, a_bound_gives_no_room_for_rounding) {
  row r = bare();
  r.printed = as_printed("< 1.01e-12");
  r.model = 1.007e-12;
  EXPECT_EQ(judge(r), judgement::agrees);
  r.model = 1.0101e-12;
  EXPECT_EQ(judge(r), judgement::disagrees);
  r.printed = as_printed("> 1.01e-12");
  EXPECT_EQ(judge(r), judgement::agrees);
}

TEST(verdict, a_simulation_is_held_to_the_model_within_four_standard_errors) {
  row r = bare();
  r.model = 0.5;
  r.simulated = estimate(0.5 + 0.0399, 0.01);
  EXPECT_EQ(judge(r), judgement::agrees);
  r.simulated = estimate(0.5 - 0.0401, 0.01);
  EXPECT_EQ(verdict(r), "DISAGREES: the simulation is 4.0 standard errors from the model");
  r.allowance = 0.01;
  EXPECT_EQ(judge(r), judgement::agrees);
}

TEST(verdict, a_simulation_that_disagrees_is_not_saved_by_the_print) {
  row r = bare();
  r.printed = as_printed("0.50");
  r.model = 0.5;
  r.simulated = estimate(0.6, 0.01);
  EXPECT_EQ(judge(r), judgement::disagrees);
}

TEST(verdict, a_simulation_alone_is_held_to_the_print) {
  row r = bare();
  r.printed = as_printed("0.50");
  r.simulated = estimate(0.54, 0.01);
  EXPECT_EQ(judge(r), judgement::agrees);
  r.simulated = estimate(0.5461, 0.01);
  EXPECT_EQ(verdict(r), "DISAGREES: the simulation is not what is printed");
}

TEST(verdict, an_erratum_explains_a_wrong_print_only_with_its_own_value) {
  row r = bare();
  r.printed = as_printed("1.488");
  r.model = 1.48871043676;
  EXPECT_EQ(judge(r), judgement::disagrees);
  r.known_erratum = erratum{"3.13", 1.48871, 0.000005};
  EXPECT_EQ(verdict(r), "erratum 3.13");
  r.model = 1.4890;
  EXPECT_EQ(verdict(r),
            "DISAGREES: the model is neither what is printed nor what erratum 3.13 says");
  r.model = 1.4881;
  EXPECT_EQ(verdict(r), "agrees");
}

TEST(verdict, an_erratum_of_something_without_digits_is_still_checked) {
  row r = bare();
  r.known_erratum = erratum{"3.16", 0.028166, 0.0000005};
  r.model = 0.0281659;
  EXPECT_EQ(verdict(r), "erratum 3.16");
  r.model = 0.0282;
  EXPECT_EQ(judge(r), judgement::disagrees);
}

TEST(verdict, an_erratum_does_not_excuse_the_simulation) {
  row r = bare();
  r.printed = as_printed("1.488");
  r.known_erratum = erratum{"3.13", 1.48871, 0.000005};
  r.model = 1.48871;
  r.simulated = estimate(1.6, 0.001);
  EXPECT_EQ(judge(r), judgement::disagrees);
}

TEST(verdict, a_number_that_is_compared_with_nothing_does_not_agree) {
  row r = bare();
  EXPECT_EQ(judge(r), judgement::disagrees);
  r.model = 1;
  EXPECT_EQ(verdict(r), "DISAGREES: nothing to compare with");
  r.model.reset();
  r.printed = as_printed("1");
  EXPECT_EQ(judge(r), judgement::disagrees);
}

TEST(verdict, what_is_not_a_number_never_agrees) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const char* text : {"1.0", "< 1.0", "> 1.0"}) {
    row r = bare();
    r.printed = as_printed(text);
    r.model = nan;
    EXPECT_EQ(judge(r), judgement::disagrees) << text;
    r.model = 1;
    r.simulated = estimate(nan, 0.1);
    EXPECT_EQ(judge(r), judgement::disagrees) << text;
    r.simulated = estimate(1, nan);
    EXPECT_EQ(judge(r), judgement::disagrees) << text;
  }
}

TEST(row_text, shows_all_numbers_in_the_unit_of_the_print_with_two_digits_more) {
  row r = bare();
  r.printed = as_printed("57.68", 0.01);
  r.model = 0.576810;
  r.simulated = estimate(0.57731, 0.00035);
  const row_text text = text_of(r);
  EXPECT_EQ(text.printed, "57.68 %");
  EXPECT_EQ(text.model, "57.6810 %");
  EXPECT_EQ(text.simulated, "57.731 ± 0.035 %");
}

TEST(row_text, keeps_the_digits_of_small_probabilities) {
  row r = bare();
  r.printed = as_printed("1.4e-7");
  r.model = 1.3914e-7;
  r.simulated = estimate(1.391e-7, 1.2e-9);
  const row_text text = text_of(r);
  EXPECT_EQ(text.model, "1.391e-07");
  EXPECT_EQ(text.simulated, "(1.391 ± 0.012)e-7");
}

TEST(row_text, gives_counts_no_digits_after_the_point) {
  row r = bare();
  r.printed = as_printed("99775 bytes");
  r.model = 99775;
  EXPECT_EQ(text_of(r).model, "99775");
  r.model = 99775.25;
  EXPECT_EQ(text_of(r).model, "99775.25");
}

TEST(row_text, words_may_stand_in_the_place_of_a_number) {
  row r = bare();
  r.printed = printed_number{"larger", 0, 0, printed_number::kind::lower_bound};
  r.model = 0.25;
  EXPECT_EQ(text_of(r).printed, "larger");
  EXPECT_EQ(text_of(r).model, "0.25000");
}

TEST(row_text, folds_away_many_points_that_agree_and_nothing_else) {
  row point = bare();
  point.model = 1;
  point.simulated = estimate(1, 0.1);
  std::vector<row> rows(10, point);
  rows[3].printed = as_printed("1");
  rows[7].model = 5;
  const shown_rows shown = rows_to_show(rows);
  EXPECT_EQ(shown.folded.size(), 8u);
  ASSERT_EQ(shown.open.size(), 2u);
  EXPECT_EQ(shown.open[0], &rows[3]);
  EXPECT_EQ(shown.open[1], &rows[7]);
  rows.resize(5);
  EXPECT_EQ(rows_to_show(rows).open.size(), 5u);
  const verdict_counts counts = count(rows);
  EXPECT_EQ(counts.agree, 5u);
  EXPECT_EQ(counts.all(), 5u);
}

}  // namespace
