// What a page store answers: outcomes of its operations, the way of a lookup, its statistics.
#pragma once

#include <cstdint>
#include <optional>

#include "oneprobe/detail/io/page_file.hpp"
#include "oneprobe/detail/page_store/directory.hpp"
#include "oneprobe/files.hpp"

namespace oneprobe::inline v0_1 {

enum class get_outcome : std::uint8_t {
  found,
  absent,
  unreadable,  // its page could not be read, or is damaged; explain() says more
};

enum class put_outcome : std::uint8_t {
  inserted,    // it is in a page
  assigned,    // the key was there; the value is the new one
  overflowed,  // it is in the overflow
  full,        // there is no room; nothing was changed
  failed,      // see failure(); it is not acknowledged
};

enum class removal : std::uint8_t {
  erased,
  absent,
  failed,  // see failure(); it is not acknowledged
};

/// When a change is on the disk.
enum class acknowledge : std::uint8_t { at_once, at_commit };

/// Where a lookup went.
struct store_path {
  enum class stop : std::uint8_t {
    found,              // in its page
    found_in_overflow,  // in memory
    absent,             // the summary says so: no page was read
    misled,             // absent, and its string is that of another: one page was read needlessly
    unreadable,
  };
  stop stopped = stop::absent;
  std::uint32_t page_reads = 0;
  std::optional<std::uint64_t> page{};   // that the summary named, or of the overflow
  std::optional<std::uint32_t> level{};  // of that page; none for the overflow
  std::optional<load_failure> failure{};

  bool contains() const noexcept {
    return stopped == stop::found || stopped == stop::found_in_overflow;
  }
};

struct page_store_options {
  file_access access = file_access::read;
  page_reading reading = page_reading::cached;
};

/// How a store came to know what it holds.
enum class store_recovery : std::uint8_t {
  snapshot,  // from the snapshot and the log
  scan,      // from all pages, and the log
};

struct page_store_stats {
  page_store_counts counts{};
  std::uint64_t page_reads = 0;      // by lookups, since it was opened
  std::uint64_t changed_pages = 0;   // that wait in memory for a checkpoint
  std::uint64_t log_bytes_used = 0;  // of the log
  std::uint64_t replayed = 0;        // entries of the log when it was opened
  std::uint64_t failures = 0;        // put into the overflow since because of their string
  std::uint64_t memory_bytes = 0;
  store_recovery recovery = store_recovery::snapshot;
};

}  // namespace oneprobe::inline v0_1
