// Document 003, OFH.

#include <algorithm>

#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/overflow_bound.hpp"
#include "oneprobe/model/partition.hpp"
#include "registry.hpp"

namespace reference {
namespace {

using namespace oneprobe::model;

fluid_parameters table(const arguments& a, scheme_kind scheme) {
  return {.scheme = scheme, .load_factor = a.number("c"), .bucket_capacity = a.whole("h")};
}

fluid_state single_at(const arguments& a) {
  fluid_parameters parameters = table(a, scheme_kind::single);
  parameters.time = a.number("t");
  return fluid_limit(parameters);
}

fluid_state with_choices(const arguments& a, scheme_kind scheme) {
  fluid_parameters parameters = table(a, scheme);
  parameters.choices = a.whole("d");
  if (scheme == scheme_kind::multilevel)
    parameters.level_fractions =
        multilevel_cutoff(parameters.load_factor, parameters.bucket_capacity, parameters.choices)
            .level_fractions;
  return fluid_limit(parameters);
}

fluid_state with_partition(const arguments& a) {
  static const std::map<std::string, std::vector<double>> partitions{
      {"equal", {0.25, 0.25, 0.25, 0.25}},
      {"halving", {8.0 / 15, 4.0 / 15, 2.0 / 15, 1.0 / 15}},
      {"odd", {0.4, 0.1, 0.3, 0.2}}};
  fluid_parameters parameters = table(a, scheme_kind::multilevel);
  parameters.level_fractions = partitions.at(a.text("alpha"));
  return fluid_limit(parameters);
}

cutoff sequential_edge(const arguments& a) {
  return sequential_cutoff(a.number("c"), a.whole("h"), a.whole("d"));
}
cutoff multilevel_edge(const arguments& a) {
  return multilevel_cutoff(a.number("c"), a.whole("h"), a.whole("d"));
}
partition least(const arguments& a) {
  return least_overflow_partition(a.number("c"), a.whole("h"), a.whole("d"));
}

/// Fig. 7: the partition that is optimal for one budget, run with others.
numbers figure_7(double planned) {
  const partition plan = access_optimal_partition(planned, 1, 4, 4);
  numbers result;
  for (const double budget : {.5, .8, 1., 1.2, 1.5, 1.6, 1.697})
    result.push_back(fluid_limit({.scheme = scheme_kind::multilevel,
                                  .load_factor = 1,
                                  .bucket_capacity = 4,
                                  .level_fractions = plan.level_fractions,
                                  .access_budget = budget})
                         .overflow_fraction);
  return result;
}

}  // namespace

void add_ofh(registry& all) {
  // The file has the raw expression, which turns negative where the true bound is zero.
  all.recipes.push_back({"003/gamma_LB(", exact,
                         [](const arguments& a, const numbers& expected) {
                           const double bound =
                               overflow_bound(a.number("a"), a.number("c"), a.whole("h"));
                           return numbers{expected[0] < 0 && bound == 0 ? expected[0] : bound};
                         },
                         1e-15});
  all.add("003/SIMPLE_f_i(", exact,
          [](const arguments& a, const numbers&) { return single_at(a).occupancy; });
  all.add("003/SIMPLE_gamma(", exact, [](const arguments& a, const numbers&) {
    return numbers{single_at(a).overflow_fraction};
  });
  all.add("003/SIMPLE_gamma_cum(", exact, [](const arguments& a, const numbers&) {
    return numbers{single_at(a).cumulative_overflow_fraction};
  });
  all.add("003/GREEDY_a_co(", exact, [](const arguments& a, const numbers&) {
    return numbers{sequential_edge(a).mean_accesses};
  });
  all.add("003/GREEDY_gamma_co(", exact, [](const arguments& a, const numbers&) {
    return numbers{sequential_edge(a).overflow_fraction};
  });
  all.add("003/MHT_a_co(", exact, [](const arguments& a, const numbers&) {
    return numbers{multilevel_edge(a).mean_accesses};
  });
  all.add("003/MHT_gamma_co(", exact, [](const arguments& a, const numbers&) {
    return numbers{multilevel_edge(a).overflow_fraction};
  });
  all.add("003/MHT_alpha(", exact,
          [](const arguments& a, const numbers&) { return multilevel_edge(a).level_fractions; });
  all.add("003/MHT_any_over(", exact, [](const arguments& a, const numbers&) {
    return numbers{with_partition(a).overflow_fraction};
  });
  all.add("003/MHT_any_fa(", exact, [](const arguments& a, const numbers&) {
    return numbers{with_partition(a).mean_accesses};
  });
  all.add("003/Fig7_MHT_OP(a=1.0)", exact,
          [](const arguments&, const numbers&) { return figure_7(1.0); });
  all.add("003/Fig7_MHT_OP(a=1.69705)", exact, [](const arguments&, const numbers&) {
    return figure_7(multilevel_cutoff(1, 4, 4).mean_accesses);
  });
  all.add("003/MHT_min_overflow_any_partition(", exact,
          [](const arguments& a, const numbers&) { return numbers{least(a).overflow_fraction}; });
  all.add("003/MHT_min_overflow_accesses(", place_of_optimum,
          [](const arguments& a, const numbers&) { return numbers{least(a).mean_accesses}; });
  all.add("003/MHT_min_overflow_alpha(", place_of_optimum,
          [](const arguments& a, const numbers&) { return least(a).level_fractions; });
  all.add("003/dleft_fluid_overflow(", by_ode, [](const arguments& a, const numbers&) {
    return numbers{with_choices(a, scheme_kind::d_left).overflow_fraction};
  });
  all.add("003/drandom_fluid_overflow(", by_ode, [](const arguments& a, const numbers&) {
    return numbers{with_choices(a, scheme_kind::d_random).overflow_fraction};
  });
  all.add("003/GREEDY_negative_lookup_accesses_stop_at_nonfull(", exact,
          [](const arguments& a, const numbers&) {
            return numbers{with_choices(a, scheme_kind::sequential).miss_accesses};
          });
  all.add("003/MHT_negative_lookup_accesses_stop_at_nonfull(", exact,
          [](const arguments& a, const numbers&) {
            return numbers{with_choices(a, scheme_kind::multilevel).miss_accesses};
          });
  all.add("003/GREEDY_P_bucket_full_at_end(", exact, [](const arguments& a, const numbers&) {
    return numbers{with_choices(a, scheme_kind::sequential).occupancy.back()};
  });
  all.add("003/MHT_P_bucket_full_at_end(", exact, [](const arguments& a, const numbers&) {
    return numbers{with_choices(a, scheme_kind::multilevel).occupancy.back()};
  });
}

}  // namespace reference
