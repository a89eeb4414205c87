#include "part_record.hpp"

#include <string_view>

#include "dump.hpp"
#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/io/checksum.hpp"
#include "oneprobe/filter/file.hpp"

namespace oneprobe::redis {
namespace {

constexpr std::uint64_t magic = 0x5053494445525F4Full;  // "O_REDISP", read as a number
constexpr std::uint32_t version = 1;
constexpr std::string_view name = "the record of a part";

}  // namespace

std::array<std::byte, part_record::bytes> encode(const part_record& record) {
  std::array<std::byte, part_record::bytes> bytes{};
  byte_writer out(bytes);
  const std::uint64_t part_bytes = record.part.memory().total();
  const auto parameters = oneprobe::encode(filter_parameters{
      .plan = record.part, .counts = {}, .hash = file_hash::seeded, .seed = record.seed});
  out.put(magic);
  out.put(version);
  out.put(static_cast<std::uint32_t>(record.settings.scale));
  out.put(std::uint64_t{record.settings.expansion});
  out.put(record.settings.accesses);
  out.put(record.parts);
  out.put(record.elements);
  out.put(record.history);
  out.put(record.whole.first_elements);
  out.put(record.whole.fpr);
  out.put(record.whole.growth);
  out.put(record.whole.tightening);
  out.put(part_bytes);
  const auto head = oneprobe::encode(preamble{.kind = static_cast<std::uint16_t>(record.part.kind),
                                              .parameter_bytes = filter_parameters::bytes,
                                              .payload_bytes = part_bytes,
                                              .parameter_checksum = checksum_of(parameters),
                                              .payload_checksum = 0});
  out.put(std::span<const std::byte>(head));
  out.put(std::span<const std::byte>(parameters));
  out.put(checksum_of(std::span<const std::byte>(bytes).first(out.written())));
  return bytes;
}

loaded<part_record> decode_part_record(std::span<const std::byte> bytes) {
  const auto inconsistent = [](std::string_view what) { return detail::inconsistent(name, what); };
  if (bytes.size() < 2 * sizeof magic)
    return load_failure{load_error::truncated, std::string(name) + " is truncated"};
  byte_reader in(bytes);
  if (in.take<std::uint64_t>() != magic)
    return load_failure{load_error::not_oneprobe_file, std::string(name) + " is not one"};
  if (const auto found = in.take<std::uint32_t>(); found > version)
    return load_failure{load_error::newer_format,
                        std::string(name) + " has a newer format: " + std::to_string(found)};
  if (bytes.size() != part_record::bytes)
    return inconsistent("it must have 424 bytes; found " + std::to_string(bytes.size()));
  if (byte_reader(bytes.last(sizeof(std::uint64_t))).take<std::uint64_t>() !=
      checksum_of(bytes.first(part_record::bytes - sizeof(std::uint64_t))))
    return load_failure{load_error::checksum_mismatch,
                        std::string(name) + " has a checksum mismatch"};
  part_record read;
  const auto scale = in.take<std::uint32_t>();
  const auto expansion = in.take<std::uint64_t>();
  read.settings.accesses = in.take<double>();
  if (const auto fault = find_fault(scale, expansion, read.settings.accesses))
    return inconsistent(*fault);
  read.settings.scale = static_cast<scaling>(scale);
  read.settings.expansion = static_cast<std::uint32_t>(expansion);
  read.parts = in.take<std::uint64_t>();
  read.elements = in.take<std::uint64_t>();
  read.history = in.take<std::uint64_t>();
  read.whole.first_elements = in.take<std::uint64_t>();
  read.whole.fpr = in.take<double>();
  read.whole.growth = in.take<double>();
  read.whole.tightening = in.take<double>();
  if (const auto fault = oneprobe::find_fault(read.whole)) return inconsistent(*fault);
  const auto part_bytes = in.take<std::uint64_t>();
  constexpr std::size_t part_head_bytes = preamble_bytes + filter_parameters::bytes;
  if (part_bytes > filter_plan::most_bits) return inconsistent("its part is too large");
  const loaded<file_facts> facts = detail::decode_facts(
      bytes.subspan(bytes.size() - in.left(), part_head_bytes), part_head_bytes + part_bytes, name);
  if (!facts) return facts.failure();
  if (facts->counts != filter_counts{}) return inconsistent("its part must be empty");
  if (facts->hash != file_hash::seeded) return inconsistent("its hash must be the seeded one");
  read.part = facts->plan;
  read.seed = facts->seed;
  return read;
}

}  // namespace oneprobe::redis
