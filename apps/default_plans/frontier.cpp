// Writes apps/explorer/filter_frontier.json to standard output: the least error that the planner
// reaches with so many bits per element, for every kind of filter and every setting of the
// explorer's sliders.
//
//   oneprobe_filter_frontier > apps/explorer/filter_frontier.json
//   oneprobe_filter_frontier 17 42                # these lines alone, by their number
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "oneprobe/plan/filter.hpp"

namespace {

using namespace oneprobe;

/// So many that all sizes are nearly those of the limit.
constexpr std::uint64_t elements = 10'000'000;
constexpr std::array<double, 14> all_bits{4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 36, 40};
constexpr std::array<std::uint32_t, 3> all_choices{1, 2, 3};
constexpr std::array<double, 4> all_accesses{1.05, 1.1, 1.2, 1.5};
constexpr std::array<double, 5> all_overfill{0, 0.02, 0.05, 0.1, 0.2};

/// One line of the file: a kind, and what it may do where it has a choice.
struct curve {
  filter_kind kind;
  std::optional<std::uint32_t> choices{};
  std::optional<double> accesses{};
  std::optional<double> overfill{};
};

std::vector<curve> all_curves() {
  std::vector<curve> curves;
  for (const filter_kind kind : {filter_kind::standard, filter_kind::partitioned,
                                 filter_kind::blocked, filter_kind::counting})
    curves.push_back({.kind = kind});
  for (const filter_kind kind : {filter_kind::balanced, filter_kind::fingerprint})
    for (const std::uint32_t choices : all_choices)
      for (const double accesses : all_accesses)
        for (const double overfill : all_overfill)
          curves.push_back(
              {.kind = kind, .choices = choices, .accesses = accesses, .overfill = overfill});
  return curves;
}

std::optional<filter_plan> planned(const curve& of, double bits_per_element) {
  filter_needs needs;
  needs.elements = elements;
  needs.bits_per_element = bits_per_element;
  needs.kind = of.kind;
  needs.accesses = of.accesses;
  needs.largest_choices = of.choices.value_or(needs.largest_choices);
  needs.overfill = of.overfill;
  needs.detail = plan_detail::plan_only;
  return plan_filter(needs).plan;
}

/// A number that JSON has, or null.
std::string shown(const std::optional<double>& value) {
  if (!value) return "null";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.5g", *value);
  return text.data();
}

void write(const curve& of) {
  std::string fpr, accesses;
  for (const double bits : all_bits) {
    const std::optional<filter_plan> plan = planned(of, bits);
    if (!fpr.empty()) {
      fpr += ", ";
      accesses += ", ";
    }
    fpr += shown(plan ? std::optional(plan->predicted.fpr) : std::nullopt);
    accesses += shown(plan ? std::optional(plan->predicted.miss_accesses) : std::nullopt);
  }
  std::printf("{\"kind\": \"%s\"", std::string(name_of(of.kind)).c_str());
  if (of.choices)
    std::printf(", \"choices\": %u, \"accesses\": %g, \"overfill\": %g", *of.choices, *of.accesses,
                *of.overfill);
  std::printf(", \"fpr\": [%s], \"miss_accesses\": [%s]}", fpr.c_str(), accesses.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<curve> curves = all_curves();
  if (argc > 1) {
    for (int i = 1; i < argc; ++i) {
      const std::size_t number = std::strtoul(argv[i], nullptr, 10);
      if (number >= curves.size()) {
        std::fprintf(stderr, "there are lines 0 to %zu; found %s\n", curves.size() - 1, argv[i]);
        return 2;
      }
      write(curves[number]);
      std::puts("");
    }
    return 0;
  }
  std::printf("{\"elements\": %llu,\n\"bits_per_element\": [",
              static_cast<unsigned long long>(elements));
  for (std::size_t i = 0; i < all_bits.size(); ++i)
    std::printf("%s%g", i == 0 ? "" : ", ", all_bits[i]);
  std::printf("],\n\"curves\": [\n");
  for (std::size_t i = 0; i < curves.size(); ++i) {
    write(curves[i]);
    std::puts(i + 1 < curves.size() ? "," : "");
    std::fflush(stdout);
  }
  std::puts("]}");
}
