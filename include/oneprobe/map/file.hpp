// Tables as bytes: saved, loaded, used where they lie in a mapped file, or changed there.
//
//   using flow_map = bounded_map<std::uint64_t, flow>;
//   if (auto failure = save(flows, "flows.table", {.schema = 7}))
//     return complain(failure->sentence);
//   loaded<flow_map> again = load<flow_map>("flows.table", {.schema = 7});
//   if (!again) return complain(again.failure().sentence);
//
//   save, save_to               any bounded_map or bounded_set to a file or to memory
//   load, load_from             a table of its own: everything is copied and verified
//   mapped_table                lookups in the mapped file: nothing is copied
//   writable_table              all operations; changes are the file's
//   recover, recover_from       what is in a file whose writer ended early
//   read_table_facts            what a file holds, without reading its payload
//
// Elements are written as they lie in memory: they must be trivially copyable and must not point
// anywhere, whatever bytes they have must be a value of their type, and a machine of another byte
// order refuses the file. The *schema* is a number of your own: change it when keys or values of
// the same size come to mean something else, and older files are refused. All else is the same on
// every machine; docs/formats/table.md describes it. What is read is taken to be hostile, as in
// filter/file.hpp: no byte of a file makes an operation leave the table's memory.
//
// A file knows seeded_hash and its seed. Of a hash policy of your own it keeps only the seed, if
// the policy has one; give the policy where it cannot be made from a seed.
//
// Threads: calls on different files and tables may run together. No thread may change a table that
// is being saved. A save is all or nothing, also when the process is killed
// (detail/io/atomic_file.hpp).
#pragma once

#include <algorithm>
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

#include "oneprobe/detail/io/atomic_file.hpp"
#include "oneprobe/detail/io/checksum.hpp"
#include "oneprobe/detail/io/file_hash.hpp"
#include "oneprobe/detail/io/file_memory.hpp"
#include "oneprobe/detail/io/input_file.hpp"
#include "oneprobe/detail/io/locked_file.hpp"
#include "oneprobe/detail/io/preamble.hpp"
#include "oneprobe/detail/io/updated_file.hpp"
#include "oneprobe/detail/map/audit.hpp"
#include "oneprobe/detail/map/parameters.hpp"
#include "oneprobe/detail/map/payload.hpp"
#include "oneprobe/detail/placement/of_levels.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/map/bounded_table.hpp"
#include "oneprobe/map/plan.hpp"
#include "oneprobe/map/results.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {

/// What can be saved and loaded: a table whose elements are bytes, and which takes over its memory.
template <class Table>
concept storable_table = requires(const Table& table) {
  typename Table::value_type;
  typename Table::hash_type;
  requires detail::is_plain_element<typename Table::value_type>();
  { table.plan() } -> std::convertible_to<table_plan>;
  { table.counts() } -> std::convertible_to<table_counts>;
  { table.memory() } -> std::convertible_to<std::span<const std::byte>>;
  requires std::constructible_from<Table, const table_plan&, line_memory, const table_counts&,
                                   typename Table::hash_type>;
};

/// How much of a file is looked at before it is used.
enum class table_check : std::uint8_t {
  tags,      // the side arrays, a tenth of the file or so: enough to do no harm
  checksum,  // all of it: every byte is the one that was written
  elements,  // and each element is found where it is: the bytes are of a possible table
};

/// How a file of a table is read.
struct table_file_options {
  /// The number that the file was saved with: yours, for what key and value mean.
  std::uint64_t schema = 0;
  table_check check = table_check::checksum;
  /// Of the memory that is loaded into; a mapped file has its pages by `touch`.
  memory_options memory{};
};

/// A hash for those policies that cannot be made from a seed; for others there is no need.
template <storable_table Table>
using given_hash = std::optional<typename Table::hash_type>;

/// What a file says of itself before its payload is read.
struct table_facts {
  table_kind kind = table_kind::map;       // a map or a set
  table_parameters parameters{};           // plan, counts, layout of the elements, hash and seed
  std::uint16_t version = format_version;  // of the format
  std::uint64_t file_bytes = 0;            // the whole file
  std::uint64_t payload_checksum = 0;      // of the payload, as it was written

  static constexpr std::size_t head_bytes =
      preamble_bytes + table_parameters::bytes;  // what lies before the payload
};

// ------------------------------------------------------------------------------------- saving

namespace detail {

template <class Table>
constexpr table_kind table_kind_of() noexcept {
  constexpr bool has_values = requires { typename Table::mapped_type; };
  return has_values ? table_kind::map : table_kind::set;
}

template <class Table>
constexpr element_shape shape_of() noexcept {
  using element = typename Table::value_type;
  element_shape shape{.key_bytes = sizeof(typename Table::key_type),
                      .value_bytes = 0,
                      .slot_bytes = sizeof(element),
                      .slot_alignment = alignof(element)};
  if constexpr (requires { typename Table::mapped_type; })
    if constexpr (!std::is_empty_v<typename Table::mapped_type>)
      shape.value_bytes = sizeof(typename Table::mapped_type);
  static_assert(sizeof(element) <= table_plan::most_slot_bytes,
                "elements in files have up to 65536 bytes");
  return shape;
}

using table_head = std::array<std::byte, table_facts::head_bytes>;

inline table_head encode_head(const table_parameters& parameters, table_kind kind,
                              std::uint64_t payload_bytes, std::uint64_t payload_checksum) {
  const auto section = encode(parameters);
  const auto first = encode(preamble{.kind = static_cast<std::uint16_t>(kind),
                                     .parameter_bytes = table_parameters::bytes,
                                     .payload_bytes = payload_bytes,
                                     .parameter_checksum = checksum_of(section),
                                     .payload_checksum = payload_checksum});
  table_head head;
  std::ranges::copy(section, std::ranges::copy(first, head.begin()).out);
  return head;
}

template <storable_table Table>
table_head head_of(const Table& table, std::uint64_t schema) {
  using hash = typename Table::hash_type;
  return encode_head({.plan = table.plan(),
                      .counts = table.counts(),
                      .shape = shape_of<Table>(),
                      .schema = schema,
                      .hash = file_hash_of<hash>(),
                      .seed = seed_of(table.hash())},
                     table_kind_of<Table>(), table.memory().size(), checksum_of(table.memory()));
}

}  // namespace detail

/// How a table is saved.
struct table_save_options {
  /// Yours, for what key and value mean; it must be given again to read the file.
  std::uint64_t schema = 0;
};

/// Writes a table to a file, replacing what is there once the new file is complete and on the
/// disk. None if that went well.
template <storable_table Table>
[[nodiscard]] std::optional<save_failure> save(const Table& table, const std::string& path,
                                               table_save_options options = {}) {
  const detail::table_head head = detail::head_of(table, options.schema);
  return write_atomically(path, {head, table.memory()});
}

/// Appends the same bytes to `out`.
template <storable_table Table>
void save_to(const Table& table, std::vector<std::byte>& out, table_save_options options = {}) {
  const detail::table_head head = detail::head_of(table, options.schema);
  out.reserve(out.size() + head.size() + table.memory().size());
  out.insert(out.end(), head.begin(), head.end());
  out.insert(out.end(), table.memory().begin(), table.memory().end());
}

// ------------------------------------------------------------------------------------- facts

namespace detail {

/// `head` is the beginning of a file of `file_bytes` bytes, as long as both sections before the
/// payload or as the file.
inline loaded<table_facts> decode_table_facts(std::span<const std::byte> head,
                                              std::uint64_t file_bytes, std::string_view name) {
  const loaded<preamble> read = decode_preamble(head, file_bytes, name);
  if (!read) return read.failure();
  const std::size_t there = head.size() - preamble_bytes;
  const auto section =
      head.subspan(preamble_bytes,
                   static_cast<std::size_t>(std::min<std::uint64_t>(read->parameter_bytes, there)));
  const loaded<table_parameters> parameters = decode_table_parameters(section, *read, name);
  if (!parameters) return parameters.failure();
  return table_facts{.kind = static_cast<table_kind>(read->kind),
                     .parameters = *parameters,
                     .version = read->version,
                     .file_bytes = file_bytes,
                     .payload_checksum = read->payload_checksum};
}

inline loaded<table_facts> table_facts_of(const input_file& file) {
  table_head head{};
  const auto there = std::span(head).first(
      static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), head.size())));
  if (auto failure = file.read(0, there)) return *std::move(failure);
  return decode_table_facts(there, file.size(), file.name());
}

}  // namespace detail

/// What a file holds, also one that was not closed. Preamble and parameters are verified, the
/// payload is not read.
inline loaded<table_facts> read_table_facts(const std::string& path) {
  const loaded<input_file> file = input_file::open(path);
  if (!file) return file.failure();
  return detail::table_facts_of(*file);
}
inline loaded<table_facts> read_table_facts(std::span<const std::byte> bytes) {
  return detail::decode_table_facts(bytes, bytes.size(), detail::bytes_in_memory);
}

// ------------------------------------------------------------------------------------- loading

namespace detail {

/// Why a file is none for this type of table.
template <class Table>
std::optional<std::string> find_table_mismatch(const table_facts& facts, std::uint64_t schema) {
  const table_parameters& found = facts.parameters;
  constexpr element_shape shape = shape_of<Table>();
  constexpr table_kind kind = table_kind_of<Table>();
  if (facts.kind != kind)
    return "it holds a " + std::string(name_of(facts.kind)) + ", asked for was a " +
           std::string(name_of(kind));
  if (found.shape.order != shape.order)
    return "byte order must be " + std::string(name_of(shape.order)) + "; found " +
           std::string(name_of(found.shape.order));
  plan_check check;
  const auto same = [&](std::string_view name, std::uint64_t in_file, std::uint64_t asked) {
    check(in_file == asked, name, std::to_string(asked), in_file);
  };
  same("schema", found.schema, schema);
  same("key bytes", found.shape.key_bytes, shape.key_bytes);
  same("value bytes", found.shape.value_bytes, shape.value_bytes);
  same("slot bytes", found.shape.slot_bytes, shape.slot_bytes);
  same("slot alignment", found.shape.slot_alignment, shape.slot_alignment);
  same("bucket_capacity", found.plan.bucket_capacity, Table::bucket_capacity);
  if (check.fault) return check.fault;
  if (const auto fault = find_other_scheme<typename Table::scheme_type>(found.plan.scheme))
    return fault;
  if (found.hash == file_hash_of<typename Table::hash_type>()) return std::nullopt;
  return found.hash == file_hash::own
             ? "it holds keys hashed by the writer's own policy, asked for was seeded_hash"
             : "it holds keys hashed by seeded_hash, asked for was a policy of your own";
}

enum class accepted_state : std::uint8_t { closed, any };

/// Facts of a file that this type of table can have.
template <class Table>
loaded<table_facts> facts_for_table(loaded<table_facts> facts, std::uint64_t schema,
                                    std::string_view name,
                                    accepted_state accepted = accepted_state::closed) {
  if (!facts) return facts;
  if (const auto fault = find_table_mismatch<Table>(*facts, schema))
    return load_failure{load_error::wrong_kind,
                        std::string(name) + " is of the wrong kind: " + *fault};
  if (accepted == accepted_state::any || facts->parameters.state == table_file_state::closed)
    return facts;
  return load_failure{load_error::not_closed,
                      std::string(name) +
                          " was not closed: it is open for writing, or its writer ended early; "
                          "recover() makes a whole file of what is in it"};
}

template <class Table>
loaded<typename Table::hash_type> hash_for(given_hash<Table> hash, std::uint64_t seed,
                                           std::string_view name) {
  if constexpr (made_from_seed<typename Table::hash_type>)
    if (!hash) hash.emplace(hash_from<typename Table::hash_type>(seed));
  if (!hash)
    return load_failure{load_error::wrong_kind,
                        std::string(name) +
                            " is of the wrong kind: its hash cannot be made from a seed and must "
                            "be given"};
  if (auto failure = find_other_seed(*hash, seed, name)) return *std::move(failure);
  return *std::move(hash);
}

template <class Table>
std::optional<load_failure> verify_elements(Table& table, std::string_view name) {
  const table_audit<Table> audit(table);
  loaded<line_memory> scratch = allocate(audit.scratch_bytes(), name);
  if (!scratch) return std::move(scratch).failure();
  if (const auto fault = audit.find_fault(*std::move(scratch))) return inconsistent(name, *fault);
  return std::nullopt;
}

/// The table over a payload, after the checks that were asked for.
template <class Table>
loaded<Table> table_over(const table_facts& facts, line_memory payload, table_check check,
                         given_hash<Table> given, std::string_view name) {
  loaded<typename Table::hash_type> hash =
      hash_for<Table>(std::move(given), facts.parameters.seed, name);
  if (!hash) return std::move(hash).failure();
  if (check >= table_check::checksum)
    if (auto failure = verify_checksum(payload.bytes(), facts.payload_checksum, name))
      return *std::move(failure);
  Table table(facts.parameters.plan, std::move(payload), facts.parameters.counts, *std::move(hash));
  if (const auto fault = table_audit<Table>(table).find_side_fault())
    return inconsistent(name, *fault);
  if (check >= table_check::elements)
    if (auto failure = verify_elements(table, name)) return *std::move(failure);
  return table;
}

/// A file's facts, and its payload in memory of its own.
struct table_contents {
  table_facts facts;
  line_memory payload;
};

/// `fill` brings the payload into the memory.
template <class Fill>
loaded<table_contents> fill_contents(const loaded<table_facts>& facts, memory_options options,
                                     std::string_view name, Fill fill) {
  if (!facts) return facts.failure();
  loaded<line_memory> memory = allocate(facts->file_bytes - table_facts::head_bytes, name, options);
  if (!memory) return std::move(memory).failure();
  if (std::optional<load_failure> failure = fill(memory->bytes())) return *std::move(failure);
  return table_contents{*facts, *std::move(memory)};
}
template <class Table>
loaded<table_contents> read_contents(const input_file& file, const table_file_options& options,
                                     accepted_state accepted) {
  return fill_contents(
      facts_for_table<Table>(table_facts_of(file), options.schema, file.name(), accepted),
      options.memory, file.name(),
      [&](std::span<std::byte> out) { return file.read(table_facts::head_bytes, out); });
}
template <class Table>
loaded<table_contents> read_contents(std::span<const std::byte> bytes,
                                     const table_file_options& options, accepted_state accepted) {
  return fill_contents(
      facts_for_table<Table>(read_table_facts(bytes), options.schema, bytes_in_memory, accepted),
      options.memory, bytes_in_memory,
      [&](std::span<std::byte> out) -> std::optional<load_failure> {
        std::memcpy(out.data(), bytes.data() + table_facts::head_bytes, out.size());
        return std::nullopt;
      });
}

template <class Table>
loaded<Table> table_from(loaded<table_contents> contents, table_check check, given_hash<Table> hash,
                         std::string_view name) {
  if (!contents) return std::move(contents).failure();
  return table_over<Table>(contents->facts, std::move(contents->payload), check, std::move(hash),
                           name);
}

}  // namespace detail

/// A table of its own from a file. While it is read, no process can open it for writing.
template <storable_table Table>
loaded<Table> load(const std::string& path, table_file_options options = {},
                   given_hash<Table> hash = std::nullopt) {
  const loaded<input_file> file = detail::open_locked(path, file_access::read);
  if (!file) return file.failure();
  return detail::table_from<Table>(
      detail::read_contents<Table>(*file, options, detail::accepted_state::closed), options.check,
      std::move(hash), file->name());
}

/// The same from bytes in memory, wherever they begin.
template <storable_table Table>
loaded<Table> load_from(std::span<const std::byte> bytes, table_file_options options = {},
                        given_hash<Table> hash = std::nullopt) {
  return detail::table_from<Table>(
      detail::read_contents<Table>(bytes, options, detail::accepted_state::closed), options.check,
      std::move(hash), detail::bytes_in_memory);
}

// ------------------------------------------------------------------------------------- mapping

/// A mapped file and the lookups in it. With `table_check::tags` it is opened at the cost of
/// reading the side arrays. Many may map a file together; while one does, no process can open it
/// for writing. A save replaces it, and leaves the old one to them.
template <storable_table Table>
class mapped_table {
 public:
  /// Opens a file of this type of table, or says why not.
  static loaded<mapped_table> map(const std::string& path, table_file_options options = {},
                                  given_hash<Table> hash = std::nullopt) {
    loaded<locked_file> file = locked_file::open(path, file_access::read, options.memory.touch);
    if (!file) return std::move(file).failure();
    const loaded<table_facts> facts = detail::facts_for_table<Table>(
        detail::decode_table_facts(file->bytes(), file->bytes().size(), file->name()),
        options.schema, file->name());
    if (!facts) return facts.failure();
    loaded<Table> table = detail::table_over<Table>(
        *facts, line_memory::lend_read_only(file->bytes().subspan(table_facts::head_bytes)),
        options.check, std::move(hash), file->name());
    if (!table) return std::move(table).failure();
    return mapped_table(*std::move(file), *std::move(table));
  }

  /// The table, to be read. It lives as long as this object stays where it is.
  const Table& operator*() const noexcept { return table_; }
  /// A member of the table, likewise.
  const Table* operator->() const noexcept { return &table_; }

 private:
  mapped_table(locked_file file, Table table) : file_(std::move(file)), table_(std::move(table)) {}

  locked_file file_;
  Table table_;
};

/// A table in a mapped file that is changed there, by one process at a time.
///
///   auto flows = writable_table<flow_map>::open("flows.table").value();
///   flows->insert(id, flow);
///   if (auto failure = flows.close()) complain(failure->sentence);
///
/// While it is open the file says so, and no other process reads it. A file being read is refused.
/// `close` brings all changes to the disk, then counts and checksum, and then the file is as good
/// as a saved one. If the process ends before that, `recover` is needed. All checks are made when
/// it is opened, the checksum in any case: a fresh one must not hide old damage.
template <storable_table Table>
class writable_table {
 public:
  /// Opens a file of this type of table and marks it as open, or says why not.
  static loaded<writable_table> open(const std::string& path, table_file_options options = {},
                                     given_hash<Table> hash = std::nullopt) {
    loaded<updated_file> file = updated_file::open(path, options.memory.touch);
    if (!file) return std::move(file).failure();
    loaded<table_facts> facts = detail::facts_for_table<Table>(
        detail::decode_table_facts(file->bytes(), file->bytes().size(), file->name()),
        options.schema, file->name());
    if (!facts) return std::move(facts).failure();
    loaded<Table> table = detail::table_over<Table>(
        *facts, line_memory::lend(file->bytes().subspan(table_facts::head_bytes)),
        std::max(options.check, table_check::checksum), std::move(hash), file->name());
    if (!table) return std::move(table).failure();
    if (auto failure = mark(*file, *facts, table_file_state::open)) {
      // What was written may be the mark, or a part of it, in front of a payload that is whole.
      static_cast<void>(mark(*file, *facts, table_file_state::closed));
      return load_failure{load_error::io, std::move(failure->sentence)};
    }
    // Not before: what writes the mark would write all pages.
    if (options.memory.touch == page_touch::at_once) file->touch_for_writing();
    return writable_table(*std::move(file), *std::move(table), *facts);
  }

  writable_table(writable_table&& other) noexcept
      : opened_(std::exchange(other.opened_, std::nullopt)), facts_(other.facts_) {}
  writable_table& operator=(writable_table&&) = delete;
  /// Closes the file. To know whether that succeeded, call `close` before.
  ~writable_table() { static_cast<void>(close()); }

  /// The table. Until `close`; it lives as long as this object stays where it is, and must not be
  /// moved from, swapped or assigned to: it would leave the file.
  Table& operator*() noexcept { return opened_->table; }
  /// A member of the table, likewise.
  Table* operator->() noexcept { return &opened_->table; }
  const Table& operator*() const noexcept { return opened_->table; }
  const Table* operator->() const noexcept { return &opened_->table; }

  /// Brings everything to the disk, marks the file as closed and lets go of it. None if that went
  /// well; otherwise the file stays marked as open, or it is whole but the path no longer names it,
  /// as the sentence says. The second call does nothing.
  [[nodiscard]] std::optional<save_failure> close() {
    const std::optional<state> last = std::exchange(opened_, std::nullopt);
    if (!last) return std::nullopt;
    const auto& [file, table] = *last;
    const std::span<const std::byte> payload = file.bytes().subspan(table_facts::head_bytes);
    if (table.memory().data() != payload.data())
      return save_failure{file.name() +
                          " cannot be written: its table was moved from, swapped or assigned to"};
    facts_.parameters.counts = table.counts();
    facts_.payload_checksum = checksum_of(payload);
    if (auto failure = file.sync()) return failure;
    if (auto failure = mark(file, facts_, table_file_state::closed)) return failure;
    return file.find_other_name();
  }

 private:
  struct state {
    updated_file file;
    Table table;
  };

  writable_table(updated_file file, Table table, const table_facts& facts)
      : opened_(state{std::move(file), std::move(table)}), facts_(facts) {}

  static std::optional<save_failure> mark(const updated_file& file, table_facts facts,
                                          table_file_state now) {
    facts.parameters.state = now;
    return file.write_head(detail::encode_head(facts.parameters, facts.kind,
                                               facts.file_bytes - table_facts::head_bytes,
                                               facts.payload_checksum));
  }

  std::optional<state> opened_;  // none: closed, or moved from
  table_facts facts_;
};

// ------------------------------------------------------------------------------------- recovery

/// What was mended, and what was lost.
template <storable_table Table>
struct recovered_table {
  Table table;  // it is as it should be, but for what was dropped
  /// Slots with a tag whose element is not in the table: it was no whole one, its key was there
  /// twice, or it had to move and found no room.
  std::uint64_t dropped = 0;
};

/// What a recovery in the file itself has left.
struct table_recovery {
  table_counts counts{};      // of the elements that are in it now
  std::uint64_t dropped = 0;  // slots whose element is not, as in recovered_table
};

namespace detail {

template <class Table>
loaded<recovered_table<Table>> recover_contents(loaded<table_contents> contents,
                                                given_hash<Table> given, std::string_view name) {
  if (!contents) return std::move(contents).failure();
  const table_parameters& parameters = contents->facts.parameters;
  loaded<typename Table::hash_type> hash = hash_for<Table>(std::move(given), parameters.seed, name);
  if (!hash) return std::move(hash).failure();
  Table table(parameters.plan, std::move(contents->payload), table_counts{}, *std::move(hash));
  const std::uint64_t dropped = table_audit<Table>(table).mend();
  return recovered_table<Table>{std::move(table), dropped};
}

/// A crash spoils an element or a few pages. If most or all are lost, the hash is another one.
constexpr bool is_unlike_a_crash(std::uint64_t dropped, std::uint64_t kept) noexcept {
  return dropped > kept + 16 || (kept == 0 && dropped != 0);
}

}  // namespace detail

/// A table of what is in a file that was not closed, or whose payload is damaged. An element stays
/// if its bucket is a candidate of its key, its slot has its tag, and the key is there once; notes
/// and counts are made anew.
///
/// After a process that was killed, nothing is lost that an operation had finished; the one element
/// that was being inserted, assigned or erased is there or not, and its value may be half written.
/// After a machine that lost its power, pages of the file are of different moments: elements may be
/// missing or be there again, and values may be old or half written.
template <storable_table Table>
loaded<recovered_table<Table>> recover_from(std::span<const std::byte> bytes,
                                            table_file_options options = {},
                                            given_hash<Table> hash = std::nullopt) {
  return detail::recover_contents<Table>(
      detail::read_contents<Table>(bytes, options, detail::accepted_state::any), std::move(hash),
      detail::bytes_in_memory);
}

/// The same in the file, which is replaced as `save` does it: as long as that is not done, it is as
/// it was. Refused are a file that is being written or read, one that was replaced meanwhile, and
/// one that would lose all its elements, or over 16 more than it keeps.
template <storable_table Table>
loaded<table_recovery> recover(const std::string& path, table_file_options options = {},
                               given_hash<Table> hash = std::nullopt) {
  const loaded<input_file> file = detail::open_locked(path, file_access::update);
  if (!file) return file.failure();
  loaded<recovered_table<Table>> recovered = detail::recover_contents<Table>(
      detail::read_contents<Table>(*file, options, detail::accepted_state::any), std::move(hash),
      file->name());
  if (!recovered) return std::move(recovered).failure();
  if (detail::is_unlike_a_crash(recovered->dropped, recovered->table.size()))
    return load_failure{load_error::wrong_kind,
                        std::string(file->name()) + " is of the wrong kind: of " +
                            std::to_string(recovered->dropped + recovered->table.size()) +
                            " elements " + std::to_string(recovered->dropped) +
                            " are not where this hash puts them; the file was left as it is"};
  if (!detail::is_name_of(path, *file)) return file->failed("it was replaced meanwhile");
  if (auto failure = save(recovered->table, path, {.schema = options.schema}))
    return load_failure{load_error::io, std::move(failure->sentence)};
  return table_recovery{recovered->table.counts(), recovered->dropped};
}

}  // namespace oneprobe::inline v0_1
