#include "registry.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "support/tests_dir.hpp"

namespace reference {
namespace {

bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '+';
}

}  // namespace

arguments::arguments(std::string_view key) : key_(key) {
  // Each name=value; a value ends at a comma or a closing bracket.
  for (std::size_t equals = key.find('='); equals != key.npos; equals = key.find('=', equals + 1)) {
    std::size_t begin = equals;
    while (begin > 0 && in_name(key[begin - 1])) --begin;
    const std::size_t end = std::min(key.find_first_of(",)];", equals), key.size());
    values_[std::string(key.substr(begin, equals - begin))] =
        std::string(key.substr(equals + 1, end - equals - 1));
  }
}

const std::string& arguments::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw std::out_of_range(key_ + " has no argument " + name);
  return found->second;
}

double arguments::number(const std::string& name) const { return std::stod(text(name)); }

unsigned arguments::whole(const std::string& name) const {
  return static_cast<unsigned>(std::stoul(text(name)));
}

numbers flatten(const nlohmann::json& value) {
  numbers result;
  if (value.is_number()) {
    result.push_back(value.get<double>());
  } else {
    for (const auto& item : value) {
      const numbers inner = flatten(item);
      result.insert(result.end(), inner.begin(), inner.end());
    }
  }
  return result;
}

const nlohmann::json& values() {
  static const nlohmann::json file = [] {
    std::ifstream stream(tests_dir() + "/reference/values.json");
    return nlohmann::json::parse(stream);
  }();
  return file;
}

void comparison::expect(const std::string& what, double computed, double expected, double tolerance,
                        double absolute) {
  ++compared_;
  const double difference = std::abs(computed - expected);
  if (!(difference <= tolerance * std::abs(expected) || difference <= absolute))
    ADD_FAILURE() << what << ": computed " << computed << ", reference " << expected
                  << ", relative difference " << difference / std::abs(expected);
  if (difference > absolute && expected != 0)
    worst_ = std::max(worst_, difference / std::abs(expected));
}

}  // namespace reference
