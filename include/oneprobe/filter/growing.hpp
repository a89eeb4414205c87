// A filter for an unknown number of elements: it begins small and puts a larger filter behind a
// full one, so that the stated error holds however many elements come.
//
//   growing_filter<balanced_filter> seen(1000, 1e-4);    // about 1000 elements, or far more
//   for (const auto& key : keys)
//     if (seen.insert(key) == insert_outcome::added) ...  // the first time
//   std::printf("%zu parts\n", seen.parts().size());
//
//   part          0      1          2                  3             ...
//   elements      n     2 n        4 n                8 n            ...  growth 2
//   error       E (1-t) E (1-t) t  E (1-t) t^2        E (1-t) t^3    ...  tightening t; sum at most
//   E
//
// Promises: never false for a key that was inserted; the error of all parts together is at most the
// stated one, as long as memory can be had. The price against a filter that was told the right n:
// tighter parts, 4 to 10 bits per element more (growing_plan says when); up to twice the memory
// just after it has grown; and a query for an absent key asks every part. If you know n
// within a factor of two, state it and use a plain filter.
//
// An element that an older part may contain already is not inserted again: the older part will go
// on saying yes.
//
// Memory: this is the one filter that allocates after construction, when it grows, which is at an
// insertion and once per part. If there is no memory, or no plan for the next part, the filter is
// as it was, insertions go to the last part beyond its plan, growth() says why, condition() says
// `over_full`, stats() has the error as it is, and growth is tried again with each further eighth
// of that part. Programs built without exceptions end instead, as they do when memory runs out.
//
// Not offered: merge, because two filters that grew apart have no parts in common, and the parts of
// both side by side would have twice the stated error; erase, because nothing says which part
// holds an element.
//
// Threads: const functions may run together; anything else alone. Nothing throws but construction
// and copies. What was moved from can only be assigned to or destroyed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/filter/parts.hpp"
#include "oneprobe/detail/hash/range_hashes.hpp"
#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/filter/default_plan.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/hash_feed.hpp"

namespace oneprobe::inline v0_1 {

/// The tightening that needs least memory for a filter that ends with `times` as many elements as
/// its first part has. A part of error e needs memory in proportion to log(1 / e), so on average an
/// element pays log(1 / E) + log(1 / (1 - t)) + m log(1 / t), where m is the mean number of parts
/// before its own; that is least at t = m / (m + 1). With sizes 1, s, s^2, ..., s^j all full, m is
/// j - 1 / (s - 1) up to terms that vanish. At least 1/2: the parts to come need something, too.
inline double best_tightening(double times, double growth = 2) noexcept {
  const double last = std::log(1 + times * (growth - 1)) / std::log(growth) - 1;
  const double parts_before = std::max(1.0, last - 1 / (growth - 1));
  return parts_before / (parts_before + 1);
}

/// How a filter grows: sizes and errors of its parts.
struct growing_plan {
  std::uint64_t first_elements = 0;  // of the first part
  double fpr = 0;                    // E, of all parts together, above 0 and below 1
  double growth = 2;                 // elements of a part to those of the part before, above 1
  /// Of the error that is left, each part leaves this fraction to those behind it. The default is
  /// the best for 511 times the first elements (nine parts), because it is the filters that have
  /// grown that are large. By the formula above it costs a standard filter, with its 1.44 bits for
  /// each halving of the error, 4.3 bits per element as long as it has one part, 5.2 with five
  /// (31-fold), 6.8 with eleven (2,000-fold) and 9.6 with 21 (two million-fold); the best for each
  /// would be 0 (and could not grow), 4.8, 6.8 and 8.3.
  double tightening = 0.875;
};

/// The first thing about a plan that no filter can grow by, as a sentence; or none.
inline std::optional<std::string> find_fault(const growing_plan& plan) {
  detail::plan_check check;
  check(plan.fpr > 0 && plan.fpr < 1, "fpr", "above 0 and below 1", plan.fpr);
  check(plan.growth > 1 && std::isfinite(plan.growth), "growth", "above 1", plan.growth);
  check(plan.tightening > 0 && plan.tightening < 1, "tightening", "above 0 and below 1",
        plan.tightening);
  return check.fault;
}

/// Why the filter has its number of parts. The values are written to files.
enum class growth_state : std::uint8_t {
  as_planned = 0,  // a part was added whenever one was full
  no_memory = 1,   // the last attempt failed, and so the last part is over-full
  no_plan = 2,     // there is no plan for so many elements at so small an error
};

/// How far a filter has come: with its parts, all that it needs to go on as if nothing had been.
struct growing_progress {
  growing_plan plan{};        // it follows this one
  double left = 0;            // of the stated error, for parts to come
  std::uint64_t grow_at = 0;  // elements of the newest part at which the next one is due
  growth_state growth = growth_state::as_planned;  // why it has as many parts as it has
};

template <whole_filter Filter>
class growing_filter : public filter_parts<Filter> {
  using base = filter_parts<Filter>;

 public:
  using hash_type = typename base::hash_type;  // of every part
  /// From elements and error to the plan of a part.
  using planner = std::function<filter_plan(std::uint64_t elements, double fpr)>;

  /// Empty, with a secret random seed unless a hash is given; parts from the default plans.
  growing_filter(std::uint64_t first_elements, double fpr,
                 hash_type hash = hash_type(random_seed()))
      : growing_filter(growing_plan{.first_elements = first_elements, .fpr = fpr},
                       std::move(hash)) {}
  explicit growing_filter(const growing_plan& plan, hash_type hash = hash_type(random_seed()))
      : growing_filter(plan, default_planner(), std::move(hash)) {}
  /// The same with parts as the caller plans them. Plans must keep to the error they are asked for;
  /// what `predicted.fpr` leaves over goes to the parts that follow.
  growing_filter(const growing_plan& plan, planner plan_part,
                 hash_type hash = hash_type(random_seed()))
      : base(checked(plan).fpr, std::move(hash)),
        plan_(plan),
        plan_part_(std::move(plan_part)),
        left_(plan.fpr) {
    add_part(part_plan(plan.first_elements));
  }
  /// A filter that goes on from where another was: how a file is loaded. Without a planner, parts
  /// to come are from the default plans. REQUIRES: one hash for all parts, the oldest first.
  growing_filter(const growing_progress& progress, std::vector<Filter> parts,
                 planner plan_part = {})
      : base(progress.plan.fpr, checked(progress, std::move(parts))),
        plan_(progress.plan),
        plan_part_(plan_part ? std::move(plan_part) : default_planner()),
        left_(progress.left),
        first_error_(error_of(this->parts_.front().plan(), plan_.fpr, plan_)),
        grow_at_(progress.grow_at),
        growth_(progress.growth) {}

  /// Always succeeds. Says whether may_contain would have said yes before.
  template <class Key>
  requires hashes_or_is_hash<hash_type, Key> insert_outcome insert(const Key& key)
  noexcept(hashes_without_throwing<hash_type, Key>) {
    const key_hash hash = this->hash_of(key);
    if (room() == 0) {
      if (this->any_of(this->parts_, hash)) return insert_outcome::possibly_present;
      grow();
    } else if (this->any_of(older(), hash)) {
      return insert_outcome::possibly_present;
    }
    return newest().insert(hash);
  }

  /// Inserts all keys of a range, with memory asked ahead; the same bytes as one after the other.
  /// Returns how many were surely not there before.
  template <bulk_keys<hash_type> Keys>
  std::uint64_t bulk_insert(const Keys& keys) {
    return bulk_insert(range_hashes(this->hash(), keys).feed());
  }
  /// The same for hashes that are made when they are needed.
  std::uint64_t bulk_insert(const hash_feed& hashes) {
    std::uint64_t added = 0;
    for (std::size_t first = 0; first < hashes.size(); first += base::most_pending) {
      typename base::pending_keys pending(hashes, first,
                                          std::min(base::most_pending, hashes.size() - first));
      this->take_out_known(older(), pending, [](key_hash) {});
      added += insert_pending(pending);
    }
    return added;
  }

  /// As after construction: the first part, empty. The memory of the others is given back.
  void clear() noexcept {
    this->parts_.erase(this->parts_.begin() + 1, this->parts_.end());
    newest().clear();
    left_ = plan_.fpr - first_error_;
    growth_ = growth_state::as_planned;
    grow_at_ = newest().plan().elements;
  }
  void swap(growing_filter& other) noexcept { std::swap(*this, other); }
  friend void swap(growing_filter& a, growing_filter& b) noexcept { a.swap(b); }

  /// Elements of the part that comes next. For 2^40 there is no plan anyway: the planner is to say
  /// so.
  std::uint64_t elements_of_next_part() const noexcept {
    const double wanted =
        std::ceil(static_cast<double>(this->parts_.back().plan().elements) * plan_.growth);
    return static_cast<std::uint64_t>(
        std::min(wanted, static_cast<double>(filter_plan::most_bits)));
  }
  /// The error that the plan of the part that comes next may have.
  double error_of_next_part() const noexcept { return left_ * (1 - plan_.tightening); }
  /// Puts an empty part of this plan behind the newest one, before an insertion does so by itself:
  /// for callers that check whether it works. If not, the filter is as it was.
  [[nodiscard]] growth_state grow_by(const filter_plan& part) noexcept {
    if (oneprobe::find_fault(part) || !(error_of(part, left_, plan_) < left_))
      return growth_state::no_plan;
#if defined(__cpp_exceptions)
    try {
#endif
      add_part(part);
#if defined(__cpp_exceptions)
    } catch (const std::bad_alloc&) {
      return growth_state::no_memory;
    } catch (...) {
      return growth_state::no_plan;  // of another kind
    }
#endif
    return growth_state::as_planned;
  }

  /// Why the filter has its number of parts.
  growth_state growth() const noexcept { return growth_; }
  /// How far it has come, for code that saves it.
  growing_progress progress() const noexcept {
    return {.plan = plan_, .left = left_, .grow_at = grow_at_, .growth = growth_};
  }

  /// What no filter with these parts can have come to, as a sentence; or none.
  static std::optional<std::string> find_fault(const growing_progress& progress,
                                               std::span<const Filter> parts) {
    if (auto fault = oneprobe::find_fault(progress.plan)) return fault;
    detail::plan_check check;
    check(!parts.empty(), "parts", "1 or more", parts.size());
    if (check.fault) return check.fault;
    double left = progress.plan.fpr;
    for (const Filter& part : parts) left -= error_of(part.plan(), left, progress.plan);
    // Machines round the difference of a product in one step or in two.
    const double rounding = 1e-9 * progress.plan.fpr;
    check(progress.left > 0 && std::abs(progress.left - left) <= rounding, "left",
          "what the parts leave of the stated error", progress.left);

    const filter_plan& newest = parts.back().plan();
    const std::uint64_t size = parts.back().counts().size;
    const std::uint64_t grow_at = progress.grow_at;
    if (progress.growth == growth_state::as_planned)
      check(grow_at == newest.elements && size <= grow_at, "grow_at",
            "the planned elements of the newest part, and not passed", grow_at);
    else
      check(grow_at > newest.elements && grow_at <= most_counted && size <= grow_at &&
                grow_at - size <= until_next_attempt(newest.elements),
            "grow_at", "at most an eighth of the newest part away", grow_at);
    return check.fault;
  }

 private:
  /// No count gets so far; beyond it sums could wrap around.
  static constexpr std::uint64_t most_counted = std::uint64_t{1} << 62;

  static const growing_plan& checked(const growing_plan& plan) {
    if (const auto fault = oneprobe::find_fault(plan)) refuse_parameter(*fault);
    return plan;
  }
  static std::vector<Filter> checked(const growing_progress& progress, std::vector<Filter> parts) {
    if (const auto fault = find_fault(progress, parts)) refuse_parameter(*fault);
    return parts;
  }

  static planner default_planner() {
    // Where the default plans end, the parts end being tighter, and their number is limited.
    return [](std::uint64_t elements, double fpr) {
      return Filter::engine_type::default_plan(
          elements, std::clamp(fpr, default_plan_least_fpr, default_plan_largest_fpr));
    };
  }
  filter_plan part_plan(std::uint64_t elements) const {
    return plan_part_(elements, error_of_next_part());
  }
  /// What a part of this plan takes of the error that is left.
  static double error_of(const filter_plan& part, double left, const growing_plan& plan) noexcept {
    return part.predicted.fpr > 0 ? part.predicted.fpr : left * (1 - plan.tightening);
  }
  /// After an attempt that failed, so many more elements come before the next.
  static std::uint64_t until_next_attempt(std::uint64_t planned_elements) noexcept {
    return std::max<std::uint64_t>(1, planned_elements / 8);
  }

  /// Everything that can fail comes before anything is changed.
  void add_part(const filter_plan& part) {
    const double error = error_of(part, left_, plan_);
    if (error >= left_)
      refuse_parameter("the planned error of a part must be below " + in_words(left_) + "; found " +
                       in_words(error));
    Filter filter(part, this->hash_);
    this->parts_.push_back(std::move(filter));
    if (this->parts_.size() == 1) first_error_ = error;
    left_ -= error;
    growth_ = growth_state::as_planned;
    grow_at_ = part.elements;
  }

  void grow() noexcept {
    const std::uint64_t full = newest().plan().elements;
    growth_ = growth_state::no_plan;
#if defined(__cpp_exceptions)
    try {
#endif
      growth_ = grow_by(part_plan(elements_of_next_part()));
#if defined(__cpp_exceptions)
    } catch (...) {
      // The planner found none, and said so in its own way.
    }
#endif
    if (growth_ != growth_state::as_planned)
      grow_at_ = newest().counts().size + until_next_attempt(full);
  }

  /// Keys that no older part knows go to the newest, up to its room, then to the one behind it.
  std::uint64_t insert_pending(typename base::pending_keys& pending) {
    std::uint64_t added = 0;
    std::size_t done = 0;
    while (done != pending.count) {
      if (room() == 0) {
        // The newest is full: what it does not know either needs another part.
        std::copy(pending.hashes.begin() + static_cast<std::ptrdiff_t>(done),
                  pending.hashes.begin() + static_cast<std::ptrdiff_t>(pending.count),
                  pending.hashes.begin());
        pending.count -= std::exchange(done, 0);
        this->take_out_known(std::span<const Filter>(this->parts_).last(1), pending,
                             [](key_hash) {});
        if (pending.count == 0) break;
        grow();
      }
      // Each key takes at most one element's room, so none is put where the scalar way would not.
      const std::size_t count =
          static_cast<std::size_t>(std::min<std::uint64_t>(room(), pending.count - done));
      added += newest().bulk_insert(pending.remaining().subspan(done, count));
      done += count;
    }
    return added;
  }

  /// Elements that the newest part takes before the filter should grow.
  std::uint64_t room() const noexcept {
    const std::uint64_t size = this->parts_.back().counts().size;
    return size < grow_at_ ? grow_at_ - size : 0;
  }
  Filter& newest() noexcept { return this->parts_.back(); }
  std::span<const Filter> older() const noexcept {
    return std::span<const Filter>(this->parts_).first(this->parts_.size() - 1);
  }

  growing_plan plan_;
  planner plan_part_;
  double left_;  // of the stated error, for parts to come
  double first_error_ = 0;
  std::uint64_t grow_at_ = 0;  // elements of the newest part
  growth_state growth_ = growth_state::as_planned;
};

}  // namespace oneprobe::inline v0_1
