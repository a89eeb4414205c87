// Buckets without a bound: chains of nodes from a pool.
//
//   buckets: | first node | load | passed |  ...          12 bytes each
//   nodes:   | element | next | ...                       in pieces that never move
//
// `passed` counts the elements that this chain turned away and that are elsewhere; a lookup goes on
// past a chain only if there are any. The pool is the one part of a table that allocates after
// construction, a piece of 1024 nodes at a time; what is erased is used again first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "oneprobe/detail/base/huge_pages.hpp"
#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/key_hash.hpp"

namespace oneprobe::inline v0_1 {

/// Elements by number, from 1 up. Numbers are good until given back, places for ever.
template <class Element>
class node_pool {
 public:
  using number = std::uint32_t;
  static constexpr number none = 0;

  node_pool() = default;
  node_pool(node_pool&& other) noexcept { swap(other); }
  node_pool& operator=(node_pool&& other) noexcept {
    node_pool(std::move(other)).swap(*this);
    return *this;
  }
  void swap(node_pool& other) noexcept {
    pieces_.swap(other.pieces_);
    std::swap(made_, other.made_);
    std::swap(free_, other.free_);
  }

  Element& element(number node) const noexcept {
    return *std::launder(reinterpret_cast<Element*>(at(node).place));
  }
  number next(number node) const noexcept { return at(node).next; }
  void link(number node, number next) const noexcept { at(node).next = next; }

  /// A node without an element.
  number take() {
    if (free_ != none) {
      const number node = free_;
      free_ = at(node).next;
      return node;
    }
    if (made_ % piece_nodes == 0)
      pieces_.push_back(std::make_unique_for_overwrite<room[]>(piece_nodes));
    return ++made_;
  }
  void give_back(number node) noexcept {
    at(node).next = free_;
    free_ = node;
  }
  void* place(number node) const noexcept { return at(node).place; }
  std::uint64_t bytes() const noexcept { return pieces_.size() * piece_nodes * sizeof(room); }

 private:
  static constexpr number piece_nodes = 1024;
  struct room {
    alignas(Element) std::byte place[sizeof(Element)];
    number next;
  };
  room& at(number which) const noexcept {
    return pieces_[(which - 1) / piece_nodes][(which - 1) % piece_nodes];
  }

  std::vector<std::unique_ptr<room[]>> pieces_;
  number made_ = 0;
  number free_ = none;
};

template <class Element>
class chains {
 public:
  using pool = node_pool<Element>;
  using slot = typename pool::number;

  explicit chains(std::uint64_t buckets) : buckets_(static_cast<std::size_t>(buckets)) {}

  std::uint64_t buckets() const noexcept { return buckets_.size(); }
  void prefetch(position at) const noexcept { prefetch_line_ahead(&bucket(at)); }
  std::optional<std::uint32_t> load(position at) const noexcept { return bucket(at).load; }

  /// The node for which `is_wanted(element)`; `visited` counts those looked at.
  template <class IsWanted>
  std::optional<slot> find(const pool& nodes, position at, IsWanted is_wanted,
                           std::uint64_t& visited) const {
    for (slot node = bucket(at).first; node != pool::none; node = nodes.next(node)) {
      ++visited;
      if (is_wanted(nodes.element(node))) return node;
    }
    return std::nullopt;
  }

  /// Constructs an element at the front of the chain, if it is shorter than the limit.
  template <class Item>
  put_result try_put(pool& nodes, position at, Item& element, std::uint32_t limit) {
    chain& target = bucket(at);
    if (target.load >= limit) return put_result::refused;
    const slot node = nodes.take();
    lent_node lent{nodes, node};
    element.construct(nodes.place(node));
    lent.keep = true;
    nodes.link(node, target.first);
    target.first = node;
    ++target.load;
    return put_result::placed;
  }
  void erase(pool& nodes, position at, slot node) noexcept {
    chain& target = bucket(at);
    if (target.first == node) {
      target.first = nodes.next(node);
    } else {
      slot before = target.first;
      while (nodes.next(before) != node) before = nodes.next(before);
      nodes.link(before, nodes.next(node));
    }
    --target.load;
    std::destroy_at(&nodes.element(node));
    nodes.give_back(node);
  }

  bool may_be_beyond(position at) const noexcept { return bucket(at).passed != 0; }
  void note_passed(position at) noexcept { ++bucket(at).passed; }
  void unnote_passed(position at) noexcept { --bucket(at).passed; }

  /// Calls `visit` with every node.
  template <class Visit>
  void for_each(const pool& nodes, Visit visit) const {
    for (const chain& one : buckets_)
      for (slot node = one.first; node != pool::none;) {
        const slot next = nodes.next(node);  // the visitor may give it back
        visit(node);
        node = next;
      }
  }
  std::uint64_t bytes() const noexcept { return buckets_.size() * sizeof(chain); }
  void clear() noexcept { std::fill(buckets_.begin(), buckets_.end(), chain{}); }

 private:
  struct chain {
    slot first = pool::none;
    std::uint32_t load = 0;
    std::uint32_t passed = 0;
  };
  /// Gives a node back unless it is kept: when a constructor throws.
  struct lent_node {
    pool& nodes;
    slot node;
    bool keep = false;

    ~lent_node() {
      if (!keep) nodes.give_back(node);
    }
  };

  chain& bucket(position at) noexcept { return buckets_[static_cast<std::size_t>(at.bucket)]; }
  const chain& bucket(position at) const noexcept {
    return buckets_[static_cast<std::size_t>(at.bucket)];
  }

  std::vector<chain, huge_page_allocator<chain>> buckets_;
};

}  // namespace oneprobe::inline v0_1
