#include "oneprobe/model/finite_size.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "oneprobe/model/crisis.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

constexpr unsigned buckets = 3000;
constexpr unsigned slots = 4;
constexpr unsigned choices = 3;
const std::vector<double> thirds{0.6, 0.3, 0.1};

/// A table of loads, placed by hand: the models have no other witness here.
class small_table {
 public:
  small_table(scheme_kind scheme, std::uint64_t seed) : scheme_(scheme), random_(seed) {}

  /// The bucket that takes one more element; `buckets` for the overflow.
  unsigned place() {
    unsigned best = buckets;
    const unsigned tries = scheme_ == scheme_kind::single ? 1 : choices;
    const bool parallel = scheme_ == scheme_kind::d_random || scheme_ == scheme_kind::d_left;
    for (unsigned choice = 0; choice < tries; ++choice) {
      const unsigned candidate = draw(choice);
      if (loads_[candidate] >= slots) continue;
      if (best == buckets || loads_[candidate] < loads_[best]) best = candidate;
      if (!parallel) break;
    }
    if (best == buckets)
      ++overflow_;
    else
      ++loads_[best];
    return best;
  }
  void erase(unsigned bucket) {
    if (bucket == buckets)
      --overflow_;
    else
      --loads_[bucket];
  }
  double overflow() const { return overflow_; }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

 private:
  unsigned draw(unsigned choice) {
    unsigned first = 0, size = buckets;
    if (scheme_ == scheme_kind::d_left) {
      size = buckets / choices;
      first = choice * size;
    } else if (scheme_ == scheme_kind::multilevel) {
      for (unsigned level = 0; level < choice; ++level)
        first += static_cast<unsigned>(std::lround(thirds[level] * buckets));
      size = static_cast<unsigned>(std::lround(thirds[choice] * buckets));
    }
    return first + static_cast<unsigned>(below(size));
  }

  scheme_kind scheme_;
  std::mt19937_64 random_;
  std::vector<unsigned> loads_ = std::vector<unsigned>(buckets, 0);
  double overflow_ = 0;
};

struct sample {
  double count = 0, sum = 0, squares = 0;
  void add(double value) {
    ++count;
    sum += value;
    squares += value * value;
  }
  double mean() const { return sum / count; }
  double deviation() const { return std::sqrt(squares / count - mean() * mean()); }
};

// Ten comparisons of a mean and ten of a deviation in each of the two tests below: at 4.5 sigma the
// family-wise false-alarm rate is about 1e-3 over both.
constexpr double sigmas = 4.5;

class every_scheme : public testing::TestWithParam<scheme_kind> {};

TEST_P(every_scheme, the_overflow_of_a_filled_table_spreads_as_predicted) {
  for (const double load_factor : {0.9, 1.0}) {
    const auto elements = static_cast<unsigned>(load_factor * buckets * slots);
    const overflow_spread expected = overflow_spread_filling({.scheme = GetParam(),
                                                              .load_factor = load_factor,
                                                              .bucket_capacity = slots,
                                                              .choices = choices,
                                                              .level_fractions = thirds},
                                                             elements);
    sample found;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
      small_table table(GetParam(), seed);
      for (unsigned i = 0; i < elements; ++i) table.place();
      found.add(table.overflow());
    }
    // The mean of a table of 3000 buckets is itself off its limit by a fraction of an element.
    EXPECT_NEAR(found.mean(), expected.mean,
                sigmas * expected.standard_deviation / std::sqrt(found.count) + 1.0);
    EXPECT_NEAR(found.deviation(), expected.standard_deviation,
                sigmas * expected.standard_deviation / std::sqrt(2 * found.count));
  }
}

TEST_P(every_scheme, the_overflow_of_a_churning_table_spreads_as_predicted) {
  const double load_factor = 0.8;
  const auto elements = static_cast<unsigned>(load_factor * buckets * slots);
  const overflow_spread expected = overflow_spread_churning({.scheme = GetParam(),
                                                             .load_factor = load_factor,
                                                             .bucket_capacity = slots,
                                                             .choices = choices,
                                                             .level_fractions = thirds},
                                                            elements);
  small_table table(GetParam(), 7);
  std::vector<unsigned> where;
  for (unsigned i = 0; i < elements; ++i) where.push_back(table.place());
  // One snapshot for each two residence times, so that they are nearly independent.
  sample found;
  for (int snapshot = -5; snapshot < 500; ++snapshot) {
    for (unsigned i = 0; i < 2 * elements; ++i) {
      unsigned& place = where[table.below(elements)];
      table.erase(place);
      place = table.place();
    }
    if (snapshot >= 0) found.add(table.overflow());
  }
  const double correlation = 1.2;  // e^-2 between neighbours widens the errors by that much
  EXPECT_NEAR(found.mean(), expected.mean,
              correlation * sigmas * expected.standard_deviation / std::sqrt(found.count) + 1.0);
  EXPECT_NEAR(found.deviation(), expected.standard_deviation,
              correlation * sigmas * expected.standard_deviation / std::sqrt(2 * found.count));
}

INSTANTIATE_TEST_SUITE_P(finite_size, every_scheme,
                         testing::Values(scheme_kind::single, scheme_kind::sequential,
                                         scheme_kind::multilevel, scheme_kind::d_random,
                                         scheme_kind::d_left),
                         [](const auto& scheme) {
                           std::string name(name_of(scheme.param));
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

TEST(finite_size, single_slots_spread_as_the_exact_calculator_says) {
  // |S_1| of SSH's table for 10,000 elements: level 1 alone, 40,000 buckets.
  const count_distribution left = crisis(10000, level_sizes{40000}).left_after.at(1);
  const overflow_spread spread = overflow_spread_filling(
      {.scheme = scheme_kind::single, .load_factor = 0.25, .bucket_capacity = 1}, 10000);
  expect_relative(spread.mean, left.mean(), 1e-3);
  expect_relative(spread.standard_deviation, left.standard_deviation(), 1e-3);
}

TEST(finite_size, a_reserve_is_exceeded_no_more_often_than_asked) {
  // Poisson with mean 10: P(X > 21) = 7.0e-4 > 5e-4 >= P(X > 22).
  EXPECT_EQ(reserve_for({.mean = 10, .standard_deviation = std::sqrt(10.0)}, 5e-4), 22);
  EXPECT_EQ(reserve_for({.mean = 0, .standard_deviation = 0}, 1e-9), 0);
  // Large: mean + 5.998 sigma for 1e-9.
  const double large = reserve_for({.mean = 1e6, .standard_deviation = 1e3}, 1e-9);
  EXPECT_NEAR(large, 1e6 + 5.998e3, 30);
  // Bursty: more than Poisson would need.
  EXPECT_GT(reserve_for({.mean = 10, .standard_deviation = 6}, 1e-6),
            reserve_for({.mean = 10, .standard_deviation = std::sqrt(10.0)}, 1e-6));
}

TEST(finite_size, the_reserve_grows_as_the_probability_falls) {
  double last = 0;
  for (const double probability : {0.5, 1e-2, 1e-6, 1e-9, 1e-15, 1e-30}) {
    const double slots_needed = reserve_for({.mean = 40, .standard_deviation = 9}, probability);
    EXPECT_GT(slots_needed, last);
    last = slots_needed;
  }
}

TEST(finite_size, bad_parameters_are_refused_by_name) {
  const fluid_parameters table{
      .scheme = scheme_kind::single, .load_factor = 1, .bucket_capacity = 4};
  expect_refused([&] { overflow_spread_filling(table, 0); }, "elements");
  expect_refused([&] { overflow_spread_filling(table, 2e13); }, "elements");
  fluid_parameters budgeted = table;
  budgeted.access_budget = 0.5;
  expect_refused([&] { overflow_spread_filling(budgeted, 100); }, "access budget");
  expect_refused([] { reserve_for({.mean = -1, .standard_deviation = 1}, 0.1); }, "mean");
  expect_refused([] { reserve_for({.mean = 1, .standard_deviation = 1}, 0); }, "probability");
}

}  // namespace
