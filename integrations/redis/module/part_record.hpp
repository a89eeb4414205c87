// What replicas and the AOF get of each new part of a filter: the part as it was planned,
// never what was asked for, so that every copy has the same bits whatever its own planner would
// say.
//
//   0    8   magic, "O_REDISP"                56   8   elements of the first part
//   8    4   version, 1                       64   8   stated error
//   12   4   scaling                          72   8   growth
//   16   8   expansion                        80   8   tightening
//   24   8   access budget                    88   8   bytes of the part
//   32   8   parts before this one            96   320 preamble and parameters of the part, empty,
//   40   8   elements before                           with 0 for the checksum of its payload
//   48   8   history before (stored_filter)   416  8   checksum of bytes 0 to 415
//
// docs/formats/redis.md describes it for others. Pure functions on values, no memory is asked for
// but by what is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "oneprobe/files.hpp"
#include "oneprobe/filter/growing.hpp"
#include "oneprobe/filter/plan.hpp"
#include "reservation.hpp"

namespace oneprobe::redis {

struct part_record {
  static constexpr std::size_t bytes = 424;

  growth_settings settings{};
  growing_plan whole{};
  filter_plan part{};
  std::uint64_t seed = 0;
  // Of the filter that the part comes to.
  std::uint64_t parts = 0;
  std::uint64_t elements = 0;
  std::uint64_t history = 0;
};

std::array<std::byte, part_record::bytes> encode(const part_record& record);
loaded<part_record> decode_part_record(std::span<const std::byte> bytes);

}  // namespace oneprobe::redis
