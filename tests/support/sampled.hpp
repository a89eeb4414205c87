// A mean over samples, and how far it may be off.
#pragma once

#include <cmath>
#include <vector>

struct sampled {
  double mean = 0;
  double standard_error = 0;

  /// REQUIRES: at least one; of one the standard error is 0.
  static sampled of(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    sampled result;
    for (const double value : values) result.mean += value / count;
    double squares = 0;
    for (const double value : values) squares += (value - result.mean) * (value - result.mean);
    if (count > 1) result.standard_error = std::sqrt(squares / (count - 1) / count);
    return result;
  }
};
