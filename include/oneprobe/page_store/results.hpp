// What a page store answers: outcomes of its operations, the way of a lookup, its statistics.
#pragma once

#include <cstdint>
#include <optional>

#include "oneprobe/detail/io/page_file.hpp"
#include "oneprobe/detail/page_store/directory.hpp"
#include "oneprobe/files.hpp"

namespace oneprobe::inline v0_1 {

/// How a lookup ended.
enum class get_outcome : std::uint8_t {
  found,       // the value was read
  absent,      // there is no such key
  unreadable,  // its page could not be read, or is damaged; explain() says more
};

/// How a put ended.
enum class put_outcome : std::uint8_t {
  inserted,    // it is in a page
  assigned,    // the key was there; the value is the new one
  overflowed,  // it is in the overflow
  full,        // there is no room; nothing was changed
  failed,      // see failure(); it is not acknowledged
};

/// How an erasure ended.
enum class removal : std::uint8_t {
  erased,  // it was there and is no longer
  absent,  // it was not there
  failed,  // see failure(); it is not acknowledged
};

/// When a change is on the disk.
/// `at_once`: before the call returns; `at_commit`: with the next commit.
enum class acknowledge : std::uint8_t { at_once, at_commit };

/// Where a lookup went.
struct store_path {
  /// Why a lookup ended where it did.
  enum class stop : std::uint8_t {
    found,              // in its page
    found_in_overflow,  // in memory
    absent,             // the summary says so: no page was read
    misled,             // absent, and its string is that of another: one page was read needlessly
    unreadable,         // its page could not be read, or is damaged: see `failure`
  };
  stop stopped = stop::absent;            // why it ended
  std::uint32_t page_reads = 0;           // 0 or 1
  std::optional<std::uint64_t> page{};    // that the summary named, or of the overflow
  std::optional<std::uint32_t> level{};   // of that page; none for the overflow
  std::optional<load_failure> failure{};  // why the page is unreadable

  /// Whether the key was found.
  bool contains() const noexcept {
    return stopped == stop::found || stopped == stop::found_in_overflow;
  }
};

/// How a store is opened.
struct page_store_options {
  file_access access = file_access::read;       // to read only, or to change it
  page_reading reading = page_reading::cached;  // through the page cache, or past it
};

/// How a store came to know what it holds.
enum class store_recovery : std::uint8_t {
  snapshot,  // from the snapshot and the log
  scan,      // from all pages, and the log
};

/// How a store is now, and what has happened since it was opened.
struct page_store_stats {
  page_store_counts counts{};        // records, by place
  std::uint64_t page_reads = 0;      // by lookups and changes, since it was opened
  std::uint64_t changed_pages = 0;   // that wait in memory for a checkpoint
  std::uint64_t log_bytes_used = 0;  // of the log
  std::uint64_t replayed = 0;        // entries of the log when it was opened
  std::uint64_t failures = 0;        // put into the overflow since because of their string
  /// The store's own: summary, loads of the pages, index, changed pages.
  std::uint64_t memory_bytes = 0;
  store_recovery recovery = store_recovery::snapshot;  // how it came to know what it holds
};

}  // namespace oneprobe::inline v0_1
