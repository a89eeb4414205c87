// What is said about bytes that cannot be read or written, without exceptions.
//
//   loaded<blocked_filter> filter = load<blocked_filter>("seen.filter");
//   if (!filter) return complain(filter.failure().sentence);
//   filter->may_contain("a key");
//
// Values; thread-safe like the type inside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "oneprobe/detail/base/error.hpp"

namespace oneprobe::inline v0_1 {

/// Why a file, or bytes in memory, could not be loaded.
enum class load_error : std::uint8_t {
  not_oneprobe_file,        // other bytes, or none
  newer_format,             // written by a later version of the library
  truncated,                // it ends before its own lengths say
  trailing_bytes,           // it goes on after its own lengths say
  checksum_mismatch,        // some byte is not the one that was written
  inconsistent_parameters,  // checksums fit, but no such thing can exist
  wrong_kind,               // whole, but of another kind, scheme or hash than asked for
  not_closed,               // open for writing, or its writer ended before it was closed
  io,                       // the system said no
};

/// The words by which a sentence names the error.
constexpr std::string_view name_of(load_error error) {
  switch (error) {
    case load_error::not_oneprobe_file:
      return "not an oneprobe file";
    case load_error::newer_format:
      return "newer format";
    case load_error::truncated:
      return "truncated";
    case load_error::trailing_bytes:
      return "trailing bytes";
    case load_error::checksum_mismatch:
      return "checksum mismatch";
    case load_error::inconsistent_parameters:
      return "inconsistent parameters";
    case load_error::wrong_kind:
      return "wrong kind";
    case load_error::not_closed:
      return "not closed";
    case load_error::io:
      return "cannot be read";
  }
  return "unknown";
}

/// Why a load failed.
struct load_failure {
  load_error error = load_error::io;  // which of the reasons
  std::string sentence{};             // one line: which file, and what is wrong with it

  friend bool operator==(const load_failure&, const load_failure&) = default;
};

/// Why a save failed.
struct save_failure {
  std::string sentence{};  // one line: which file, and what the system said

  friend bool operator==(const save_failure&, const save_failure&) = default;
};

/// What was loaded, or why not.
template <class T>
class [[nodiscard]] loaded {
 public:
  /// Made of the value, or of why there is none.
  loaded(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  loaded(load_failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  /// Whether there is a value.
  bool has_value() const noexcept { return state_.index() == 0; }
  /// The same as has_value().
  explicit operator bool() const noexcept { return has_value(); }

  /// The value. REQUIRES: has_value().
  T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  /// A member of the value. REQUIRES: has_value().
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return std::get_if<0>(&state_); }

  /// Why there is no value. REQUIRES: !has_value().
  const load_failure& failure() const& noexcept { return *std::get_if<1>(&state_); }
  load_failure&& failure() && noexcept { return std::move(*std::get_if<1>(&state_)); }

  /// The value; without one, refuses with the sentence as for a bad parameter.
  T& value() & {
    require();
    return **this;
  }
  const T& value() const& {
    require();
    return **this;
  }
  T&& value() && {
    require();
    return std::move(**this);
  }

 private:
  void require() const {
    if (!has_value()) refuse_parameter(failure().sentence);
  }

  std::variant<T, load_failure> state_;
};

namespace detail {

/// A name as it may stand in a sentence: one line, whatever bytes it consists of.
inline std::string quoted(std::string_view name) {
  std::string text = "'";
  for (const char c : name) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text + "'";
}

inline load_failure inconsistent(std::string_view name, std::string_view what) {
  return {load_error::inconsistent_parameters,
          std::string(name) + " has inconsistent parameters: " + std::string(what)};
}

}  // namespace detail
}  // namespace oneprobe::inline v0_1
