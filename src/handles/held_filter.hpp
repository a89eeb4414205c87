// A filter of any kind, compiled once: for programs that learn at run time which kind it is.
//
//   held_filter seen(plan, seeded_hash(seed));                 // whatever the plan's kind
//   seen.insert("a key");
//   loaded<held_filter> again = load<held_filter>("seen.filter");          // filter/file.hpp
//   loaded<mapped_filter<held_filter>> mapped = mapped_filter<held_filter>::map("seen.filter");
//
//   key --basic_filter, here--> key_hash --filter_handle--> | engine of the plan's kind, compiled
//   in
//                                                           | oneprobe::handles
//
// A held_filter has the interface of every filter (filter/basic_filter.hpp), the same answers and
// the same bytes. Code that includes this header compiles none of the engines, and need not be
// compiled again when one of them changes.
//
// The handle is what an interface for C stands on. What goes through it are pointers, numbers and
// plain structs, and no exception starts behind it: what cannot be made is reported as an
// outcome, which the handle's constructors turn into the usual refusals. Only a hash_feed that
// throws is not stopped; the exception is its owner's.
//
// Each call is dispatched once: bulk calls not for each key. Threads: as every filter.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/erase_outcome.hpp"
#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/hash_feed.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {

/// Whether filters of a plan can give back what was inserted.
constexpr bool can_erase(const filter_plan& plan) noexcept {
  return plan.kind == filter_kind::counting;
}

namespace detail {

/// An engine of some kind, seen from outside the library.
class held_engine {
 public:
  struct made;
  /// An engine that follows the plan, in this memory. REQUIRES: as many bytes as plan.memory().
  static made make(const filter_plan& plan, line_memory memory,
                   const filter_counts& counts) noexcept;

  held_engine() noexcept = default;
  held_engine(const held_engine&) = delete;
  held_engine& operator=(const held_engine&) = delete;
  virtual ~held_engine() = default;

  /// The same with memory of its own; null if there is none.
  virtual std::unique_ptr<held_engine> copy() const noexcept = 0;

  virtual insert_outcome insert(key_hash hash) noexcept = 0;
  virtual std::uint64_t insert_all(const hash_feed& hashes) = 0;
  virtual bool may_contain(key_hash hash) const noexcept = 0;
  virtual void query_all(const hash_feed& hashes, bool* answers) const = 0;
  virtual lookup_path explain(key_hash hash) const noexcept = 0;
  /// REQUIRES: can_erase(plan()).
  virtual erase_outcome erase(key_hash hash) noexcept = 0;
  /// REQUIRES: same_shape(plan(), other.plan()).
  virtual void merge(const held_engine& other) noexcept = 0;
  virtual void clear() noexcept = 0;

  virtual const filter_plan& plan() const noexcept = 0;
  virtual filter_counts counts() const noexcept = 0;
  virtual std::span<const std::byte> memory() const noexcept = 0;
  virtual double current_fpr() const noexcept = 0;
  virtual double fill_fraction() const noexcept = 0;
};

/// An engine, or why there is none.
struct held_engine::made {
  std::unique_ptr<held_engine> engine{};
  std::string refusal{};  // empty: there was no memory
};

}  // namespace detail

/// The engine of a held_filter.
class filter_handle {
 public:
  filter_handle(const filter_plan& plan, line_memory memory, const filter_counts& counts)
      : held_(value_of(detail::held_engine::make(plan, std::move(memory), counts))) {}
  filter_handle(const filter_handle& other) : held_(value_of({other.held_->copy()})) {}
  filter_handle(filter_handle&&) noexcept = default;
  filter_handle& operator=(const filter_handle& other) {
    return *this = filter_handle(other);  // a copy that finds no memory leaves all as it was
  }
  filter_handle& operator=(filter_handle&&) noexcept = default;
  ~filter_handle() = default;

  insert_outcome insert(key_hash hash) noexcept { return held_->insert(hash); }
  std::uint64_t insert_all(const hash_feed& hashes) { return held_->insert_all(hashes); }
  bool may_contain(key_hash hash) const noexcept { return held_->may_contain(hash); }
  void query_all(const hash_feed& hashes, bool* answers) const {
    held_->query_all(hashes, answers);
  }
  lookup_path explain(key_hash hash) const noexcept { return held_->explain(hash); }
  /// REQUIRES: can_erase(plan()).
  erase_outcome erase(key_hash hash) noexcept {
    assert(can_erase(plan()));
    return held_->erase(hash);
  }
  void merge(const filter_handle& other) noexcept { held_->merge(*other.held_); }
  void clear() noexcept { held_->clear(); }

  const filter_plan& plan() const noexcept { return held_->plan(); }
  filter_counts counts() const noexcept { return held_->counts(); }
  std::span<const std::byte> memory() const noexcept { return held_->memory(); }
  double current_fpr() const noexcept { return held_->current_fpr(); }
  double fill_fraction() const noexcept { return held_->fill_fraction(); }

 private:
  static std::unique_ptr<detail::held_engine> value_of(detail::held_engine::made made) {
    if (!made.refusal.empty()) refuse_parameter(made.refusal);
    if (!made.engine) throw std::bad_alloc();
    return std::move(made.engine);
  }

  std::unique_ptr<detail::held_engine> held_;
};

/// A filter of any kind.
using held_filter = basic_filter<filter_handle, seeded_hash>;
/// Its lookups, also over memory that it does not own.
using held_reader = filter_reader<filter_handle, seeded_hash>;

}  // namespace oneprobe::inline v0_1
