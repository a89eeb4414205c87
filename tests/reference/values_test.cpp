// The deterministic values of values.json, all of them.

#include <gtest/gtest.h>

#include <iostream>

#include "registry.hpp"

namespace reference {
namespace {

const registry& everything() {
  static const registry all = [] {
    registry r;
    add_ofh(r);
    add_balance(r);
    add_filters(r);
    add_ssh(r);
    add_lec(r);
    return r;
  }();
  return all;
}

std::vector<const recipe*> recipes_for(const std::string& key) {
  std::vector<const recipe*> found;
  for (const recipe& r : everything().recipes)
    if (key.starts_with(r.prefix)) found.push_back(&r);
  return found;
}

const omission* omission_of(const std::string& key) {
  for (const omission& o : everything().omissions)
    if (key.starts_with(o.prefix)) return &o;
  return nullptr;
}

/// All entries of one document, by the start of their keys.
void compare_document(const std::string& document) {
  comparison result;
  std::size_t entries = 0;
  for (const auto& [key, value] : values().at("exact").items()) {
    if (!key.starts_with(document) || omission_of(key) != nullptr) continue;
    const auto recipes = recipes_for(key);
    ASSERT_EQ(recipes.size(), 1u) << key;
    const numbers expected = flatten(value);
    const numbers computed = recipes[0]->compute(arguments(key), expected);
    ASSERT_EQ(computed.size(), expected.size()) << key;
    for (std::size_t i = 0; i < expected.size(); ++i)
      result.expect(key + " [" + std::to_string(i) + "]", computed[i], expected[i],
                    recipes[0]->tolerance, recipes[0]->absolute);
    ++entries;
  }
  EXPECT_GT(entries, 0u);
  std::cout << document << " " << result.compared() << " values of " << entries
            << " entries compared; largest relative difference " << result.worst() << "\n";
}

TEST(reference_values, optimal_fast_hashing_agrees) { compare_document("003/"); }
TEST(reference_values, balancing_agrees) { compare_document("000/"); }
TEST(reference_values, filters_agree) { compare_document("C/"); }
TEST(reference_values, simple_summaries_agree) { compare_document("001/"); }
TEST(reference_values, balls_and_bins_agree) { compare_document("002/"); }

TEST(reference_values, every_entry_is_computed_once_or_left_out_for_a_reason) {
  std::size_t computed = 0, left_out = 0;
  for (const auto& [key, value] : values().at("exact").items()) {
    const omission* reason = omission_of(key);
    const std::size_t recipes = recipes_for(key).size();
    EXPECT_EQ(recipes, reason == nullptr ? 1u : 0u) << key;
    if (reason != nullptr) {
      std::cout << "not covered: " << key << ": " << reason->reason << "\n";
      ++left_out;
    } else {
      ++computed;
    }
  }
  std::cout << computed << " entries covered, " << left_out << " not\n";
  std::cout
      << "not covered: \"checks\" (" << values().at("checks").size()
      << " lines of text): the printed numbers, held by the tests named printed_* and by those "
         "of crisis, summary, reconstruction, bloom and balls\n";
  std::size_t simulated = 0;
  for (const auto& [key, entry] : values().at("montecarlo").items())
    simulated += entry.contains("model") ? 0u : 1u;
  std::cout << "not covered: \"montecarlo\" without a model (" << simulated
            << " entries): random samples, no deterministic value\n";
  EXPECT_EQ(computed + left_out, values().at("exact").size());
  EXPECT_EQ(left_out, 0u);
}

}  // namespace
}  // namespace reference
