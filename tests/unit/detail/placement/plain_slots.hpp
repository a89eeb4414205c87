// The plainest store in which elements can be found again: vectors of keys, and for each bucket how
// many elements it has turned away, by group. What the walks are tried on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/concepts.hpp"

class plain_slots {
 public:
  using key = std::uint64_t;
  using item = std::uint64_t;
  using slot = std::size_t;

  explicit plain_slots(std::uint64_t buckets, std::uint64_t note_groups = 4)
      : buckets_(buckets), notes_(buckets * note_groups), note_groups_(note_groups) {}

  void prefetch(oneprobe::position) const {}
  std::optional<std::uint32_t> load(oneprobe::position at) const {
    return static_cast<std::uint32_t>(buckets_[at.bucket].size());
  }
  oneprobe::put_result try_put(oneprobe::position at, item element, std::uint32_t limit) {
    auto& bucket = buckets_[at.bucket];
    if (std::find(bucket.begin(), bucket.end(), element) != bucket.end())
      return oneprobe::put_result::present;
    if (bucket.size() >= limit) return oneprobe::put_result::refused;
    bucket.push_back(element);
    return oneprobe::put_result::placed;
  }

  bool may_be_beyond(oneprobe::position at, oneprobe::key_hash hash) const {
    return notes_[note(at, hash)] > 0;
  }
  void note_passed(oneprobe::position at, oneprobe::key_hash hash) { ++notes_[note(at, hash)]; }
  void unnote_passed(oneprobe::position at, oneprobe::key_hash hash) { --notes_[note(at, hash)]; }

  std::optional<slot> find(oneprobe::position at, const key& wanted) const {
    const auto& bucket = buckets_[at.bucket];
    const auto found = std::find(bucket.begin(), bucket.end(), wanted);
    if (found == bucket.end()) return std::nullopt;
    return static_cast<slot>(found - bucket.begin());
  }
  void erase(oneprobe::position at, slot place) {
    auto& bucket = buckets_[at.bucket];
    bucket.erase(bucket.begin() + static_cast<std::ptrdiff_t>(place));
  }

  const std::vector<std::vector<key>>& buckets() const { return buckets_; }
  bool no_notes() const {
    return std::all_of(notes_.begin(), notes_.end(), [](int count) { return count == 0; });
  }
  bool notes_below_zero() const {
    return std::any_of(notes_.begin(), notes_.end(), [](int count) { return count < 0; });
  }

 private:
  std::size_t note(oneprobe::position at, oneprobe::key_hash hash) const {
    const std::uint64_t group = oneprobe::reduce(oneprobe::fingerprint_bits(hash), note_groups_);
    return static_cast<std::size_t>(at.bucket * note_groups_ + group);
  }

  std::vector<std::vector<key>> buckets_;
  std::vector<int> notes_;
  std::uint64_t note_groups_;
};
