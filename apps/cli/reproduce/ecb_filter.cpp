#include "reproduce/ecb_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/fluid.hpp"
#include "reproduce/estimates.hpp"

namespace oneprobe::cli::balancing {
namespace {

model::balance_plan plan_of(filter_kind kind, double bits_per_element) {
  const double load = elements_per_block(bits_per_element);
  if (kind == filter_kind::single)
    return model::single_balance(
        {.elements_per_bucket = load, .overflow_fraction = usual_overflow()});
  return model::multilevel_balance(
      {.elements_per_bucket = load, .choices = usual_choices, .accesses = usual_accesses});
}

/// SIMPLE and MHT as shapes of the model. The texts' list answers without error: fingerprints so
/// long that theirs vanishes.
model::balanced_shape shape_of(filter_kind kind, double bits_per_element) {
  const model::balance_plan plan = plan_of(kind, bits_per_element);
  const bool single = kind == filter_kind::single;
  return {.block_bits = block_bits,
          .bits_set = bits_set_for(bits_per_element),
          .scheme = single ? scheme_kind::single : scheme_kind::multilevel,
          .choices = single ? 1 : usual_choices,
          .rule = model::lookup_rule::counter,
          .threshold = *plan.threshold,
          .admit_probability = plan.admit_probability,
          .overflow = {.fingerprint_bits = 64}};
}

model::filter_error exact(filter_kind kind, double bits_per_element) {
  const double accesses = kind == filter_kind::single ? 1 : usual_accesses;
  return model::evaluate(shape_of(kind, bits_per_element),
                         accesses * elements_per_block(bits_per_element));
}

model::blocked_shape blocked(double bits_per_element) {
  return {.bits_per_element = bits_per_element,
          .block_bits = block_bits,
          .bits_set = bits_set_for(bits_per_element)};
}

}  // namespace

std::string name_of(filter_kind kind, const text_names& text) {
  switch (kind) {
    case filter_kind::standard:
      return "standard";
    case filter_kind::blocked:
      return "blocked";
    case filter_kind::single:
      return std::string(text.single);
    case filter_kind::multilevel:
      break;
  }
  return "MHT";
}

unsigned bits_set_for(double bits_per_element) {
  return static_cast<unsigned>(std::lround(bits_per_element * std::log(2)));
}

double usual_overflow() { return model::least_overflow_multilevel(usual_choices, usual_accesses); }

double error_as_printed(filter_kind kind, double bits_per_element) {
  const unsigned bits_set = bits_set_for(bits_per_element);
  switch (kind) {
    case filter_kind::standard:
      return model::standard_error(bits_per_element, bits_set);
    case filter_kind::blocked:
      return model::blocked_error_approximate(blocked(bits_per_element));
    case filter_kind::single:
      return model::single_as_printed(bits_per_element, block_bits, bits_set, usual_overflow());
    case filter_kind::multilevel:
      break;
  }
  return model::balanced_as_printed(bits_per_element, block_bits, bits_set, usual_accesses,
                                    usual_choices)
      .fpr;
}

double exact_error(filter_kind kind, double bits_per_element) {
  switch (kind) {
    case filter_kind::standard:
      return model::standard_error(bits_per_element, bits_set_for(bits_per_element));
    case filter_kind::blocked:
      return model::blocked_error(blocked(bits_per_element));
    case filter_kind::single:
    case filter_kind::multilevel:
      break;
  }
  return exact(kind, bits_per_element).fpr;
}

model::filter_error exact_multilevel(double bits_per_element) {
  return exact(filter_kind::multilevel, bits_per_element);
}

double missed_through_time(double bits_per_element) {
  constexpr unsigned moments = 500;  // of the midpoint rule; its error is far below the noise
  const model::balance_plan plan = plan_of(filter_kind::multilevel, bits_per_element);
  const unsigned threshold = *plan.threshold;
  const double probability = plan.admit_probability;
  const auto levels_at = [&](double time) {
    return model::fluid_limit({.scheme = scheme_kind::multilevel,
                               .load_factor = elements_per_block(bits_per_element) / threshold,
                               .bucket_capacity = threshold,
                               .level_fractions = plan.level_fractions,
                               .admit_probability = probability,
                               .time = time})
        .levels;
  };
  // The empty buckets tell how many arrivals a level has seen: f_0 = e^-arrivals.
  const auto arrivals = [](const std::vector<double>& loads) { return -std::log(loads[0]); };
  const auto at_end = levels_at(1);

  double missed = 0;
  for (unsigned moment = 0; moment < moments; ++moment) {
    const auto now = levels_at((moment + 0.5) / moments);
    double refused = 1, refused_and_full = 1;  // by all levels so far; and none ends at load h
    for (std::size_t level = 0; level < now.size(); ++level) {
      const double by_coin = (1 - probability) * now[level][threshold];
      const double stays =
          std::exp(-probability * (arrivals(at_end[level]) - arrivals(now[level])));
      const double refuses = by_coin + now[level][threshold + 1];
      // Elements that the levels before refused and this one takes are missed or not by now.
      missed += (refused - refused_and_full) * (1 - refuses) / moments;
      refused *= refuses;
      refused_and_full *= refuses - by_coin * stays;
    }
    missed += (refused - refused_and_full) / moments;  // in the overflow list
  }
  return missed;
}

filter_effort filter_effort_for(effort how_much) {
  return by_effort<filter_effort>(
      how_much, {.blocks = 1'500, .trials = 32, .wanted_positives = 4e3, .most_queries = 1'500'000},
      {.blocks = 10'000, .trials = 64, .wanted_positives = 4e4, .most_queries = 40'000'000},
      {.blocks = 100'000, .trials = 128, .wanted_positives = 1e6, .most_queries = 10'000'000'000});
}

bool is_measurable(double error, const filter_effort& size) {
  return error * static_cast<double>(size.most_queries) >= enough_to_count;
}

filter_setup setup_of(filter_kind kind, double bits_per_element, double error,
                      const filter_effort& size) {
  filter_setup setup{.level_sizes = {size.blocks},
                     .bloom_bits = block_bits,
                     .bits_set = bits_set_for(bits_per_element),
                     .trials = size.trials};
  setup.queries = static_cast<std::uint64_t>(
      std::min(static_cast<double>(size.most_queries), size.wanted_positives / error));
  switch (kind) {
    case filter_kind::standard:
      setup.level_sizes = {1};
      setup.bloom_bits = size.blocks * block_bits;
      break;
    case filter_kind::blocked:
      break;
    case filter_kind::single:
    case filter_kind::multilevel: {
      const model::balance_plan plan = plan_of(kind, bits_per_element);
      setup.bloom_bits = block_bits - shape_of(kind, bits_per_element).state_bits();
      setup.threshold = plan.threshold;
      setup.admit_probability = plan.admit_probability;
      if (kind == filter_kind::multilevel)
        setup.level_sizes = whole_levels(size.blocks, plan.level_fractions);
      break;
    }
  }
  const std::uint64_t blocks =
      kind == filter_kind::standard ? size.blocks : total(setup.level_sizes);
  setup.elements = static_cast<std::uint64_t>(
      std::llround(elements_per_block(bits_per_element) * static_cast<double>(blocks)));
  return setup;
}

}  // namespace oneprobe::cli::balancing
