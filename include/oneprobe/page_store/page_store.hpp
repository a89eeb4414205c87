// Records of one size in a file of pages, with a summary in memory: a lookup reads at most one
// page, and hardly ever one for a key that is not there. What is acknowledged survives a crash.
//
//   loaded<page_store> store = page_store::open("users.store", {.access = file_access::update});
//   if (!store) return complain(store.failure().sentence);
//   store->put(key, value);                          // on the disk when this returns
//   if (store->get(key, value) == get_outcome::found) ...
//   if (auto failure = store->close()) return complain(failure->sentence);
//
// page_store/builder.hpp makes the file. Keys and values are bytes, of the sizes that the
// store was planned with: put() and erase() refuse others, lookups REQUIRE them.
//
// Writing: each change is an entry of the log, and acknowledged once the log is synced: at once, or
// with `acknowledge::at_commit` by the next commit(), for many at a time. Changed pages stay in
// memory until a checkpoint, which comes by itself when the log is full, writes them to their
// places. Opening reads the log again. If a write or a sync fails, or memory runs out within a
// change (std::bad_alloc), nothing is acknowledged from then on; open the file again to see what is
// in it. docs/page-store.md says what is promised,
// docs/decisions/0009-page-store.md why it is done like this.
//
// Memory: the summary, 2 bytes per page, the overflow, and pages changed since the last checkpoint,
// no more than the log has room for. Lookups use 64 KiB of stack.
//
// Threads: get() and explain() may be called together, while no call changes the store. One process
// may write, or many may read; the file is locked.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/base/unless_dismissed.hpp"
#include "oneprobe/detail/io/file_memory.hpp"
#include "oneprobe/detail/io/page_file.hpp"
#include "oneprobe/detail/page_store/directory.hpp"
#include "oneprobe/detail/page_store/log.hpp"
#include "oneprobe/detail/page_store/pages.hpp"
#include "oneprobe/detail/page_store/parameters.hpp"
#include "oneprobe/detail/page_store/record_page.hpp"
#include "oneprobe/detail/page_store/recovery.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/page_store/plan.hpp"
#include "oneprobe/page_store/results.hpp"

namespace oneprobe::inline v0_1 {

class page_store {
 public:
  /// Opens a file, replaying its log, or says why not.
  static loaded<page_store> open(const std::string& path, page_store_options options = {}) {
    auto file = system_page_file::open(path, options.access, options.reading);
    if (!file) return std::move(file).failure();
    loaded<page_store> store = open(*std::move(file), options.access);
    // Smaller ones would go through the page cache, unseen.
    if (store && options.reading == page_reading::direct &&
        store->plan().page_bytes < system_page_file::direct_bytes)
      return load_failure{load_error::io,
                          path + ": no direct reading: its pages have " +
                              std::to_string(store->plan().page_bytes) + " bytes, at least " +
                              std::to_string(system_page_file::direct_bytes) + " are needed"};
    return store;
  }
  /// Over a file of the caller's making.
  static loaded<page_store> open(std::unique_ptr<page_file> file, file_access access);

  // ---- modifiers ----

  /// Inserts the record, or gives the key its new value.
  put_outcome put(std::span<const std::byte> key, std::span<const std::byte> value,
                  acknowledge when = acknowledge::at_once);
  /// Takes the record with this key out, if there is one.
  removal erase(std::span<const std::byte> key, acknowledge when = acknowledge::at_once);
  /// Everything that was put or erased before is on the disk. None if that went well.
  [[nodiscard]] std::optional<save_failure> commit();
  /// Writes changed pages to their places and begins a new log.
  [[nodiscard]] std::optional<save_failure> checkpoint();
  /// Commits, and leaves a file that opens fast: with a snapshot of the summary, unless there is
  /// one that a short log continues. A store that goes without it opens all the same.
  [[nodiscard]] std::optional<save_failure> close();

  // ---- lookup ----

  /// Reads the value of a key, and at most one page. REQUIRES: as many bytes of key and value as
  /// the plan says.
  get_outcome get(std::span<const std::byte> key, std::span<std::byte> value) const;
  /// How get() comes to its answer. REQUIRES: as many bytes as the plan says.
  store_path explain(std::span<const std::byte> key) const { return look(key, {}); }
  /// The memory that a later get() of this key begins with.
  void prefetch(std::span<const std::byte> key) const noexcept {
    directory_.prefetch(directory_.hash_of(key));
  }
  /// Calls `visit(key, value)` with every record, page after page. None if all could be read.
  template <class Visit>
  std::optional<load_failure> for_each(Visit visit) const;
  /// Reads all pages: checksums, and that every record is found where it is.
  [[nodiscard]] std::optional<load_failure> verify() const;

  // ---- observers ----

  const page_store_plan& plan() const noexcept { return directory_.plan(); }
  /// The seed that all keys go through.
  std::uint64_t seed() const noexcept { return directory_.seed(); }
  std::uint64_t size() const noexcept { return directory_.counts().size; }
  /// What it has counted, and how it is now.
  page_store_stats stats() const;
  /// Pages that get(), explain(), put() and erase() have read since the store was opened.
  std::uint64_t page_reads() const noexcept { return pages_.reads(); }
  /// What the last put, erase or commit that failed had to say.
  const std::optional<save_failure>& failure() const noexcept { return failure_; }

 private:
  page_store(std::unique_ptr<page_file> file, file_access access, page_directory directory,
             store_state_record state, replayed_log log, store_recovery recovery)
      : access_(access),
        pages_(std::move(file), directory.plan(), std::move(log.pages)),
        directory_(std::move(directory)),
        state_(state),
        log_(log.chain),
        log_bytes_(log.bytes),
        replayed_(log.entries),
        recovery_(recovery),
        snapshot_is_damaged_(state.has_snapshot && recovery == store_recovery::scan) {}

  /// What the file and its log say together.
  static loaded<page_store> recover(std::unique_ptr<page_file> file, file_access access);

  store_path look(std::span<const std::byte> key, std::span<std::byte> value) const;
  bool find_in(const std::byte* page, std::span<const std::byte> key,
               std::span<std::byte> value) const noexcept {
    const record_page_view view(shape(), page);
    const std::optional<std::uint32_t> slot = view.find(key);
    if (slot && !value.empty()) std::memcpy(value.data(), view.value(*slot).data(), value.size());
    return slot.has_value();
  }
  const page_shape& shape() const noexcept { return pages_.shape(); }
  page_file& file() const noexcept { return pages_.file(); }

  std::optional<std::string> find_misuse(std::span<const std::byte> key) const;
  std::optional<save_failure> make_room_in_log();
  struct change_place {
    std::uint64_t page;
    std::optional<std::uint32_t> slot;  // of the key; none: it comes last
  };
  std::optional<change_place> find_in_overflow(std::span<const std::byte> key, key_hash hash) const;
  /// Where the key of a change is, and the page that was read to tell: the change begins with it.
  struct change_start {
    std::optional<change_place> place{};
    fetched_page fetched{};
  };
  /// Failure: the page of the key cannot be read.
  loaded<change_start> find_for_change(std::span<const std::byte> key, key_hash hash) const;
  void log_change(store_change change, std::uint64_t page, std::uint32_t slot, key_hash hash);
  /// The next state, and with it an empty log. The checksum of the snapshot, if there is one.
  std::optional<save_failure> write_state(std::optional<std::uint64_t> snapshot_checksum);
  std::optional<save_failure> save_snapshot();

  std::optional<save_failure> refused(std::string_view why) {
    failure_ = save_failure{file().name() + " cannot be written: " + std::string(why)};
    return failure_;
  }
  /// Nothing is acknowledged from now on: what the disk holds is not known.
  std::optional<save_failure> broken(int error) {
    broken_ = true;
    return refused(detail::system_words(error));
  }
  std::optional<save_failure> find_closed() {
    if (access_ != file_access::update) return refused("it was opened to be read");
    if (broken_)
      return refused(
          "a change has failed before, and what is on the disk is not known; open it again");
    return std::nullopt;
  }

  file_access access_;
  store_pages pages_;
  page_directory directory_;
  store_state_record state_;
  log_writer log_;
  std::uint64_t log_bytes_;  // that are written
  bool in_session_ = false;
  bool broken_ = false;
  std::uint64_t replayed_;
  store_recovery recovery_;
  bool snapshot_is_damaged_;
  std::optional<save_failure> failure_{};
};

// ---- implementation: lookup ----

inline store_path page_store::look(std::span<const std::byte> key,
                                   std::span<std::byte> value) const {
  assert(key.size() == shape().key_bytes && "keys have the plan's size");
  using stop = store_path::stop;
  const key_hash hash = directory_.hash_of(key);
  store_path path;
  const bool overflowed = directory_.visit_overflow(hash, [&](std::uint64_t page) {
    path.page = page;
    return find_in(pages_.cached(page), key, value);
  });
  if (overflowed) {
    path.stopped = stop::found_in_overflow;
    return path;
  }
  path.page = directory_.page_of(hash);
  if (!path.page) return path;
  path.level = plan().level_of(*path.page);
  const std::byte* bytes = pages_.cached(*path.page);
  page_buffer buffer;
  if (bytes == nullptr) {
    path.page_reads = 1;
    bytes = pages_.find(*path.page, buffer, path.failure);
    if (bytes == nullptr) {
      path.stopped = stop::unreadable;
      return path;
    }
  }
  path.stopped = find_in(bytes, key, value) ? stop::found : stop::misled;
  return path;
}

inline get_outcome page_store::get(std::span<const std::byte> key,
                                   std::span<std::byte> value) const {
  assert(value.size() == plan().value_bytes && "values have the plan's size");
  const store_path path = look(key, value);
  if (path.contains()) return get_outcome::found;
  return path.stopped == store_path::stop::unreadable ? get_outcome::unreadable
                                                      : get_outcome::absent;
}

template <class Visit>
std::optional<load_failure> page_store::for_each(Visit visit) const {
  for (std::uint64_t page = 0; page < plan().all_pages(); ++page)
    if (auto failure = pages_.visit(page, [&](const record_page_view& view) {
          for (std::uint32_t slot = 0; slot < view.count(); ++slot)
            visit(view.key(slot), view.value(slot));
        }))
      return failure;
  return std::nullopt;
}

inline std::optional<load_failure> page_store::verify() const {
  for (std::uint64_t page = 0; page < plan().all_pages(); ++page) {
    std::optional<std::string> fault;
    auto failure = pages_.visit(page, [&](const record_page_view& view) {
      if (view.count() != directory_.load(page)) fault = "other records than are counted";
      for (std::uint32_t slot = 0; slot < view.count(); ++slot) {
        const key_hash hash = directory_.hash_of(view.key(slot));
        std::optional<change_place> found = find_in_overflow(view.key(slot), hash);
        if (!found && directory_.page_of(hash) == page)
          found = change_place{page, view.find(view.key(slot))};
        if (!found || found->page != page || found->slot != slot)
          fault = "a record that is not found";
      }
    });
    if (failure) return failure;
    if (fault)
      return detail::inconsistent(file().name(), *fault + " in page " + std::to_string(page));
  }
  return std::nullopt;
}

inline page_store_stats page_store::stats() const {
  page_store_stats now;
  now.counts = directory_.counts();
  now.page_reads = page_reads();
  now.changed_pages = pages_.changed_pages();
  now.log_bytes_used = log_bytes_;
  now.replayed = replayed_;
  now.failures = directory_.failures();
  now.memory_bytes = directory_.memory_bytes() + pages_.cached_bytes();
  now.recovery = recovery_;
  return now;
}

// ---- implementation: changes ----

inline std::optional<std::string> page_store::find_misuse(std::span<const std::byte> key) const {
  if (key.size() == shape().key_bytes) return std::nullopt;
  return "keys must have " + std::to_string(shape().key_bytes) + " bytes; found " +
         std::to_string(key.size());
}

inline std::optional<page_store::change_place> page_store::find_in_overflow(
    std::span<const std::byte> key, key_hash hash) const {
  std::optional<change_place> found;
  directory_.visit_overflow(hash, [&](std::uint64_t page) {
    const auto slot = record_page_view(shape(), pages_.cached(page)).find(key);
    if (slot) found = change_place{page, slot};
    return slot.has_value();
  });
  return found;
}

inline loaded<page_store::change_start> page_store::find_for_change(std::span<const std::byte> key,
                                                                    key_hash hash) const {
  change_start start{.place = find_in_overflow(key, hash)};
  if (start.place) return start;
  const std::optional<std::uint64_t> page = directory_.page_of(hash);
  if (!page) return start;
  const std::byte* bytes = pages_.cached(*page);
  if (bytes == nullptr) {
    loaded<fetched_page> fetched = pages_.fetch(*page);
    if (!fetched) return std::move(fetched).failure();
    start.fetched = *std::move(fetched);
    bytes = start.fetched.bytes.get();
  }
  if (const auto slot = record_page_view(shape(), bytes).find(key))
    start.place = change_place{*page, slot};
  return start;
}

inline void page_store::log_change(store_change change, std::uint64_t page, std::uint32_t slot,
                                   key_hash hash) {
  if (!in_session_) {
    log_.append({.change = store_change::session, .hash = random_seed()});
    in_session_ = true;
  }
  const record_page_view view(shape(), pages_.cached(page));
  log_entry entry{.change = change, .slot = slot, .page = page, .hash = hash.value};
  if (!pages_.is_changed(page)) {
    entry.form = logged_form::page;
    entry.content = {pages_.cached(page), shape().page_bytes};
  } else if (change != store_change::erase) {
    entry.form = logged_form::record;
    entry.content = view.whole_record(slot);
  }
  log_.append(entry);
  pages_.mark_changed(page);
}

inline std::optional<save_failure> page_store::make_room_in_log() {
  const std::uint64_t largest =
      detail::log_entry_size(shape().page_bytes) + detail::log_entry_size(0);
  if (log_bytes_ + log_.bytes().size() + largest <= plan().log_bytes) return std::nullopt;
  return checkpoint();
}

inline put_outcome page_store::put(std::span<const std::byte> key, std::span<const std::byte> value,
                                   acknowledge when) {
  std::optional<std::string> misuse = find_misuse(key);
  if (!misuse && value.size() != plan().value_bytes)
    misuse = "values must have " + std::to_string(plan().value_bytes) + " bytes; found " +
             std::to_string(value.size());
  if (misuse) {
    refused(*misuse);
    return put_outcome::failed;
  }
  // Room first: a checkpoint must not find a change half done.
  if (find_closed() || make_room_in_log()) return put_outcome::failed;
  const key_hash hash = directory_.hash_of(key);
  loaded<change_start> start = find_for_change(key, hash);
  if (!start) {
    failure_ = save_failure{start.failure().sentence};
    return put_outcome::failed;
  }
  const std::optional<change_place> there = start->place;
  using destination = page_directory::destination;
  page_directory::placement target;
  detail::unless_dismissed half_done([&] { broken_ = true; });
  if (there)
    target.page = there->page;
  else if (target = directory_.place(hash); target.ended == destination::none) {
    half_done.dismiss();
    return put_outcome::full;
  }
  loaded<record_page> page = pages_.for_change(target.page, std::move(start->fetched));
  // A forged snapshot may say what its pages do not.
  if (page && !there && page->count() >= shape().records)
    page = pages_.damaged(target.page, "more records than are counted");
  if (!page) {
    if (!there) directory_.leave(hash, target.page);
    half_done.dismiss();
    failure_ = save_failure{page.failure().sentence};
    return put_outcome::failed;
  }
  if (there) {
    page->assign(*there->slot, value);
    log_change(store_change::assign, target.page, *there->slot, hash);
  } else {
    page->append(key, value);
    log_change(store_change::insert, target.page, page->count() - 1, hash);
  }
  half_done.dismiss();
  if (when == acknowledge::at_once && commit()) return put_outcome::failed;
  if (there) return put_outcome::assigned;
  return target.ended == destination::page ? put_outcome::inserted : put_outcome::overflowed;
}

inline removal page_store::erase(std::span<const std::byte> key, acknowledge when) {
  if (const auto misuse = find_misuse(key)) {
    refused(*misuse);
    return removal::failed;
  }
  if (find_closed() || make_room_in_log()) return removal::failed;
  const key_hash hash = directory_.hash_of(key);
  loaded<change_start> start = find_for_change(key, hash);
  if (!start) {
    failure_ = save_failure{start.failure().sentence};
    return removal::failed;
  }
  if (!start->place) return removal::absent;
  const change_place there = *start->place;
  loaded<record_page> page = pages_.for_change(there.page, std::move(start->fetched));
  if (page && directory_.load_of(there.page) == 0)
    page = pages_.damaged(there.page, "records that are not counted");
  if (!page) {
    failure_ = save_failure{page.failure().sentence};
    return removal::failed;
  }
  detail::unless_dismissed half_done([&] { broken_ = true; });
  page->erase(*there.slot);
  directory_.leave(hash, there.page);
  log_change(store_change::erase, there.page, *there.slot, hash);
  half_done.dismiss();
  if (when == acknowledge::at_once && commit()) return removal::failed;
  return removal::erased;
}

inline std::optional<save_failure> page_store::commit() {
  if (auto failure = find_closed()) return failure;
  if (log_.bytes().empty()) return std::nullopt;
  if (const int error = file().write(plan().log_begin() + log_bytes_, log_.bytes()))
    return broken(error);
  if (const int error = file().sync()) return broken(error);
  log_bytes_ += log_.bytes().size();
  log_.clear();
  return std::nullopt;
}

inline std::optional<save_failure> page_store::checkpoint() {
  // Before a page is written to its place, the log must be able to make it whole again.
  if (auto failure = commit()) return failure;
  if (log_bytes_ == 0) return std::nullopt;
  if (const int error = pages_.write_changed()) return broken(error);
  if (const int error = file().sync()) return broken(error);
  if (auto failure = write_state(std::nullopt)) return failure;
  pages_.forget_changed();
  return std::nullopt;
}

inline std::optional<save_failure> page_store::write_state(
    std::optional<std::uint64_t> snapshot_checksum) {
  store_state_record next{.epoch = state_.epoch + 1,
                          .has_snapshot = snapshot_checksum.has_value(),
                          .snapshot_checksum = snapshot_checksum.value_or(0)};
  const store_state_bytes bytes = encode(next);
  // Not over the state that counts until this one is on the disk.
  const auto copy = static_cast<std::uint32_t>(next.epoch % 2);
  if (const int error = file().write(page_store_plan::state_begin(copy), bytes))
    return broken(error);
  if (const int error = file().sync()) return broken(error);
  state_ = next;
  snapshot_is_damaged_ = false;
  log_ = log_writer(state_.checksum);
  log_bytes_ = 0;
  in_session_ = false;
  return std::nullopt;
}

inline std::optional<save_failure> page_store::save_snapshot() {
  const std::vector<std::byte> snapshot = directory_.snapshot();
  if (const int error = file().write(page_store_plan::snapshot_begin(), snapshot))
    return broken(error);
  if (const int error = file().sync()) return broken(error);
  return write_state(checksum_of(snapshot));
}

inline std::optional<save_failure> page_store::close() {
  if (access_ != file_access::update) return std::nullopt;
  if (auto failure = commit()) return failure;
  // One that could not be read is made anew.
  if (state_.has_snapshot && !snapshot_is_damaged_) return std::nullopt;
  if (auto failure = checkpoint()) return failure;
  return save_snapshot();
}

// ---- implementation: opening ----

inline loaded<page_store> page_store::recover(std::unique_ptr<page_file> file, file_access access) {
  store_opener from(*file, access);
  if (auto failure = from.read_head()) return *std::move(failure);
  if (auto failure = from.replay()) return *std::move(failure);
  loaded<page_directory> directory = from.directory();
  if (!directory) return std::move(directory).failure();
  const store_state_record state = from.state();
  const store_recovery recovery = from.recovery();
  return page_store(std::move(file), access, *std::move(directory), state, from.log(), recovery);
}

inline loaded<page_store> page_store::open(std::unique_ptr<page_file> file, file_access access) {
#if defined(__cpp_exceptions)
  const std::string name = file->name();
  const std::uint64_t bytes = file->size();
  try {
    return recover(std::move(file), access);
  } catch (const std::bad_alloc&) {
    return detail::no_memory(bytes, name);
  }
#else
  return recover(std::move(file), access);
#endif
}

}  // namespace oneprobe::inline v0_1
