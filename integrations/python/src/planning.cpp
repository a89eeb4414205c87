// oneprobe.plan_filter, plan_table and oneprobe.model: what can be known in advance. And the module
// itself.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "module.hpp"
#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/model/balance.hpp"
#include "oneprobe/model/balanced.hpp"
#include "oneprobe/model/balls.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/crisis.hpp"
#include "oneprobe/model/fingerprint.hpp"
#include "oneprobe/model/finite_size.hpp"
#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/overflow_bound.hpp"
#include "oneprobe/model/partition.hpp"
#include "oneprobe/model/poisson.hpp"
#include "oneprobe/version.hpp"
#include "plans.hpp"

namespace oneprobe::python {
namespace {

using namespace py::literals;

/// The value of that name, or a refusal that lists the names.
template <class Enum, std::size_t Count>
Enum named(std::string_view what, const std::string& name, const std::array<Enum, Count>& all) {
  std::string names;
  for (const Enum each : all) {
    if (name == name_of(each)) return each;
    names += (names.empty() ? "'" : ", '") + std::string(name_of(each)) + "'";
  }
  throw std::invalid_argument(std::string(what) + " must be one of " + names + "; found '" + name +
                              "'");
}

constexpr std::array filter_kinds{filter_kind::standard, filter_kind::partitioned,
                                  filter_kind::blocked,  filter_kind::counting,
                                  filter_kind::balanced, filter_kind::fingerprint};
constexpr std::array scheme_kinds{scheme_kind::single, scheme_kind::sequential,
                                  scheme_kind::multilevel, scheme_kind::d_random,
                                  scheme_kind::d_left};
constexpr std::array table_workloads{table_workload::churn, table_workload::fill_only};

scheme_kind scheme_of(const std::string& name) { return named("scheme", name, scheme_kinds); }

std::string in_words(const filter_needs& needs) {
  std::string text = "elements=" + std::to_string(needs.elements);
  if (needs.fpr) text += ", fpr=" + oneprobe::in_words(*needs.fpr);
  if (needs.bits_per_element)
    text += ", bits_per_element=" + oneprobe::in_words(*needs.bits_per_element);
  if (needs.bytes) text += ", bytes=" + std::to_string(*needs.bytes);
  if (needs.accesses) text += ", accesses=" + oneprobe::in_words(*needs.accesses);
  return text;
}
std::string in_words(const table_needs& needs) {
  std::string text = "elements=" + std::to_string(needs.elements) +
                     ", overflow_fraction=" + oneprobe::in_words(needs.overflow_fraction) +
                     ", choices=" + std::to_string(needs.largest_choices);
  if (needs.load_factor) text += ", load_factor=" + oneprobe::in_words(*needs.load_factor);
  if (needs.bytes) text += ", bytes=" + std::to_string(*needs.bytes);
  return text;
}
template <class Proposal>
void require_plan(const Proposal& proposal) {
  if (proposal.plan) return;
  std::string why = proposal.reason;
  if (proposal.nearest)
    why += " The nearest need that can be met: " + in_words(*proposal.nearest) + ".";
  throw std::invalid_argument(why);
}

// ---- plans ----

py::dict predicted_of(const filter_prediction& predicted) {
  return py::dict("fpr"_a = predicted.fpr, "insert_accesses"_a = predicted.insert_accesses,
                  "hit_accesses"_a = predicted.hit_accesses,
                  "miss_accesses"_a = predicted.miss_accesses,
                  "overflow_fraction"_a = predicted.overflow_fraction);
}
py::dict dict_of(const filter_plan& plan) {
  py::dict all("kind"_a = name_of(plan.kind), "elements"_a = plan.elements,
               "bits_set"_a = plan.bits_set, "memory_bytes"_a = plan.memory().total(),
               "bits_per_element"_a = plan.bits_per_element(),
               "predicted"_a = predicted_of(plan.predicted));
  if (plan.in_blocks()) {
    all["block_bits"] = plan.block_bits;
    all["level_buckets"] = std::vector<std::uint64_t>(plan.level_buckets.begin(),
                                                      plan.level_buckets.begin() + plan.levels);
  } else {
    all["cells"] = plan.cells;
    all["counter_bits"] = plan.counter_bits;
  }
  if (plan.has_candidates()) {
    all["scheme"] = name_of(plan.scheme);
    all["choices"] = plan.choices;
    all["overflow_reserve"] = plan.overflow_reserve;
  }
  return all;
}
py::dict dict_of(const planned_filter& planned) {
  const filter_proposal& proposal = planned.proposal;
  py::dict all = dict_of(planned.plan());
  all["reason"] = proposal.reason;
  py::list overfill;
  for (const overfill_forecast& each : proposal.overfill)
    overfill.append(py::dict("factor"_a = each.factor, "elements"_a = each.elements,
                             "predicted"_a = predicted_of(each.predicted),
                             "condition"_a = name_of(each.condition)));
  all["overfill"] = overfill;
  py::list alternatives;
  for (const filter_alternative& each : proposal.alternatives) {
    py::dict one("name"_a = each.name, "why"_a = each.why);
    one["plan"] = each.plan ? py::object(dict_of(*each.plan)) : py::none();
    alternatives.append(one);
  }
  all["alternatives"] = alternatives;
  return all;
}

py::dict predicted_of(const table_prediction& predicted) {
  return py::dict("insert_accesses"_a = predicted.insert_accesses,
                  "hit_accesses"_a = predicted.hit_accesses,
                  "miss_accesses"_a = predicted.miss_accesses,
                  "overflow_fraction"_a = predicted.overflow_fraction,
                  "overflow_mean"_a = predicted.overflow_mean,
                  "overflow_deviation"_a = predicted.overflow_deviation,
                  "exceed_probability"_a = predicted.exceed_probability);
}
py::dict dict_of(const table_plan& plan, std::uint32_t slot_bytes) {
  return py::dict("elements"_a = plan.elements, "bucket_capacity"_a = plan.bucket_capacity,
                  "scheme"_a = name_of(plan.scheme), "choices"_a = plan.choices,
                  "level_buckets"_a = std::vector<std::uint64_t>(
                      plan.level_buckets.begin(), plan.level_buckets.begin() + plan.levels),
                  "overflow_reserve"_a = plan.overflow_reserve,
                  "overflow_buckets"_a = plan.overflow_buckets,
                  "workload"_a = name_of(plan.workload), "load_factor"_a = plan.load_factor(),
                  "memory_bytes"_a = plan.memory(slot_bytes).total(),
                  "bytes_per_element"_a = plan.bytes_per_element(slot_bytes),
                  "predicted"_a = predicted_of(plan.predicted));
}
py::dict dict_of(const planned_table& planned) {
  const table_proposal& proposal = planned.proposal;
  const std::uint32_t slot_bytes = slot_bytes_of(planned.needs);
  py::dict all = dict_of(planned.plan(), slot_bytes);
  all["reason"] = proposal.reason;
  all["full_factor"] = proposal.full_factor;
  py::list overfill;
  for (const table_forecast& each : proposal.overfill)
    overfill.append(py::dict("factor"_a = each.factor, "elements"_a = each.elements,
                             "predicted"_a = predicted_of(each.predicted)));
  all["overfill"] = overfill;
  py::list alternatives;
  for (const table_alternative& each : proposal.alternatives) {
    py::dict one("name"_a = each.name, "why"_a = each.why);
    one["plan"] = each.plan ? py::object(dict_of(*each.plan, slot_bytes)) : py::none();
    alternatives.append(one);
  }
  all["alternatives"] = alternatives;
  return all;
}

// ---- models ----

model::fluid_parameters fluid_of(const std::string& scheme, double load_factor,
                                 unsigned bucket_capacity, unsigned choices,
                                 std::vector<double> level_fractions) {
  return {.scheme = scheme_of(scheme),
          .load_factor = load_factor,
          .bucket_capacity = bucket_capacity,
          .choices = choices,
          .level_fractions = std::move(level_fractions)};
}
model::churn_parameters churn_of(const std::string& scheme, double load_factor,
                                 unsigned bucket_capacity, unsigned choices,
                                 std::vector<double> level_fractions) {
  return {.scheme = scheme_of(scheme),
          .load_factor = load_factor,
          .bucket_capacity = bucket_capacity,
          .choices = choices,
          .level_fractions = std::move(level_fractions)};
}

py::dict dict_of(const model::partition& found) {
  return py::dict("level_fractions"_a = found.level_fractions,
                  "mean_accesses"_a = found.mean_accesses,
                  "overflow_fraction"_a = found.overflow_fraction, "end_time"_a = found.end_time);
}
py::dict dict_of(const model::cutoff& found) {
  return py::dict("mean_accesses"_a = found.mean_accesses,
                  "overflow_fraction"_a = found.overflow_fraction,
                  "level_fractions"_a = found.level_fractions);
}
py::dict dict_of(const model::overflow_spread& found) {
  return py::dict("mean"_a = found.mean, "standard_deviation"_a = found.standard_deviation);
}
py::dict dict_of(const model::filter_error& found) {
  return py::dict("fpr"_a = found.fpr, "bits_per_element"_a = found.bits_per_element,
                  "elements_per_block"_a = found.elements_per_block,
                  "insert_accesses"_a = found.insert_accesses,
                  "hit_accesses"_a = found.hit_accesses, "miss_accesses"_a = found.miss_accesses,
                  "overflow_fraction"_a = found.overflow_fraction);
}

void add_placement_models(py::module_& m) {
  m.def("overflow_bound", &model::overflow_bound,
        "The least fraction of the elements that any scheme leaves over with so many accesses.",
        "accesses"_a, "load_factor"_a, "bucket_capacity"_a);
  m.def("accesses_for_overflow", &model::accesses_for_overflow,
        "The accesses below which no scheme has so little overflow.", "overflow_fraction"_a,
        "load_factor"_a, "bucket_capacity"_a);
  m.def(
      "fluid_limit",
      [](const std::string& scheme, double load_factor, unsigned bucket_capacity, unsigned choices,
         std::vector<double> level_fractions, std::optional<double> access_budget) {
        model::fluid_parameters parameters =
            fluid_of(scheme, load_factor, bucket_capacity, choices, std::move(level_fractions));
        parameters.access_budget = access_budget;
        const model::fluid_state found = fluid_limit(parameters);
        return py::dict("overflow_fraction"_a = found.overflow_fraction,
                        "mean_accesses"_a = found.mean_accesses,
                        "miss_accesses"_a = found.miss_accesses, "occupancy"_a = found.occupancy,
                        "levels"_a = found.levels);
      },
      "What a scheme does that fills a table of many buckets, as a dict.", "scheme"_a,
      "load_factor"_a, "bucket_capacity"_a, "choices"_a = 1,
      "level_fractions"_a = std::vector<double>(), "access_budget"_a = py::none());
  m.def(
      "churn_limit",
      [](const std::string& scheme, double load_factor, unsigned bucket_capacity, unsigned choices,
         std::vector<double> level_fractions) {
        const model::churn_state found = churn_limit(
            churn_of(scheme, load_factor, bucket_capacity, choices, std::move(level_fractions)));
        return py::dict("overflow_fraction"_a = found.overflow_fraction,
                        "mean_accesses"_a = found.mean_accesses, "occupancy"_a = found.occupancy,
                        "levels"_a = found.levels);
      },
      "The same for a table whose elements come and go at constant size.", "scheme"_a,
      "load_factor"_a, "bucket_capacity"_a, "choices"_a = 1,
      "level_fractions"_a = std::vector<double>());
  m.def(
      "multilevel_cutoff",
      [](double load_factor, unsigned bucket_capacity, unsigned choices) {
        return dict_of(model::multilevel_cutoff(load_factor, bucket_capacity, choices));
      },
      "The largest budget up to which multilevel placement meets the bound, as a dict.",
      "load_factor"_a, "bucket_capacity"_a, "choices"_a);
  m.def(
      "sequential_cutoff",
      [](double load_factor, unsigned bucket_capacity, unsigned choices) {
        return dict_of(model::sequential_cutoff(load_factor, bucket_capacity, choices));
      },
      "The same for sequential placement.", "load_factor"_a, "bucket_capacity"_a, "choices"_a);
  m.def(
      "access_optimal_partition",
      [](double accesses, double load_factor, unsigned bucket_capacity, unsigned choices) {
        return dict_of(
            model::access_optimal_partition(accesses, load_factor, bucket_capacity, choices));
      },
      "Levels with the least overflow for so many accesses, as a dict.", "accesses"_a,
      "load_factor"_a, "bucket_capacity"_a, "choices"_a);
  m.def(
      "least_overflow_partition",
      [](double load_factor, unsigned bucket_capacity, unsigned choices) {
        return dict_of(model::least_overflow_partition(load_factor, bucket_capacity, choices));
      },
      "Levels with the least overflow of a table that only fills, as a dict.", "load_factor"_a,
      "bucket_capacity"_a, "choices"_a);
  m.def(
      "least_overflow_partition_under_churn",
      [](double load_factor, unsigned bucket_capacity, unsigned choices) {
        return dict_of(
            model::least_overflow_partition_under_churn(load_factor, bucket_capacity, choices));
      },
      "The same for a table whose elements come and go.", "load_factor"_a, "bucket_capacity"_a,
      "choices"_a);
  m.def("largest_load_factor", &model::largest_load_factor,
        "How full a table may be filled with so little overflow.", "overflow_fraction"_a,
        "bucket_capacity"_a, "choices"_a);
  m.def("largest_load_factor_under_churn", &model::largest_load_factor_under_churn,
        "The same for a table whose elements come and go.", "overflow_fraction"_a,
        "bucket_capacity"_a, "choices"_a);
  m.def(
      "overflow_spread_filling",
      [](double elements, const std::string& scheme, double load_factor, unsigned bucket_capacity,
         unsigned choices, std::vector<double> level_fractions) {
        return dict_of(model::overflow_spread_filling(
            fluid_of(scheme, load_factor, bucket_capacity, choices, std::move(level_fractions)),
            elements));
      },
      "Mean and standard deviation of the overflow of a finite table, as a dict.", "elements"_a,
      "scheme"_a, "load_factor"_a, "bucket_capacity"_a, "choices"_a = 1,
      "level_fractions"_a = std::vector<double>());
  m.def(
      "overflow_spread_churning",
      [](double elements, const std::string& scheme, double load_factor, unsigned bucket_capacity,
         unsigned choices, std::vector<double> level_fractions) {
        return dict_of(model::overflow_spread_churning(
            churn_of(scheme, load_factor, bucket_capacity, choices, std::move(level_fractions)),
            elements));
      },
      "The same for a table whose elements come and go.", "elements"_a, "scheme"_a, "load_factor"_a,
      "bucket_capacity"_a, "choices"_a = 1, "level_fractions"_a = std::vector<double>());
  m.def(
      "reserve_for",
      [](double mean, double standard_deviation, double probability) {
        return model::reserve_for({mean, standard_deviation}, probability);
      },
      "So many overflow with at most this probability.", "mean"_a, "standard_deviation"_a,
      "probability"_a);
  m.def("erlang_b", &model::erlang_b, "The part of the arrivals that a loss system refuses.",
        "slots"_a, "offered_load"_a);
  m.def(
      "crisis",
      [](std::uint64_t elements, const std::vector<std::uint64_t>& levels) {
        const model::crisis_result found = model::crisis(elements, levels);
        return py::dict("expected_per_level"_a = found.expected_per_level,
                        "crisis_probability"_a = found.crisis_probability, "exact"_a = found.exact);
      },
      "What becomes of elements in levels of single slots, as a dict.", "elements"_a, "levels"_a);
  m.def(
      "lower_bound_loads",
      [](double elements_per_bucket, double accesses, double overflow_fraction) {
        const model::balance_bound found =
            model::lower_bound_loads(elements_per_bucket, accesses, overflow_fraction);
        return py::dict("fractions"_a = found.loads.fractions, "k0"_a = found.k0,
                        "mean"_a = found.loads.mean(), "variance"_a = found.loads.variance());
      },
      "The flattest loads that any scheme can reach, as a dict.", "elements_per_bucket"_a,
      "accesses"_a, "overflow_fraction"_a = 0.0);
  m.def("expected_max_load", &model::expected_max_load,
        "The mean of the largest load of balls thrown into bins.", "balls"_a, "bins"_a);
  m.def("poisson_probability", &model::poisson_probability, "P(X = count).", "mean"_a, "count"_a);
  m.def("poisson_at_least", &model::poisson_at_least, "P(X >= count).", "mean"_a, "count"_a);
}

void add_filter_models(py::module_& m) {
  m.def("best_bits_set_standard", &model::best_bits_set_standard,
        "The bits per key that let a standard Bloom filter err least.", "bits_per_element"_a);
  m.def(
      "standard_error",
      [](double bits_per_element, std::optional<unsigned> bits_set) {
        return model::standard_error(
            bits_per_element, bits_set.value_or(model::best_bits_set_standard(bits_per_element)));
      },
      "The error of a standard Bloom filter; bits_set None is the best.", "bits_per_element"_a,
      "bits_set"_a = py::none());
  m.def(
      "best_bits_set_blocked",
      [](double bits_per_element, unsigned block_bits) {
        return model::best_bits_set_blocked(bits_per_element, block_bits);
      },
      "The bits per key that let a blocked Bloom filter err least.", "bits_per_element"_a,
      "block_bits"_a = 512);
  m.def(
      "blocked_error",
      [](double bits_per_element, unsigned block_bits, std::optional<unsigned> bits_set) {
        return model::blocked_error({.bits_per_element = bits_per_element,
                                     .block_bits = block_bits,
                                     .bits_set = bits_set.value_or(model::best_bits_set_blocked(
                                         bits_per_element, block_bits))});
      },
      "The error of a blocked Bloom filter; bits_set None is the best.", "bits_per_element"_a,
      "block_bits"_a = 512, "bits_set"_a = py::none());
  m.def(
      "balanced_filter",
      [](double bits_per_element, double accesses, unsigned block_bits) {
        return dict_of(model::choose_balanced({.bits_per_element = bits_per_element,
                                               .block_bits = block_bits,
                                               .access_limit = accesses})
                           .error);
      },
      "What the best balanced filter of this memory does, as a dict.", "bits_per_element"_a,
      "accesses"_a = 1.2, "block_bits"_a = 512);
  m.def(
      "fingerprint_filter",
      [](double bits_per_element, double accesses) {
        return dict_of(model::choose_fingerprint(
                           {.bits_per_element = bits_per_element, .access_limit = accesses})
                           .error);
      },
      "What the best fingerprint filter of this memory does, as a dict.", "bits_per_element"_a,
      "accesses"_a = 1.2);
}

}  // namespace

filter_kind filter_kind_of(const std::string& name) { return named("kind", name, filter_kinds); }

planned_filter planned(const filter_needs& needs) {
  planned_filter found{plan_filter(needs)};
  require_plan(found.proposal);
  return found;
}
planned_table planned(const table_needs& needs) {
  planned_table found{plan_table(needs), needs};
  require_plan(found.proposal);
  return found;
}

void add_plans(py::module_& module) {
  py::class_<planned_filter>(module, "FilterPlan",
                             R"(What plan_filter() found: how large the filter is,
what it will do, and which alternatives were beaten.)")
      .def(
          "to_dict", [](const planned_filter& plan) { return dict_of(plan); },
          "Everything there is to know of it.")
      .def_property_readonly(
          "kind", [](const planned_filter& p) { return name_of(p.plan().kind); },
          "The kind of filter.")
      .def_property_readonly(
          "elements", [](const planned_filter& p) { return p.plan().elements; },
          "The keys it is for.")
      .def_property_readonly(
          "fpr", [](const planned_filter& p) { return p.plan().predicted.fpr; },
          "Its error with that many.")
      .def_property_readonly(
          "miss_accesses", [](const planned_filter& p) { return p.plan().predicted.miss_accesses; },
          "The mean accesses of a query for an absent key.")
      .def_property_readonly(
          "bits_per_element", [](const planned_filter& p) { return p.plan().bits_per_element(); },
          "All memory over the elements.")
      .def_property_readonly(
          "memory_bytes", [](const planned_filter& p) { return p.plan().memory().total(); },
          "All memory.")
      .def_property_readonly(
          "reason", [](const planned_filter& p) { return p.proposal.reason; }, "Why this plan.")
      .def("__repr__", [](const planned_filter& p) {
        return "<oneprobe.FilterPlan: " + std::string(name_of(p.plan().kind)) + " for " +
               std::to_string(p.plan().elements) + " elements, error " +
               oneprobe::in_words(p.plan().predicted.fpr) + ", " +
               std::to_string(p.plan().memory().total()) + " bytes>";
      });
  module.def(
      "plan_filter",
      [](std::uint64_t elements, std::optional<double> fpr, std::optional<double> bits_per_element,
         std::optional<std::uint64_t> bytes, const std::optional<std::string>& kind,
         std::optional<double> accesses, std::optional<std::uint32_t> counter_bits) {
        filter_needs needs{.elements = elements,
                           .fpr = fpr,
                           .bits_per_element = bits_per_element,
                           .bytes = bytes,
                           .accesses = accesses,
                           .counter_bits = counter_bits};
        if (kind) needs.kind = filter_kind_of(*kind);
        const py::gil_scoped_release others_run;
        return planned(needs);
      },
      R"(From what a filter must do to a plan of it. Exactly one of fpr, bits_per_element and bytes is
given. ValueError says which need cannot be met, and which is the nearest that can.)",
      "elements"_a, "fpr"_a = py::none(), py::kw_only(), "bits_per_element"_a = py::none(),
      "bytes"_a = py::none(), "kind"_a = py::none(), "accesses"_a = py::none(),
      "counter_bits"_a = py::none());

  py::class_<planned_table>(module, "TablePlan",
                            R"(What plan_table() found: the levels of the table,
its overflow, and what operations will cost.)")
      .def(
          "to_dict", [](const planned_table& plan) { return dict_of(plan); },
          "Everything there is to know of it.")
      .def_property_readonly(
          "elements", [](const planned_table& p) { return p.plan().elements; },
          "The elements it is for.")
      .def_property_readonly(
          "load_factor", [](const planned_table& p) { return p.plan().load_factor(); },
          "Elements over slots.")
      .def_property_readonly(
          "hit_accesses", [](const planned_table& p) { return p.plan().predicted.hit_accesses; },
          "The mean buckets read for a key that is there.")
      .def_property_readonly(
          "miss_accesses", [](const planned_table& p) { return p.plan().predicted.miss_accesses; },
          "The mean buckets read for a key that is not.")
      .def_property_readonly(
          "memory_bytes",
          [](const planned_table& p) { return p.plan().memory(slot_bytes_of(p.needs)).total(); },
          "All memory.")
      .def_property_readonly(
          "reason", [](const planned_table& p) { return p.proposal.reason; }, "Why this plan.")
      .def("__repr__", [](const planned_table& p) {
        return "<oneprobe.TablePlan: " + std::to_string(p.plan().elements) +
               " elements, load factor " + oneprobe::in_words(p.plan().load_factor()) + ", " +
               std::to_string(p.plan().memory(slot_bytes_of(p.needs)).total()) + " bytes>";
      });
  module.def(
      "plan_table",
      [](std::uint64_t elements, std::uint32_t key_bytes, std::uint32_t value_bytes,
         const std::string& workload, double overflow_fraction, double exceed_probability,
         std::uint32_t choices, std::uint32_t bucket_capacity, std::optional<double> load_factor,
         std::optional<std::uint64_t> bytes) {
        const table_needs needs{.elements = elements,
                                .key_bytes = key_bytes,
                                .value_bytes = value_bytes,
                                .workload = named("workload", workload, table_workloads),
                                .overflow_fraction = overflow_fraction,
                                .exceed_probability = exceed_probability,
                                .largest_choices = choices,
                                .bucket_capacity = bucket_capacity,
                                .load_factor = load_factor,
                                .bytes = bytes};
        const py::gil_scoped_release others_run;
        return planned(needs);
      },
      R"(From what a table must do to a plan of it. workload is 'churn' or 'fill-only'; at most one of
load_factor and bytes is given. ValueError says which need cannot be met, and which is the nearest
that can.)",
      "elements"_a, py::kw_only(), "key_bytes"_a = 8, "value_bytes"_a = 8, "workload"_a = "churn",
      "overflow_fraction"_a = 1e-6, "exceed_probability"_a = 1e-9, "choices"_a = 4,
      "bucket_capacity"_a = 16, "load_factor"_a = py::none(), "bytes"_a = py::none());
}

void add_models(py::module_& module) {
  py::module_ m =
      module.def_submodule("model", R"(What placement, tables and filters will do, by formula.

load_factor is elements over slots, bucket_capacity the slots of a bucket, choices the buckets that
an element may be in. docs/papers.md says where each formula is from.)");
  add_placement_models(m);
  add_filter_models(m);
}

}  // namespace oneprobe::python

PYBIND11_MODULE(_oneprobe, module) {
  using namespace oneprobe::python;
  module.attr("__version__") = oneprobe::version;
  py::register_exception<bad_file>(module, "LoadError", PyExc_ValueError);
  py::register_exception<table_is_full>(module, "FullError", PyExc_RuntimeError);
  add_plans(module);
  add_filters(module);
  add_maps(module);
  add_models(module);
}
