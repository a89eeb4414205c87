// Growing and rotating filters as bytes: the functions of filter/file.hpp for what is made of
// several filters.
//
//   growing_filter<balanced_filter> seen(1000, 1e-4);
//   if (auto failure = save(seen, "seen.filter")) return complain(failure->sentence);
//   auto again = load<growing_filter<balanced_filter>>("seen.filter");
//   if (!again) return complain(again.failure().sentence);
//   again->insert("a key");                    // grows as `seen` would have grown
//
//   | preamble | what the whole is | filter file | filter file | ... |     the oldest first
//
//   save, save_to      to a file or to memory; the same filter, the same bytes
//   load, load_from    a filter of its own, which goes on as the saved one would have gone on
//
// A planner is a function and cannot be saved. Bring the same to load a growing filter that had one
// of yours; without it, parts to come are from the default plans.
//
// What is read is taken to be hostile, as in filter/file.hpp: no length is trusted, nothing larger
// than the file is allocated for what it says, and every failure is a load_failure with one
// sentence, which names the part it is about. docs/formats/parts.md describes the bytes.
//
// Threads: calls on different files and filters may run together. No thread may change a filter
// that is being saved. A save is all or nothing, also when the process is killed.
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
#include <utility>
#include <vector>

#include "oneprobe/detail/filter/parameters.hpp"
#include "oneprobe/detail/filter/parts.hpp"
#include "oneprobe/detail/filter/parts_parameters.hpp"
#include "oneprobe/detail/io/atomic_file.hpp"
#include "oneprobe/detail/io/input_file.hpp"
#include "oneprobe/detail/io/preamble.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/filter/file.hpp"
#include "oneprobe/filter/growing.hpp"
#include "oneprobe/filter/rotating.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {

namespace detail {

// What is written for a state of growth is its number here.
static_assert(static_cast<std::uint32_t>(growth_state::as_planned) == 0 &&
              static_cast<std::uint32_t>(growth_state::no_memory) == 1 &&
              static_cast<std::uint32_t>(growth_state::no_plan) ==
                  parts_parameters::largest_growth_state);

/// What a file says of the whole, but for its parts.
template <whole_filter Filter>
parts_parameters describe(const growing_filter<Filter>& filter) {
  const growing_progress progress = filter.progress();
  return {.kind = parts_kind::growing,
          .fpr = progress.plan.fpr,
          .first_elements = progress.plan.first_elements,
          .growth = progress.plan.growth,
          .tightening = progress.plan.tightening,
          .left = progress.left,
          .grow_at = progress.grow_at,
          .growth_state = static_cast<std::uint32_t>(progress.growth)};
}
template <whole_filter Filter>
parts_parameters describe(const rotating_filter<Filter>& filter) {
  return {.kind = parts_kind::rotating, .fpr = filter.stated_fpr()};
}
/// The reverse.
inline growing_progress progress_in(const parts_parameters& parameters) noexcept {
  return {.plan = {.first_elements = parameters.first_elements,
                   .fpr = parameters.fpr,
                   .growth = parameters.growth,
                   .tightening = parameters.tightening},
          .left = parameters.left,
          .grow_at = parameters.grow_at,
          .growth = static_cast<growth_state>(parameters.growth_state)};
}

}  // namespace detail

/// What can be saved: every growing and every rotating filter.
template <class Whole>
concept saveable_parts = requires(const Whole& whole) {
  { detail::describe(whole) } -> std::same_as<parts_parameters>;
};

/// What can be loaded: those whose parts can.
template <class Whole>
concept loadable_growing_filter =
    saveable_parts<Whole> && loadable_filter<typename Whole::filter_type> &&
    std::same_as<Whole, growing_filter<typename Whole::filter_type>>;
/// A rotating filter, likewise.
template <class Whole>
concept loadable_rotating_filter =
    saveable_parts<Whole> && loadable_filter<typename Whole::filter_type> &&
    std::same_as<Whole, rotating_filter<typename Whole::filter_type>>;

// ------------------------------------------------------------------------------------- saving

namespace detail {

/// The bytes of a file, in the order in which they are written: those of the parts where they lie,
/// what stands before and between them in here.
class parts_bytes {
 public:
  template <saveable_parts Whole>
  explicit parts_bytes(const Whole& whole) {
    const auto parts = whole.parts();
    parts_parameters parameters = describe(whole);
    parameters.hash = file_hash_of<typename Whole::hash_type>();
    parameters.seed = seed_of(whole.hash());
    part_heads_.reserve(parts.size());  // the spans point to them
    spans_.resize(2);
    running_checksum checksum;
    std::uint64_t payload_bytes = 0;
    for (const auto& part : parts) {
      const file_head& head = part_heads_.emplace_back(head_of(part));
      std::uint64_t part_bytes = 0;
      for (const std::span<const std::byte> bytes :
           {std::span<const std::byte>(head.preamble_section),
            std::span<const std::byte>(head.parameters), part.memory()}) {
        spans_.push_back(bytes);
        checksum.add(bytes);
        part_bytes += bytes.size();
      }
      parameters.part_bytes.push_back(part_bytes);
      payload_bytes += part_bytes;
    }
    parameters_ = encode(parameters);
    preamble_ = encode(preamble{.kind = static_cast<std::uint16_t>(parameters.kind),
                                .parameter_bytes = parameters_.size(),
                                .payload_bytes = payload_bytes,
                                .parameter_checksum = checksum_of(parameters_),
                                .payload_checksum = checksum.value()});
    spans_[0] = preamble_;
    spans_[1] = parameters_;
  }
  parts_bytes(const parts_bytes&) = delete;
  parts_bytes& operator=(const parts_bytes&) = delete;

  std::span<const std::span<const std::byte>> spans() const noexcept { return spans_; }

 private:
  std::array<std::byte, preamble_bytes> preamble_{};
  std::vector<std::byte> parameters_{};
  std::vector<file_head> part_heads_{};
  std::vector<std::span<const std::byte>> spans_{};
};

}  // namespace detail

/// Writes a filter to a file, replacing what is there once the new file is complete and on the
/// disk. None if that went well.
template <saveable_parts Whole>
[[nodiscard]] std::optional<save_failure> save(const Whole& whole, const std::string& path) {
  return write_atomically(path, detail::parts_bytes(whole).spans());
}

/// Appends the same bytes to `out`.
template <saveable_parts Whole>
void save_to(const Whole& whole, std::vector<std::byte>& out) {
  const detail::parts_bytes bytes(whole);
  std::size_t size = out.size();
  for (const std::span<const std::byte> span : bytes.spans()) size += span.size();
  out.reserve(size);
  for (const std::span<const std::byte> span : bytes.spans())
    out.insert(out.end(), span.begin(), span.end());
}

// ------------------------------------------------------------------------------------- loading

namespace detail {

/// Bytes in memory as an input_file has them.
class input_bytes {
 public:
  explicit input_bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  const std::string& name() const noexcept { return name_; }
  std::uint64_t size() const noexcept { return bytes_.size(); }
  /// REQUIRES: they are there.
  std::optional<load_failure> read(std::uint64_t begin, std::span<std::byte> out) const {
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + begin, out.size());
    return std::nullopt;
  }

 private:
  std::span<const std::byte> bytes_;
  std::string name_{bytes_in_memory};
};

/// Calls `use` with the file or with the bytes; both are read in the same way.
template <class Whole, class Use>
loaded<Whole> with_input(const std::string& path, Use use) {
  const loaded<input_file> file = input_file::open(path);
  if (!file) return file.failure();
  return use(*file);
}
template <class Whole, class Use>
loaded<Whole> with_input(std::span<const std::byte> bytes, Use use) {
  return use(input_bytes(bytes));
}

/// The two sections before the parts.
struct parts_head {
  preamble sections{};
  parts_parameters parameters{};
};

template <class Input>
loaded<parts_head> read_parts_head(const Input& input, parts_kind wanted) {
  std::array<std::byte, preamble_bytes> first{};
  const auto there = std::span(first).first(
      static_cast<std::size_t>(std::min<std::uint64_t>(input.size(), first.size())));
  if (auto failure = input.read(0, there)) return *std::move(failure);
  const loaded<preamble> sections = decode_preamble(there, input.size(), input.name());
  if (!sections) return sections.failure();
  if (sections->kind != static_cast<std::uint16_t>(wanted))
    return wrong_kind(input.name(), sections->kind,
                      "a " + std::string(name_of(wanted)) + " filter");
  loaded<line_memory> section = allocate(sections->parameter_bytes, input.name());
  if (!section) return std::move(section).failure();
  if (auto failure = input.read(preamble_bytes, section->bytes())) return *std::move(failure);
  loaded<parts_parameters> parameters =
      decode_parts_parameters(section->bytes(), *sections, input.name());
  if (!parameters) return std::move(parameters).failure();
  return parts_head{*sections, *std::move(parameters)};
}

/// Every part as load would give it from a file of its own.
template <class Filter, class Input>
loaded<std::vector<Filter>> load_each(const Input& input, const parts_head& head,
                                      const typename Filter::hash_type& hash) {
  const parts_parameters& whole = head.parameters;
  // Nothing is reserved: a filter object can be larger than the part that a file only claims.
  std::vector<Filter> parts;
  running_checksum checksum;
  std::uint64_t begin = head.sections.payload_begin();
  for (const std::uint64_t bytes : whole.part_bytes) {
    const std::string name = "part " + std::to_string(parts.size() + 1) + " of " + input.name();
    std::array<std::byte, preamble_bytes + filter_parameters::bytes> part_head{};
    if (auto failure = input.read(begin, part_head)) return *std::move(failure);
    checksum.add(part_head);
    loaded<file_facts> facts = decode_facts(part_head, bytes, name);
    if (!facts) return std::move(facts).failure();
    if (facts->hash != whole.hash || facts->seed != whole.seed)
      return inconsistent_file(name, "its hash and seed must be those of the whole file");
    facts = facts_for<Filter>(std::move(facts), name);
    if (!facts) return std::move(facts).failure();
    loaded<Filter> part = load_with<Filter>(facts, name, hash, [&](std::span<std::byte> out) {
      std::optional<load_failure> failure = input.read(begin + facts->payload_begin, out);
      checksum.add(out);
      return failure;
    });
    if (!part) return std::move(part).failure();
    parts.push_back(*std::move(part));
    begin += bytes;
  }
  // Each part is as it was written; whether they are the parts of this file, this one says.
  if (checksum.value() != head.sections.payload_checksum)
    return load_failure{load_error::checksum_mismatch,
                        input.name() + " has a checksum mismatch in its payload"};
  return parts;
}

/// `place` is a path, or bytes.
template <class Growing, class Place, class MakeHash>
loaded<Growing> load_growing(const Place& place, MakeHash make_hash,
                             typename Growing::planner plan_part) {
  return with_input<Growing>(place, [&](const auto& input) -> loaded<Growing> {
    const loaded<parts_head> head = read_parts_head(input, parts_kind::growing);
    if (!head) return head.failure();
    const growing_progress progress = progress_in(head->parameters);
    if (const auto fault = oneprobe::find_fault(progress.plan))
      return inconsistent_file(input.name(), *fault);
    auto parts =
        load_each<typename Growing::filter_type>(input, *head, make_hash(head->parameters.seed));
    if (!parts) return std::move(parts).failure();
    if (const auto fault = Growing::find_fault(progress, *parts))
      return inconsistent_file(input.name(), *fault);
    return Growing(progress, *std::move(parts), std::move(plan_part));
  });
}

template <class Rotating, class Place, class MakeHash>
loaded<Rotating> load_rotating(const Place& place, MakeHash make_hash) {
  return with_input<Rotating>(place, [&](const auto& input) -> loaded<Rotating> {
    const loaded<parts_head> head = read_parts_head(input, parts_kind::rotating);
    if (!head) return head.failure();
    auto parts =
        load_each<typename Rotating::filter_type>(input, *head, make_hash(head->parameters.seed));
    if (!parts) return std::move(parts).failure();
    const double fpr = head->parameters.fpr;
    if (const auto fault = Rotating::find_fault(fpr, *parts))
      return inconsistent_file(input.name(), *fault);
    return Rotating(fpr, *std::move(parts));
  });
}

/// For policies that are given: every part gets a copy.
template <class Hash>
auto always(const Hash& hash) {
  return [&hash](std::uint64_t) -> const Hash& { return hash; };
}

}  // namespace detail

/// A growing filter from a file, everything verified. It grows by `plan_part`, or by the default
/// plans.
template <loadable_growing_filter Growing>
loaded<Growing> load(const std::string& path, typename Growing::planner plan_part = {}) {
  return detail::load_growing<Growing>(path, detail::hash_from<typename Growing::hash_type>,
                                       std::move(plan_part));
}
/// The same for a hash policy that cannot be made from a seed.
template <loadable_growing_filter Growing>
loaded<Growing> load(const std::string& path, typename Growing::hash_type hash,
                     typename Growing::planner plan_part = {}) {
  return detail::load_growing<Growing>(path, detail::always(hash), std::move(plan_part));
}

/// The same from bytes in memory, wherever they begin.
template <loadable_growing_filter Growing>
loaded<Growing> load_from(std::span<const std::byte> bytes,
                          typename Growing::planner plan_part = {}) {
  return detail::load_growing<Growing>(bytes, detail::hash_from<typename Growing::hash_type>,
                                       std::move(plan_part));
}
template <loadable_growing_filter Growing>
loaded<Growing> load_from(std::span<const std::byte> bytes, typename Growing::hash_type hash,
                          typename Growing::planner plan_part = {}) {
  return detail::load_growing<Growing>(bytes, detail::always(hash), std::move(plan_part));
}

/// A rotating filter likewise.
template <loadable_rotating_filter Rotating>
loaded<Rotating> load(const std::string& path) {
  return detail::load_rotating<Rotating>(path, detail::hash_from<typename Rotating::hash_type>);
}
template <loadable_rotating_filter Rotating>
loaded<Rotating> load(const std::string& path, typename Rotating::hash_type hash) {
  return detail::load_rotating<Rotating>(path, detail::always(hash));
}
template <loadable_rotating_filter Rotating>
loaded<Rotating> load_from(std::span<const std::byte> bytes) {
  return detail::load_rotating<Rotating>(bytes, detail::hash_from<typename Rotating::hash_type>);
}
template <loadable_rotating_filter Rotating>
loaded<Rotating> load_from(std::span<const std::byte> bytes, typename Rotating::hash_type hash) {
  return detail::load_rotating<Rotating>(bytes, detail::always(hash));
}

}  // namespace oneprobe::inline v0_1
