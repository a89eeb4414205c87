// A summary of sorted strings found by interpolation (SSH, Section VII).
//
// Each element is a uniform string of b bits and the number of its level. Since strings are
// uniform, a string's value says where it lies among the sorted ones: the search begins there and
// hardly ever goes further than a cell or two.
//
//   interpolation_summary summary(plan_interpolation(1'000'000));
//   summary.insert(hash, 2);
//   summary.where(hash);                                        // 2
//
// Memory: the sorted strings with gaps between them, in blocks of one cache line.
//
//   string = floor(hash bits / 2^64 * blocks * 2^r)  =  block * 2^r + remainder
//
//   block:  | count 8 | early 8 | late 8 | 0 | cell 0 | cell 1 | ... | gap |
//   cell:   | level | remainder |                     ascending by remainder
//
// The first `early` cells belong to the block before, which had no room; the `late` last ones of
// this block are in the next. A string is in its own block or in the one after it, so that a lookup
// touches one line, or two where a block has spilled. Only the remainder is kept of a string, yet
// equal strings are seen exactly. Which bytes there are follows from the elements alone, whatever
// came and went in between (unless a shift was cut off, which no test has seen).
//
// Failures: insert answers `misleading` if an element with the same string is at another level. Two
// at the same level lead both to the right bucket; they are kept, and erased one by one. It answers
// `full` if a string would end up two blocks from home, or more than `most_shifted_blocks` would
// have to shift.
//
// At most most_shifted_blocks lines are touched by an insertion or erasure, about one in the mean.
// Const functions may be called together; nothing throws but the constructors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/base/wide_product.hpp"
#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/memory.hpp"
#include "oneprobe/one_probe/interpolation_plan.hpp"
#include "oneprobe/one_probe/plan.hpp"
#include "oneprobe/one_probe/summary.hpp"

namespace oneprobe::inline v0_1 {

class interpolation_summary {
 public:
  /// An insertion that would move strings of more blocks than this is answered with `full`.
  static constexpr std::uint32_t most_shifted_blocks = 256;

  /// An empty summary. Refuses a plan that has a fault.
  explicit interpolation_summary(const interpolation_plan& plan)
      : interpolation_summary(checked(plan), line_memory(plan.memory_bytes())) {}
  /// For a one_probe_map; refuses a plan that is for another summary.
  explicit interpolation_summary(const summary_plan& plan)
      : interpolation_summary(checked(plan).strings()) {}
  /// Over bytes that a summary of this plan had. REQUIRES: find_fault() of it is none.
  interpolation_summary(const interpolation_plan& plan, line_memory memory)
      : plan_(checked(plan)),
        memory_(std::move(memory)),
        cells_(plan.block_cells()),
        cell_bits_(plan.cell_bits()),
        cell_mask_((std::uint64_t{1} << plan.cell_bits()) - 1),
        level_shift_(plan.remainder_bits) {
    if (memory_.size() != plan.memory_bytes())
      refuse_parameter("memory must have " + std::to_string(plan.memory_bytes()) +
                       " bytes; found " + std::to_string(memory_.size()));
  }

  // ---- modifiers ----

  /// Takes an element of this level, or says why not.
  summary_outcome insert(key_hash hash, std::uint32_t level);
  /// Forgets an element. REQUIRES: insert(hash, level) kept it, and it was not erased since.
  void erase(key_hash hash, std::uint32_t level);
  void clear() noexcept { std::memset(memory_.data(), 0, memory_.size()); }

  // ---- lookup ----

  /// The level that the key's string is stored with, if it is.
  std::optional<std::uint32_t> where(key_hash hash) const noexcept {
    const string wanted = string_of(hash);
    const block_head head = head_of(wanted.block);
    const std::uint32_t at = lower_bound(wanted.block, head.early, head.count, wanted.remainder);
    if (at < head.count) {
      const std::uint64_t found = cell(wanted.block, at);
      if (remainder_of(found) == wanted.remainder) return level_of(found);
      return std::nullopt;
    }
    if (head.late == 0) return std::nullopt;
    const std::uint32_t beyond = first_not_below(wanted.block + 1, head.late, wanted.remainder);
    if (beyond == head.late) return std::nullopt;
    const std::uint64_t found = cell(wanted.block + 1, beyond);
    if (remainder_of(found) != wanted.remainder) return std::nullopt;
    return level_of(found);
  }
  /// Asks for the memory that where(hash) will read.
  void prefetch(key_hash hash) const noexcept { prefetch_line(block_at(string_of(hash).block)); }

  // ---- observers ----

  std::uint64_t size() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint64_t block = 0; block <= plan_.blocks; ++block) sum += head_of(block).count;
    return sum;
  }
  /// How many bytes it has.
  std::size_t memory_bytes() const noexcept { return memory_.size(); }
  const interpolation_plan& plan() const noexcept { return plan_; }

  // ---- bytes ----

  /// All of them, as a summary of the same plan takes them over.
  std::span<const std::byte> bytes() const noexcept { return memory_.bytes(); }
  /// What no summary can have; for bytes from outside. Reads all of them.
  std::optional<std::string> find_fault() const;

 private:
  struct string {
    std::uint64_t block;
    std::uint64_t remainder;
  };
  struct block_head {
    std::uint32_t count;
    std::uint32_t early;
    std::uint32_t late;
  };
  /// A cell and the block that keeps it.
  struct place {
    std::uint64_t block;
    std::uint32_t at;
    bool early;  // it belongs to the block before
  };

  static const interpolation_plan& checked(const interpolation_plan& plan) {
    if (const auto fault = oneprobe::find_fault(plan)) refuse_parameter(*fault);
    return plan;
  }
  static const summary_plan& checked(const summary_plan& plan) {
    check_plan(plan);
    if (plan.kind != summary_kind::interpolation)
      refuse_parameter("kind must be interpolation; found " + std::string(name_of(plan.kind)));
    if (plan.packs_strings())
      refuse_parameter("string_blocks must be at least 1 in this summary; found 0");
    return plan;
  }

  string string_of(key_hash hash) const noexcept {
    const wide_product scaled = multiply_wide(hash_stream(hash, string_stream), plan_.blocks);
    return {scaled.high, scaled.low >> (64 - plan_.remainder_bits)};
  }
  std::uint64_t remainder_of(std::uint64_t found) const noexcept {
    return found & ((std::uint64_t{1} << level_shift_) - 1);
  }
  std::uint32_t level_of(std::uint64_t found) const noexcept {
    return static_cast<std::uint32_t>(found >> level_shift_);
  }

  const std::byte* block_at(std::uint64_t block) const noexcept {
    return memory_.data() + block * interpolation_plan::block_bytes;
  }
  std::byte* block_at(std::uint64_t block) noexcept {
    return memory_.data() + block * interpolation_plan::block_bytes;
  }
  block_head head_of(std::uint64_t block) const noexcept {
    const std::byte* const head = block_at(block);
    return {std::to_integer<std::uint32_t>(head[0]), std::to_integer<std::uint32_t>(head[1]),
            std::to_integer<std::uint32_t>(head[2])};
  }
  void set_head(std::uint64_t block, block_head head) noexcept {
    std::byte* const bytes = block_at(block);
    bytes[0] = static_cast<std::byte>(head.count);
    bytes[1] = static_cast<std::byte>(head.early);
    bytes[2] = static_cast<std::byte>(head.late);
  }

  /// The word of a block that holds a cell, and where in it: a word never leaves its block.
  struct cell_word {
    std::uint32_t byte;
    std::uint32_t shift;
  };
  cell_word word_of(std::uint32_t at) const noexcept {
    const std::uint32_t bit = interpolation_plan::head_bits + at * cell_bits_;
    const std::uint32_t byte = std::min<std::uint32_t>(
        bit / 8, interpolation_plan::block_bytes - static_cast<std::uint32_t>(word_bytes));
    return {byte, bit - 8 * byte};
  }
  std::uint64_t cell(std::uint64_t block, std::uint32_t at) const noexcept {
    const cell_word word = word_of(at);
    return plain_words::load(block_at(block) + word.byte) >> word.shift & cell_mask_;
  }
  void set_cell(std::uint64_t block, std::uint32_t at, std::uint64_t value) noexcept {
    const cell_word word = word_of(at);
    std::byte* const bytes = block_at(block) + word.byte;
    const std::uint64_t rest = plain_words::load(bytes) & ~(cell_mask_ << word.shift);
    plain_words::store(bytes, rest | value << word.shift);
  }

  /// The first of the cells [begin, end) of a block's own that is not below a remainder. They are
  /// uniform, so that it is near the place that the remainder says.
  std::uint32_t lower_bound(std::uint64_t block, std::uint32_t begin, std::uint32_t end,
                            std::uint64_t remainder) const noexcept {
    std::uint32_t at =
        begin + static_cast<std::uint32_t>((end - begin) * remainder >> plan_.remainder_bits);
    while (at > begin && remainder_of(cell(block, at - 1)) >= remainder) --at;
    while (at < end && remainder_of(cell(block, at)) < remainder) ++at;
    return at;
  }
  /// The same among the few first cells of a block, which belong to the one before.
  std::uint32_t first_not_below(std::uint64_t block, std::uint32_t end,
                                std::uint64_t remainder) const noexcept {
    std::uint32_t at = 0;
    while (at < end && remainder_of(cell(block, at)) < remainder) ++at;
    return at;
  }

  /// Where a string is, or belongs: in its block, or among those that have left it.
  place place_of(string wanted) const noexcept {
    const block_head head = head_of(wanted.block);
    const std::uint32_t at = lower_bound(wanted.block, head.early, head.count, wanted.remainder);
    if (at < head.count || head.late == 0) return {wanted.block, at, false};
    const std::uint32_t beyond = first_not_below(wanted.block + 1, head.late, wanted.remainder);
    // What is below all that have left belongs in front of them.
    if (beyond == 0 && remainder_of(cell(wanted.block + 1, 0)) != wanted.remainder)
      return {wanted.block, at, false};
    return {wanted.block + 1, beyond, true};
  }
  /// Whether the cell is there, and what it holds.
  std::optional<std::uint64_t> found_at(place where, std::uint64_t remainder) const noexcept {
    const block_head head = head_of(where.block);
    if (where.at >= (where.early ? head.early : head.count)) return std::nullopt;
    const std::uint64_t found = cell(where.block, where.at);
    if (remainder_of(found) != remainder) return std::nullopt;
    return found;
  }

  /// The first block from `block` on that has a free cell, if all before it can spill one of their
  /// own.
  std::optional<std::uint64_t> room_from(std::uint64_t block) const noexcept {
    for (std::uint32_t shifted = 0; shifted < most_shifted_blocks; ++shifted, ++block) {
      const block_head head = head_of(block);
      if (head.count < cells_) return block;
      if (head.early == head.count || block == plan_.blocks) return std::nullopt;
    }
    return std::nullopt;
  }
  void open_cell(std::uint64_t block, std::uint32_t at, std::uint64_t value) noexcept {
    for (std::uint32_t i = head_of(block).count; i > at; --i)
      set_cell(block, i, cell(block, i - 1));
    set_cell(block, at, value);
  }
  void close_cell(std::uint64_t block, std::uint32_t at) noexcept {
    const std::uint32_t last = head_of(block).count - 1;
    for (std::uint32_t i = at; i < last; ++i) set_cell(block, i, cell(block, i + 1));
    set_cell(block, last, 0);
  }
  /// The last cell of a block becomes the first of the next. REQUIRES: it is the block's own, and
  /// the next has room.
  void spill(std::uint64_t block) noexcept {
    block_head head = head_of(block);
    block_head next = head_of(block + 1);
    open_cell(block + 1, 0, cell(block, head.count - 1));
    close_cell(block, head.count - 1);
    --head.count, ++head.late, ++next.count, ++next.early;
    set_head(block, head);
    set_head(block + 1, next);
  }
  /// The reverse. REQUIRES: the block has late cells, and room.
  void take_back(std::uint64_t block) noexcept {
    block_head head = head_of(block);
    block_head next = head_of(block + 1);
    set_cell(block, head.count, cell(block + 1, 0));
    close_cell(block + 1, 0);
    ++head.count, --head.late, --next.count, --next.early;
    set_head(block, head);
    set_head(block + 1, next);
  }

  interpolation_plan plan_;
  line_memory memory_;
  std::uint32_t cells_;
  std::uint32_t cell_bits_;
  std::uint64_t cell_mask_;
  std::uint32_t level_shift_;
};

static_assert(erasable_summary<interpolation_summary>);

// ---- implementation ----

inline summary_outcome interpolation_summary::insert(key_hash hash, std::uint32_t level) {
  const string wanted = string_of(hash);
  const std::uint64_t value = std::uint64_t{level} << level_shift_ | wanted.remainder;
  place where = place_of(wanted);
  if (const auto found = found_at(where, wanted.remainder); found && level_of(*found) != level)
    return summary_outcome::misleading;
  // The last of its block goes straight to the next where there is no room.
  if (!where.early && where.at == cells_) where = {wanted.block + 1, 0, true};
  const std::optional<std::uint64_t> room = room_from(where.block);
  if (!room) return summary_outcome::full;
  for (std::uint64_t block = *room; block > where.block; --block) spill(block - 1);
  open_cell(where.block, where.at, value);
  block_head head = head_of(where.block);
  ++head.count;
  if (where.early) {
    ++head.early;
    block_head home = head_of(where.block - 1);
    ++home.late;
    set_head(where.block - 1, home);
  }
  set_head(where.block, head);
  return summary_outcome::kept;
}

inline void interpolation_summary::erase(key_hash hash, [[maybe_unused]] std::uint32_t level) {
  const string wanted = string_of(hash);
  const place where = place_of(wanted);
  if (!found_at(where, wanted.remainder)) return;
  close_cell(where.block, where.at);
  block_head head = head_of(where.block);
  --head.count;
  if (where.early) {
    --head.early;
    block_head home = head_of(where.block - 1);
    --home.late;
    set_head(where.block - 1, home);
  }
  set_head(where.block, head);
  std::uint64_t block = where.block;
  for (std::uint32_t shifted = 0; shifted < most_shifted_blocks; ++shifted, ++block) {
    if (head_of(block).late == 0) return;
    take_back(block);
  }
}

inline std::optional<std::string> interpolation_summary::find_fault() const {
  std::uint32_t left_before = 0;  // of the block before
  for (std::uint64_t block = 0; block <= plan_.blocks; ++block) {
    const block_head head = head_of(block);
    const auto fault = [&](const char* what) {
      return std::string(what) + " in block " + std::to_string(block) + " of the summary";
    };
    if (head.count > cells_) return fault("there are more cells than fit");
    if (head.early > head.count || head.early != left_before)
      return fault("the early cells are not the late ones of the block before");
    const bool last = block == plan_.blocks;
    if (last && (head.late != 0 || head.early != head.count))
      return fault("there are cells of no block");
    for (std::uint32_t i = 0; i < head.count; ++i) {
      const std::uint64_t here = cell(block, i);
      if (level_of(here) >= plan_.levels) return fault("there is no such level");
      if (i == 0 || i == head.early) continue;
      const std::uint64_t before = cell(block, i - 1);
      if (remainder_of(before) > remainder_of(here)) return fault("the cells are not sorted");
      if (remainder_of(before) == remainder_of(here) && before != here)
        return fault("a string has two levels");
    }
    left_before = head.late;
  }
  return std::nullopt;
}

}  // namespace oneprobe::inline v0_1
