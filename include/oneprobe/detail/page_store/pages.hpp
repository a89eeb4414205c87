// The pages of a store: some in memory, the others in its file.
//
//   in memory   | page 7, changed | page 12, changed | ... | all pages of the overflow |
//   file        | pages in their places, as the last checkpoint left them |
//
// A page that is in memory is the one that counts. Changed ones stay until a checkpoint writes them
// to their places; those of the overflow stay for good. A page of the file is held to its checksum
// whenever it is read, and a mapped one when it is first looked at.
//
// Counted are the pages that lookups and changes ask the file for, in memory mapped or not.
//
// Const functions may be called together; nothing else may.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/base/shared_count.hpp"
#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/io/page_file.hpp"
#include "oneprobe/detail/page_store/record_page.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/page_store/plan.hpp"

namespace oneprobe::inline v0_1 {

/// A page in memory: changed since the last checkpoint, or one of the overflow.
struct cached_page {
  std::unique_ptr<std::byte[]> bytes;
  bool changed = false;
};
using page_map = std::unordered_map<std::uint64_t, cached_page>;

/// A page of the file that a change has read already, or none.
struct fetched_page {
  std::uint64_t page = 0;
  std::unique_ptr<std::byte[]> bytes{};

  bool has(std::uint64_t number) const noexcept { return bytes != nullptr && page == number; }
};

/// Room for any page.
struct page_buffer {
  alignas(page_store_plan::block_bytes) std::byte bytes[page_store_plan::most_page_bytes];
};

class store_pages {
 public:
  store_pages(std::unique_ptr<page_file> file, const page_store_plan& plan, page_map cached)
      : file_(std::move(file)),
        plan_(plan),
        shape_(page_shape::of(plan)),
        cached_(std::move(cached)),
        verified_(std::make_unique<page_set>(plan.all_pages())),
        reads_(std::make_unique<shared_count>()) {}

  page_file& file() const noexcept { return *file_; }
  const page_shape& shape() const noexcept { return shape_; }
  load_failure damaged(std::uint64_t page, std::string_view fault) const {
    return {load_error::checksum_mismatch,
            file_->name() + " has " + std::string(fault) + " in page " + std::to_string(page)};
  }

  // ---- reading ----

  /// A page that is in memory, or null.
  const std::byte* cached(std::uint64_t page) const noexcept {
    if (cached_.empty()) return nullptr;
    const auto found = cached_.find(page);
    return found == cached_.end() ? nullptr : found->second.bytes.get();
  }
  /// Reads and verifies a page of the file.
  std::optional<load_failure> read(std::uint64_t page, std::byte* into) const;
  /// A page of the file where it lies, or in the buffer; counted. A page that is mapped is verified
  /// when it is first looked at: from then on it is memory like any other.
  const std::byte* find(std::uint64_t page, page_buffer& buffer,
                        std::optional<load_failure>& failure) const;
  /// The page as it is, whether it is in memory or not. Not counted.
  template <class Visit>
  std::optional<load_failure> visit(std::uint64_t page, Visit visit) const;
  /// Pages of the file that were found or fetched.
  std::uint64_t reads() const noexcept { return reads_->value(); }

  // ---- changing ----

  /// Reads a page of the file, to look into it and perhaps to change it; counted.
  loaded<fetched_page> fetch(std::uint64_t page) const;
  /// Brings a page into memory, to be changed: the one that was fetched before, if it is that.
  loaded<record_page> for_change(std::uint64_t page, fetched_page before);
  /// Whether it differs from the one in the file. REQUIRES: it is in memory.
  bool is_changed(std::uint64_t page) const { return cached_.at(page).changed; }
  void mark_changed(std::uint64_t page) { cached_.at(page).changed = true; }
  /// Writes changed pages to their places. 0, or the system's error.
  [[nodiscard]] int write_changed();
  /// What was written is what counts: only the overflow stays in memory.
  void forget_changed();

  std::uint64_t changed_pages() const noexcept {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(cached_, [](const auto& one) { return one.second.changed; }));
  }
  std::uint64_t cached_bytes() const noexcept { return cached_.size() * shape_.page_bytes; }

 private:
  /// Pages that were found without a fault. Several threads may add to it.
  class page_set {
   public:
    explicit page_set(std::uint64_t pages)
        : words_(std::make_unique<std::atomic<std::uint64_t>[]>(
              static_cast<std::size_t>(pages / word_bits + 1))) {}
    bool contains(std::uint64_t page) const noexcept {
      return (words_[page / word_bits].load(std::memory_order_relaxed) >> page % word_bits & 1) !=
             0;
    }
    void add(std::uint64_t page) noexcept {
      words_[page / word_bits].fetch_or(std::uint64_t{1} << page % word_bits,
                                        std::memory_order_relaxed);
    }

   private:
    std::unique_ptr<std::atomic<std::uint64_t>[]> words_;
  };

  std::unique_ptr<page_file> file_;
  page_store_plan plan_;
  page_shape shape_;
  page_map cached_;
  std::unique_ptr<page_set> verified_;
  std::unique_ptr<shared_count> reads_;
};

// ---- implementation ----

inline std::optional<load_failure> store_pages::read(std::uint64_t page, std::byte* into) const {
  const int error = file_->read(plan_.page_begin(page), {into, shape_.page_bytes});
  if (error != 0)
    return load_failure{load_error::io, file_->name() + " cannot be read: page " +
                                            std::to_string(page) + ": " +
                                            detail::system_words(error)};
  if (const auto fault = record_page_view(shape_, into).find_fault(page))
    return damaged(page, *fault);
  return std::nullopt;
}

inline const std::byte* store_pages::find(std::uint64_t page, page_buffer& buffer,
                                          std::optional<load_failure>& failure) const {
  reads_->add(1);
  const std::byte* const there = file_->view(plan_.page_begin(page));
  if (there == nullptr) {
    failure = read(page, buffer.bytes);
    return failure ? nullptr : buffer.bytes;
  }
  if (verified_->contains(page)) return there;
  if (const auto fault = record_page_view(shape_, there).find_fault(page)) {
    failure = damaged(page, *fault);
    return nullptr;
  }
  verified_->add(page);
  return there;
}

template <class Visit>
std::optional<load_failure> store_pages::visit(std::uint64_t page, Visit visit) const {
  if (const std::byte* const bytes = cached(page)) {
    visit(record_page_view(shape_, bytes));
    return std::nullopt;
  }
  page_buffer buffer;
  if (auto failure = read(page, buffer.bytes)) return failure;
  visit(record_page_view(shape_, buffer.bytes));
  return std::nullopt;
}

inline loaded<fetched_page> store_pages::fetch(std::uint64_t page) const {
  fetched_page fetched{page, std::make_unique_for_overwrite<std::byte[]>(shape_.page_bytes)};
  reads_->add(1);
  if (auto failure = read(page, fetched.bytes.get())) return *std::move(failure);
  return fetched;
}

inline loaded<record_page> store_pages::for_change(std::uint64_t page, fetched_page before) {
  if (const auto kept = cached_.find(page); kept != cached_.end())
    return record_page(shape_, kept->second.bytes.get());
  if (!before.has(page)) {
    loaded<fetched_page> fetched = fetch(page);
    if (!fetched) return std::move(fetched).failure();
    before = *std::move(fetched);
  }
  std::byte* const bytes = before.bytes.get();
  cached_.emplace(page, cached_page{std::move(before.bytes)});
  return record_page(shape_, bytes);
}

inline int store_pages::write_changed() {
  std::vector<std::uint64_t> changed;
  for (const auto& [page, kept] : cached_)
    if (kept.changed) changed.push_back(page);
  std::ranges::sort(changed);
  for (const std::uint64_t page : changed) {
    std::byte* const bytes = cached_[page].bytes.get();
    record_page(shape_, bytes).seal(page);
    if (const int error = file_->write(plan_.page_begin(page), {bytes, shape_.page_bytes}))
      return error;
  }
  return 0;
}

inline void store_pages::forget_changed() {
  const std::uint64_t overflow_begin = plan_.pages();
  std::erase_if(cached_,
                [&](const auto& one) { return one.second.changed && one.first < overflow_begin; });
  for (auto& [page, kept] : cached_) kept.changed = false;
}

}  // namespace oneprobe::inline v0_1
