// The balanced filter: a Bloom filter in blocks of one cache line whose blocks hold about equally
// much. An element sits in the first of its d candidate blocks that admits it, so that no block is
// crowded and the error is lower than a blocked filter's of the same size, from 16 bits per
// element up; a query reads 1.05 to 1.2 blocks on average, and never more than d and the overflow.
//
//   balanced_filter seen(1'000'000, 1e-4);
//   seen.insert("a key");
//   if (seen.may_contain("a key")) ...
//   balanced_filter planned(plan);              // a plan of your own, or of plan/filter.hpp
//   seen.explain("a key").accesses;
//
//   level 0 | block | block | block | block | ...      first candidate: level 0
//   level 1 | block | ...                               refused there: level 1, and so on
//   overflow list | fingerprints                        refused everywhere
//
// When a block is full, and when a query goes on past it, is the plan's lookup_rule: a counter and
// a coin as in the papers, a flag, tracking bits, or a popcount and tracking bits (the best).
//
// Never a false negative. More elements than planned go to the overflow list while its reserve
// lasts; then they are forced into the first candidate, and stats() says `degraded` and what the
// error is now. A union of two filters loses nothing either; blocks are then fuller than a filter
// that was filled from the start would have them.
//
// Schemes: `single`, `sequential`, `multilevel` (the default), `d_random`, `d_left`. Queries of the
// last two read all candidates. Limits: up to 8 candidates, k from 1 to 32, 2^40 bits. Bulk calls
// hash and fetch ahead. Threads: const functions may run together; anything else alone; for inserts
// that run together see filter/concurrent.hpp. filter/basic_filter.hpp has the whole interface.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "oneprobe/detail/base/at_end.hpp"
#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/base/shared_count.hpp"
#include "oneprobe/detail/filter/balanced_walks.hpp"
#include "oneprobe/detail/filter/bloom_blocks.hpp"
#include "oneprobe/detail/filter/fingerprint_list.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/admission.hpp"
#include "oneprobe/detail/placement/of_levels.hpp"
#include "oneprobe/detail/placement/ring.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/detail/simd/isa.hpp"
#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/filter/default_plan.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash_feed.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {

/// A filter_engine and a mergeable_engine. `Words` is plain_words, or atomic_words where threads
/// insert together.
template <class Scheme, class Words>
class basic_balanced_engine {
 public:
  static constexpr filter_kind kind = filter_kind::balanced;

  basic_balanced_engine(const filter_plan& plan, line_memory memory, const filter_counts& counts);

  /// What about a sound plan is for another type of balanced filter; files are held to it.
  static std::optional<std::string> find_fault(const filter_plan& plan) {
    // The least loaded candidate may fill up before it is tried. The element would go to the
    // overflow while the last candidate has room, and no query looks for it there.
    static_assert(!Words::shared || Scheme::choice == order::first_fit,
                  "threads cannot place by the least load together");
    if (auto fault = detail::find_other_scheme<Scheme>(plan.scheme)) return fault;
    if (Words::shared && plan.state.rule != lookup_rule::popcount)
      return "rule must be popcount in a concurrent filter; found " +
             std::string(name_of(plan.state.rule));
    return std::nullopt;
  }

  static filter_plan default_plan(std::uint64_t elements,
                                  double fpr) requires std::is_same_v<Scheme, multilevel> {
    return default_filter_plan(kind, elements, fpr);
  }

  insert_outcome insert(key_hash hash) noexcept {
    if (calls_.insert(*this, hash)) return insert_outcome::possibly_present;
    add(size_, 1);
    return insert_outcome::added;
  }
  std::uint64_t insert_all(const hash_feed& hashes);
  void merge(const basic_balanced_engine& other) noexcept;
  void clear() noexcept {
    std::memset(memory_.data(), 0, memory_.size());
    size_ = count_type{};
    entries_ = 0;
    forced_ = count_type{};
    dropped_ = 0;
  }

  bool may_contain(key_hash hash) const noexcept { return calls_.query(*this, hash); }
  void query_all(const hash_feed& hashes, bool* answers) const;
  lookup_path explain(key_hash hash) const noexcept;

  const filter_plan& plan() const noexcept { return plan_; }
  filter_counts counts() const noexcept {
    return {
        .size = value(size_), .overflow = entries_, .forced = value(forced_), .dropped = dropped_};
  }
  std::span<const std::byte> memory() const noexcept { return memory_.bytes(); }
  /// The walk of a query for an absent key, from the bits and notes of all blocks and the runs of
  /// the overflow list as they are. Candidates count as drawn independently.
  double current_fpr() const;
  double fill_fraction() const;

 private:
  using engine = basic_balanced_engine;
  using list = fingerprint_list<Words>;
  using count_type = std::conditional_t<Words::shared, shared_count, std::uint64_t>;

  template <unsigned BlockBits, isa Level, class Known = any_blocks>
  struct kernel {
    static constexpr unsigned block_bits = BlockBits;
    static constexpr isa level = Level;
    using blocks = bloom_blocks<BlockBits, Level, Words, Known>;
    using search = detail::block_search<Scheme, blocks>;
  };

  static const filter_plan& checked(const filter_plan& plan) {
    check_plan(plan, kind);
    if (const std::optional<std::string> fault = find_fault(plan)) refuse_parameter(*fault);
    return plan;
  }

  /// The widest registers that there are loops for. Schemes whose levels share blocks, or that read
  /// all candidates, are there to compare with.
  static constexpr isa widest =
      !Words::shared && Scheme::choice == order::first_fit && Scheme::levels_are_disjoint
          ? isa::avx512
          : isa::avx2;
  template <class Use>
  decltype(auto) with_kernel(Use&& use) const {
    const bool line = plan_.block_bits == 512;
#if ONEPROBE_HAS_SIMD
    if constexpr (widest == isa::avx512)
      if (level_ == isa::avx512) return use(kernel<512, isa::avx512>{});
    if (level_ == isa::avx2)
      return line ? use(kernel<512, isa::avx2>{}) : use(kernel<256, isa::avx2>{});
#endif
    return line ? use(kernel<512, isa::plain>{}) : use(kernel<256, isa::plain>{});
  }

  /// What is asked often, which is worth a kernel for each range of bits.
  template <class Use>
  decltype(auto) with_known_kernel(Use&& use) const {
#if ONEPROBE_HAS_SIMD
    if constexpr (widest == isa::avx512)
      if (level_ == isa::avx512 && plan_.state.rule == lookup_rule::popcount)
        return with_bits_set_range(frame_.shape.bits_set, [&](auto range) {
          return use(kernel<512, isa::avx512, popcount_blocks<decltype(range)>>{});
        });
#endif
    return with_kernel(use);
  }

  list_size size_of_list() const noexcept {
    return {.slots = plan_.overflow_slots, .reserve = plan_.overflow_reserve};
  }
  list overflow() noexcept { return {memory_.data() + list_begin_, size_of_list(), entries_}; }
  const list overflow() const noexcept {
    return list::reading(memory_.data() + list_begin_, size_of_list());
  }

  template <class Kernel>
  typename Kernel::blocks blocks() noexcept {
    return {memory_.data(), frame_};
  }
  template <class Kernel>
  typename Kernel::search search() const noexcept {
    return {scheme_, Kernel::blocks::reading(memory_.data(), frame_), rule_};
  }

  template <class Kernel>
  lookup_path explain_with(key_hash hash) const noexcept;
  template <class Kernel>
  detail::level_chances chances_in(std::uint64_t begin, std::uint64_t end) const;

  // Queries.

  template <class State>
  bool answer(const State& ended) const noexcept {
    return ended.end == walk_end::present ||
           (ended.end == walk_end::overflowed && may_be_in_overflow(ended.probe));
  }
  // Few come here, and what is not inlined leaves the registers to the loop.
  [[gnu::noinline]] bool may_be_in_overflow(key_hash hash) const noexcept {
    return dropped_ != 0 || overflow().contains(overflow_bits(hash));
  }
  void ask_for_overflow(key_hash hash) const noexcept { overflow().prefetch(overflow_bits(hash)); }
  template <class Kernel>
  static bool query_one(const engine& asked, key_hash hash) noexcept {
    // Apart from the walk, whose state and calls would cost this short way a frame.
    const walk_end end =
        asked.search<Kernel>().look_once(asked.scheme_.first(hash), pattern_bits(hash), hash);
    if (end != walk_end::open) return end == walk_end::present;
    return compiled_for<Kernel::level, query_whole<Kernel>, const engine&, key_hash>::call(asked,
                                                                                           hash);
  }
  template <class Kernel>
  static bool query_whole(const engine& asked, key_hash hash) noexcept {
    const auto search = asked.search<Kernel>();
    const finding walk(asked.scheme_, search);
    return asked.answer(walk_to_end(walk, walk.start(hash, pattern_bits(hash))));
  }
  template <class Kernel>
  static void query_with(const engine& asked, const hash_feed& hashes, bool* answers) {
    const auto search = asked.search<Kernel>();
    const finding walk(asked.scheme_, search);
    roll_looks(
        walk, hashes.size(), hashes,
        [](const auto& any, key_hash hash) { return any.start(hash, pattern_bits(hash)); },
        [answers](std::size_t i, bool found) { answers[i] = found; },
        asking_sink{[&](std::size_t i, const auto& ended) { answers[i] = asked.answer(ended); },
                    [&](const auto& ended) { asked.ask_for_overflow(ended.probe); }});
  }

  // Inserts. All of them say whether may_contain would have said yes before.

  template <class Blocks>
  static typename Blocks::item item_of(key_hash hash) noexcept {
    return {.pattern = pattern_bits(hash), .mark = detail::tracking_mark(hash)};
  }
  template <class Kernel, class State>
  bool settle(const State& ended) noexcept {
    const bool was_noted = ended.element.was_noted;
    if (ended.end == walk_end::overflowed) return take_overflow<Kernel>(ended.probe) && was_noted;
    return ended.end == walk_end::present && was_noted;
  }
  /// Says whether it was there. It gets as little of a walk as possible: a caller that writes the
  /// rest to memory, for a call that hardly ever happens, waits for it every time.
  template <class Kernel>
  [[gnu::noinline]] bool take_overflow(key_hash hash) noexcept {
    // A list that answers yes to all need not keep anything more.
    if (dropped_ != 0) return true;
    switch (overflow().insert(overflow_bits(hash))) {
      case list_outcome::present:
        return true;
      case list_outcome::full:
        blocks<Kernel>().force(scheme_.first(hash), item_of<typename Kernel::blocks>(hash));
        add(forced_, 1);
        break;
      case list_outcome::added:
        break;
    }
    return false;
  }

  template <class Blocks>
  placing<Scheme, Blocks> placing_in(Blocks& blocks) const noexcept {
    // Said by the rule's own type of blocks where that is known: then there is no coin to compile.
    return {scheme_, blocks,
            blocks.state().admit_probability > 0 ? rule_ : admission(rule_.threshold())};
  }
  /// Calls `use(walk, was_there)` with the way elements are placed here; `was_there(ended)` settles
  /// a walk that has ended.
  template <class Kernel, class Use>
  void with_placing(Use use) {
    auto blocks = this->blocks<Kernel>();
    const auto place = placing_in(blocks);
    if constexpr (!Kernel::blocks::knows_popcount)
      if (detail::must_ask_before<Scheme>(blocks.state())) {
        detail::asking_placing walk(
            place, [this](key_hash hash) noexcept { return query_one<Kernel>(*this, hash); });
        use(walk, [this](const auto& ended) {
          this->template settle<Kernel>(ended);
          return ended.was_there;
        });
        return;
      }
    if constexpr (Scheme::choice == order::first_fit) {
      auto walk = place;
      use(walk, [this](const auto& ended) { return this->template settle<Kernel>(ended); });
    }
  }
  template <class Kernel>
  static bool insert_one(engine& changed, key_hash hash) noexcept {
    if constexpr (placing<Scheme, typename Kernel::blocks>::may_overtake) {
      auto blocks = changed.blocks<Kernel>();
      if (!detail::must_ask_before<Scheme>(blocks.state())) {
        // Most end in their first block: apart from the walk, as a query.
        const auto walk = changed.placing_in(blocks);
        const bucket_look said =
            walk.look(walk.start(hash, item_of<typename Kernel::blocks>(hash)));
        if (said.beyond == 0) return said.found != 0;
        return compiled_for<Kernel::level, insert_beyond<Kernel>, engine&, key_hash>::call(changed,
                                                                                           hash);
      }
    }
    return compiled_for<Kernel::level, insert_whole<Kernel>, engine&, key_hash>::call(changed,
                                                                                      hash);
  }
  /// An element that its first block has refused.
  template <class Kernel>
  static bool insert_beyond(engine& changed, key_hash hash) noexcept {
    auto blocks = changed.blocks<Kernel>();
    auto walk = changed.placing_in(blocks);
    auto one = walk.start(hash, item_of<typename Kernel::blocks>(hash));
    walk.leave(one);
    if (one.end == walk_end::open) finish_walk(walk, one);
    return changed.settle<Kernel>(one);
  }
  template <class Kernel>
  static bool insert_whole(engine& changed, key_hash hash) noexcept {
    bool present = false;
    changed.with_placing<Kernel>([&](auto& walk, auto was_there) {
      auto one = walk.start(hash, item_of<typename Kernel::blocks>(hash));
      finish_walk(walk, one);
      present = was_there(one);
    });
    return present;
  }
  template <class Kernel>
  static std::uint64_t insert_with(engine& changed, const hash_feed& hashes) {
    std::uint64_t added = 0;
    const at_end count([&] { add(changed.size_, added); });
    changed.with_placing<Kernel>([&](auto& walk, auto was_there) {
      const auto start_any = [](const auto& any, key_hash hash) {
        return any.start(hash, item_of<typename Kernel::blocks>(hash));
      };
      const auto start = [&](key_hash hash) { return start_any(walk, hash); };
      const auto end = [&](std::size_t, const auto& ended) { added += was_there(ended) ? 0u : 1u; };
      if constexpr (std::remove_cvref_t<decltype(walk)>::may_overtake) {
        const auto answer = [&](std::size_t, bool found) { added += found ? 0u : 1u; };
        const asking_sink correct{
            [&](std::size_t, const auto& ended) { added -= was_there(ended) ? 1u : 0u; },
            [&](const auto& ended) { changed.ask_for_overflow(ended.probe); }};
        // An element that is forced changes a block which those behind it have seen already. So
        // walks go in rounds while the list has room for all that are open, then one by one.
        const auto gate = [&](std::size_t open) {
          return changed.dropped_ != 0 || changed.plan_.overflow_reserve >= changed.entries_ + open;
        };
        const std::size_t done =
            roll_looks(walk, hashes.size(), hashes, start_any, answer, correct, gate);
        roll_in_order(walk, hashes.size(), hashes, start, end, done);
      } else {
        roll(walk, hashes.size(), hashes, start, end);
      }
    });
    return added;
  }

  struct calls {
    bool (*query)(const engine&, key_hash);
    bool (*insert)(engine&, key_hash);
  };
  template <class Kernel>
  static calls calls_with() noexcept {
    // A single query, which waits for its line, is faster with the two loads of AVX2 than with one
    // of AVX-512: 29 and 43 ns against 39 and 58 (10 M elements, 16 and 24 bits, least of 15
    // rounds).
    using lookup = kernel<Kernel::block_bits, std::min(Kernel::level, isa::avx2)>;
    return {compiled_for<lookup::level, query_one<lookup>, const engine&, key_hash>::call,
            compiled_for<Kernel::level, insert_one<Kernel>, engine&, key_hash>::call};
  }

  static void add(std::uint64_t& count, std::uint64_t more) noexcept { count += more; }
  static void add(shared_count& count, std::uint64_t more) noexcept { count.add(more); }
  static std::uint64_t value(std::uint64_t count) noexcept { return count; }
  static std::uint64_t value(const shared_count& count) noexcept { return count.value(); }

  // First: a copy that finds no memory must leave everything as it was.
  line_memory memory_;
  filter_plan plan_;
  Scheme scheme_;
  block_frame frame_;
  admission rule_;
  isa level_;
  calls calls_;
  std::size_t list_begin_;
  count_type size_;
  typename list::entry_count entries_;
  count_type forced_;
  std::uint64_t dropped_;  // only a merge changes it
};

template <class Scheme, class Words>
basic_balanced_engine<Scheme, Words>::basic_balanced_engine(const filter_plan& plan,
                                                            line_memory memory,
                                                            const filter_counts& counts)
    : memory_(std::move(memory)),
      plan_(checked(plan)),
      scheme_(detail::scheme_over<Scheme>(std::span(plan.level_buckets).first(plan.levels),
                                          plan.choices)),
      frame_(plan),
      rule_(plan.state.threshold, plan.state.admit_probability),
      level_(std::min(widest, kernel_level<Words>(simd_in_use(), plan.block_bits))),
      calls_(with_known_kernel([](auto chosen) { return calls_with<decltype(chosen)>(); })),
      list_begin_(static_cast<std::size_t>(plan.memory().cells)),
      size_(counts.size),
      entries_(counts.overflow),
      forced_(counts.forced),
      dropped_(counts.dropped) {}

template <class Scheme, class Words>
std::uint64_t basic_balanced_engine<Scheme, Words>::insert_all(const hash_feed& hashes) {
  return with_known_kernel([&](auto chosen) {
    using chosen_kernel = decltype(chosen);
    return compiled_for<chosen_kernel::level, insert_with<chosen_kernel>, engine&,
                        const hash_feed&>::call(*this, hashes);
  });
}

template <class Scheme, class Words>
void basic_balanced_engine<Scheme, Words>::query_all(const hash_feed& hashes, bool* answers) const {
  with_known_kernel([&](auto chosen) {
    using chosen_kernel = decltype(chosen);
    compiled_for<chosen_kernel::level, query_with<chosen_kernel>, const engine&, const hash_feed&,
                 bool*>::call(*this, hashes, answers);
  });
}

template <class Scheme, class Words>
void basic_balanced_engine<Scheme, Words>::merge(const engine& other) noexcept {
  with_kernel([&](auto chosen) {
    using kernel_type = decltype(chosen);
    auto mine = this->blocks<kernel_type>();
    const auto theirs = kernel_type::blocks::reading(other.memory_.data(), frame_);
    for (std::uint64_t i = 0; i < scheme_.buckets(); ++i) mine.unite(i, theirs);
  });
  dropped_ = added_up(dropped_, added_up(other.dropped_, overflow().unite(other.overflow())));
  add(size_, value(other.size_));
  add(forced_, value(other.forced_));
}

template <class Scheme, class Words>
lookup_path basic_balanced_engine<Scheme, Words>::explain(key_hash hash) const noexcept {
  return with_kernel([&](auto chosen) { return explain_with<decltype(chosen)>(hash); });
}

template <class Scheme, class Words>
template <class Kernel>
lookup_path basic_balanced_engine<Scheme, Words>::explain_with(key_hash hash) const noexcept {
  const auto search = this->search<Kernel>();
  const finding walk(scheme_, search);
  auto state = walk.start(hash, pattern_bits(hash));
  const std::uint64_t blocks_in_line = line_memory::line_bytes * 8 / plan_.block_bits;
  std::array<std::uint64_t, filter_plan::most_levels> lines{};
  lookup_path path;
  do {
    // Two candidates of an element may lie in one line.
    const std::uint64_t line = state.at.bucket / blocks_in_line;
    const auto seen = lines.begin() + path.lines;
    if (std::find(lines.begin(), seen, line) == seen) lines[path.lines++] = line;
    path.level = state.at.level;
    walk.step(state);
  } while (state.end == walk_end::open);
  path.accesses = state.accesses;
  path.stopped =
      state.end == walk_end::present ? lookup_path::stop::matched : lookup_path::stop::ruled_out;
  if (state.end == walk_end::overflowed) {
    ++path.accesses;
    if (dropped_ == 0) path.lines += overflow().lines_searched(overflow_bits(hash));
    path.stopped =
        may_be_in_overflow(hash) ? lookup_path::stop::overflow : lookup_path::stop::not_in_overflow;
  }
  return path;
}

template <class Scheme, class Words>
double basic_balanced_engine<Scheme, Words>::fill_fraction() const {
  const std::uint64_t ones = with_kernel([&](auto chosen) {
    const auto blocks = decltype(chosen)::blocks::reading(memory_.data(), frame_);
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < scheme_.buckets(); ++i) sum += blocks.ones(i);
    return sum;
  });
  return static_cast<double>(ones) /
         (static_cast<double>(scheme_.buckets()) * static_cast<double>(frame_.shape.bloom_bits));
}

template <class Scheme, class Words>
template <class Kernel>
detail::level_chances basic_balanced_engine<Scheme, Words>::chances_in(std::uint64_t begin,
                                                                       std::uint64_t end) const {
  const auto blocks = Kernel::blocks::reading(memory_.data(), frame_);
  const detail::block_chances chances(frame_, Scheme::choice);
  detail::level_chances sum;
  for (std::uint64_t i = begin; i < end; ++i) chances.add(sum, blocks.ones(i), blocks.read({i, 0}));
  return sum.divided_by(static_cast<double>(end - begin));
}

template <class Scheme, class Words>
double basic_balanced_engine<Scheme, Words>::current_fpr() const {
  std::array<detail::level_chances, filter_plan::most_levels> levels;
  std::uint64_t begin = 0;
  for (std::uint32_t i = 0; i < plan_.levels; ++i) {
    const std::uint64_t end = begin + plan_.level_buckets[i];
    levels[i] =
        with_kernel([&](auto chosen) { return this->chances_in<decltype(chosen)>(begin, end); });
    begin = end;
  }
  double fpr = 0;
  double reached = 1;
  for (std::uint32_t i = 0; i < plan_.choices; ++i) {
    // Where levels share their blocks there is one for all candidates.
    const detail::level_chances& level = levels[plan_.levels == 1 ? 0 : i];
    fpr += reached * level.match;
    reached *= i + 1 == plan_.choices ? level.beyond_last : level.beyond;
  }
  return fpr + reached * (dropped_ != 0 ? 1 : overflow().match_probability());
}

#if defined(ONEPROBE_COMPILED_FILTERS) && !defined(ONEPROBE_NO_SIMD)
extern template class basic_balanced_engine<single, plain_words>;
extern template class basic_balanced_engine<sequential, plain_words>;
extern template class basic_balanced_engine<multilevel, plain_words>;
extern template class basic_balanced_engine<d_random, plain_words>;
extern template class basic_balanced_engine<d_left, plain_words>;
extern template class basic_balanced_engine<multilevel, atomic_words>;
#endif

/// The engine of balanced filters for one thread, with the scheme `Scheme`: a filter_engine and a
/// mergeable_engine.
template <class Scheme>
class balanced_engine : public basic_balanced_engine<Scheme, plain_words> {
 public:
  using basic_balanced_engine<Scheme, plain_words>::basic_balanced_engine;
};

/// A balanced filter with a scheme and a hash of your own.
template <class Scheme, class Hash>
using basic_balanced_filter = basic_filter<balanced_engine<Scheme>, Hash>;
using balanced_filter = basic_balanced_filter<multilevel, seeded_hash>;

}  // namespace oneprobe::inline v0_1
