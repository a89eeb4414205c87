// Filters as bytes: saved, loaded, or used where they lie in a mapped file.
//
//   if (auto failure = save(filter, "seen.filter")) return complain(failure->sentence);
//   loaded<blocked_filter> again = load<blocked_filter>("seen.filter");
//   if (!again) return complain(again.failure().sentence);
//   again->may_contain("a key");
//
//   save, save_to               any filter to a file or to memory; the same filter, the same bytes
//   load, load_from             a filter of its own: everything is copied and verified
//   mapped_filter               lookups in the mapped file: nothing is copied; the payload is
//                               verified when you ask for it
//   view_of                     the same over bytes that you hold
//   read_facts                  what a file holds, without reading its payload
//   filter/any_filter.hpp       load_any, map_any: for code that does not know what a file holds
//
// Bytes are little-endian on every machine; docs/formats/filter.md describes them. What is read is
// taken to be hostile: no length is trusted, nothing larger than the file is allocated, and every
// failure is a load_failure with one sentence. An unverified payload can make a filter answer
// wrongly, never do harm.
//
// A file knows seeded_hash and its seed. Of a hash policy of your own it keeps only the seed, if
// the policy has one; bring the same policy to load it, as the filter's type or as an argument.
//
// Threads: calls on different files and filters may run together. No thread may insert into a
// filter that is being saved. A save is all or nothing, also when the process is killed
// (detail/io/atomic_file.hpp).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "oneprobe/detail/filter/parameters.hpp"
#include "oneprobe/detail/filter/payload.hpp"
#include "oneprobe/detail/io/atomic_file.hpp"
#include "oneprobe/detail/io/file_hash.hpp"
#include "oneprobe/detail/io/file_memory.hpp"
#include "oneprobe/detail/io/input_file.hpp"
#include "oneprobe/detail/io/mapped_file.hpp"
#include "oneprobe/detail/io/preamble.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {

/// What can be saved: every filter, and every reader of one.
template <class Filter>
concept saveable_filter = requires(const Filter& filter) {
  { filter.plan() } -> std::convertible_to<filter_plan>;
  { filter.counts() } -> std::convertible_to<filter_counts>;
  { filter.memory() } -> std::convertible_to<std::span<const std::byte>>;
  filter.hash();
};

/// What can be loaded: a filter that takes over its memory.
template <class Filter>
concept loadable_filter = saveable_filter<Filter> && requires {
  typename Filter::engine_type;
  typename Filter::hash_type;
  requires std::constructible_from<Filter, const filter_plan&, line_memory, const filter_counts&,
                                   typename Filter::hash_type>;
};

/// What a file says of itself before its payload is read.
struct file_facts {
  filter_plan plan{};
  filter_counts counts{};
  file_hash hash = file_hash::seeded;      // which hash policy its keys went through
  std::uint64_t seed = 0;                  // of that hash; 0 if the policy has none
  std::uint16_t version = format_version;  // of the format
  std::uint64_t file_bytes = 0;            // the whole file
  std::uint64_t payload_begin = 0;         // the first byte of the payload
  std::uint64_t payload_bytes = 0;         // all bytes of the filter
  std::uint64_t payload_checksum = 0;      // of the payload, as it was written

  /// The kind of filter in the file.
  filter_kind kind() const noexcept { return plan.kind; }
};

// ------------------------------------------------------------------------------------- saving

namespace detail {

/// The two sections before the payload.
struct file_head {
  std::array<std::byte, preamble_bytes> preamble_section;
  std::array<std::byte, filter_parameters::bytes> parameters;
};

template <saveable_filter Filter>
file_head head_of(const Filter& filter) {
  const std::span<const std::byte> payload = filter.memory();
  file_head head;
  using hash = std::remove_cvref_t<decltype(filter.hash())>;
  head.parameters = encode(filter_parameters{.plan = filter.plan(),
                                             .counts = filter.counts(),
                                             .hash = file_hash_of<hash>(),
                                             .seed = seed_of(filter.hash())});
  head.preamble_section = encode(preamble{.kind = static_cast<std::uint16_t>(filter.plan().kind),
                                          .parameter_bytes = filter_parameters::bytes,
                                          .payload_bytes = payload.size(),
                                          .parameter_checksum = checksum_of(head.parameters),
                                          .payload_checksum = checksum_of(payload)});
  return head;
}

}  // namespace detail

/// Writes a filter to a file, replacing what is there once the new file is complete and on the
/// disk. None if that went well.
template <saveable_filter Filter>
[[nodiscard]] std::optional<save_failure> save(const Filter& filter, const std::string& path) {
  const detail::file_head head = detail::head_of(filter);
  return write_atomically(path, {head.preamble_section, head.parameters, filter.memory()});
}

/// Appends the same bytes to `out`.
template <saveable_filter Filter>
void save_to(const Filter& filter, std::vector<std::byte>& out) {
  const detail::file_head head = detail::head_of(filter);
  const std::span<const std::byte> payload = filter.memory();
  out.reserve(out.size() + preamble_bytes + filter_parameters::bytes + payload.size());
  out.insert(out.end(), head.preamble_section.begin(), head.preamble_section.end());
  out.insert(out.end(), head.parameters.begin(), head.parameters.end());
  out.insert(out.end(), payload.begin(), payload.end());
}

// ------------------------------------------------------------------------------------- facts

namespace detail {

/// `head` is the beginning of a file of `file_bytes` bytes, as long as both sections before the
/// payload or as the file.
inline loaded<file_facts> decode_facts(std::span<const std::byte> head, std::uint64_t file_bytes,
                                       std::string_view name) {
  const loaded<preamble> read = decode_preamble(head, file_bytes, name);
  if (!read) return read.failure();
  // A parameter section of another length is of no kind that we know; its first bytes say so.
  const std::size_t there = head.size() - preamble_bytes;
  const auto section = head.subspan(
      preamble_bytes,
      read->parameter_bytes < there ? static_cast<std::size_t>(read->parameter_bytes) : there);
  const loaded<filter_parameters> parameters = decode_filter_parameters(section, *read, name);
  if (!parameters) return parameters.failure();
  return file_facts{.plan = parameters->plan,
                    .counts = parameters->counts,
                    .hash = parameters->hash,
                    .seed = parameters->seed,
                    .version = read->version,
                    .file_bytes = file_bytes,
                    .payload_begin = read->payload_begin(),
                    .payload_bytes = read->payload_bytes,
                    .payload_checksum = read->payload_checksum};
}

inline loaded<file_facts> facts_of(const input_file& file) {
  std::array<std::byte, preamble_bytes + filter_parameters::bytes> head{};
  const auto there = std::span(head).first(
      file.size() < head.size() ? static_cast<std::size_t>(file.size()) : head.size());
  if (auto failure = file.read(0, there)) return *std::move(failure);
  return decode_facts(there, file.size(), file.name());
}

}  // namespace detail

/// What a file holds. Preamble and parameters are verified, the payload is not read.
inline loaded<file_facts> read_facts(const std::string& path) {
  const loaded<input_file> file = input_file::open(path);
  if (!file) return file.failure();
  return detail::facts_of(*file);
}
inline loaded<file_facts> read_facts(std::span<const std::byte> bytes) {
  return detail::decode_facts(bytes, bytes.size(), detail::bytes_in_memory);
}

// ------------------------------------------------------------------------------------- loading

namespace detail {

/// Why a file is none for this type of filter.
template <class Filter>
std::optional<load_failure> find_mismatch(const file_facts& facts, std::string_view name) {
  using engine = typename Filter::engine_type;
  using hash = typename Filter::hash_type;
  if constexpr (requires { Filter::kind; }) {
    if (facts.kind() != Filter::kind)
      return wrong_kind(name, static_cast<std::uint16_t>(facts.kind()),
                        contents_of(static_cast<std::uint16_t>(Filter::kind)));
  }
  if constexpr (requires { engine::find_fault(facts.plan); }) {
    if (const std::optional<std::string> fault = engine::find_fault(facts.plan))
      return load_failure{load_error::wrong_kind,
                          std::string(name) + " is of the wrong kind: " + *fault};
  }
  if (facts.hash != file_hash_of<hash>())
    return facts.hash == file_hash::own ? wrong_kind(name, "keys hashed by the writer's own policy",
                                                     "a filter with seeded_hash")
                                        : wrong_kind(name, "keys hashed by seeded_hash",
                                                     "a filter with a hash policy of your own");
  return std::nullopt;
}

/// Everything but the bytes, which `fill` brings into new memory.
template <class Filter, class Fill>
loaded<Filter> load_with(const loaded<file_facts>& facts, std::string_view name,
                         typename Filter::hash_type hash, Fill fill) {
  if (auto failure = find_other_seed(hash, facts->seed, name)) return *std::move(failure);
  loaded<line_memory> memory = allocate(facts->payload_bytes, name);
  if (!memory) return std::move(memory).failure();
  if (std::optional<load_failure> failure = fill(memory->bytes())) return *std::move(failure);
  if (auto failure = verify_payload(memory->bytes(), facts->payload_checksum, facts->plan,
                                    facts->counts, name))
    return *std::move(failure);
  return Filter(facts->plan, *std::move(memory), facts->counts, std::move(hash));
}

template <class Filter>
loaded<file_facts> facts_for(loaded<file_facts> facts, std::string_view name) {
  if (!facts) return facts;
  if (auto failure = find_mismatch<Filter>(*facts, name)) return *std::move(failure);
  return facts;
}

template <class Filter, class MakeHash>
loaded<Filter> load_file(const std::string& path, MakeHash make_hash) {
  const loaded<input_file> file = input_file::open(path);
  if (!file) return file.failure();
  const loaded<file_facts> facts = facts_for<Filter>(facts_of(*file), file->name());
  if (!facts) return facts.failure();
  return load_with<Filter>(
      facts, file->name(), make_hash(facts->seed),
      [&](std::span<std::byte> out) { return file->read(facts->payload_begin, out); });
}

template <class Filter, class MakeHash>
loaded<Filter> load_bytes(std::span<const std::byte> bytes, MakeHash make_hash) {
  const loaded<file_facts> facts = facts_for<Filter>(read_facts(bytes), bytes_in_memory);
  if (!facts) return facts.failure();
  return load_with<Filter>(facts, bytes_in_memory, make_hash(facts->seed),
                           [&](std::span<std::byte> out) -> std::optional<load_failure> {
                             std::memcpy(out.data(), bytes.data() + facts->payload_begin,
                                         out.size());
                             return std::nullopt;
                           });
}

}  // namespace detail

/// A filter of its own from a file, everything verified.
template <loadable_filter Filter>
loaded<Filter> load(const std::string& path) {
  return detail::load_file<Filter>(path, detail::hash_from<typename Filter::hash_type>);
}
/// The same for a hash policy that cannot be made from a seed.
template <loadable_filter Filter>
loaded<Filter> load(const std::string& path, typename Filter::hash_type hash) {
  return detail::load_file<Filter>(path, [&](std::uint64_t) { return std::move(hash); });
}

/// The same from bytes in memory, wherever they begin.
template <loadable_filter Filter>
loaded<Filter> load_from(std::span<const std::byte> bytes) {
  return detail::load_bytes<Filter>(bytes, detail::hash_from<typename Filter::hash_type>);
}
template <loadable_filter Filter>
loaded<Filter> load_from(std::span<const std::byte> bytes, typename Filter::hash_type hash) {
  return detail::load_bytes<Filter>(bytes, [&](std::uint64_t) { return std::move(hash); });
}

// ------------------------------------------------------------------------------------- viewing

/// The reader that has the lookups of a filter.
template <loadable_filter Filter>
using reader_of = filter_reader<typename Filter::engine_type, typename Filter::hash_type>;

namespace detail {

/// Facts that were read once: what lies in shared memory may be another thing the next time.
template <class Filter>
loaded<file_facts> viewable_facts(std::span<const std::byte> bytes, std::string_view name) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % section_alignment != 0)
    return load_failure{load_error::io, std::string(name) +
                                            " cannot be read: a view needs bytes that begin on a "
                                            "multiple of 64"};
  return facts_for<Filter>(decode_facts(bytes, bytes.size(), name), name);
}

template <class Filter>
loaded<reader_of<Filter>> reader_over(std::span<const std::byte> bytes, const file_facts& facts,
                                      std::string_view name, typename Filter::hash_type hash) {
  if (auto failure = find_other_seed(hash, facts.seed, name)) return *std::move(failure);
  return reader_of<Filter>(facts.plan, bytes.subspan(static_cast<std::size_t>(facts.payload_begin)),
                           facts.counts, std::move(hash));
}

template <class Filter, class MakeHash>
loaded<reader_of<Filter>> view_bytes(std::span<const std::byte> bytes, MakeHash make_hash) {
  const loaded<file_facts> facts = viewable_facts<Filter>(bytes, bytes_in_memory);
  if (!facts) return facts.failure();
  return reader_over<Filter>(bytes, *facts, bytes_in_memory, make_hash(facts->seed));
}

}  // namespace detail

/// Lookups in bytes that must outlive the reader and begin on a multiple of 64. Preamble and
/// parameters are verified, the payload is not: `verify_payload` does that, with what read_facts
/// says.
template <loadable_filter Filter>
loaded<reader_of<Filter>> view_of(std::span<const std::byte> bytes) {
  return detail::view_bytes<Filter>(bytes, detail::hash_from<typename Filter::hash_type>);
}
/// The same for a hash policy that cannot be made from a seed.
template <loadable_filter Filter>
loaded<reader_of<Filter>> view_of(std::span<const std::byte> bytes,
                                  typename Filter::hash_type hash) {
  return detail::view_bytes<Filter>(bytes, [&](std::uint64_t) { return std::move(hash); });
}

/// A mapped file and the lookups in it. Opening costs the same whatever the size of the file.
template <loadable_filter Filter>
class mapped_filter {
 public:
  /// What has the lookups.
  using reader_type = reader_of<Filter>;

  /// Opens a file of this kind of filter, or says why not.
  static loaded<mapped_filter> map(const std::string& path) {
    return map_with(path, detail::hash_from<typename Filter::hash_type>);
  }
  /// The same for a hash policy that cannot be made from a seed.
  static loaded<mapped_filter> map(const std::string& path, typename Filter::hash_type hash) {
    return map_with(path, [&](std::uint64_t) { return std::move(hash); });
  }

  /// The lookups. They live as long as this object stays where it is.
  const reader_type& operator*() const noexcept { return reader_; }
  /// A member of the lookups, likewise.
  const reader_type* operator->() const noexcept { return &reader_; }
  const file_facts& facts() const noexcept { return facts_; }

  /// Reads the whole payload once: none if it is as it was written.
  [[nodiscard]] std::optional<load_failure> verify_payload() const {
    return oneprobe::verify_payload(reader_.memory(), facts_.payload_checksum, facts_.plan,
                                    facts_.counts, file_.name());
  }

 private:
  template <class MakeHash>
  static loaded<mapped_filter> map_with(const std::string& path, MakeHash make_hash) {
    loaded<mapped_file> file = mapped_file::map(path);
    if (!file) return std::move(file).failure();
    const loaded<file_facts> facts = detail::viewable_facts<Filter>(file->bytes(), file->name());
    if (!facts) return facts.failure();
    loaded<reader_type> reader =
        detail::reader_over<Filter>(file->bytes(), *facts, file->name(), make_hash(facts->seed));
    if (!reader) return std::move(reader).failure();
    return mapped_filter(*std::move(file), *std::move(reader), *facts);
  }

  mapped_filter(mapped_file file, reader_type reader, const file_facts& facts)
      : file_(std::move(file)), reader_(std::move(reader)), facts_(facts) {}

  mapped_file file_;
  reader_type reader_;
  file_facts facts_;
};

}  // namespace oneprobe::inline v0_1
