// A Bloom filter in blocks of one cache line: k bits of an element in one block, so that a query
// and an insert read one line. It errs more often than the standard filter of the same size,
// because some blocks hold more elements than others; the balanced filter mends that.
//
//   blocked_filter seen(1'000'000, 1e-3);
//   seen.insert("a key");
//   if (seen.may_contain("a key")) ...
//   blocked_filter planned(plan);               // a plan of your own, or of plan/filter.hpp
//   seen.stats().current_fpr;
//
//   block of 512 or 256 bits:  | k bits anywhere (independent) |   the least error
//                              | one bit in each of k lanes    |   the fastest inserts
//
// k from 1 to 32, for lanes one bit for each 64 or 32 bits of the block; up to 2^40 bits. Bulk
// calls hash and fetch ahead. Threads: const functions may run together; anything else alone; for
// inserts that run together see filter/concurrent.hpp. filter/basic_filter.hpp has the whole
// interface.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "oneprobe/detail/base/at_end.hpp"
#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/base/shared_count.hpp"
#include "oneprobe/detail/filter/block_bits.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/ring.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/simd/isa.hpp"
#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/filter/default_plan.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash_feed.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

/// One block visited: asked whether all bits of an element are set, or told to set them. A walk of
/// one step. `Bits` is a block_bits, `Byte` const for a question, `BitsSet` a bits_set_range.
template <class Bits, class Byte, class BitsSet>
class block_visit {
 public:
  static constexpr bool single_step = true;

  struct state {
    Byte* block;
    std::uint64_t pattern;
  };

  block_visit(single scheme, Byte* memory, std::uint32_t bits_set) noexcept
      : scheme_(scheme),
        memory_(memory),
        shape_(BitsSet::known({.bits_set = bits_set, .bloom_bits = Bits::bytes * 8})) {}

  state start(key_hash hash) const noexcept {
    return {.block = memory_ + scheme_.first(hash).bucket * Bits::bytes,
            .pattern = pattern_bits(hash)};
  }
  void prefetch(const state& walk) const noexcept { prefetch_line_ahead(walk.block); }
  /// Whether all bits are set, or were.
  bool step(const state& walk) const noexcept {
    if constexpr (std::is_const_v<Byte>)
      return Bits::all_set(walk.block, walk.pattern, shape());
    else
      return Bits::set_all(walk.block, walk.pattern, shape());
  }
  /// The same with the bits of many elements at once. Questions are short enough without.
  using prepared =
      std::conditional_t<std::is_const_v<Byte>, void, typename prepared_by<Bits>::type>;
  template <class Prepared>
  bool step(const state& walk, const Prepared& element) const noexcept {
    return Bits::set_all(walk.block, element, shape());
  }
  template <class StartAt, class Prepared>
  void prepare(std::size_t count, StartAt&& start_at, Prepared* out) const {
    prepare_patterns<Bits>(
        count, [&](std::size_t i) { return start_at(i).pattern; }, shape(), out);
  }

 private:
  block_shape shape() const noexcept { return BitsSet::known(shape_); }

  single scheme_;
  Byte* memory_;
  block_shape shape_;
};

/// The probability that a new element finds its bit set in every lane of a block.
template <class Words>
double lanes_error(const std::byte* block, unsigned words, unsigned lane_bits) noexcept {
  double error = 1;
  for (unsigned i = 0; i < words; ++i) {
    const std::uint64_t word = Words::load(block + i * word_bytes);
    for (unsigned shift = 0; shift < word_bits; shift += lane_bits) {
      const std::uint64_t lane = word >> shift & (~std::uint64_t{0} >> (word_bits - lane_bits));
      error *= static_cast<double>(std::popcount(lane)) / static_cast<double>(lane_bits);
    }
  }
  return error;
}

}  // namespace detail

/// A filter_engine and a mergeable_engine. `Words` is plain_words, or atomic_words where threads
/// insert together.
template <class Words>
class basic_blocked_engine {
 public:
  static constexpr filter_kind kind = filter_kind::blocked;

  basic_blocked_engine(const filter_plan& plan, line_memory memory, const filter_counts& counts);

  static filter_plan default_plan(std::uint64_t elements, double fpr) {
    return default_filter_plan(kind, elements, fpr);
  }

  insert_outcome insert(key_hash hash) noexcept {
    const bool present = visit_with(visits_.set_all, *this, hash);
    if (present) return insert_outcome::possibly_present;
    add_to_size(1);
    return insert_outcome::added;
  }
  std::uint64_t insert_all(const hash_feed& hashes);
  void merge(const basic_blocked_engine& other) noexcept {
    for (std::size_t i = 0; i < memory_.size(); i += word_bytes)
      Words::set_bits(memory_.data() + i, Words::load(other.memory_.data() + i));
    add_to_size(other.counts().size);
  }
  void clear() noexcept {
    std::memset(memory_.data(), 0, memory_.size());
    size_ = {};
  }

  bool may_contain(key_hash hash) const noexcept {
    return visit_with(visits_.all_set, *this, hash);
  }
  void query_all(const hash_feed& hashes, bool* answers) const;
  lookup_path explain(key_hash hash) const noexcept {
    return {
        .stopped = may_contain(hash) ? lookup_path::stop::matched : lookup_path::stop::ruled_out,
        .accesses = 1,
        .lines = 1};
  }

  const filter_plan& plan() const noexcept { return plan_; }
  filter_counts counts() const noexcept {
    if constexpr (Words::shared)
      return {.size = size_.value()};
    else
      return {.size = size_};
  }
  std::span<const std::byte> memory() const noexcept { return memory_.bytes(); }
  /// The mean over the blocks of the probability that all k bits of a new element are set.
  double current_fpr() const;
  double fill_fraction() const;

 private:
  using size_count = std::conditional_t<Words::shared, shared_count, std::uint64_t>;

  static const filter_plan& checked(const filter_plan& plan) {
    check_plan(plan, kind);
    return plan;
  }
  void add_to_size(std::uint64_t more) noexcept {
    if constexpr (Words::shared)
      size_.add(more);
    else
      size_ += more;
  }
  /// What one call does, compiled for one kernel from the hash to the answer, and for up to so many
  /// bits: what is beyond them is left out. Calls that do not wait for each other overlap by as
  /// many as fit the processor's window, so that every instruction counts.
  struct visits {
    bool (*all_set)(const basic_blocked_engine&, key_hash);
    bool (*set_all)(basic_blocked_engine&, key_hash);
  };
  template <class Kernel, std::uint32_t MostBitsSet, class Engine>
  static bool visit_once(Engine& visited, key_hash hash) noexcept {
    using byte = std::remove_pointer_t<decltype(visited.memory_.data())>;
    const detail::block_visit<Kernel, byte, bits_set_range<1, MostBitsSet>> walk(
        visited.scheme_, visited.memory_.data(), visited.shape_.bits_set);
    return walk.step(walk.start(hash));
  }
  template <class Kernel, std::uint32_t MostBitsSet>
  static visits visits_with() noexcept {
    using engine = basic_blocked_engine;
    return {compiled_for<Kernel::level, visit_once<Kernel, MostBitsSet, const engine>,
                         const engine&, key_hash>::call,
            compiled_for<Kernel::level, visit_once<Kernel, MostBitsSet, engine>, engine&,
                         key_hash>::call};
  }
  visits choose_visits() const noexcept {
    return with_kernel([this](auto bits) {
      using kernel = decltype(bits);
      if constexpr (kernel::layout == block_layout::independent) {
        constexpr std::uint32_t group = detail::group_size;
        if (shape_.bits_set <= group) return visits_with<kernel, group>();
        if (shape_.bits_set <= 2 * group) return visits_with<kernel, 2 * group>();
      }
      return visits_with<kernel, filter_plan::most_bits_set_in_block>();
    });
  }

  /// By the pointer; or inlined, where the program is compiled for what the filter uses and blocks
  /// are lines. The program, not this library: an engine may have been made by code that is
  /// compiled for any processor.
  template <class Visit, class Engine>
  static bool visit_with(Visit visit, Engine& visited, key_hash hash) noexcept {
    constexpr isa level = kernel_level<Words>(simd_compiled, 512);
    if constexpr (level != isa::plain) {
      using enum block_layout;
      constexpr std::uint32_t most = filter_plan::most_bits_set_in_block;
      if (visited.line_kernel_ == number_of(level, independent))
        return visit_once<block_bits<512, independent, level, Words>, most>(visited, hash);
      if (visited.line_kernel_ == number_of(level, lanes))
        return visit_once<block_bits<512, lanes, level, Words>, most>(visited, hash);
    }
    return visit(visited, hash);
  }
  /// A kernel for lines, as a number to compare; 0 is none.
  static constexpr unsigned number_of(isa level, block_layout layout) noexcept {
    return 1 + 2 * static_cast<unsigned>(level) + (layout == block_layout::lanes ? 1 : 0);
  }

  /// Calls `use` with the kernel for this filter's blocks.
  template <unsigned BlockBits, isa Level, class Use>
  decltype(auto) with_layout(Use&& use) const {
    using enum block_layout;
    if (plan_.layout == lanes) return use(block_bits<BlockBits, lanes, Level, Words>{});
    return use(block_bits<BlockBits, independent, Level, Words>{});
  }
  template <class Use>
  decltype(auto) with_kernel(Use&& use) const {
    const bool line = plan_.block_bits == 512;
#if ONEPROBE_HAS_SIMD
    if constexpr (!Words::shared)
      if (level_ == isa::avx512) return with_layout<512, isa::avx512>(use);
    if (level_ == isa::avx2)
      return line ? with_layout<512, isa::avx2>(use) : with_layout<256, isa::avx2>(use);
#endif
    return line ? with_layout<512, isa::plain>(use) : with_layout<256, isa::plain>(use);
  }

  template <class Kernel, class BitsSet, class Byte, class Sink>
  static void roll_with(const basic_blocked_engine& visited, Byte* memory, const hash_feed& hashes,
                        Sink sink) {
    const detail::block_visit<Kernel, Byte, BitsSet> walk(visited.scheme_, memory,
                                                          visited.shape_.bits_set);
    roll(
        walk, hashes.size(), hashes, [&](key_hash hash) { return walk.start(hash); }, sink);
  }
  /// Visits the blocks of all hashes, asked for ahead. The sink goes by value: what it holds then
  /// lies in the registers of the loop.
  template <class Byte, class Sink>
  void roll_blocks(Byte* memory, const hash_feed& hashes, Sink sink) const {
    with_kernel([&](auto bits) {
      using kernel = decltype(bits);
      const auto roll_within = [&](auto range) {
        compiled_for<kernel::level, roll_with<kernel, decltype(range), Byte, Sink>,
                     const basic_blocked_engine&, Byte*, const hash_feed&, Sink>::call(*this,
                                                                                       memory,
                                                                                       hashes,
                                                                                       sink);
      };
      if constexpr (kernel::level == isa::avx512 && kernel::layout == block_layout::independent)
        with_bits_set_range(shape_.bits_set, roll_within);
      else
        roll_within(any_bits_set{});
    });
  }

  // First: a copy that finds no memory must leave everything as it was.
  line_memory memory_;
  filter_plan plan_;
  single scheme_;
  block_shape shape_;
  isa level_;
  unsigned line_kernel_;
  visits visits_;
  size_count size_;
};

template <class Words>
basic_blocked_engine<Words>::basic_blocked_engine(const filter_plan& plan, line_memory memory,
                                                  const filter_counts& counts)
    : memory_(std::move(memory)),
      plan_(checked(plan)),
      scheme_(plan.blocks()),
      shape_{.bits_set = plan.bits_set, .bloom_bits = plan.block_bits},
      level_(kernel_level<Words>(simd_in_use(), plan.block_bits)),
      line_kernel_(plan.block_bits == 512 ? number_of(level_, plan.layout) : 0),
      visits_(choose_visits()),
      size_(counts.size) {}

template <class Words>
std::uint64_t basic_blocked_engine<Words>::insert_all(const hash_feed& hashes) {
  std::uint64_t added = 0;
  const at_end count([&] { add_to_size(added); });
  roll_blocks(memory_.data(), hashes,
              [&added](std::size_t, bool present) { added += present ? 0 : 1; });
  return added;
}

template <class Words>
void basic_blocked_engine<Words>::query_all(const hash_feed& hashes, bool* answers) const {
  roll_blocks(memory_.data(), hashes, [answers](std::size_t i, bool found) { answers[i] = found; });
}

template <class Words>
double basic_blocked_engine<Words>::fill_fraction() const {
  const std::uint64_t ones = with_kernel([&](auto bits) {
    using kernel = decltype(bits);
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < scheme_.buckets(); ++i)
      sum += kernel::count_ones(memory_.data() + i * kernel::bytes, shape_.bloom_bits);
    return sum;
  });
  return static_cast<double>(ones) /
         (static_cast<double>(scheme_.buckets()) * static_cast<double>(shape_.bloom_bits));
}

template <class Words>
double basic_blocked_engine<Words>::current_fpr() const {
  const double sum = with_kernel([&](auto bits) {
    using kernel = decltype(bits);
    double all = 0;
    if (plan_.layout == block_layout::lanes) {
      for (std::uint64_t i = 0; i < scheme_.buckets(); ++i)
        all += detail::lanes_error<Words>(memory_.data() + i * kernel::bytes, kernel::words,
                                          detail::lane_bits(plan_.block_bits, plan_.bits_set));
      return all;
    }
    // (ones / B)^k for every number of ones a block can have.
    std::array<double, kernel::bytes * 8 + 1> error{};
    for (std::size_t ones = 0; ones < error.size(); ++ones) {
      error[ones] = 1;
      for (std::uint32_t j = 0; j < shape_.bits_set; ++j)
        error[ones] *= static_cast<double>(ones) / static_cast<double>(error.size() - 1);
    }
    for (std::uint64_t i = 0; i < scheme_.buckets(); ++i)
      all += error[kernel::count_ones(memory_.data() + i * kernel::bytes, shape_.bloom_bits)];
    return all;
  });
  return sum / static_cast<double>(scheme_.buckets());
}

#if defined(ONEPROBE_COMPILED_FILTERS) && !defined(ONEPROBE_NO_SIMD)
extern template class basic_blocked_engine<plain_words>;
extern template class basic_blocked_engine<atomic_words>;
#endif

/// The engine of blocked filters for one thread: a filter_engine and a mergeable_engine.
class blocked_engine : public basic_blocked_engine<plain_words> {
 public:
  using basic_blocked_engine::basic_blocked_engine;
};

/// A blocked filter with a hash of your own.
template <class Hash>
using basic_blocked_filter = basic_filter<blocked_engine, Hash>;
using blocked_filter = basic_blocked_filter<seeded_hash>;

}  // namespace oneprobe::inline v0_1
