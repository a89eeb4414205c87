// A summary of sorted strings without gaps, as SSH, Section VII has it: n (b + log2 d) bits.
//
//   strings:   | level, string | level, string | ... |       ascending, one after the other
//
//   packed_strings_summary summary(*paper_summary("ssh-10k-interpolation"));   // plan/summary.hpp
//   summary.insert(hash, 2);
//   summary.where(hash);                                                       // 2
//
// Found by interpolation. An insertion or erasure moves all strings behind it, the paper's block
// copy: half of the memory on average, eight bytes at a time. interpolation_summary.hpp has gaps
// instead: more memory, and no more than a few lines moved.
//
// Failures: as there, but it is `full` only if all planned elements are there. Memory: exactly
// plan.filter_bytes(). Const functions may be called together; nothing throws but the constructor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/memory.hpp"
#include "oneprobe/one_probe/plan.hpp"
#include "oneprobe/one_probe/summary.hpp"

namespace oneprobe::inline v0_1 {

/// The summary of sorted strings without gaps: an erasable_summary, as level_summary says.
class packed_strings_summary {
 public:
  /// An empty summary. Refuses a plan that is for another summary.
  explicit packed_strings_summary(const summary_plan& plan)
      : memory_(checked(plan).filter_bytes()),
        most_(plan.elements),
        string_bits_(plan.remainder_bits),
        width_(plan.strings().cell_bits()) {}

  // ---- modifiers ----

  summary_outcome insert(key_hash hash, std::uint32_t level) noexcept {
    const std::uint64_t wanted = string_of(hash);
    const std::uint64_t at = first_not_below(wanted);
    if (at < size_ && string_at(at) == wanted && level_at(at) != level)
      return summary_outcome::misleading;
    if (size_ == most_) return summary_outcome::full;
    move_up(at * width_, size_ * width_);
    write(at * width_, width_, std::uint64_t{level} << string_bits_ | wanted);
    ++size_;
    return summary_outcome::kept;
  }
  /// Forgets an element. REQUIRES: insert(hash, level) kept it, and it was not erased since.
  void erase(key_hash hash, std::uint32_t) noexcept {
    const std::uint64_t wanted = string_of(hash);
    const std::uint64_t at = first_not_below(wanted);
    if (at == size_ || string_at(at) != wanted) return;
    move_down((at + 1) * width_, size_ * width_);
    --size_;
    write(size_ * width_, width_, 0);
  }
  /// Forgets all elements.
  void clear() noexcept {
    std::memset(memory_.data(), 0, memory_.size());
    size_ = 0;
  }

  // ---- lookup ----

  std::optional<std::uint32_t> where(key_hash hash) const noexcept {
    const std::uint64_t wanted = string_of(hash);
    const std::uint64_t at = first_not_below(wanted);
    if (at == size_ || string_at(at) != wanted) return std::nullopt;
    return level_at(at);
  }

  // ---- observers ----

  std::uint64_t size() const noexcept { return size_; }
  std::size_t memory_bytes() const noexcept { return memory_.size(); }

 private:
  static const summary_plan& checked(const summary_plan& plan) {
    check_plan(plan);
    if (plan.kind != summary_kind::interpolation)
      refuse_parameter("kind must be interpolation; found " + std::string(name_of(plan.kind)));
    if (!plan.packs_strings())
      refuse_parameter("string_blocks must be 0 in this summary; found " +
                       std::to_string(plan.string_blocks));
    return plan;
  }

  std::uint64_t string_of(key_hash hash) const noexcept {
    return hash_stream(hash, string_stream) >> (64 - string_bits_);
  }
  std::uint64_t string_at(std::uint64_t at) const noexcept {
    return read(at * width_, string_bits_);
  }
  std::uint32_t level_at(std::uint64_t at) const noexcept {
    const std::uint32_t bits = width_ - string_bits_;
    return bits == 0 ? 0 : static_cast<std::uint32_t>(read(at * width_ + string_bits_, bits));
  }

  /// Each step looks where the string would be among uniform ones between those that are known;
  /// from some step on every other one halves what is left, for strings that are not uniform.
  std::uint64_t first_not_below(std::uint64_t wanted) const noexcept {
    constexpr int trusted_steps = 8;
    std::uint64_t low = 0, high = size_;
    std::uint64_t below = 0, above = std::uint64_t{1} << string_bits_;
    for (int step = 0; low < high; ++step) {
      const double share =
          static_cast<double>(wanted - below) / static_cast<double>(above - below + 1);
      const std::uint64_t left = high - low;
      const std::uint64_t guess =
          step >= trusted_steps && step % 2 == 0
              ? left / 2
              : static_cast<std::uint64_t>(share * static_cast<double>(left));
      const std::uint64_t at = low + std::min(guess, left - 1);
      const std::uint64_t found = string_at(at);
      if (found < wanted) {
        low = at + 1;
        below = found;
      } else {
        high = at;
        above = found;
      }
    }
    return low;
  }

  std::uint64_t byte_at(std::uint64_t byte) const noexcept {
    return std::to_integer<std::uint64_t>(memory_.data()[byte]);
  }
  /// 1 to 64 bits from anywhere.
  std::uint64_t read(std::uint64_t bit, std::uint32_t count) const noexcept {
    const std::uint64_t first = bit / 8, last = (bit + count - 1) / 8;
    const auto shift = static_cast<std::uint32_t>(bit % 8);
    std::uint64_t value = 0;
    if (first + word_bytes <= memory_.size()) {
      value = plain_words::load(memory_.data() + first) >> shift;
      if (last == first + word_bytes) value |= byte_at(last) << (64 - shift);
    } else {
      for (std::uint64_t at = last + 1; at > first; --at) value = value << 8 | byte_at(at - 1);
      value >>= shift;
    }
    return count == 64 ? value : value & ((std::uint64_t{1} << count) - 1);
  }
  void write(std::uint64_t bit, std::uint32_t count, std::uint64_t value) noexcept {
    while (count > 0) {
      const auto shift = static_cast<std::uint32_t>(bit % 8);
      const std::uint32_t here = std::min(8 - shift, count);
      const std::uint64_t mask = ((std::uint64_t{1} << here) - 1) << shift;
      memory_.data()[bit / 8] =
          static_cast<std::byte>((byte_at(bit / 8) & ~mask) | (value << shift & mask));
      value >>= here;
      bit += here;
      count -= here;
    }
  }

  /// The bits [begin, end) go up by one string: from the end, so that what is read is still old.
  void move_up(std::uint64_t begin, std::uint64_t end) noexcept {
    std::uint64_t to = end + width_;
    const auto copy = [&](std::uint64_t bits) {
      to -= bits;
      const auto count = static_cast<std::uint32_t>(bits);
      if (count > 0) write(to, count, read(to - width_, count));
    };
    copy(std::min(to % word_bits, end - begin));
    for (; to - begin - width_ >= word_bits; to -= word_bits)
      plain_words::store(memory_.data() + (to - word_bits) / 8,
                         read(to - word_bits - width_, word_bits));
    copy(to - begin - width_);
  }
  /// The bits [begin, end) go down by one string.
  void move_down(std::uint64_t begin, std::uint64_t end) noexcept {
    std::uint64_t from = begin;
    const auto copy = [&](std::uint64_t bits) {
      const auto count = static_cast<std::uint32_t>(bits);
      if (count > 0) write(from - width_, count, read(from, count));
      from += bits;
    };
    copy(std::min((word_bits - (begin - width_) % word_bits) % word_bits, end - begin));
    for (; end - from >= word_bits; from += word_bits)
      plain_words::store(memory_.data() + (from - width_) / 8, read(from, word_bits));
    copy(end - from);
  }

  line_memory memory_;
  std::uint64_t most_;
  std::uint64_t size_ = 0;
  std::uint32_t string_bits_;  // b
  std::uint32_t width_;
};

static_assert(erasable_summary<packed_strings_summary>);

}  // namespace oneprobe::inline v0_1
