#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/measuring.hpp"
#include "demo/findings.hpp"
#include "handles/held_filter.hpp"

namespace oneprobe::cli::demo {
namespace {

constexpr std::uint64_t seed = 2008;
constexpr std::uint64_t absent_names = 10'000'000;
constexpr std::uint64_t fewer_absent_names = 3'000'000;  // where only a point of a chart is wanted
constexpr std::uint64_t counted_names = 200'000;         // of which the lines are counted
constexpr std::uint64_t at_a_time = 100'000;
// Names beyond these were never inserted, however over-full a filter gets.
constexpr std::uint64_t first_absent = 2 * name_count;

/// As people number their users: nothing random about them.
std::string user_name(std::uint64_t number) {
  std::string digits = std::to_string(number);
  return "user-" + std::string(8 - std::min<std::size_t>(8, digits.size()), '0') + digits +
         "@example.org";
}

std::vector<std::string> user_names(std::uint64_t first, std::uint64_t count) {
  std::vector<std::string> made;
  made.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) made.push_back(user_name(first + i));
  return made;
}

void insert_names(held_filter& filter, std::uint64_t first, std::uint64_t end) {
  for (; first < end; first += at_a_time)
    filter.bulk_insert(user_names(first, std::min(at_a_time, end - first)));
}

/// How many of the names may be there; adds the time it took.
std::uint64_t ask(const held_filter& filter, const std::vector<std::string>& names, double& ns) {
  const auto answers = std::make_unique<bool[]>(names.size());
  const double begin = cpu_ns();
  const std::uint64_t yes = filter.bulk_may_contain(names, std::span(answers.get(), names.size()));
  ns += cpu_ns() - begin;
  return yes;
}

/// What two filters said to the same names.
struct tally {
  std::uint64_t asked = 0;
  std::uint64_t ours = 0, beside = 0;  // may be there
  double our_ns = 0, beside_ns = 0;
};

tally ask_both(const held_filter& ours, const held_filter& beside, std::uint64_t first,
               std::uint64_t count) {
  tally found;
  for (; found.asked < count; found.asked += at_a_time) {
    const std::vector<std::string> names = user_names(first + found.asked, at_a_time);
    found.ours += ask(ours, names, found.our_ns);
    found.beside += ask(beside, names, found.beside_ns);
  }
  return found;
}

double share(double of, std::uint64_t asked) { return of / static_cast<double>(asked); }

/// Of names spread over `name_count`: those that came first found more room.
double lines_of(const held_filter& filter, std::uint64_t first) {
  constexpr std::uint64_t step = name_count / counted_names;
  std::uint64_t lines = 0;
  for (std::uint64_t i = 0; i < counted_names; ++i)
    lines += filter.explain(user_name(first + i * step)).lines;
  return static_cast<double>(lines) / static_cast<double>(counted_names);
}

/// What a filter of all names is, but for its answers.
filter_measure measure(const held_filter& filter) {
  return {.miss_lines = lines_of(filter, first_absent),
          .hit_lines = lines_of(filter, 0),
          .overflow = filter.stats().counts.overflow,
          .memory_bytes = filter.memory().size()};
}

void measure_both(const held_filter& ours, const held_filter& beside, const tally& absent,
                  filter_findings& found) {
  const tally present = ask_both(ours, beside, 0, name_count);
  if (present.ours != name_count || present.beside != name_count)
    throw std::runtime_error("a filter denied a name that it holds");
  found.ours = measure(ours);
  found.beside = measure(beside);
  found.ours.asked = found.beside.asked = absent.asked;
  found.ours.fpr = share(static_cast<double>(absent.ours), absent.asked);
  found.beside.fpr = share(static_cast<double>(absent.beside), absent.asked);
  found.ours.bulk_query_ns = share(absent.our_ns, absent.asked);
  found.beside.bulk_query_ns = share(absent.beside_ns, absent.asked);
}

/// Fills both filters beyond what they were planned for, and asks them on the way.
void fill_and_ask(held_filter& ours, const teller& tell, filter_findings& found) {
  struct stop {
    double factor;
    std::uint64_t asked;
  };
  constexpr std::array<stop, 11> stops{{{0.6, fewer_absent_names},
                                        {0.7, fewer_absent_names},
                                        {0.8, fewer_absent_names},
                                        {0.9, fewer_absent_names},
                                        {1.0, absent_names},
                                        {1.01, absent_names},
                                        {1.02, fewer_absent_names},
                                        {1.03, fewer_absent_names},
                                        {1.05, absent_names},
                                        {1.1, fewer_absent_names},
                                        {1.2, fewer_absent_names}}};
  held_filter beside(found.blocked, seeded_hash(seed));
  std::uint64_t inserted = 0;
  for (std::size_t i = 0; i < stops.size(); ++i) {
    tell(share(static_cast<double>(i), stops.size()));
    const auto elements =
        static_cast<std::uint64_t>(std::llround(stops[i].factor * static_cast<double>(name_count)));
    insert_names(ours, inserted, elements);
    insert_names(beside, inserted, elements);
    inserted = elements;
    const tally absent = ask_both(ours, beside, first_absent, stops[i].asked);
    found.looks.push_back({.factor = stops[i].factor,
                           .predicted_fpr = forecast(*found.proposal.plan, elements).predicted.fpr,
                           .fpr = share(static_cast<double>(absent.ours), absent.asked),
                           .blocked_fpr = share(static_cast<double>(absent.beside), absent.asked),
                           .asked = absent.asked});
    if (elements == name_count) measure_both(ours, beside, absent, found);
  }
}

filter_plan plan_of(const filter_needs& needs, filter_proposal& whole) {
  whole = plan_filter(needs);
  if (!whole.plan) throw std::runtime_error(whole.reason);
  return *whole.plan;
}

}  // namespace

filter_findings try_filter(const teller& tell) {
  filter_findings found;
  const filter_plan plan = plan_of({.elements = name_count, .fpr = wanted_fpr}, found.proposal);
  filter_proposal other;
  found.blocked = plan_of({.elements = name_count,
                           .bytes = plan.memory().total(),
                           .kind = filter_kind::blocked,
                           .detail = plan_detail::plan_only},
                          other);
  held_filter ours(plan, seeded_hash(seed));
  fill_and_ask(ours, tell, found);
  tell(1);
  return found;
}

}  // namespace oneprobe::cli::demo
