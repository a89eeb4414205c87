// Chi-squared tests of uniformity and independence.
//
// A file of tests has one list of comparisons and may raise a false alarm with probability 1e-3
// over all of them together: with N comparisons each has 1e-3 / N (Bonferroni). Tests run one by
// one, each in a process of its own, so N cannot be counted on the way; a file says it in advance,
// and every test holds itself to its share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"

namespace statistics {

/// Family-wise, for all comparisons of one file.
inline constexpr double false_alarm_rate = 1e-3;

/// Q(a, x), the upper regularised gamma function, and P = 1 - Q, each computed without cancelling:
/// the series for P where x is below the mean, Legendre's continued fraction for Q above it.
struct gamma_tails {
  double lower;
  double upper;
};

inline gamma_tails regularised_gamma(double a, double x) {
  if (x <= 0) return {0, 1};
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  constexpr double precision = 1e-15;
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (double i = 1; term > precision * sum; ++i) {
      term *= x / (a + i);
      sum += term;
    }
    return {front * sum, 1 - front * sum};
  }
  // Evaluated from the front, by Lentz's method.
  double b = x + 1 - a;
  double c = 1e300;  // stands for infinity
  double d = 1 / b;
  double fraction = d;
  double change = 0;
  for (double i = 1; std::abs(change - 1) > precision; ++i) {
    const double numerator = i * (a - i);
    b += 2;
    d = 1 / (b + numerator * d);
    c = b + numerator / c;
    change = c * d;
    fraction *= change;
  }
  return {1 - front * fraction, front * fraction};
}

/// Two-sided: counts that are too even are as suspicious as counts that are too uneven.
inline double chi_squared_p_value(double statistic, double degrees_of_freedom) {
  const gamma_tails tails = regularised_gamma(degrees_of_freedom / 2, statistic / 2);
  return std::min(1.0, 2 * std::min(tails.lower, tails.upper));
}

/// Pearson's statistic of counts that should be uniform.
inline double chi_squared(std::span<const std::uint32_t> counts) {
  double total = 0;
  for (const std::uint32_t count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  double statistic = 0;
  for (const std::uint32_t count : counts)
    statistic += (count - expected) * (count - expected) / expected;
  return statistic;
}

inline double uniformity_p_value(std::span<const std::uint32_t> counts) {
  return chi_squared_p_value(chi_squared(counts), static_cast<double>(counts.size()) - 1);
}

/// One event that should happen half of the time. One-sided in the statistic, which is two-sided in
/// the event: exactly half is nothing suspicious where there are two cells only.
inline double fair_coin_p_value(std::uint32_t heads, std::uint32_t tosses) {
  const std::uint32_t counts[] = {heads, tosses - heads};
  return regularised_gamma(0.5, chi_squared(counts) / 2).upper;
}

/// 64 bits per key, cut into cells by what the library itself uses, reduce(), or by their lowest
/// bits, as tags are.
class cells {
 public:
  /// By the high bits, n cells.
  template <class Bits>
  static cells high(std::size_t keys, std::uint32_t count, Bits&& bits_of) {
    return cells(keys, count, [&](std::size_t i) { return oneprobe::reduce(bits_of(i), count); });
  }
  /// By the low bits; n is a power of two.
  template <class Bits>
  static cells low(std::size_t keys, std::uint32_t count, Bits&& bits_of) {
    return cells(keys, count, [&](std::size_t i) { return bits_of(i) & (count - 1); });
  }

  /// Every cell of one with every cell of the other.
  static cells product(const cells& a, const cells& b) {
    return cells(a.of_keys_.size(), a.count_ * b.count_,
                 [x = a.of_keys_.data(), y = b.of_keys_.data(), n = b.count_](std::size_t i) {
                   return x[i] * n + y[i];
                 });
  }

  std::uint32_t count() const { return count_; }
  const std::vector<std::uint32_t>& of_keys() const { return of_keys_; }

 private:
  template <class Cell>
  cells(std::size_t keys, std::uint32_t count, Cell&& cell) : count_(count), of_keys_(keys) {
    for (std::size_t i = 0; i < keys; ++i) of_keys_[i] = static_cast<std::uint32_t>(cell(i));
  }

  std::uint32_t count_;
  std::vector<std::uint32_t> of_keys_;
};

inline double uniformity_p_value(const cells& a) {
  std::vector<std::uint32_t> counts(a.count());
  for (const std::uint32_t cell : a.of_keys()) ++counts[cell];
  return uniformity_p_value(counts);
}

/// The p-value of two such cells per key being uniform on their product: each of them uniform, and
/// the two independent.
inline double joint_p_value(const cells& a, const cells& b) {
  return uniformity_p_value(cells::product(a, b));
}

/// The comparisons of one test: `share` of the `of_all` in its file.
class comparisons {
 public:
  comparisons(std::size_t share, std::size_t of_all) : share_(share), of_all_(of_all) {}
  ~comparisons() {
    EXPECT_EQ(made_, share_) << "the file's number of comparisons is wrong";
    std::cout << made_ << " comparisons; smallest p-value " << smallest_ << " (" << which_
              << "); alarm below " << alarm() << "\n";
  }
  comparisons(const comparisons&) = delete;
  comparisons& operator=(const comparisons&) = delete;

  double alarm() const { return false_alarm_rate / static_cast<double>(of_all_); }

  void add(double p_value, const std::string& what) {
    ++made_;
    EXPECT_GE(p_value, alarm()) << what;
    if (p_value < smallest_) {
      smallest_ = p_value;
      which_ = what;
    }
  }

 private:
  std::size_t share_;
  std::size_t of_all_;
  std::size_t made_ = 0;
  double smallest_ = 1;
  std::string which_ = "none";
};

}  // namespace statistics
