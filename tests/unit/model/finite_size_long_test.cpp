// The predictions about finite tables once more: larger tables, generated parameters.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "oneprobe/model/finite_size.hpp"
#include "oneprobe/model/partition.hpp"
#include "unit/model/small_table.hpp"

namespace {

using namespace oneprobe::model;

// 40 tables, filled and churned, two comparisons each: at 4.4 sigma the family-wise false-alarm
// rate is 160 x 1.1e-5 = 1.7e-3 for any seeds; the seeds are fixed.
constexpr double sigmas = 4.4;
// Below this mean the last levels are so small that first order in the fluctuations is not enough;
// finite_size.hpp says so.
constexpr double fewest = 20;
constexpr unsigned buckets = 12000;

/// Level sizes of a whole number of buckets, none below 60.
std::vector<double> whole_levels(const std::vector<double>& fractions) {
  std::vector<double> whole;
  double rest = buckets;
  for (std::size_t level = 0; level + 1 < fractions.size(); ++level) {
    whole.push_back(std::max(60.0, std::round(fractions[level] * buckets)));
    rest -= whole.back();
  }
  whole.push_back(std::max(60.0, rest));
  double sum = 0;
  for (const double size : whole) sum += size;
  whole.front() -= sum - buckets;
  for (double& size : whole) size /= buckets;
  return whole;
}

TEST(finite_size_long, generated_tables_spread_as_predicted_filled_and_churning) {
  std::mt19937_64 random(1);
  const auto between = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
  };
  int compared = 0;
  for (int i = 0; i < 40; ++i) {
    table_shape shape{static_cast<scheme_kind>(i % 5),
                      buckets,
                      1u + static_cast<unsigned>(random() % 8),
                      2u + static_cast<unsigned>(random() % 3),
                      {}};
    const double load_factor = between(0.7, 1.2);
    shape.level_fractions =
        whole_levels(multilevel_cutoff(load_factor, shape.slots, shape.choices).level_fractions);
    const auto elements = static_cast<unsigned>(load_factor * buckets * shape.slots);
    const std::string what =
        std::string(name_of(shape.scheme)) + " h=" + std::to_string(shape.slots) +
        " d=" + std::to_string(shape.choices) + " c=" + std::to_string(load_factor);
    const overflow_spread filled_spread =
        overflow_spread_filling(filling(shape, load_factor), elements);
    const sample filled = overflow_of_filled(shape, elements, 200);
    double error = sigmas * filled_spread.standard_deviation / std::sqrt(filled.count());
    if (filled_spread.mean < fewest) continue;
    ++compared;
    EXPECT_NEAR(filled.mean(), filled_spread.mean, error + 1) << what;
    EXPECT_NEAR(filled.deviation(), filled_spread.standard_deviation, error / std::sqrt(2) + 0.1)
        << what;

    const overflow_spread churned_spread =
        overflow_spread_churning(churning(shape, load_factor), elements);
    const sample churned = overflow_of_churning(shape, elements, 20);
    error = 1.15 * sigmas * churned_spread.standard_deviation / std::sqrt(churned.count());
    EXPECT_NEAR(churned.mean(), churned_spread.mean, error + 1) << what;
    EXPECT_NEAR(churned.deviation(), churned_spread.standard_deviation, error / std::sqrt(2) + 0.1)
        << what;
  }
  EXPECT_GE(compared, 30);
}

}  // namespace
