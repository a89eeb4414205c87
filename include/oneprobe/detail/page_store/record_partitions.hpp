// Records of a large store, put in the order of their first pages before they are built in: then
// the builder works on a few pages at a time, however large the file is.
//
//   auto parts = record_partitions::create("users.store", plan, seed);
//   while (...) if (auto failure = parts->add(key, value)) return complain(failure->sentence);
//   parts->for_each_part([&](std::span<const std::byte> record) { ... },   // key and value
//                        [&] { builder->release_memory(); });              // after each part
//
// What does not fit memory waits in one temporary file beside the store, as large as the records,
// which goes with this object. Records of one page, hence of one key, stay in the order in which
// they came. Memory: 64 KiB for each of up to 256 parts. For one thread at a time.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/io/atomic_file.hpp"
#include "oneprobe/detail/io/input_file.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/page_store/plan.hpp"

namespace oneprobe::inline v0_1 {

class record_partitions {
 public:
  /// The pages of the first level that one part is made for.
  static constexpr std::uint64_t part_bytes = std::uint64_t{1} << 26;
  static constexpr std::uint64_t most_parts = 256;

  static loaded<record_partitions> create(const std::string& path, const page_store_plan& plan,
                                          std::uint64_t seed) {
    auto file = std::make_unique<detail::temporary_file>(detail::link_target(path));
    if (!file->handle().is_open())
      return load_failure{load_error::io, detail::quoted(path) +
                                              " cannot be written: " + detail::system_words(errno)};
    return record_partitions(std::move(file), path, plan, seed);
  }

  /// REQUIRES: a key and a value of the plan's sizes.
  [[nodiscard]] std::optional<save_failure> add(std::span<const std::byte> key,
                                                std::span<const std::byte> value) {
    part& into = parts_[static_cast<std::size_t>(reduce(hash_(key).value, parts_.size()))];
    into.waiting.insert(into.waiting.end(), key.begin(), key.end());
    into.waiting.insert(into.waiting.end(), value.begin(), value.end());
    if (into.waiting.size() + record_bytes_ <= buffer_bytes_) return std::nullopt;
    return write(into);
  }

  /// Calls `each` with one whole record after the other, part after part, and `after` at the end of
  /// each part. REQUIRES: it is called once.
  template <class Each, class After>
  [[nodiscard]] std::optional<save_failure> for_each_part(Each each, After after) {
    std::vector<std::byte> room(buffer_bytes_);
    const auto each_of = [&](std::span<const std::byte> records) {
      for (; !records.empty(); records = records.subspan(record_bytes_))
        each(records.first(record_bytes_));
    };
    for (part& from : parts_) {
      for (const auto& [begin, bytes] : from.written) {
        const auto read = std::span(room).first(bytes);
        if (const int error = detail::read_all(file_->handle().descriptor(), begin, read))
          return failed(error == detail::file_is_shorter ? EIO : error);
        each_of(read);
      }
      each_of(from.waiting);
      from = {};
      after();
    }
    return std::nullopt;
  }

  std::size_t parts() const noexcept { return parts_.size(); }

 private:
  struct block {
    std::uint64_t begin;
    std::size_t bytes;
  };
  struct part {
    std::vector<std::byte> waiting{};
    std::vector<block> written{};
  };

  record_partitions(std::unique_ptr<detail::temporary_file> file, std::string path,
                    const page_store_plan& plan, std::uint64_t seed)
      : file_(std::move(file)),
        path_(std::move(path)),
        hash_(seed),
        record_bytes_(plan.record_bytes()),
        buffer_bytes_(std::max<std::size_t>(std::size_t{1} << 16, plan.record_bytes())),
        parts_(static_cast<std::size_t>(std::clamp<std::uint64_t>(
            plan.level_pages[0] * plan.page_bytes / part_bytes, 1, most_parts))) {}

  save_failure failed(int error) const {
    return {detail::quoted(path_) +
            " cannot be written: its records: " + detail::system_words(error)};
  }
  std::optional<save_failure> write(part& from) {
    if (const int error = detail::write_all(file_->handle().descriptor(), from.waiting))
      return failed(error);
    from.written.push_back({end_, from.waiting.size()});
    end_ += from.waiting.size();
    from.waiting.clear();
    return std::nullopt;
  }
  std::unique_ptr<detail::temporary_file> file_;
  std::string path_;
  seeded_hash hash_;
  std::size_t record_bytes_;
  std::size_t buffer_bytes_;
  std::vector<part> parts_;
  std::uint64_t end_ = 0;
};

}  // namespace oneprobe::inline v0_1
