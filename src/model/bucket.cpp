#include "oneprobe/model/bucket.hpp"

#include "check.hpp"
#include "poisson_series.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

void check(double arrivals_mean, threshold rule) {
  detail::check_range("mean arrivals per bucket", arrivals_mean, 0.0, largest_mean);
  detail::check_range("threshold", rule.bucket_capacity, 0, largest_threshold);
  detail::check_probability("admit probability", rule.admit_probability);
}

/// Sum over j >= first of P(X = h + j) weight(j, (1 - p)^j), weights at most of order j.
template <class Weight>
double sum_beyond(double mean, threshold rule, unsigned first, Weight&& weight) {
  const std::uint64_t h = rule.bucket_capacity;
  const double refuse = 1 - rule.admit_probability;
  double sum = 0;
  double still_at_h = 0;       // (1 - p)^j: no coin has admitted yet
  std::uint64_t next = ~0ull;  // the j for which one more factor continues the last one
  detail::for_poisson_from(mean, h + first, [&](std::uint64_t i, double probability) {
    const std::uint64_t j = i - h;
    still_at_h = j == next ? still_at_h * refuse : std::pow(refuse, static_cast<double>(j));
    next = j + 1;
    const double term = probability * weight(static_cast<double>(j), still_at_h);
    sum += term;
    return !detail::negligible(mean, i, probability * static_cast<double>(j + 1), sum);
  });
  return sum;
}

}  // namespace

std::vector<double> bucket_occupancy(double arrivals_mean, threshold rule) {
  check(arrivals_mean, rule);
  const unsigned h = rule.bucket_capacity;
  std::vector<double> fractions;
  fractions.reserve(h + 2);
  for (unsigned i = 0; i < h; ++i) fractions.push_back(poisson_probability(arrivals_mean, i));
  if (rule.admit_probability == 0) {
    fractions.push_back(poisson_at_least(arrivals_mean, h));
  } else {
    fractions.push_back(
        sum_beyond(arrivals_mean, rule, 0, [](double, double at_h) { return at_h; }));
    fractions.push_back(fraction_above_threshold(arrivals_mean, rule));
  }
  return fractions;
}

double fraction_above_threshold(double arrivals_mean, threshold rule) {
  check(arrivals_mean, rule);
  // 1 - (1 - p)^j, exact also for tiny p.
  const double log_refuse = std::log1p(-rule.admit_probability);
  return sum_beyond(arrivals_mean, rule, 1,
                    [=](double j, double) { return -std::expm1(j * log_refuse); });
}

double refused_mean(double arrivals_mean, threshold rule) {
  check(arrivals_mean, rule);
  if (rule.admit_probability == 0) return poisson_excess(arrivals_mean, rule.bucket_capacity);
  if (rule.admit_probability == 1)
    return poisson_excess(arrivals_mean, rule.bucket_capacity + 1ull);
  // Of j arrivals beyond h, one is admitted unless all j coins refuse.
  return sum_beyond(arrivals_mean, rule, 1, [](double j, double at_h) { return (j - 1) + at_h; });
}

double refused_fraction(double arrivals_mean, threshold rule) {
  const double refused = refused_mean(arrivals_mean, rule);
  return arrivals_mean > 0 ? refused / arrivals_mean : 0;
}

double refusal_probability(double arrivals_mean, threshold rule) {
  check(arrivals_mean, rule);
  const double p = rule.admit_probability;
  if (p == 0) return poisson_at_least(arrivals_mean, rule.bucket_capacity);
  if (p == 1) return poisson_at_least(arrivals_mean, rule.bucket_capacity + 1ull);
  // P(X >= h) - p f_h, with f_h in the papers' closed form e^(-p mean) (1 - p)^-h P(Y >= h), Y ~
  // Poisson((1 - p) mean), where nothing cancels or overflows; else as a series (erratum 0.10).
  const double log_scale = -p * arrivals_mean - rule.bucket_capacity * std::log1p(-p);
  if (p <= 0.5 && log_scale < 600)
    return poisson_at_least(arrivals_mean, rule.bucket_capacity) -
           p * std::exp(log_scale) *
               poisson_at_least((1 - p) * arrivals_mean, rule.bucket_capacity);
  return sum_beyond(arrivals_mean, rule, 0, [p](double, double at_h) { return 1 - p * at_h; });
}

}  // namespace oneprobe::inline v0_1::model
