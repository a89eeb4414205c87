// One page of a page store: records of one size, one after the other, and a checksum.
//
//   0   8  checksum of all bytes after it
//   8   8  number of the page: one that was written in the wrong place is not taken for another
//   16  4  records
//   20  4  zero
//   24     records, each its key and then its value; zeros up to the end
//
// A view: it does not own the bytes. Erasing moves the last record to the place that became
// free. The checksum is written by `seal` and looked at by `find_fault`, never in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/io/checksum.hpp"
#include "oneprobe/page_store/plan.hpp"

namespace oneprobe::inline v0_1 {

/// The sizes that all pages of a store share.
struct page_shape {
  std::uint32_t page_bytes;
  std::uint32_t key_bytes;
  std::uint32_t record_bytes;
  std::uint32_t records;  // that fit

  static constexpr page_shape of(const page_store_plan& plan) noexcept {
    return {plan.page_bytes, plan.key_bytes, plan.record_bytes(), plan.page_records()};
  }
};

/// Reads a page. REQUIRES: as many bytes as the shape says, and of bytes from outside no fault.
class record_page_view {
 public:
  record_page_view(const page_shape& shape, const std::byte* bytes) noexcept
      : shape_(&shape), bytes_(bytes) {}

  std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(plain_words::load(bytes_ + count_at));
  }
  std::span<const std::byte> key(std::uint32_t slot) const noexcept {
    return {record(slot), shape_->key_bytes};
  }
  std::span<const std::byte> value(std::uint32_t slot) const noexcept {
    return {record(slot) + shape_->key_bytes, shape_->record_bytes - shape_->key_bytes};
  }
  std::span<const std::byte> whole_record(std::uint32_t slot) const noexcept {
    return {record(slot), shape_->record_bytes};
  }
  /// The slot of a key. REQUIRES: as many bytes as the shape says.
  std::optional<std::uint32_t> find(std::span<const std::byte> key) const noexcept {
    const std::uint32_t records = count();
    const std::byte* at = record(0);
    if (key.size() < word_bytes) {
      for (std::uint32_t slot = 0; slot < records; ++slot, at += shape_->record_bytes)
        if (std::memcmp(at, key.data(), key.size()) == 0) return slot;
      return std::nullopt;
    }
    // Keys differ in their last bytes as a rule: one word there tells most of them apart.
    const std::size_t last = key.size() - word_bytes;
    const std::uint64_t wanted = plain_words::load(key.data() + last);
    for (std::uint32_t slot = 0; slot < records; ++slot, at += shape_->record_bytes)
      if (plain_words::load(at + last) == wanted && std::memcmp(at, key.data(), last) == 0)
        return slot;
    return std::nullopt;
  }

  /// What is wrong with bytes that should be this page.
  std::optional<std::string> find_fault(std::uint64_t number) const {
    if (plain_words::load(bytes_) != checksum_of(checked_bytes())) return "a checksum mismatch";
    if (plain_words::load(bytes_ + number_at) != number) return "the number of another page";
    if (!has_sound_count()) return "more records than fit";
    return std::nullopt;
  }
  bool has_sound_count() const noexcept {
    return plain_words::load(bytes_ + count_at) <= shape_->records;
  }

 protected:
  static constexpr std::size_t number_at = 8;
  static constexpr std::size_t count_at = 16;  // 4 bytes, and 4 that are zero

  const std::byte* record(std::uint32_t slot) const noexcept {
    return bytes_ + page_store_plan::page_head_bytes +
           static_cast<std::size_t>(slot) * shape_->record_bytes;
  }
  std::span<const std::byte> checked_bytes() const noexcept {
    return std::span(bytes_, shape_->page_bytes).subspan(number_at);
  }

  const page_shape* shape_;
  const std::byte* bytes_;
};

/// Changes a page as well.
class record_page : public record_page_view {
 public:
  record_page(const page_shape& shape, std::byte* bytes) noexcept
      : record_page_view(shape, bytes), changed_(bytes) {}

  /// REQUIRES: count() < records of the shape.
  void append(std::span<const std::byte> key, std::span<const std::byte> value) noexcept {
    const std::uint32_t slot = count();
    set_count(slot + 1);
    write(slot, 0, key);
    assign(slot, value);
  }
  void assign(std::uint32_t slot, std::span<const std::byte> value) noexcept {
    write(slot, shape_->key_bytes, value);
  }
  void erase(std::uint32_t slot) noexcept {
    const std::uint32_t last = count() - 1;
    std::byte* const place = changed_ + (record(last) - bytes_);
    if (slot != last) write(slot, 0, whole_record(last));
    std::memset(place, 0, shape_->record_bytes);
    set_count(last);
  }
  /// Makes the bytes those of a whole page.
  void seal(std::uint64_t number) noexcept {
    plain_words::store(changed_ + number_at, number);
    plain_words::store(changed_, checksum_of(checked_bytes()));
  }

 private:
  void set_count(std::uint32_t count) noexcept { plain_words::store(changed_ + count_at, count); }
  void write(std::uint32_t slot, std::size_t offset, std::span<const std::byte> bytes) noexcept {
    if (!bytes.empty())
      std::memcpy(changed_ + (record(slot) - bytes_) + offset, bytes.data(), bytes.size());
  }

  std::byte* changed_;
};

}  // namespace oneprobe::inline v0_1
