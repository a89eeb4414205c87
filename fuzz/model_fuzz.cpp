// Any bytes as parameters of any model: the answer is a finite number in its range, or one clear
// refusal; never a crash, a hang, another exception or a NaN.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "oneprobe/model/balance.hpp"
#include "oneprobe/model/balanced.hpp"
#include "oneprobe/model/balls.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/crisis.hpp"
#include "oneprobe/model/fingerprint.hpp"
#include "oneprobe/model/finite_size.hpp"
#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/overflow_bound.hpp"
#include "oneprobe/model/partition.hpp"
#include "oneprobe/model/reconstruction.hpp"
#include "oneprobe/model/summary.hpp"

namespace {

using namespace oneprobe::model;

/// Takes parameters off the front of the input; an empty input gives zeros.
class parameter_reader {
 public:
  explicit parameter_reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint64_t raw(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size && !bytes_.empty(); ++i) {
      value |= std::uint64_t{bytes_.front()} << (8 * i);
      bytes_ = bytes_.subspan(1);
    }
    return value;
  }
  unsigned below(unsigned limit) { return static_cast<unsigned>(raw(1)) % limit; }

  /// Mostly sensible, sometimes any double there is.
  double number() {
    const std::uint64_t kind = raw(1) % 8;
    if (kind == 0) {
      const std::uint64_t bits = raw(8);
      double value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    const double fraction = static_cast<double>(raw(2)) / 65536;
    return kind < 4 ? fraction : fraction * (kind < 6 ? 4 : 64);
  }
  /// Mostly small, sometimes anything.
  unsigned whole() {
    return raw(1) % 16 == 0 ? static_cast<unsigned>(raw(4)) : static_cast<unsigned>(raw(1)) % 33;
  }
  std::uint64_t count() {
    const std::uint64_t kind = raw(1) % 8;
    return kind == 0 ? raw(8) : kind < 5 ? raw(1) : raw(2) % 3000;
  }
  std::vector<double> fractions() {
    std::vector<double> values(below(6));
    double sum = 0;
    for (double& value : values) sum += value = number();
    if (below(8) != 0 && sum > 0)
      for (double& value : values) value /= sum;
    return values;
  }
  std::vector<std::uint64_t> counts() {
    std::vector<std::uint64_t> values(below(6));
    for (std::uint64_t& value : values) value = count();
    return values;
  }
  scheme_kind scheme() { return static_cast<scheme_kind>(below(5)); }

 private:
  std::span<const std::uint8_t> bytes_;
};

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "model_fuzz: %s\n", what);
  std::abort();
}

void require_finite(double value, const char* what) { require(std::isfinite(value), what); }

void require_fraction(double value, const char* what) {
  require(value >= 0 && value <= 1 + 1e-9, what);
}

void require_distribution(const std::vector<double>& fractions, const char* what) {
  double sum = 0;
  for (const double fraction : fractions) {
    require(fraction >= -1e-12, what);
    sum += fraction;
  }
  require(std::abs(sum - 1) < 1e-6, what);
}

fluid_parameters read_fluid(parameter_reader& in) {
  fluid_parameters parameters;
  parameters.scheme = in.scheme();
  parameters.load_factor = in.number();
  parameters.bucket_capacity = in.whole();
  parameters.choices = in.whole();
  parameters.level_fractions = in.fractions();
  if (in.below(4) == 0) parameters.admit_probability = in.number();
  if (in.below(4) == 0) parameters.access_budget = in.number();
  if (in.below(4) == 0) parameters.time = in.number();
  return parameters;
}

void check_filter(const filter_error& error, unsigned choices) {
  require(error.fpr >= 0 && error.fpr <= choices + 1e-9, "false positive rate out of range");
  require_fraction(error.overflow_fraction, "overflow of a filter");
  require(error.miss_accesses >= 1 && error.miss_accesses <= choices + 1 + 1e-9,
          "accesses of a negative query");
}

void run_one(parameter_reader& in) {
  switch (in.below(20)) {
    case 0: {
      const double a = in.number(), c = in.number();
      const unsigned h = in.whole();
      require_fraction(overflow_bound(a, c, h), "overflow bound");
      require(accesses_for_overflow(in.number(), c, h) >= 0, "accesses for overflow");
      break;
    }
    case 1: {
      const fluid_state state = fluid_limit(read_fluid(in));
      require_distribution(state.occupancy, "fluid occupancy");
      require_fraction(state.overflow_fraction, "fluid overflow");
      break;
    }
    case 2: {
      const fluid_state state = fluid_limit_by_ode(read_fluid(in));
      require_distribution(state.occupancy, "ode occupancy");
      require_fraction(state.overflow_fraction, "ode overflow");
      break;
    }
    case 3: {
      const double c = in.number();
      const unsigned h = in.whole(), d = in.whole();
      require_fraction(sequential_cutoff(c, h, d).overflow_fraction, "sequential cut-off");
      require_distribution(multilevel_cutoff(c, h, d).level_fractions, "multilevel cut-off");
      require_distribution(least_overflow_partition(c, h, d).level_fractions, "least overflow");
      require_distribution(least_overflow_partition_under_churn(c, h, d).level_fractions,
                           "least overflow under churn");
      break;
    }
    case 4: {
      const balance_bound bound = lower_bound_loads(in.number(), in.number(), in.number());
      require_distribution(bound.loads.fractions, "balance bound");
      break;
    }
    case 5: {
      balance_needs needs{
          .elements_per_bucket = in.number(), .choices = in.whole(), .accesses = in.number()};
      if (in.below(2) == 0) needs.overflow_fraction = in.number();
      const unsigned scheme = in.below(3);
      const balance_plan plan = scheme == 0   ? single_balance(needs)
                                : scheme == 1 ? sequential_balance(needs)
                                              : multilevel_balance(needs);
      require_distribution(plan.loads.fractions, "balance plan");
      require_fraction(plan.admit_probability, "admit probability");
      break;
    }
    case 6: {
      const double beta = in.number();
      const unsigned k = in.whole(), block = in.whole() * 16;
      const auto layout = static_cast<block_layout>(in.below(3));
      require_fraction(standard_error(beta, k), "standard error");
      require_fraction(blocked_error({beta, block, k, layout}), "blocked error");
      break;
    }
    case 7: {
      const balanced_shape shape{.block_bits = in.whole() * 16,
                                 .bits_set = in.whole(),
                                 .scheme = in.scheme(),
                                 .choices = in.whole(),
                                 .rule = static_cast<lookup_rule>(in.below(6)),
                                 .threshold = in.whole() * (1 + in.below(8)),
                                 .admit_probability = in.below(2) == 0 ? 0 : in.number(),
                                 .tracking_bits = in.whole()};
      check_filter(evaluate(shape, in.number()), shape.choices);
      break;
    }
    case 8: {
      const fingerprint_shape shape{.block_bits = in.whole() * 16,
                                    .bucket_capacity = in.whole(),
                                    .remainder_bits = in.whole(),
                                    .note_bits = in.whole(),
                                    .choices = in.whole(),
                                    .order = static_cast<overflow_order>(in.below(2)),
                                    .quotient_header = in.below(2) == 0};
      check_filter(evaluate(shape, in.number()), shape.choices);
      require_fraction(overfill(shape, in.number(), in.number(), in.number()).overflow_fraction,
                       "overfill");
      break;
    }
    case 9: {
      const crisis_result result = crisis(in.count(), in.counts());
      require_fraction(result.crisis_probability, "crisis probability");
      for (const double expected : result.expected_per_level) require_finite(expected, "crisis");
      break;
    }
    case 10: {
      const std::uint64_t elements = in.count();
      const std::vector<std::uint64_t> levels = in.counts();
      require_fraction(
          single_filter_summary(elements, levels, in.count(), in.whole()).failure_probability,
          "single filter");
      const std::vector<std::uint64_t> bits = in.counts();
      const std::vector<unsigned> hashes(bits.size(), in.whole());
      require_fraction(multi_filter_summary(elements, levels, bits, hashes).failure_probability,
                       "multiple filters");
      require_fraction(interpolation_summary(elements, levels, in.whole()).failure_probability,
                       "interpolation");
      break;
    }
    case 11:
      require(expected_moves(in.counts(), in.count(), in.number(),
                             static_cast<deletion_order>(in.below(2))) >= 0,
              "moves");
      break;
    case 12: {
      const churn_state state = churn_limit({.scheme = in.scheme(),
                                             .load_factor = in.number(),
                                             .bucket_capacity = in.whole(),
                                             .choices = in.whole(),
                                             .level_fractions = in.fractions()});
      require_distribution(state.occupancy, "churn occupancy");
      require_fraction(state.overflow_fraction, "churn overflow");
      break;
    }
    case 13: {
      fluid_parameters parameters = read_fluid(in);
      const overflow_spread spread =
          overflow_spread_filling(parameters, static_cast<double>(in.count()));
      require_finite(spread.standard_deviation, "spread");
      require(reserve_for(spread, in.number()) >= 0, "reserve");
      break;
    }
    case 14: {
      const double balls = static_cast<double>(in.count()), bins = static_cast<double>(in.count());
      require_fraction(collision_probability(balls, bins), "collision");
      require_distribution(bin_occupancy(balls, bins, in.whole()), "bins");
      require(static_cast<double>(max_load_union_bound(balls, bins, in.number())) >= 0, "max load");
      break;
    }
    case 16: {
      const churn_parameters parameters{.scheme = in.scheme(),
                                        .load_factor = in.number(),
                                        .bucket_capacity = in.whole(),
                                        .choices = in.whole(),
                                        .level_fractions = in.fractions()};
      const overflow_spread spread =
          overflow_spread_churning(parameters, static_cast<double>(in.count()));
      require_finite(spread.standard_deviation, "spread under churn");
      require(reserve_for(spread, in.number()) >= 0, "reserve under churn");
      break;
    }
    case 17: {
      const double overflow = in.number();
      const unsigned h = in.whole(), d = in.whole();
      require_finite(largest_load_factor(overflow, h, d), "largest load");
      require_finite(largest_load_factor_under_churn(overflow, h, d), "largest load under churn");
      require_finite(edge_accesses_multilevel(d, overflow), "edge of multilevel");
      require_finite(edge_accesses_sequential(in.number(), d, overflow), "edge of sequential");
      break;
    }
    case 18:
      require_distribution(
          lower_bound_loads_finite(static_cast<double>(in.count()), static_cast<double>(in.count()),
                                   in.number(), in.number())
              .loads.fractions,
          "finite balance bound");
      break;
    case 19: {
      const fingerprint_point point =
          choose_fingerprint({.bits_per_element = in.number(),
                              .block_bits = 64 * (1 + in.below(8)),
                              .access_limit = 1 + in.number() / 16,
                              .order = static_cast<overflow_order>(in.below(2))});
      check_filter(point.error, point.shape.choices);
      break;
    }
    case 15: {
      const balanced_point point =
          balanced_at_budget(in.number() * 8, in.whole() * 16, in.whole(), in.number(),
                             in.whole() % 9, static_cast<lookup_rule>(in.below(6)));
      check_filter(point.error, point.shape.choices);
      break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  parameter_reader in(std::span(data, size));
  try {
    run_one(in);
  } catch (const std::invalid_argument&) {
    // Refused: as it should be.
  }
  return 0;
}
