// The parameter section of a filter file: everything a filter is, but its bytes.
//
//   0    4   version of this section, 1       136  8   overflow slots
//   4    4   hash: 1 seeded_hash, 0 another   144  8   overflow reserve
//   8    8   seed                             152  8   predicted error (fpr)
//   16   8   elements it was planned for      160  8   predicted accesses of an insert
//   24   8   cells                            168  8   ... of a positive query
//   32   4   bits set per element             176  8   ... of a negative query
//   36   4   counter bits                     184  8   predicted overflow fraction
//   40   4   block bits                       192  8   elements
//   44   4   levels                           200  8   entries of the overflow list
//   48   1   layout                           208  8   elements forced into a block
//   49   1   scheme                           216  8   entries dropped by a merge
//   50   1   lookup rule                      224  4   bucket capacity
//   51   1   zero                             228  4   remainder bits
//   52   4   choices                          232  24  zero
//   56   4   threshold
//   60   4   tracking bits
//   64   8   admit probability
//   72   64  blocks of levels 0 to 7
//
// Fields that mean nothing for a kind of filter are zero, so that a filter has one form only; what
// is read is held to that. docs/formats/filter.md says which fields mean something where.
// Pure functions on values, thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/io/file_hash.hpp"
#include "oneprobe/detail/io/file_kind.hpp"
#include "oneprobe/detail/io/preamble.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"

namespace oneprobe::inline v0_1 {

struct filter_parameters {
  static constexpr std::uint32_t version = 1;
  static constexpr std::size_t bytes = 256;

  filter_plan plan{};
  filter_counts counts{};
  file_hash hash = file_hash::seeded;
  std::uint64_t seed = 0;
};

// What is written for a scheme is its number here.
static_assert(static_cast<int>(scheme_kind::single) == 0 &&
              static_cast<int>(scheme_kind::sequential) == 1 &&
              static_cast<int>(scheme_kind::multilevel) == 2 &&
              static_cast<int>(scheme_kind::d_random) == 3 &&
              static_cast<int>(scheme_kind::d_left) == 4);

namespace detail {

/// The plan with everything zero that means nothing for its kind.
inline filter_plan only_what_counts(const filter_plan& plan) noexcept {
  filter_plan kept = plan;
  if (kept.in_blocks()) {
    kept.cells = 0;
    kept.counter_bits = 0;
    for (std::uint32_t i = kept.levels; i < filter_plan::most_levels; ++i)
      kept.level_buckets[i] = 0;
  } else {
    kept.block_bits = 0;
    kept.layout = block_layout::independent;
    kept.levels = 0;
    kept.level_buckets = {};
  }
  if (!kept.sets_bits()) kept.bits_set = 0;
  if (kept.kind != filter_kind::fingerprint) kept.fingerprint_bucket = {};
  if (kept.kind != filter_kind::balanced)
    kept.state = {
        .rule = lookup_rule::counter, .threshold = 0, .admit_probability = 0, .tracking_bits = 0};
  if (!kept.has_candidates()) {
    kept.scheme = scheme_kind::single;
    kept.choices = 0;
    kept.overflow_slots = 0;
    kept.overflow_reserve = 0;
  }
  return kept;
}

/// The reverse: what means nothing has the value that a plan made in a program has.
inline filter_plan with_defaults(const filter_plan& kept) noexcept {
  const filter_plan fresh{};
  filter_plan plan = kept;
  if (plan.in_blocks()) {
    plan.counter_bits = fresh.counter_bits;
  } else {
    plan.block_bits = fresh.block_bits;
    plan.levels = fresh.levels;
  }
  if (!plan.sets_bits()) plan.bits_set = fresh.bits_set;
  if (plan.kind != filter_kind::balanced) plan.state = fresh.state;
  if (!plan.has_candidates()) {
    plan.scheme = fresh.scheme;
    plan.choices = fresh.choices;
  }
  return plan;
}

/// What no filter of this plan can have counted.
inline std::optional<std::string> find_fault(const filter_counts& counts, const filter_plan& plan) {
  const auto told = [](std::string_view name, std::string_view allowed, std::uint64_t found) {
    return std::string(name) + " must be " + std::string(allowed) + "; found " +
           std::to_string(found);
  };
  if (counts.overflow > plan.overflow_reserve)
    return told("overflow", "at most overflow_reserve", counts.overflow);
  if (plan.has_candidates()) return std::nullopt;
  if (counts.forced != 0) return told("forced", "0 in this kind of filter", counts.forced);
  if (counts.dropped != 0) return told("dropped", "0 in this kind of filter", counts.dropped);
  return std::nullopt;
}

}  // namespace detail

inline std::array<std::byte, filter_parameters::bytes> encode(
    const filter_parameters& from) noexcept {
  std::array<std::byte, filter_parameters::bytes> bytes{};
  const filter_plan plan = detail::only_what_counts(from.plan);
  byte_writer out(bytes);
  out.put(filter_parameters::version);
  out.put(static_cast<std::uint32_t>(from.hash));
  out.put(from.seed);
  out.put(plan.elements);
  out.put(plan.cells);
  out.put(plan.bits_set);
  out.put(plan.counter_bits);
  out.put(plan.block_bits);
  out.put(plan.levels);
  out.put(static_cast<std::uint8_t>(plan.layout));
  out.put(static_cast<std::uint8_t>(plan.scheme));
  out.put(static_cast<std::uint8_t>(plan.state.rule));
  out.put(std::uint8_t{0});
  out.put(plan.choices);
  out.put(plan.state.threshold);
  out.put(plan.state.tracking_bits);
  out.put(plan.state.admit_probability);
  for (const std::uint64_t blocks : plan.level_buckets) out.put(blocks);
  out.put(plan.overflow_slots);
  out.put(plan.overflow_reserve);
  out.put(plan.predicted.fpr);
  out.put(plan.predicted.insert_accesses);
  out.put(plan.predicted.hit_accesses);
  out.put(plan.predicted.miss_accesses);
  out.put(plan.predicted.overflow_fraction);
  out.put(from.counts.size);
  out.put(from.counts.overflow);
  out.put(from.counts.forced);
  out.put(from.counts.dropped);
  out.put(plan.fingerprint_bucket.bucket_capacity);
  out.put(plan.fingerprint_bucket.remainder_bits);
  out.fill();
  return bytes;
}

/// Reads the parameter section of a file with this preamble. What is returned is a plan without a
/// fault, whose memory is as large as the payload, and counts that such a filter can have.
inline loaded<filter_parameters> decode_filter_parameters(std::span<const std::byte> section,
                                                          const preamble& head,
                                                          std::string_view name) {
  const auto inconsistent = [&](std::string_view what) { return detail::inconsistent(name, what); };
  // First, since sections of others can be longer than what is read of a file for one filter.
  if (!is_one_filter(head.kind)) return wrong_kind(name, head.kind, "a single filter");
  const auto kind = static_cast<filter_kind>(head.kind);
  if (auto failure = detail::find_section_fault(section, head, filter_parameters::version,
                                                filter_parameters::bytes, name))
    return *std::move(failure);

  filter_parameters read;
  filter_plan& plan = read.plan;
  byte_reader in(section);
  in.take<std::uint32_t>();
  plan.kind = kind;
  read.hash = static_cast<file_hash>(in.take<std::uint32_t>());
  read.seed = in.take<std::uint64_t>();
  plan.elements = in.take<std::uint64_t>();
  plan.cells = in.take<std::uint64_t>();
  plan.bits_set = in.take<std::uint32_t>();
  plan.counter_bits = in.take<std::uint32_t>();
  plan.block_bits = in.take<std::uint32_t>();
  plan.levels = in.take<std::uint32_t>();
  plan.layout = static_cast<block_layout>(in.take<std::uint8_t>());
  plan.scheme = static_cast<scheme_kind>(in.take<std::uint8_t>());
  plan.state.rule = static_cast<lookup_rule>(in.take<std::uint8_t>());
  in.take<std::uint8_t>();
  plan.choices = in.take<std::uint32_t>();
  plan.state.threshold = in.take<std::uint32_t>();
  plan.state.tracking_bits = in.take<std::uint32_t>();
  plan.state.admit_probability = in.take<double>();
  for (std::uint64_t& blocks : plan.level_buckets) blocks = in.take<std::uint64_t>();
  plan.overflow_slots = in.take<std::uint64_t>();
  plan.overflow_reserve = in.take<std::uint64_t>();
  plan.predicted.fpr = in.take<double>();
  plan.predicted.insert_accesses = in.take<double>();
  plan.predicted.hit_accesses = in.take<double>();
  plan.predicted.miss_accesses = in.take<double>();
  plan.predicted.overflow_fraction = in.take<double>();
  read.counts.size = in.take<std::uint64_t>();
  read.counts.overflow = in.take<std::uint64_t>();
  read.counts.forced = in.take<std::uint64_t>();
  read.counts.dropped = in.take<std::uint64_t>();
  plan.fingerprint_bucket.bucket_capacity = in.take<std::uint32_t>();
  plan.fingerprint_bucket.remainder_bits = in.take<std::uint32_t>();

  plan = detail::with_defaults(plan);
  if (const std::optional<std::string> fault = find_fault(plan)) return inconsistent(*fault);
  if (const auto fault = detail::find_fault(read.counts, plan)) return inconsistent(*fault);
  if (read.hash != file_hash::own && read.hash != file_hash::seeded)
    return inconsistent("hash must be 0 or 1; found " +
                        std::to_string(static_cast<std::uint32_t>(read.hash)));
  // Whatever was not read above, or means nothing for this kind, is seen here.
  if (!std::ranges::equal(encode(read), section))
    return inconsistent("a field that means nothing in a " + std::string(name_of(plan.kind)) +
                        " filter is not 0");
  if (plan.memory().total() != head.payload_bytes)
    return inconsistent("the payload must have " + std::to_string(plan.memory().total()) +
                        " bytes; found " + std::to_string(head.payload_bytes));
  return read;
}

}  // namespace oneprobe::inline v0_1
