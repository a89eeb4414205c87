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

/// The call refuses its parameters and names the one that is wrong.
template <class Call>
void expect_refused(Call&& call, const std::string& parameter) {
  const std::string sentence = refusal(call);
  EXPECT_NE(sentence.find(parameter), std::string::npos) << "said: " << sentence;
}

/// True if `value`, rounded to as many digits as the text has, is the text: "1.4338", "2.17e-9".
inline bool prints_as(double value, const std::string& text) {
  const std::size_t exponent = text.find('e');
  const std::string mantissa = text.substr(0, exponent);
  const std::size_t point = mantissa.find('.');
  const int decimals =
      point == std::string::npos ? 0 : static_cast<int>(mantissa.size() - point - 1);
  const int power = exponent == std::string::npos ? 0 : std::stoi(text.substr(exponent + 1));
  const double half_unit = 0.5 * std::pow(10.0, power - decimals);
  return std::abs(value - std::stod(text)) <= half_unit * (1 + 1e-9);
}
