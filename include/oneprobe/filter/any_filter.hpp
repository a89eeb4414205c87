// Filters for programs that do not know which kind they get: tools, servers that are given a path
// or a plan.
//
//   any_filter made = make_any(plan);
//
//   loaded<any_filter> filter = load_any("seen.filter");
//   if (!filter) return complain(filter.failure().sentence);
//   bool maybe = std::visit([](const auto& f) { return f.may_contain("a key"); }, *filter);
//
//   loaded<any_mapped_filter> mapped = map_any("seen.filter");
//   ... std::visit([](const auto& m) { return m->may_contain("a key"); }, *mapped);
//
// The filters with seeded_hash only: for keys hashed by a policy of your own, say the type. Limits
// and thread-safety are those of filter/file.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/filter/balanced.hpp"
#include "oneprobe/filter/blocked.hpp"
#include "oneprobe/filter/counting.hpp"
#include "oneprobe/filter/file.hpp"
#include "oneprobe/filter/fingerprint.hpp"
#include "oneprobe/filter/partitioned.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/standard.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/scheme_kind.hpp"

namespace oneprobe::inline v0_1 {

/// One alternative for each kind of filter, the balanced one with each scheme.
using any_filter = std::variant<
    standard_filter, partitioned_filter, blocked_filter, counting_filter,
    basic_balanced_filter<single, seeded_hash>, basic_balanced_filter<sequential, seeded_hash>,
    basic_balanced_filter<multilevel, seeded_hash>, basic_balanced_filter<d_random, seeded_hash>,
    basic_balanced_filter<d_left, seeded_hash>, fingerprint_filter>;

/// Calls `visit` with the std::type_identity of the filter that a plan is for: how a tool builds
/// whatever a plan says. REQUIRES: a plan without a fault.
template <class Visit>
auto with_filter_of(const filter_plan& plan, Visit visit) {
  switch (plan.kind) {
    case filter_kind::standard:
      return visit(std::type_identity<standard_filter>());
    case filter_kind::partitioned:
      return visit(std::type_identity<partitioned_filter>());
    case filter_kind::blocked:
      return visit(std::type_identity<blocked_filter>());
    case filter_kind::counting:
      return visit(std::type_identity<counting_filter>());
    case filter_kind::fingerprint:
      return visit(std::type_identity<fingerprint_filter>());
    case filter_kind::balanced:
      break;
  }
  switch (plan.scheme) {
    case scheme_kind::single:
      return visit(std::type_identity<basic_balanced_filter<single, seeded_hash>>());
    case scheme_kind::sequential:
      return visit(std::type_identity<basic_balanced_filter<sequential, seeded_hash>>());
    case scheme_kind::multilevel:
      break;
    case scheme_kind::d_random:
      return visit(std::type_identity<basic_balanced_filter<d_random, seeded_hash>>());
    case scheme_kind::d_left:
      return visit(std::type_identity<basic_balanced_filter<d_left, seeded_hash>>());
  }
  return visit(std::type_identity<basic_balanced_filter<multilevel, seeded_hash>>());
}

/// An empty filter that follows a plan, whatever its kind. Refuses a plan with a fault.
inline any_filter make_any(const filter_plan& plan, seeded_hash hash = seeded_hash(random_seed())) {
  check_plan(plan, plan.kind);
  return with_filter_of(plan, [&]<class Filter>(std::type_identity<Filter>) {
    return any_filter(Filter(plan, hash));
  });
}

namespace detail {

template <class Variant>
struct each_mapped;
template <class... Filter>
struct each_mapped<std::variant<Filter...>> {
  using type = std::variant<mapped_filter<Filter>...>;
};

template <class Any, class T>
loaded<Any> as_any(loaded<T> from) {
  if (!from) return std::move(from).failure();
  return Any(*std::move(from));
}

}  // namespace detail

/// The same in mapped files.
using any_mapped_filter = detail::each_mapped<any_filter>::type;

/// As load, for whatever kind the file holds.
inline loaded<any_filter> load_any(const std::string& path) {
  const loaded<file_facts> facts = read_facts(path);
  if (!facts) return facts.failure();
  return with_filter_of(facts->plan, [&]<class Filter>(std::type_identity<Filter>) {
    return detail::as_any<any_filter>(load<Filter>(path));
  });
}

/// As load_from.
inline loaded<any_filter> load_any_from(std::span<const std::byte> bytes) {
  const loaded<file_facts> facts = read_facts(bytes);
  if (!facts) return facts.failure();
  return with_filter_of(facts->plan, [&]<class Filter>(std::type_identity<Filter>) {
    return detail::as_any<any_filter>(load_from<Filter>(bytes));
  });
}

/// As mapped_filter::map.
inline loaded<any_mapped_filter> map_any(const std::string& path) {
  const loaded<file_facts> facts = read_facts(path);
  if (!facts) return facts.failure();
  return with_filter_of(facts->plan, [&]<class Filter>(std::type_identity<Filter>) {
    return detail::as_any<any_mapped_filter>(mapped_filter<Filter>::map(path));
  });
}

}  // namespace oneprobe::inline v0_1
