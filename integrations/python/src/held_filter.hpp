// A filter of any kind as the Python module holds it: hashes in, answers out, and no Python in
// here, so that the templates are compiled once and apart from the bindings.
//
// Threads: const functions may run together; anything else alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oneprobe/core/filter_answers.hpp"
#include "oneprobe/core/filter_plan.hpp"
#include "oneprobe/core/hash_feed.hpp"
#include "oneprobe/core/key_hash.hpp"
#include "oneprobe/format/load_failure.hpp"
#include "oneprobe/hash/hasher.hpp"

namespace oneprobe::python {

class held_filter {
 public:
  held_filter(const filter_plan& plan, std::uint64_t seed);
  ~held_filter();
  held_filter(const held_filter& other);
  held_filter(held_filter&& other) noexcept;
  held_filter& operator=(held_filter&& other) noexcept;

  static loaded<held_filter> load(const std::string& path);
  static loaded<held_filter> from_bytes(std::span<const std::byte> bytes);
  std::optional<save_failure> save(const std::string& path) const;
  std::vector<std::byte> bytes() const;

  insert_outcome insert(key_hash hash) noexcept;
  std::uint64_t insert_all(const hash_feed& hashes);
  bool may_contain(key_hash hash) const noexcept;
  void query_all(const hash_feed& hashes, std::span<bool> answers) const;
  lookup_path explain(key_hash hash) const noexcept;
  /// None if the filter is of a kind that cannot erase.
  std::optional<erase_outcome> erase(key_hash hash) noexcept;
  merge_outcome merge(const held_filter& other);
  void clear() noexcept;

  const seeded_hash& hash() const noexcept;
  const filter_plan& plan() const noexcept;
  filter_counts counts() const noexcept;
  filter_stats stats() const;

 private:
  struct any;
  explicit held_filter(std::unique_ptr<any> filter);

  std::unique_ptr<any> filter_;
};

}  // namespace oneprobe::python
