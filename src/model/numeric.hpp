// Root search and quadrature as the models use them. Private to src/model.
#pragma once

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace oneprobe::inline v0_1::model::detail {

/// Root of a continuous function with f(low) and f(high) of opposite sign (or zero), to the last
/// few bits.
template <class Function>
double find_root(Function&& function, double low, double high) {
  const double at_low = function(low);
  if (at_low == 0) return low;
  const double at_high = function(high);
  if (at_high == 0) return high;
  if (!(at_low < 0) == !(at_high < 0)) throw std::logic_error("oneprobe: root is not bracketed");
  std::uintmax_t evaluations = 200;
  const auto close = [](double a, double b) {
    return std::abs(a - b) <=
           2 * std::numeric_limits<double>::epsilon() * std::min(std::abs(a), std::abs(b));
  };
  const auto bracket =
      boost::math::tools::toms748_solve(function, low, high, at_low, at_high, close, evaluations);
  return 0.5 * (bracket.first + bracket.second);
}

/// Adaptive integral of a smooth function. The error estimate is pessimistic: at 1e-12 the result
/// is good to the last few bits, and asking for more would only chase rounding.
template <class Function>
double integrate(Function&& function, double from, double to) {
  if (!(to > from)) return 0;
  return boost::math::quadrature::gauss_kronrod<double, 31>::integrate(function, from, to, 10,
                                                                       1e-12);
}

/// 1 + x + ... + x^(terms - 1), without the 0/0 at x = 1.
inline double geometric_sum(double ratio, unsigned terms) {
  double sum = 0, power = 1;
  for (unsigned i = 0; i < terms; ++i, power *= ratio) sum += power;
  return sum;
}

/// x^n for whole n, by squaring: exact in the sense that x^n underflows to 0 only at the end.
inline double power(double base, unsigned exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base)
    if ((exponent & 1u) != 0) result *= base;
  return result;
}

}  // namespace oneprobe::inline v0_1::model::detail
