// Place work on resources with few questions: servers, queues, disks, shards.
//
// A job has d ordered candidates. Each one that is looked at costs a probe: the caller is asked for
// the load of that resource. The job goes to the first candidate that admits it, or with a parallel
// scheme to the least loaded. Where power of two choices makes two probes for every job, a
// threshold makes a second one only for those that need it: 1.2 per job, say.
//
//   balancer servers({.scheme = scheme_kind::d_random, .resources = 1000, .choices = 2});
//   assignment job = servers.place(hash, [&](std::uint64_t server) { return ask(server); });
//   if (job.resource) send(*job.resource);
//
//   job --candidate(i)--> resource --probe--> load --admits?--> admitted
//                  ^                   | no answer    | no
//                  +------- i+1 -------+--------------+--> after d: the last resort, or nowhere
//
// A probe that fails is a candidate that turned the job away. A job makes at most d probes. Nothing
// but the plan is remembered: `balancer` is immutable and thread-safe, as far as the caller's probe
// is. `balanced_loads` keeps the loads itself and is for one thread at a time. Construction throws
// std::invalid_argument that names the parameter; nothing else throws, except what a probe throws.
//
// What the loads will be: model/balance.hpp and docs/balancing.md, which also says what holds when
// jobs leave. In short, a threshold chosen for filling is too low for arrivals and departures.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "oneprobe/balancer_plan.hpp"
#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/base/levels.hpp"
#include "oneprobe/detail/placement/admission.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"

namespace oneprobe::inline v0_1 {

/// How the search for a resource ended.
enum class assignment_end : std::uint8_t {
  admitted,    // a candidate admitted the job
  overflowed,  // none did: it goes to the plan's last resort all the same
  nowhere,     // no candidate answered: the caller may try again under another hash
};

/// Where a job goes.
struct assignment {
  std::optional<std::uint64_t> resource{};  // none: nowhere
  std::uint32_t probes = 0;                 // made for this job, failed ones included
  assignment_end end = assignment_end::nowhere;

  friend constexpr bool operator==(const assignment&, const assignment&) = default;
};

/// Asked for the number of a resource, it answers with the load; empty: there was no answer.
template <class LoadOf>
concept load_probe = requires(LoadOf& load_of, std::uint64_t resource) {
  { load_of(resource) } -> std::convertible_to<std::optional<std::uint32_t>>;
};

namespace detail {

/// The caller's resources as a store of placement. Nothing is put anywhere: the walk's answer is
/// the caller's to carry out. It remembers which resources answered, for the last resort.
template <order Choice, load_probe LoadOf>
class probed_resources {
 public:
  struct item {};

  probed_resources(LoadOf& load_of, last_resort resort) : load_of_(&load_of), resort_(resort) {}

  void prefetch(position) const noexcept {}

  /// For parallel schemes: the walk compares.
  std::optional<std::uint32_t> load(position at) const { return ask(at); }

  put_result try_put(position at, item&, std::uint32_t limit) {
    // A parallel scheme has asked every candidate and come back to the best.
    if constexpr (Choice == order::parallel) return put_result::placed;
    const std::optional<std::uint32_t> load = ask(at);
    if (!load) return put_result::unavailable;
    if (*load < limit) return put_result::placed;
    if (!fallback_ || resort_ == last_resort::last_reachable || *load < fallback_load_) {
      fallback_ = at.bucket;
      fallback_load_ = *load;
    }
    return put_result::refused;
  }

  /// Where a job goes that all candidates turned away; empty if none answered.
  std::optional<std::uint64_t> fallback() const noexcept { return fallback_; }

 private:
  std::optional<std::uint32_t> ask(position at) const {
    std::optional<std::uint32_t> load = (*load_of_)(at.bucket);
    // The largest number means "no answer" where loads are compared.
    if (load) *load = std::min(*load, std::numeric_limits<std::uint32_t>::max() - 1);
    return load;
  }

  LoadOf* load_of_;
  last_resort resort_;
  std::optional<std::uint64_t> fallback_{};
  std::uint32_t fallback_load_ = 0;
};

}  // namespace detail

class balancer {
 public:
  /// Balances by this plan. Refuses one that no scheme can follow.
  explicit balancer(const balancer_plan& plan)
      : scheme_(scheme_of(plan)), rule_(rule_of(plan)), resort_(plan.overflow) {}

  /// Where this job goes. The caller sends it there, and counts it in what `load_of` answers from
  /// then on. Equal hashes have the same candidates; all 64 bits must be well mixed.
  template <load_probe LoadOf>
  assignment place(key_hash job, LoadOf&& load_of) const {
    return std::visit([&](const auto& scheme) { return place_by(scheme, job, load_of); }, scheme_);
  }

  /// m: the resources of the plan, numbered from 0.
  std::uint64_t resources() const noexcept {
    return std::visit([](const auto& scheme) { return scheme.buckets(); }, scheme_);
  }
  /// d: the most probes a job makes.
  std::uint32_t choices() const noexcept {
    return std::visit([](const auto& scheme) { return scheme.choices(); }, scheme_);
  }

 private:
  using any_scheme = std::variant<single, sequential, multilevel, d_random, d_left>;

  template <class Scheme, class LoadOf>
  assignment place_by(const Scheme& scheme, key_hash job, LoadOf& load_of) const {
    using store = detail::probed_resources<Scheme::choice, LoadOf>;
    store asked(load_of, resort_);
    placing<Scheme, store> walk(scheme, asked, rule_);
    const auto walked = walk_to_end(walk, walk.start(job));
    if (walked.end == walk_end::placed)
      return {walked.at.bucket, walked.accesses, assignment_end::admitted};
    const std::optional<std::uint64_t> fallback = asked.fallback();
    return {fallback, walked.accesses,
            fallback ? assignment_end::overflowed : assignment_end::nowhere};
  }

  static any_scheme scheme_of(const balancer_plan& plan) {
    if (plan.resources == 0 || plan.resources > detail::most_buckets)
      refuse_parameter("resources must be from 1 to 2^48; found " + std::to_string(plan.resources));
    if (plan.scheme != scheme_kind::multilevel && !plan.level_fractions.empty())
      refuse_parameter("level_fractions are for multilevel, not for " +
                       std::string(name_of(plan.scheme)));
    switch (plan.scheme) {
      case scheme_kind::single:
        return single(plan.resources);
      case scheme_kind::sequential:
        return sequential(plan.resources, plan.choices);
      case scheme_kind::multilevel:
        if (plan.resources < plan.level_fractions.size())
          refuse_parameter("resources must be at least one per level; found " +
                           std::to_string(plan.resources));
        return multilevel(split_into_levels(plan.resources, plan.level_fractions));
      case scheme_kind::d_random:
        return d_random(plan.resources, plan.choices);
      case scheme_kind::d_left:
        if (plan.resources < plan.choices)
          refuse_parameter("resources must be at least one per choice; found " +
                           std::to_string(plan.resources));
        return d_left(plan.resources, plan.choices);
    }
    refuse_parameter("scheme must be one of scheme_kind");
  }

  static admission rule_of(const balancer_plan& plan) {
    if (!plan.threshold) {
      if (plan.admit_probability != 0)
        refuse_parameter("admit_probability must be 0 without a threshold; found " +
                         std::to_string(plan.admit_probability));
      return admission::always();
    }
    if (plan.scheme == scheme_kind::d_random || plan.scheme == scheme_kind::d_left)
      refuse_parameter("threshold is not for " + std::string(name_of(plan.scheme)) +
                       ", which compares loads");
    return {*plan.threshold, plan.admit_probability};
  }

  any_scheme scheme_;
  admission rule_;
  last_resort resort_;
};

/// What became of a departure.
enum class departure_end : std::uint8_t {
  departed,       // the resource has one job less
  nothing_there,  // no such resource, or it has no job
};

/// A balancer with counters of its own, for code that sends the jobs and also learns when they end.
///
///   balanced_loads servers(plan);
///   assignment job = servers.arrive(hash);
///   ...
///   servers.depart(*job.resource);
///
/// Memory: four bytes per resource.
class balanced_loads {
 public:
  /// No resource has a job yet. Refuses a plan that no scheme can follow.
  explicit balanced_loads(const balancer_plan& plan)
      : balancer_(plan), loads_(static_cast<std::size_t>(balancer_.resources())) {}

  /// Places the job and counts it.
  assignment arrive(key_hash job) {
    return arrive(job, [](std::uint64_t) { return true; });
  }
  /// The same where some resources do not answer: `answers(resource)` says whether one does.
  template <std::predicate<std::uint64_t> Answers>
  assignment arrive(key_hash job, Answers&& answers) {
    const assignment placed =
        balancer_.place(job, [&](std::uint64_t resource) -> std::optional<std::uint32_t> {
          if (!answers(resource)) return std::nullopt;
          return loads_[static_cast<std::size_t>(resource)];
        });
    if (placed.resource) ++loads_[static_cast<std::size_t>(*placed.resource)];
    return placed;
  }
  /// One job of this resource has ended.
  departure_end depart(std::uint64_t resource) noexcept {
    if (resource >= loads_.size()) return departure_end::nothing_there;
    std::uint32_t& load = loads_[static_cast<std::size_t>(resource)];
    if (load == 0) return departure_end::nothing_there;
    --load;
    return departure_end::departed;
  }

  /// The jobs of each resource now.
  std::span<const std::uint32_t> loads() const noexcept { return loads_; }
  /// Where jobs go, without the counters.
  const balancer& placement() const noexcept { return balancer_; }

 private:
  balancer balancer_;
  std::vector<std::uint32_t> loads_;
};

}  // namespace oneprobe::inline v0_1
