// What the file of a page store and its log say together: how a store is opened.
//
//   store_opener from(file, access);
//   from.read_head()     parameters, and the newer of two states
//   from.replay()        the log of that state: pages as they were last acknowledged
//   from.directory()     loads and summary: from the snapshot and the log, or else from all pages
//
// Each may fail with one sentence, and then the file is left as it was. A log ends with the first
// entry that does not continue the chain of checksums; one that does and that no store would have
// written is a fault. docs/decisions/0009-page-store.md says why it is done like this.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/io/checksum.hpp"
#include "oneprobe/detail/io/page_file.hpp"
#include "oneprobe/detail/page_store/directory.hpp"
#include "oneprobe/detail/page_store/log.hpp"
#include "oneprobe/detail/page_store/pages.hpp"
#include "oneprobe/detail/page_store/parameters.hpp"
#include "oneprobe/detail/page_store/record_page.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/memory.hpp"
#include "oneprobe/one_probe/interpolation_summary.hpp"
#include "oneprobe/page_store/plan.hpp"
#include "oneprobe/page_store/results.hpp"

namespace oneprobe::inline v0_1 {

/// One entry of the log, for the directory.
struct logged_change {
  store_change change;
  std::uint64_t page;
  key_hash hash;
};
struct replayed_log {
  page_map pages;
  std::vector<logged_change> changes;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t chain = 0;
};
class store_opener {
 public:
  store_opener(page_file& file, file_access access) : file_(file), access_(access) {}

  std::optional<load_failure> read_head();
  /// Reads the log of the newest state. For a writer, both are on the disk afterwards.
  std::optional<load_failure> replay();
  /// What the pages and the log say together.
  loaded<page_directory> directory();

  const store_state_record& state() const noexcept { return state_; }
  replayed_log&& log() noexcept { return std::move(log_); }
  store_recovery recovery() const noexcept { return recovery_; }

 private:
  const page_store_plan& plan() const noexcept { return parameters_.plan; }
  load_failure unreadable(int error) const {
    return {load_error::io, file_.name() + " cannot be read: " + detail::system_words(error)};
  }
  load_failure inconsistent(std::string_view what) const {
    return detail::inconsistent(file_.name(), what);
  }
  std::optional<load_failure> read(std::uint64_t begin, std::span<std::byte> out) const {
    if (const int error = file_.read(begin, out)) return unreadable(error);
    return std::nullopt;
  }
  /// What was read may be in the system's memory alone: its writer may have been killed
  /// before the sync, or the sync may have failed, after which the system takes for written what is
  /// not. A writer builds on it, and writes it again first: the same bytes, to the same place.
  std::optional<load_failure> rewrite(std::uint64_t begin, std::span<const std::byte> bytes) const {
    if (access_ != file_access::update || bytes.empty()) return std::nullopt;
    return find_unwritten(file_.write(begin, bytes));
  }
  std::optional<load_failure> find_unwritten(int error) const {
    if (error == 0) return std::nullopt;
    return load_failure{load_error::io,
                        file_.name() + " cannot be written: " + detail::system_words(error)};
  }
  std::optional<load_failure> apply(const log_entry& entry);
  std::optional<load_failure> read_overflow();
  /// None if the snapshot is not of this state, or does not fit the log: then all pages are read.
  std::optional<page_directory> from_snapshot();
  loaded<page_directory> from_pages();
  std::optional<load_failure> restore_page(page_directory& into, std::uint64_t page,
                                           const record_page_view& view) const;

  page_file& file_;
  file_access access_;
  store_parameters parameters_{};
  page_shape shape_{};
  store_state_record state_{};
  replayed_log log_{};
  store_recovery recovery_ = store_recovery::snapshot;
};

inline std::optional<load_failure> store_opener::read_head() {
  std::array<std::byte, page_store_plan::block_bytes> head{};
  const auto there = std::span(head).first(
      static_cast<std::size_t>(std::min<std::uint64_t>(file_.size(), head.size())));
  if (auto failure = read(0, there)) return failure;
  loaded<store_parameters> parameters = decode_store_head(there, file_.size(), file_.name());
  if (!parameters) return std::move(parameters).failure();
  parameters_ = *parameters;
  shape_ = page_shape::of(plan());
  std::optional<store_state_record> newest;
  for (const std::uint32_t copy : {0u, 1u}) {
    store_state_bytes bytes{};
    if (auto failure = read(page_store_plan::state_begin(copy), bytes)) return failure;
    const std::optional<store_state_record> found = decode_store_state(bytes);
    // The next epoch goes to the other copy: one that is in the wrong one would be written over.
    if (!found || found->epoch % 2 != copy || found->epoch == UINT64_MAX) continue;
    if (!newest || found->epoch > newest->epoch) newest = found;
  }
  if (!newest)
    return load_failure{load_error::checksum_mismatch,
                        file_.name() + " has a checksum mismatch in both its states"};
  state_ = *newest;
  return std::nullopt;
}

inline std::optional<load_failure> store_opener::replay() {
  const auto copy = static_cast<std::uint32_t>(state_.epoch % 2);
  if (auto failure = rewrite(page_store_plan::state_begin(copy), encode(state_))) return failure;
  log_reader reader(state_.checksum);
  std::vector<std::byte> bytes;
  // As they were read: the system may forget what it could not write, and read something else.
  std::vector<std::byte> again;
  constexpr std::size_t written_at_a_time = 1u << 20;
  std::uint64_t at = 0;
  while (true) {
    const std::uint64_t left = plan().log_bytes - at;
    std::array<std::byte, 8> head{};
    if (left < head.size()) break;
    if (auto failure = read(plan().log_begin() + at, head)) return failure;
    const std::optional<std::size_t> size = log_reader::claimed_bytes(head, left);
    if (!size || *size > detail::log_entry_size(shape_.page_bytes)) break;
    bytes.resize(*size);
    if (auto failure = read(plan().log_begin() + at, bytes)) return failure;
    const std::optional<log_entry> entry = reader.take(bytes);
    if (!entry) break;
    if (auto failure = apply(*entry)) return failure;
    at += *size;
    ++log_.entries;
    if (access_ != file_access::update) continue;
    again.insert(again.end(), bytes.begin(), bytes.end());
    if (again.size() < written_at_a_time) continue;
    if (auto failure = rewrite(plan().log_begin() + at - again.size(), again)) return failure;
    again.clear();
  }
  log_.bytes = at;
  log_.chain = reader.chain();
  if (access_ != file_access::update) return std::nullopt;
  if (auto failure = rewrite(plan().log_begin() + at - again.size(), again)) return failure;
  return find_unwritten(file_.sync());
}

/// Takes no entry that a writer would not have written there.
inline std::optional<load_failure> store_opener::apply(const log_entry& entry) {
  const auto wrong = [&] { return inconsistent("an entry of the log that no store writes"); };
  const auto has = [&](logged_form form, std::size_t bytes) {
    return entry.form == form &&
           detail::log_entry_size(entry.content.size()) == detail::log_entry_size(bytes);
  };
  if (entry.change == store_change::session) {
    if (!has(logged_form::nothing, 0)) return wrong();
    return std::nullopt;
  }
  const bool inserts = entry.change == store_change::insert;
  const bool erases = entry.change == store_change::erase;
  if (!inserts && !erases && entry.change != store_change::assign) return wrong();
  if (entry.page >= plan().all_pages()) return wrong();
  const seeded_hash hash(parameters_.seed);
  const auto is_of = [&](std::span<const std::byte> key) { return hash(key).value == entry.hash; };
  const auto kept = log_.pages.find(entry.page);
  if (kept == log_.pages.end()) {
    if (!has(logged_form::page, shape_.page_bytes)) return wrong();
    const record_page_view page(shape_, entry.content.data());
    if (!page.has_sound_count()) return wrong();
    // After the change: an insertion is the last one, what was erased is not there any more.
    const std::uint32_t count = page.count();
    if (erases ? count == shape_.records || entry.slot > count : entry.slot >= count)
      return wrong();
    if (inserts && entry.slot + 1 != count) return wrong();
    if (!erases && !is_of(page.key(entry.slot))) return wrong();
    cached_page& made = log_.pages[entry.page];
    made.bytes = std::make_unique_for_overwrite<std::byte[]>(shape_.page_bytes);
    std::memcpy(made.bytes.get(), entry.content.data(), shape_.page_bytes);
    made.changed = true;
  } else {
    record_page page(shape_, kept->second.bytes.get());
    const std::uint32_t count = page.count();
    if (inserts ? entry.slot != count || count >= shape_.records : entry.slot >= count)
      return wrong();
    if (erases) {
      if (!has(logged_form::nothing, 0) || !is_of(page.key(entry.slot))) return wrong();
      page.erase(entry.slot);
    } else {
      if (!has(logged_form::record, shape_.record_bytes)) return wrong();
      const auto key = entry.content.first(shape_.key_bytes);
      const auto value = entry.content.first(shape_.record_bytes).subspan(shape_.key_bytes);
      if (!is_of(key) || (!inserts && !std::ranges::equal(key, page.key(entry.slot))))
        return wrong();
      if (inserts)
        page.append(key, value);
      else
        page.assign(entry.slot, value);
    }
  }
  if (entry.page < plan().pages()) log_.changes.push_back({entry.change, entry.page, {entry.hash}});
  return std::nullopt;
}

inline std::optional<load_failure> store_opener::read_overflow() {
  for (std::uint64_t page = plan().pages(); page < plan().all_pages(); ++page) {
    cached_page& kept = log_.pages[page];
    if (kept.bytes != nullptr) continue;
    kept.bytes = std::make_unique_for_overwrite<std::byte[]>(shape_.page_bytes);
    const std::span<std::byte> bytes(kept.bytes.get(), shape_.page_bytes);
    if (auto failure = read(plan().page_begin(page), bytes)) return failure;
    if (const auto fault = record_page_view(shape_, bytes.data()).find_fault(page))
      return load_failure{load_error::checksum_mismatch,
                          file_.name() + " has " + *fault + " in page " + std::to_string(page)};
  }
  return std::nullopt;
}

inline std::optional<page_directory> store_opener::from_snapshot() {
  if (!state_.has_snapshot) return std::nullopt;
  // Room for all of it was in the file: it cannot be asked for more than that.
  std::vector<std::byte> snapshot(static_cast<std::size_t>(plan().snapshot_bytes()));
  if (file_.read(page_store_plan::snapshot_begin(), snapshot) != 0 ||
      checksum_of(snapshot) != state_.snapshot_checksum)
    return std::nullopt;
  line_memory memory(plan().summary.memory_bytes());
  std::memcpy(memory.data(), snapshot.data(), memory.size());
  interpolation_summary summary(plan().summary, std::move(memory));
  if (summary.find_fault()) return std::nullopt;
  page_directory directory(plan(), parameters_.seed, std::move(summary));
  byte_reader loads(std::span<const std::byte>(snapshot).subspan(
      static_cast<std::size_t>(plan().summary.memory_bytes())));
  for (std::uint64_t page = 0; page < plan().pages(); ++page)
    if (!directory.set_load(page, loads.take<std::uint16_t>())) return std::nullopt;
  for (const logged_change& each : log_.changes) {
    bool fits = true;
    if (each.change == store_change::insert) fits = directory.restore(each.hash, each.page);
    if (each.change == store_change::erase) fits = directory.remove(each.hash, each.page);
    if (!fits) return std::nullopt;
  }
  return directory;
}

inline std::optional<load_failure> store_opener::restore_page(page_directory& into,
                                                              std::uint64_t page,
                                                              const record_page_view& view) const {
  for (std::uint32_t slot = 0; slot < view.count(); ++slot)
    if (!into.restore(into.hash_of(view.key(slot)), page))
      return inconsistent("a record that is not found in page " + std::to_string(page));
  return std::nullopt;
}

inline loaded<page_directory> store_opener::from_pages() {
  page_directory directory(plan(), parameters_.seed);
  const auto at_a_time = std::max<std::uint64_t>(1, (1u << 20) / shape_.page_bytes);
  std::vector<std::byte> bytes(static_cast<std::size_t>(at_a_time) * shape_.page_bytes);
  for (std::uint64_t first = 0; first < plan().pages(); first += at_a_time) {
    const std::uint64_t count = std::min(at_a_time, plan().pages() - first);
    const auto part = std::span(bytes).first(static_cast<std::size_t>(count) * shape_.page_bytes);
    if (auto failure = read(plan().page_begin(first), part)) return *std::move(failure);
    for (std::uint64_t page = first; page < first + count; ++page) {
      const std::byte* at = part.data() + (page - first) * shape_.page_bytes;
      const auto logged = log_.pages.find(page);
      if (logged != log_.pages.end())
        at = logged->second.bytes.get();
      else if (const auto fault = record_page_view(shape_, at).find_fault(page))
        return load_failure{load_error::checksum_mismatch,
                            file_.name() + " has " + *fault + " in page " + std::to_string(page)};
      if (auto failure = restore_page(directory, page, record_page_view(shape_, at)))
        return *std::move(failure);
    }
  }
  return directory;
}

inline loaded<page_directory> store_opener::directory() {
  if (auto failure = read_overflow()) return *std::move(failure);
  std::optional<page_directory> quick = from_snapshot();
  recovery_ = quick ? store_recovery::snapshot : store_recovery::scan;
  loaded<page_directory> directory =
      quick ? loaded<page_directory>(*std::move(quick)) : from_pages();
  if (!directory) return directory;
  for (std::uint64_t page = plan().pages(); page < plan().all_pages(); ++page)
    if (auto failure =
            restore_page(*directory, page, record_page_view(shape_, log_.pages[page].bytes.get())))
      return *std::move(failure);
  return directory;
}

}  // namespace oneprobe::inline v0_1
