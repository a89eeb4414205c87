#include "oneprobe/model/notes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "oneprobe/model/poisson.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

TEST(notes, of_one_slot_and_one_kind_are_known_by_hand) {
  // Filling: up once a second element came.
  expect_relative(notes_filling(1, 1.0, 1).up, 1 - 2 * std::exp(-1.0), 1e-13);
  expect_relative(notes_filling(1, 1.0, 1).full, 1 - std::exp(-1.0), 1e-13);
  // Churning: down with probability A integral over t from 0 to 1 of t^(A-1) exp(-A t).
  expect_relative(notes_churning(1, 1.0, 1).up, std::exp(-1.0), 1e-13);
  expect_relative(notes_churning(1, 2.0, 1).up, (1 + 3 * std::exp(-2.0)) / 2, 1e-13);
  expect_relative(notes_churning(1, 2.0, 1).full, 2.0 / 3, 1e-13);
}

TEST(notes, of_an_empty_table_are_down) {
  for (const auto& law : {notes_filling(8, 0, 16), notes_churning(8, 0, 16)}) {
    EXPECT_EQ(law.up, 0);
    EXPECT_EQ(law.full, 0);
    EXPECT_EQ(law.full_and_up, 0);
  }
}

TEST(notes, of_a_crowded_bucket_are_up) {
  for (const double arrivals : {3e3, 1e5, 2e5, 1e9}) {
    EXPECT_NEAR(notes_churning(16, arrivals, 16).up, 1, 1e-9);
    EXPECT_NEAR(notes_churning(16, arrivals, 16).full_and_up, erlang_b(16, arrivals), 1e-9);
    EXPECT_NEAR(notes_filling(16, arrivals, 16).up, 1, 1e-9);
  }
}

TEST(notes, of_a_filling_bucket_are_the_sum_over_what_came) {
  for (const unsigned slots : {1u, 4u, 16u})
    for (const double mean : {0.3, 3.7, 20.0}) {
      double up = 0;
      for (unsigned came = slots + 1; came < 200; ++came)
        up += poisson_probability(mean, came) * (1 - std::pow(15.0 / 16, came - slots));
      expect_relative(notes_filling(slots, mean, 16).up, up, 1e-12);
    }
}

/// Kosten's moments of the overflow of a loss system, summed: another way to the same number, good
/// while offered load / kinds is small.
double up_by_moments(unsigned slots, double offered, unsigned kinds) {
  std::vector<double> sigma{1};
  for (unsigned i = 1; i <= slots; ++i) sigma.push_back(sigma.back() * offered / i);
  const double full = sigma.back();
  double term = 1, down = 0;
  for (unsigned k = 1; k < 60; ++k) {
    for (unsigned i = 1; i <= slots; ++i) sigma[i] += sigma[i - 1];
    term *= -offered / kinds / k;
    down += term * full / sigma.back();
  }
  return -down;
}

RC_GTEST_PROP(notes, of_a_churning_bucket_agree_with_the_moments_of_its_losses, ()) {
  const unsigned slots = *rc::gen::inRange(1u, 40u);
  const unsigned kinds = *rc::gen::inRange(4u, 200u);
  const double offered = *rc::gen::inRange(1, 2000) / 1000.0 * std::min(slots, 2 * kinds);
  const double by_moments = up_by_moments(slots, offered, kinds);
  RC_ASSERT(std::abs(notes_churning(slots, offered, kinds).up - by_moments) <= 1e-10 * by_moments);
}

RC_GTEST_PROP(notes, keep_within_their_bounds, ()) {
  const unsigned slots = *rc::gen::inRange(1u, 129u);
  const unsigned kinds = *rc::gen::inRange(1u, 1025u);
  const double offered = *rc::gen::inRange(1, 3000) / 1000.0 * slots;
  const note_law law = notes_churning(slots, offered, kinds);
  RC_ASSERT(law.full_and_up <= std::min(law.full, law.up) * (1 + 1e-9));
  // A counter is up no more often than its mean, and rather in a full bucket.
  RC_ASSERT(law.up <= offered * law.full / kinds * (1 + 1e-9));
  RC_ASSERT(law.full_and_up >= law.full * law.up * (1 - 1e-9));
  const note_law more = notes_churning(slots, offered, kinds + 1 > 1024 ? 1024 : kinds + 1);
  RC_ASSERT(more.up <= law.up * (1 + 1e-9));
}

/// One bucket, event by event: shares of the time in batches.
struct simulated {
  std::vector<double> up, full_and_up;
};
simulated simulate_bucket(unsigned slots, double offered, unsigned kinds, std::uint64_t seed) {
  constexpr int batches = 400;
  constexpr double batch_time = 100;  // residence times
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return std::generate_canonical<double, 53>(random); };
  simulated seen;
  unsigned load = 0, counter = 0;
  for (int batch = -2; batch < batches; ++batch) {
    double time = 0, up = 0, both = 0;
    while (time < batch_time) {
      const double rate = offered + load + counter;
      const double stay = std::min(-std::log1p(-uniform()) / rate, batch_time - time);
      time += stay;
      if (counter > 0) up += stay;
      if (counter > 0 && load == slots) both += stay;
      if (time >= batch_time) break;  // exponential: the rest of the stay may be drawn anew
      const double event = uniform() * rate;
      if (event < offered) {
        if (load < slots)
          ++load;
        else if (uniform() * kinds < 1)
          ++counter;
      } else if (event < offered + load) {
        --load;
      } else {
        --counter;
      }
    }
    if (batch < 0) continue;  // warming up
    seen.up.push_back(up / batch_time);
    seen.full_and_up.push_back(both / batch_time);
  }
  return seen;
}

void expect_mean(const std::vector<double>& samples, double expected) {
  const auto count = static_cast<double>(samples.size());
  double mean = 0, square = 0;
  for (const double each : samples) mean += each / count;
  for (const double each : samples) square += (each - mean) * (each - mean);
  const double sigma = std::sqrt(square / (count - 1) / count);
  // 30 comparisons: a false alarm in all of them together once in 4,000.
  constexpr double k = 4.5;
  EXPECT_NEAR(mean, expected, k * sigma);
  EXPECT_LT(sigma, 0.05 * expected);
}

TEST(notes, of_a_churning_bucket_are_what_a_simulation_finds) {
  const struct {
    unsigned slots;
    double offered;
    unsigned kinds;
  } cases[] = {{16, 16.0, 16}, {4, 3.3, 4}, {1, 1.5, 1}};
  for (const auto& [slots, offered, kinds] : cases) {
    const note_law law = notes_churning(slots, offered, kinds);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const simulated seen = simulate_bucket(slots, offered, kinds, seed);
      expect_mean(seen.up, law.up);
      expect_mean(seen.full_and_up, law.full_and_up);
    }
  }
}

TEST(table_accesses, hits_are_placements_and_one_choice_is_one_access) {
  const churn_parameters churn{
      .load_factor = 0.8, .bucket_capacity = 16, .level_fractions = {0.8, 0.15, 0.04, 0.01}};
  const table_accesses churning = table_accesses_churning(churn, 16);
  EXPECT_EQ(churning.hit, churn_limit(churn).mean_accesses);
  EXPECT_GT(churning.insert, churning.hit);
  EXPECT_GT(churning.insert, churning.miss);
  const fluid_parameters fill{.scheme = scheme_kind::multilevel,
                              .load_factor = 0.8,
                              .bucket_capacity = 16,
                              .level_fractions = {0.8, 0.15, 0.04, 0.01}};
  const table_accesses filling = table_accesses_filling(fill, 16);
  EXPECT_EQ(filling.hit, fluid_limit(fill).mean_accesses);
  EXPECT_EQ(filling.insert, filling.hit);
  EXPECT_LT(filling.miss, churning.miss);

  const table_accesses one = table_accesses_churning(
      {.scheme = scheme_kind::single, .load_factor = 0.9, .bucket_capacity = 4}, 16);
  EXPECT_EQ(one.insert, 1);
  EXPECT_EQ(one.hit, 1);
  EXPECT_EQ(one.miss, 1);
}

TEST(table_accesses, a_miss_goes_on_with_the_product_of_the_notes) {
  const churn_parameters churn{
      .load_factor = 0.9, .bucket_capacity = 8, .level_fractions = {0.7, 0.2, 0.1}};
  double entering = 0.9 * 8, up = 1, miss = 0;
  for (const double fraction : churn.level_fractions) {
    miss += up;
    const note_law law = notes_churning(8, entering / fraction, 16);
    up *= law.up;
    entering *= law.full;
  }
  expect_relative(table_accesses_churning(churn, 16).miss, miss, 1e-13);

  const churn_parameters sequential{
      .scheme = scheme_kind::sequential, .load_factor = 0.8, .bucket_capacity = 8, .choices = 3};
  const double offered = 0.8 * 8 * churn_limit(sequential).mean_accesses;
  const double each = notes_churning(8, offered, 16).up;
  expect_relative(table_accesses_churning(sequential, 16).miss, 1 + each + each * each, 1e-12);

  const fluid_parameters filled{
      .scheme = scheme_kind::sequential, .load_factor = 0.8, .bucket_capacity = 8, .choices = 3};
  const double came = 0.8 * 8 * fluid_limit(filled).mean_accesses;
  const double noted = notes_filling(8, came, 16).up;
  expect_relative(table_accesses_filling(filled, 16).miss, 1 + noted + noted * noted, 1e-12);
}

TEST(notes, refuse_what_they_do_not_know) {
  expect_refused([] { notes_churning(0, 1, 16); }, "bucket capacity");
  expect_refused([] { notes_churning(129, 1, 16); }, "bucket capacity");
  expect_refused([] { notes_filling(4, -1, 16); }, "arrivals");
  expect_refused([] { notes_filling(4, std::nan(""), 16); }, "arrivals");
  expect_refused([] { notes_churning(4, 1, 0); }, "kinds");
  for (const scheme_kind scheme : {scheme_kind::d_random, scheme_kind::d_left}) {
    expect_refused(
        [&] {
          table_accesses_churning(
              {.scheme = scheme, .load_factor = 0.5, .bucket_capacity = 4, .choices = 2}, 16);
        },
        "scheme");
    expect_refused(
        [&] {
          table_accesses_filling(
              {.scheme = scheme, .load_factor = 0.5, .bucket_capacity = 4, .choices = 2}, 16);
        },
        "scheme");
  }
  expect_refused([] { table_accesses_filling({.admit_probability = 0.5}, 16); }, "admit");
  expect_refused([] { table_accesses_filling({.access_budget = 1.1}, 16); }, "budget");
}

}  // namespace
