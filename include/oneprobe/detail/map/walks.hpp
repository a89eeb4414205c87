// What joins schemes and buckets for the tables: keys to look for, elements to construct, stores in
// a table's memory. For the maps; there is nothing here to call.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/map/tagged_buckets.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/placement/of_levels.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/map/plan.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1::detail {

/// When the line of slots is asked for. A lookup on its own asks before it has read the tags, and
/// waits once instead of twice; of many lookups at once each asks when its tags have come, and
/// those that need no slots ask for none.
enum class slots_prefetch { before_tags, after_tags };

/// A key that is looked for. The caller keeps it alive.
template <class Query>
struct wanted_key {
  key_hash hash;
  const Query* query;
};

/// The keys of a span, as a ring of walks takes them.
template <class Key, class HashOf>
struct keys_ahead {
  const Key* keys;
  const HashOf& hash_of;

  wanted_key<Key> operator()(std::size_t i) const { return {hash_of(i), keys + i}; }
  void ask_for(std::size_t first, std::size_t count) const noexcept {
    prefetch_bytes_ahead(keys + first, count * sizeof(Key));
  }
};

/// An element yet to be made: `make` is called with the place once there is one.
template <class Element, class Make>
struct element_maker {
  key_hash hash;
  Make* make;
  Element* made = nullptr;

  void construct(void* place) { made = (*make)(place); }
};
/// For walks that put nothing.
struct no_item {
  key_hash hash;
  void construct(void*) {}
};

/// The buckets as a walk sees them that looks for keys of one type: a store that can be searched,
/// noted and erased from.
template <class Buckets, class Query, class Equal,
          slots_prefetch When = slots_prefetch::before_tags, class Item = no_item>
class keyed_buckets {
 public:
  using key = wanted_key<Query>;
  using slot = typename Buckets::slot;
  using item = Item;

  keyed_buckets(const Buckets& asked, const Equal& equal) noexcept
      : buckets_(&asked), equal_(&equal) {}

  void prefetch(position at) const noexcept { buckets_->prefetch(at); }
  void prefetch_all(position at, const key& wanted) const noexcept {
    buckets_->prefetch(at);
    buckets_->prefetch_slots(at, wanted.hash);
  }
  void prefetch_match(position at, const key& wanted) const noexcept {
    buckets_->prefetch_match(at, wanted.hash);
  }

  found_slot<slot> find(position at, const key& wanted) const {
    if constexpr (When == slots_prefetch::before_tags) buckets_->prefetch_slots(at, wanted.hash);
    for (std::uint32_t left = buckets_->equal_tags(at, wanted.hash); left != 0; left &= left - 1) {
      const auto which = static_cast<slot>(std::countr_zero(left));
      if ((*equal_)(buckets_->element(at, which)->key, *wanted.query)) [[likely]]
        return {true, which};
    }
    return {};
  }
  bool may_be_beyond(position at, key_hash hash) const noexcept {
    return buckets_->may_be_beyond(at, hash);
  }

  std::optional<std::uint32_t> load(position at) const noexcept { return buckets_->load(at); }
  std::uint32_t free_slots(position at, const key& wanted, std::uint32_t limit) const noexcept {
    return buckets_->free_slots(at, wanted.hash, limit);
  }
  void put(position at, item& element, std::uint32_t free) { buckets_->put(at, element, free); }
  put_result try_put(position at, item& element, std::uint32_t limit) {
    return buckets_->try_put(at, element, limit);
  }
  void note_passed(position at, key_hash hash) noexcept { buckets_->note_passed(at, hash); }
  void unnote_passed(position at, key_hash hash) noexcept { buckets_->unnote_passed(at, hash); }
  void erase(position at, slot which) noexcept { buckets_->erase(at, which); }

 private:
  const Buckets* buckets_;
  const Equal* equal_;
};

/// A plan that a table of this scheme and capacity can follow; any other is refused.
template <class Scheme, std::uint32_t Capacity>
const table_plan& checked_plan(const table_plan& plan) {
  check_plan(plan);
  if (plan.bucket_capacity != Capacity)
    refuse_parameter("bucket_capacity must be " + std::to_string(Capacity) + "; found " +
                     std::to_string(plan.bucket_capacity));
  if (const auto fault = find_other_scheme<Scheme>(plan.scheme)) refuse_parameter(*fault);
  return plan;
}

/// The two stores in a table's memory, which must have the size of the plan.
template <class Store>
struct table_stores {
  Store buckets;
  Store overflow;

  table_stores(const table_plan& plan, std::uint64_t slot_bytes, line_memory& memory) {
    const table_memory_parts parts = plan.memory(slot_bytes);
    if (memory.size() != parts.total())
      refuse_parameter("memory must be " + std::to_string(parts.total()) + " bytes; found " +
                       std::to_string(memory.size()));
    std::byte* const first = memory.data();
    std::byte* const second = first + parts.side + parts.slots;
    buckets = Store(first, first + parts.side, plan.buckets());
    overflow = Store(second, second + parts.overflow_side, plan.overflow_buckets);
  }
};

}  // namespace oneprobe::inline v0_1::detail
