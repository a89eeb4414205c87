// Independently computed values (values.json) against the models.
//
// Every entry of the file is either recomputed by exactly one recipe of a registry, or named in it
// as left out with the reason. A recipe gets the entry's key, parsed, and says which numbers our
// functions give for it.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reference {

/// "003/gamma_LB(a=0.5,c=0.1,h=1)": the arguments by name.
class arguments {
 public:
  explicit arguments(std::string_view key);
  double number(const std::string& name) const;
  unsigned whole(const std::string& name) const;
  const std::string& text(const std::string& name) const;
  const std::string& key() const { return key_; }

 private:
  std::string key_;
  std::map<std::string, std::string> values_;
};

using numbers = std::vector<double>;

inline constexpr double exact = 1e-8;   // relative
inline constexpr double by_ode = 1e-6;  // relative
/// Where an optimum lies is known only to the square root of the precision of its value.
inline constexpr double place_of_optimum = 1e-6;

struct recipe {
  std::string prefix;  // of the keys it computes
  double tolerance;
  std::function<numbers(const arguments&, const numbers& expected)> compute;
  double absolute = 0;  // below this the reference's own rounding shows
};

struct omission {
  std::string prefix;
  std::string reason;
};

struct registry {
  std::vector<recipe> recipes;
  std::vector<omission> omissions;

  void add(std::string prefix, double tolerance,
           std::function<numbers(const arguments&, const numbers&)> compute, double absolute = 0) {
    recipes.push_back({std::move(prefix), tolerance, std::move(compute), absolute});
  }
};

void add_ofh(registry& all);      // document 003
void add_balance(registry& all);  // documents 000 and 004
void add_filters(registry& all);  // C/..., Sections IX of 000 and 004
void add_ssh(registry& all);      // document 001
void add_lec(registry& all);      // document 002

/// All numbers of a JSON value, in order.
numbers flatten(const nlohmann::json& value);

const nlohmann::json& values();  // the whole file

/// Compares and reports through GoogleTest; counts what it compared.
class comparison {
 public:
  void expect(const std::string& what, double computed, double expected, double tolerance,
              double absolute = 0);
  std::size_t compared() const { return compared_; }
  double worst() const { return worst_; }

 private:
  std::size_t compared_ = 0;
  double worst_ = 0;
};

}  // namespace reference
