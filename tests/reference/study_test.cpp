// The design study of the filters (values.json, "study" and the models inside "montecarlo"): the
// shapes it found, evaluated by our models, and our own choice of shapes, which must be no worse.

#include <gtest/gtest.h>

#include <iostream>

#include "oneprobe/model/balanced.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/fingerprint.hpp"
#include "registry.hpp"

namespace reference {
namespace {

using namespace oneprobe::model;
using nlohmann::json;

const std::map<std::string, lookup_rule> rules{
    {"load", lookup_rule::counter},   {"hash", lookup_rule::coin},
    {"flag", lookup_rule::flag},      {"hashflag", lookup_rule::coin_flag},
    {"track", lookup_rule::tracking}, {"popcount", lookup_rule::popcount}};

scheme_kind scheme_of(const std::string& family) {
  if (family == "SEQ") return scheme_kind::sequential;
  return family == "SINGLE" ? scheme_kind::single : scheme_kind::multilevel;
}

/// A shape of the study: local Bloom blocks, or fingerprints if it has remainder bits.
filter_error evaluate_entry(const json& parameters, const std::string& family, unsigned block_bits,
                            double arrivals) {
  if (parameters.contains("f"))
    return evaluate(
        fingerprint_shape{.block_bits = block_bits,
                          .bucket_capacity = parameters.at("h"),
                          .remainder_bits = parameters.at("f"),
                          .note_bits = parameters.at("w"),
                          .choices = parameters.at("d"),
                          .order = parameters.at("rule") == "prefix" ? overflow_order::prefix
                                                                     : overflow_order::first_come,
                          .quotient_header = family != "plainFP"},
        arrivals);
  const lookup_rule rule = rules.at(parameters.at("rule"));
  return evaluate(
      balanced_shape{.block_bits = block_bits,
                     .bits_set = parameters.at("k"),
                     .scheme = scheme_of(family),
                     .choices = parameters.at("d"),
                     .rule = rule,
                     .threshold = parameters.at(rule == lookup_rule::popcount ? "T" : "h"),
                     .admit_probability = parameters.value("p", 0.0),
                     .tracking_bits = std::max(1u, parameters.value("w", 1u))},
      arrivals);
}

void expect_error(comparison& result, const std::string& what, const filter_error& error,
                  const json& expected) {
  result.expect(what + " fpr", error.fpr, expected.at("fpr"), exact);
  result.expect(what + " negative", error.miss_accesses, expected.at("aneg"), exact);
  result.expect(what + " positive", error.hit_accesses, expected.at("apos"), exact);
  if (expected.contains("gamma"))
    // The study takes it as one less what is stored, where it is not a product of levels.
    result.expect(what + " overflow", error.overflow_fraction, expected.at("gamma"), exact, 1e-13);
  if (expected.contains("r"))
    result.expect(what + " elements per block", error.elements_per_block, expected.at("r"), exact);
}

TEST(design_study, every_shape_it_found_has_the_error_it_states) {
  comparison result;
  for (const json& point : values().at("study").at("points"))
    for (const auto& [family, by_limit] : point.at("fam").items())
      for (const auto& [limit, found] : by_limit.items()) {
        if (found.is_null()) continue;
        const std::string what = "B=" + point.at("B").dump() + " beta=" + point.at("beta").dump() +
                                 " " + family + " <=" + limit;
        const filter_error error =
            evaluate_entry(found.at("par"), family, point.at("B"), found.at("lam"));
        expect_error(result, what, error, found);
        result.expect(what + " bits", error.bits_per_element, point.at("beta"), 1e-9);
      }
  std::cout << result.compared() << " values compared; largest relative difference "
            << result.worst() << "\n";
}

TEST(design_study, the_papers_own_point_with_the_list_charged_is_reproduced) {
  comparison result;
  for (const json& point : values().at("study").at("points")) {
    const json& expected = point.at("paper_a12_d3");
    const balanced_point ours = balanced_at_budget(point.at("beta"), point.at("B"),
                                                   expected.at("k"), 1.2, 3, lookup_rule::counter);
    expect_error(result, "paper B=" + point.at("B").dump() + " beta=" + point.at("beta").dump(),
                 ours.error, expected);
    EXPECT_EQ(ours.shape.threshold, expected.at("h"));
    result.expect("p", ours.shape.admit_probability, expected.at("p"), exact, 1e-12);
    EXPECT_EQ(ours.shape.state_bits(), expected.at("b"));
  }
}

TEST(design_study, the_baselines_agree) {
  comparison result;
  for (const json& point : values().at("study").at("points")) {
    const double beta = point.at("beta");
    const unsigned block = point.at("B");
    const std::string what = "B=" + std::to_string(block) + " beta=" + std::to_string(beta);
    const auto blocked = [&](unsigned k, block_layout layout = block_layout::independent) {
      return blocked_error(
          {.bits_per_element = beta, .block_bits = block, .bits_set = k, .layout = layout});
    };
    EXPECT_EQ(best_bits_set_standard(beta), point.at("standard").at(1)) << what;
    result.expect(what, standard_error(beta, point.at("standard").at(1)),
                  point.at("standard").at(0), exact);
    EXPECT_EQ(best_bits_set_blocked(beta, block), point.at("blocked").at(1)) << what;
    result.expect(what, blocked(point.at("blocked").at(1)), point.at("blocked").at(0), exact);
    result.expect(what, blocked(point.at("blocked_k_beta_ln2").at(1)),
                  point.at("blocked_k_beta_ln2").at(0), exact);
    result.expect(what + " split", blocked(point.at("split").at(1), block_layout::lanes),
                  point.at("split").at(0), exact);
    result.expect(
        what + " perfect",
        perfectly_balanced_error(
            {.bits_per_element = beta, .block_bits = block, .bits_set = point.at("perfect").at(1)}),
        point.at("perfect").at(0), exact);
  }
  std::cout << result.compared() << " values compared; largest relative difference "
            << result.worst() << "\n";
}

TEST(design_study, the_frontier_shapes_and_the_aligned_ones_have_the_error_stated) {
  comparison result;
  const auto expect = [&](const json& found, unsigned block, const std::string& what) {
    const filter_error error = evaluate(fingerprint_shape{.block_bits = block,
                                                          .bucket_capacity = found.at("h"),
                                                          .remainder_bits = found.at("f"),
                                                          .note_bits = 1,
                                                          .choices = found.at("d")},
                                        found.at("lam"));
    expect_error(result, what, error, found);
    result.expect(what + " bits", error.bits_per_element,
                  found.contains("bits") ? found.at("bits") : found.at("beta"), exact);
  };
  for (const auto& [target, frontier] : values().at("study").at("frontier").items())
    for (const auto& [limit, found] : frontier.at("fp").items())
      expect(found, static_cast<unsigned>(arguments(target).number("B")), target + " <=" + limit);
  for (const json& found : values().at("study").at("aligned_fp"))
    expect(found, found.at("B"), "aligned " + found.dump());
  std::cout << result.compared() << " values compared; largest relative difference "
            << result.worst() << "\n";
}

TEST(design_study, overfilling_behaves_as_stated) {
  // The study takes a level's error and the chance to go on at no more than 235 arrivals per
  // bucket: where a level sees more than that, both come out too low (docs/decisions/0003). Up to
  // 226 arrivals the two agree to 1e-11, from 245 on they part.
  constexpr double most_arrivals = 230;
  std::size_t left_out = 0;
  comparison result;
  for (const json& row : values().at("study").at("robustness"))
    for (const auto& [fill, expected] : row.at("fill").items()) {
      const std::string what = "robustness " + row.at("f").dump() + " fill " + fill;
      const overfilled ours = overfill(fingerprint_shape{.block_bits = row.at("B"),
                                                         .bucket_capacity = row.at("h"),
                                                         .remainder_bits = row.at("f"),
                                                         .choices = 3},
                                       row.at("lam"), row.at("slack"), std::stod(fill));
      // The study cuts its sums at about 1e-16.
      result.expect(what + " overflow", ours.overflow_fraction, expected.at("over"), exact, 1e-15);
      if (ours.arrivals_mean.back() < most_arrivals) {
        result.expect(what + " fpr", ours.fpr, expected.at("fpr"), exact);
        result.expect(what + " negative", ours.miss_accesses, expected.at("aneg"), exact);
      } else {
        left_out += 2;
        EXPECT_GT(ours.fpr, expected.at("fpr"));
        EXPECT_GT(ours.miss_accesses, expected.at("aneg"));
      }
      result.expect(what + " positive", ours.hit_accesses, expected.at("apos"), exact);
      result.expect(what + " bits", ours.block_bits_per_element, row.at("block_bits"), exact);
    }
  EXPECT_EQ(left_out, 16u);
  std::cout << result.compared() << " values compared, " << left_out
            << " not; largest relative difference " << result.worst() << "\n";
}

TEST(design_study, the_models_beside_the_simulations_agree) {
  comparison result;
  for (const auto& [key, entry] : values().at("montecarlo").items()) {
    if (!entry.contains("model")) continue;
    const arguments a(key);
    const json& expected = entry.at("model");
    const filter_error error = key.starts_with("study/popcount")
                                   ? evaluate(balanced_shape{.block_bits = a.whole("B"),
                                                             .bits_set = a.whole("k"),
                                                             .choices = a.whole("d"),
                                                             .rule = lookup_rule::popcount,
                                                             .threshold = a.whole("T"),
                                                             .tracking_bits = a.whole("w")},
                                              a.number("lam"))
                                   : evaluate(fingerprint_shape{.block_bits = a.whole("B"),
                                                                .bucket_capacity = a.whole("h"),
                                                                .remainder_bits = a.whole("f"),
                                                                .note_bits = 1,
                                                                .choices = a.whole("d")},
                                              a.number("lam"));
    if (key.starts_with("study/popcount"))  // the header of these prefix shapes is stated as Q
      expect_error(result, key, error, expected);
    else
      result.expect(key, error.overflow_fraction, expected.at("gamma"), exact);
    result.expect(key + " bits", error.bits_per_element, expected.at("beta"), exact);
  }
  EXPECT_GT(result.compared(), 10u);
}

TEST(design_study, our_choice_of_shapes_is_never_worse) {
  for (const json& point : values().at("study").at("points")) {
    const double beta = point.at("beta");
    const unsigned block = point.at("B");
    const std::string what = "B=" + std::to_string(block) + " beta=" + std::to_string(beta);
    const json& families = point.at("fam");
    // 1 % for the grid the study searched more finely in places.
    const double balanced = families.at("popcount").at("1.2").at("fpr");
    EXPECT_LE(choose_balanced({.bits_per_element = beta, .block_bits = block}).error.fpr,
              balanced * 1.01)
        << what;
    const double fingerprints = families.at("PD-prefix").at("1.2").at("fpr");
    EXPECT_LE(choose_fingerprint({.bits_per_element = beta, .block_bits = block}).error.fpr,
              fingerprints * (1 + 1e-8))
        << what;
  }
}

}  // namespace
}  // namespace reference
