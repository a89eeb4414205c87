#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/measuring.hpp"
#include "demo/findings.hpp"
#include "oneprobe/filter/blocked.hpp"
#include "oneprobe/filter/fingerprint.hpp"

namespace oneprobe::cli::demo {
namespace {

constexpr std::uint64_t seed = 2008;
constexpr std::uint64_t absent_names = 10'000'000;
constexpr std::uint64_t counted_names = 200'000;  // of which the lines are counted
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

template <class Filter>
void insert_names(Filter& filter, std::uint64_t first, std::uint64_t end) {
  for (; first < end; first += at_a_time)
    filter.bulk_insert(user_names(first, std::min(at_a_time, end - first)));
}

/// How many of the names from `first` on may be there; adds the time it took.
template <class Filter>
std::uint64_t ask(const Filter& filter, std::uint64_t first, double& ns) {
  const std::vector<std::string> asked = user_names(first, at_a_time);
  const auto answers = std::make_unique<bool[]>(at_a_time);
  const double begin = cpu_ns();
  const std::uint64_t yes = filter.bulk_may_contain(asked, std::span(answers.get(), at_a_time));
  ns += cpu_ns() - begin;
  return yes;
}

/// Of names spread over `name_count`: those that came first found more room.
template <class Filter>
double lines_of(const Filter& filter, std::uint64_t first) {
  constexpr std::uint64_t step = name_count / counted_names;
  std::uint64_t lines = 0;
  for (std::uint64_t i = 0; i < counted_names; ++i)
    lines += filter.explain(user_name(first + i * step)).lines;
  return static_cast<double>(lines) / static_cast<double>(counted_names);
}

template <class Filter>
filter_measure measure(const Filter& filter, const teller& tell) {
  filter_measure found;
  double ns = 0;
  for (std::uint64_t i = 0; i < name_count; i += at_a_time)
    found.lost += at_a_time - ask(filter, i, ns);
  if (found.lost != 0) throw std::runtime_error("the filter denied a name that it holds");
  ns = 0;
  std::uint64_t wrong = 0;
  for (; found.asked < absent_names; found.asked += at_a_time) {
    wrong += ask(filter, first_absent + found.asked, ns);
    tell(static_cast<double>(found.asked) / static_cast<double>(absent_names));
  }
  found.fpr = static_cast<double>(wrong) / static_cast<double>(found.asked);
  found.bulk_query_ns = ns / static_cast<double>(found.asked);
  found.negative_lines = lines_of(filter, first_absent);
  found.positive_lines = lines_of(filter, 0);
  found.overflow = filter.stats().counts.overflow;
  found.memory_bytes = filter.memory().size();
  return found;
}

filter_plan plan_of(const filter_needs& needs, filter_proposal& whole) {
  whole = plan_filter(needs);
  if (!whole.plan) throw std::runtime_error(whole.reason);
  return *whole.plan;
}

}  // namespace

filter_findings try_filter(const teller& tell) {
  filter_findings found;
  const filter_plan plan =
      plan_of({.elements = name_count, .fpr = wanted_fpr, .kind = filter_kind::fingerprint},
              found.proposal);
  filter_proposal other;
  found.blocked = plan_of({.elements = name_count,
                           .bytes = plan.memory().total(),
                           .kind = filter_kind::blocked,
                           .detail = plan_detail::plan_only},
                          other);
  const seeded_hash hash(seed);
  fingerprint_filter ours(plan, hash);
  blocked_filter beside(found.blocked, hash);

  constexpr std::array factors{0.6, 0.7, 0.8, 0.9, 1.0, 1.01, 1.02, 1.03, 1.05, 1.1, 1.2};
  std::uint64_t inserted = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const auto elements =
        static_cast<std::uint64_t>(factors[i] * static_cast<double>(name_count) + 0.5);
    insert_names(ours, inserted, elements);
    insert_names(beside, inserted, elements);
    inserted = elements;
    found.looks.push_back({.factor = factors[i],
                           .predicted_fpr = forecast(plan, elements).predicted.fpr,
                           .fpr = ours.stats().current_fpr,
                           .blocked_fpr = beside.stats().current_fpr});
    if (elements != name_count) continue;
    found.ours = measure(ours, [&](double done) { tell(0.1 + 0.4 * done); });
    found.beside = measure(beside, [&](double done) { tell(0.5 + 0.4 * done); });
  }
  tell(1);
  return found;
}

}  // namespace oneprobe::cli::demo
