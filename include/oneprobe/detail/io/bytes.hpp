// Numbers as bytes and back: little-endian on every machine, never past the end.
//
//   byte_writer out(span);
//   out.put(std::uint32_t{7});
//   byte_reader in(span);
//   std::uint32_t seven = in.take<std::uint32_t>();
//   if (in.failed()) ...                      // there were fewer bytes than were taken
//
// A reader that has failed gives zeros, so that whole structures can be read and checked once.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace oneprobe::inline v0_1 {

class byte_writer {
 public:
  explicit byte_writer(std::span<std::byte> out) noexcept : out_(out) {}

  template <std::unsigned_integral Number>
  void put(Number number) noexcept {
    if (!room_for(sizeof(Number))) return;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      out_[at_++] = static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff);
  }
  /// As the 64 bits of IEEE 754.
  void put(double number) noexcept { put(std::bit_cast<std::uint64_t>(number)); }
  void put(std::span<const std::byte> bytes) noexcept {
    if (bytes.empty() || !room_for(bytes.size())) return;
    std::memcpy(out_.data() + at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  /// Zeros up to the end.
  void fill() noexcept {
    while (at_ < out_.size()) out_[at_++] = std::byte{0};
  }

  std::size_t written() const noexcept { return at_; }
  bool failed() const noexcept { return failed_; }

 private:
  bool room_for(std::size_t bytes) noexcept {
    failed_ = failed_ || bytes > out_.size() - at_;
    return !failed_;
  }

  std::span<std::byte> out_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

class byte_reader {
 public:
  explicit byte_reader(std::span<const std::byte> in) noexcept : in_(in) {}

  template <std::unsigned_integral Number>
  Number take() noexcept {
    std::uint64_t number = 0;
    if (has(sizeof(Number)))
      for (std::size_t i = 0; i < sizeof(Number); ++i)
        number |= std::to_integer<std::uint64_t>(in_[at_++]) << (8 * i);
    return static_cast<Number>(number);
  }
  template <std::same_as<double> Number>
  double take() noexcept {
    static_assert(sizeof(double) == 8);
    return std::bit_cast<double>(take<std::uint64_t>());
  }
  std::span<const std::byte> take(std::size_t bytes) noexcept {
    if (!has(bytes)) return {};
    at_ += bytes;
    return in_.subspan(at_ - bytes, bytes);
  }
  /// Whether nothing but zeros is left; takes them.
  bool only_zeros_left() noexcept {
    while (at_ < in_.size())
      if (in_[at_++] != std::byte{0}) return false;
    return true;
  }

  std::size_t left() const noexcept { return in_.size() - at_; }
  bool failed() const noexcept { return failed_; }

 private:
  bool has(std::size_t bytes) noexcept {
    failed_ = failed_ || bytes > in_.size() - at_;
    return !failed_;
  }

  std::span<const std::byte> in_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace oneprobe::inline v0_1
