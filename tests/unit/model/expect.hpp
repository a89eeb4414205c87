// What the tests of the models share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

/// Agreement to eight digits unless told otherwise.
inline void expect_relative(double found, double expected, double tolerance = 1e-8) {
  EXPECT_NEAR(found, expected, tolerance * std::abs(expected));
}

/// The sentence with which a call refuses its parameters.
template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}
