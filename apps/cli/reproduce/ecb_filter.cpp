#include "reproduce/ecb_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oneprobe/detail/planning/balanced_layout.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/fluid.hpp"
#include "reproduce/estimates.hpp"

namespace oneprobe::cli::balancing {
namespace {

model::balance_plan balance_of(contender kind, double bits_per_element) {
  const double load = elements_per_block(bits_per_element);
  if (kind == contender::single)
    return model::single_balance(
        {.elements_per_bucket = load, .overflow_fraction = usual_overflow()});
  return model::multilevel_balance(
      {.elements_per_bucket = load, .choices = usual_choices, .accesses = usual_accesses});
}

/// SIMPLE and MHT as shapes of the model. The texts' list answers without error: fingerprints so
/// long that theirs vanishes.
model::balanced_shape shape_of(contender kind, double bits_per_element) {
  const model::balance_plan plan = balance_of(kind, bits_per_element);
  const bool single = kind == contender::single;
  return {.block_bits = block_bits,
          .bits_set = bits_set_for(bits_per_element),
          .scheme = single ? scheme_kind::single : scheme_kind::multilevel,
          .choices = single ? 1 : usual_choices,
          .rule = model::lookup_rule::counter,
          .threshold = *plan.threshold,
          .admit_probability = plan.admit_probability,
          .overflow = {.fingerprint_bits = 64}};
}

model::filter_error exact(contender kind, double bits_per_element,
                          lookup_rule rule = lookup_rule::counter) {
  const double accesses = kind == contender::single ? 1 : usual_accesses;
  model::balanced_shape shape = shape_of(kind, bits_per_element);
  shape.rule = rule;
  return model::evaluate(shape, accesses * elements_per_block(bits_per_element));
}

model::blocked_shape blocked(double bits_per_element) {
  return {.bits_per_element = bits_per_element,
          .block_bits = block_bits,
          .bits_set = bits_set_for(bits_per_element)};
}

}  // namespace

std::string name_of(contender kind, const text_names& text) {
  switch (kind) {
    case contender::standard:
      return "standard";
    case contender::blocked:
      return "blocked";
    case contender::single:
      return std::string(text.single);
    case contender::multilevel:
      break;
  }
  return "MHT";
}

unsigned bits_set_for(double bits_per_element) {
  return static_cast<unsigned>(std::lround(bits_per_element * std::log(2)));
}

double usual_overflow() { return model::least_overflow_multilevel(usual_choices, usual_accesses); }

double error_as_printed(contender kind, double bits_per_element) {
  const unsigned bits_set = bits_set_for(bits_per_element);
  switch (kind) {
    case contender::standard:
      return model::standard_error(bits_per_element, bits_set);
    case contender::blocked:
      return model::blocked_error_approximate(blocked(bits_per_element));
    case contender::single:
      return model::single_as_printed(bits_per_element, block_bits, bits_set, usual_overflow());
    case contender::multilevel:
      break;
  }
  return model::balanced_as_printed(bits_per_element, block_bits, bits_set, usual_accesses,
                                    usual_choices)
      .fpr;
}

double exact_error(contender kind, double bits_per_element) {
  switch (kind) {
    case contender::standard:
      return model::standard_error(bits_per_element, bits_set_for(bits_per_element));
    case contender::blocked:
      return model::blocked_error(blocked(bits_per_element));
    case contender::single:
    case contender::multilevel:
      break;
  }
  return exact(kind, bits_per_element).fpr;
}

model::filter_error exact_multilevel(double bits_per_element, lookup_rule rule) {
  return exact(contender::multilevel, bits_per_element, rule);
}

double missed_through_time(double bits_per_element) {
  constexpr unsigned moments = 500;  // of the midpoint rule; its error is far below the noise
  const model::balance_plan plan = balance_of(contender::multilevel, bits_per_element);
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
      how_much, {.blocks = 1'500, .trials = 64, .wanted_positives = 8e3, .most_queries = 3'000'000},
      {.blocks = 10'000, .trials = 64, .wanted_positives = 4e4, .most_queries = 40'000'000},
      {.blocks = 100'000, .trials = 128, .wanted_positives = 1e6, .most_queries = 10'000'000'000});
}

bool is_measurable(double error, const filter_effort& size) {
  return error * static_cast<double>(size.most_queries) >= enough_to_count;
}

filter_plan plan_for(contender kind, double bits_per_element, std::uint64_t blocks) {
  filter_plan plan;
  plan.bits_set = bits_set_for(bits_per_element);
  plan.block_bits = block_bits;
  plan.level_buckets[0] = blocks;
  switch (kind) {
    case contender::standard:
      plan.kind = oneprobe::filter_kind::standard;
      plan.cells = blocks * block_bits;
      break;
    case contender::blocked:
      plan.kind = oneprobe::filter_kind::blocked;
      break;
    case contender::single:
    case contender::multilevel: {
      const model::balance_plan balance = balance_of(kind, bits_per_element);
      plan.kind = oneprobe::filter_kind::balanced;
      plan.scheme = kind == contender::single ? scheme_kind::single : scheme_kind::multilevel;
      plan.state = {.rule = lookup_rule::counter,
                    .threshold = *balance.threshold,
                    .admit_probability = balance.admit_probability};
      if (kind == contender::multilevel) {
        const auto sizes = whole_levels(blocks, balance.level_fractions);
        std::copy(sizes.begin(), sizes.end(), plan.level_buckets.begin());
        plan.levels = usual_choices;
      }
      plan.choices = plan.levels;
      break;
    }
  }
  const auto load = elements_per_block(bits_per_element);
  plan.elements =
      static_cast<std::uint64_t>(std::llround(load * static_cast<double>(plan.blocks())));
  if (plan.kind == oneprobe::filter_kind::balanced) {
    plan.overflow_reserve =
        overflow_reserve_for(usual_overflow() * static_cast<double>(plan.elements));
    plan.overflow_slots = overflow_slots_for(plan.overflow_reserve);
  }
  return plan;
}

filter_trials trials_of(const filter_plan& plan, double error, const filter_effort& size) {
  const double queries =
      std::min(static_cast<double>(size.most_queries), size.wanted_positives / error);
  return {.plan = plan, .queries = static_cast<std::uint64_t>(queries), .trials = size.trials};
}

}  // namespace oneprobe::cli::balancing
