#include "dump.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "oneprobe/detail/filter/parts_parameters.hpp"
#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/io/checksum.hpp"
#include "oneprobe/detail/io/preamble.hpp"

namespace oneprobe::redis {
namespace {

constexpr std::uint64_t magic = 0x3153494445525F4Full;  // "O_REDIS1", read as a number
constexpr std::uint32_t version = 3;
constexpr std::uint32_t version_without_old_parts = 2;
constexpr std::uint32_t version_without_history = 1;
constexpr std::uint64_t damage_magic = 0x5853494445525F4Full;  // "O_REDISX"
constexpr std::uint32_t damage_version = 1;
constexpr std::string_view name = "the payload";
constexpr std::size_t part_head_bytes = preamble_bytes + filter_parameters::bytes;

struct start {
  filter_facts facts{};
  std::uint64_t file_bytes = 0;
  std::uint32_t found_version = version;
};

std::vector<std::byte> encode_start(const start& from) {
  std::vector<std::byte> bytes(dump_start_bytes);
  byte_writer out(bytes);
  out.put(magic);
  out.put(from.found_version);
  out.put(static_cast<std::uint32_t>(from.facts.settings.scale));
  out.put(std::uint64_t{from.facts.settings.expansion});
  out.put(from.facts.settings.accesses);
  out.put(from.file_bytes);
  out.put(from.facts.history);
  out.put(from.found_version == version_without_history
              ? std::uint64_t{0}
              : static_cast<std::uint64_t>(from.facts.source));
  out.put(checksum_of(std::span<const std::byte>(bytes).first(out.written())));
  return bytes;
}

load_failure inconsistent(std::string_view what) { return detail::inconsistent(name, what); }

loaded<start> decode_start(std::span<const std::byte> bytes) {
  byte_reader in(bytes);
  if (in.take<std::uint64_t>() != magic)
    return load_failure{load_error::not_oneprobe_file,
                        std::string(name) + " is not an oneprobe filter"};
  const auto found_version = in.take<std::uint32_t>();
  if (found_version > version)
    return load_failure{load_error::newer_format, std::string(name) + " has a newer format: " +
                                                      std::to_string(found_version)};
  if (bytes.size() < dump_start_bytes || found_version == 0)
    return load_failure{load_error::truncated, std::string(name) + " is truncated"};
  const auto scale = in.take<std::uint32_t>();
  start read;
  read.found_version = found_version;
  const auto expansion = in.take<std::uint64_t>();
  read.facts.settings.accesses = in.take<double>();
  read.file_bytes = in.take<std::uint64_t>();
  if (const auto fault = find_fault(scale, expansion, read.facts.settings.accesses))
    return inconsistent(*fault);
  read.facts.settings.scale = static_cast<scaling>(scale);
  read.facts.settings.expansion = static_cast<std::uint32_t>(expansion);
  if (found_version == version_without_history) {
    read.facts.source = part_source::nobody;
  } else {
    read.facts.history = in.take<std::uint64_t>();
    const auto source = in.take<std::uint64_t>();
    if (source > static_cast<std::uint64_t>(part_source::nobody))
      return inconsistent("the source of parts must be 0 or 1; found " + std::to_string(source));
    read.facts.source = static_cast<part_source>(source);
  }
  // Whatever was not read above is seen here.
  if (!std::ranges::equal(encode_start(read), bytes.first(dump_start_bytes)))
    return load_failure{load_error::checksum_mismatch,
                        std::string(name) + " has a checksum mismatch in its settings"};
  return read;
}

/// Calls use(part, its bytes from there on, its first place in the range) for each part that a
/// range of the payload touches.
template <class Use>
void for_each_touched(std::span<const std::uint64_t> part_bytes, std::uint64_t begin,
                      std::size_t size, Use use) {
  std::uint64_t first = 0;
  std::size_t done = 0;
  for (std::size_t part = 0; part < part_bytes.size() && done < size; ++part) {
    const std::uint64_t bytes = part_bytes[part];
    if (begin + done < first + bytes) {
      const std::uint64_t inside = begin + done - first;
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(bytes - inside, size - done));
      use(part, inside, done, count);
      done += count;
    }
    first += bytes;
  }
}

/// Memory for `needed` bytes of a part of which `held` are there: at most twice as much, so that
/// a few bytes of a large part never get the memory of all of it. Throws std::bad_alloc.
void make_room(counted_memory& memory, std::uint64_t held, std::uint64_t needed,
               std::uint64_t part_bytes) {
  if (needed <= memory.bytes().size()) return;
  counted_memory larger(std::min(part_bytes, std::max(needed, 2 * held)),
                        counted_memory::contents::anything);
  if (held > 0) std::memcpy(larger.bytes().data(), memory.bytes().data(), held);
  memory = std::move(larger);
}

}  // namespace

std::vector<std::byte> encode_start(const filter_facts& facts, std::uint64_t file_bytes,
                                    std::span<const std::byte> old_section) {
  std::vector<std::byte> bytes = encode_start(
      start{facts, file_bytes, old_section.empty() ? version_without_old_parts : version});
  bytes.insert(bytes.end(), old_section.begin(), old_section.end());
  return bytes;
}

const char* words_of(damage what) noexcept {
  switch (what) {
    case damage::no_memory:
      return "ERR filter is damaged: there was no memory for all of it";
    case damage::bad_bytes:
      return "ERR filter is damaged: bytes of it were changed before they came here";
    case damage::none:
    case damage::out_of_step:
      break;
  }
  return "ERR filter is damaged: a command did not fit what was here";
}

std::vector<std::byte> encode_damage(damage what) {
  std::vector<std::byte> bytes(dump_start_bytes);
  byte_writer out(bytes);
  out.put(damage_magic);
  out.put(damage_version);
  out.put(static_cast<std::uint32_t>(what));
  byte_writer(std::span(bytes).last(sizeof(std::uint64_t)))
      .put(checksum_of(std::span<const std::byte>(bytes).first(dump_start_bytes - 8)));
  return bytes;
}

std::optional<loaded<damage>> decode_damage(std::span<const std::byte> bytes) {
  byte_reader in(bytes);
  if (in.take<std::uint64_t>() != damage_magic) return std::nullopt;
  if (const auto found = in.take<std::uint32_t>(); found > damage_version)
    return load_failure{load_error::newer_format,
                        std::string(name) + " has a newer format: " + std::to_string(found)};
  const auto what = in.take<std::uint32_t>();
  if (what == 0 || what > most_damage)
    return inconsistent("damage must be 1 to 3; found " + std::to_string(what));
  if (!std::ranges::equal(encode_damage(static_cast<damage>(what)), bytes))
    return load_failure{load_error::checksum_mismatch,
                        std::string(name) + " has a checksum mismatch"};
  return static_cast<damage>(what);
}

loaded<arriving_filter> arriving_filter::begin(std::span<const std::byte> head) {
  const loaded<start> begun = decode_start(head);
  if (!begun) return begun.failure();
  std::span<const std::byte> left = head.subspan(dump_start_bytes);

  arriving_filter made;
  made.head_.assign(head.begin(), head.end());
  made.facts_ = begun->facts;
  if (begun->found_version == version) {
    loaded<old_section> old = decode_old_section(left, name);
    if (!old) return std::move(old).failure();
    left = left.subspan(old->bytes());
    if (old->chain.settings() != made.facts_.settings)
      return inconsistent("it must grow as its old parts did");
    for (const old_link& link : old->chain.links) made.part_bytes_.push_back(link.bytes);
    made.payload_bytes_ = old->chain.bytes();
    made.old_ = *std::move(old);
  }
  // What begins with old parts gets others only when it needs them.
  if (!made.old_ || begun->file_bytes != 0) {
    if (made.old_ && !made.old_->is_verified)
      return inconsistent("its old parts must have a checksum");
    if (auto failure = made.read_parts(left, begun->file_bytes)) return *std::move(failure);
  } else if (!left.empty()) {
    return inconsistent("the head must end with the old parts");
  }
  return made;
}

loaded<arriving_filter> arriving_filter::begin_redisbloom(std::span<const std::byte> header) {
  loaded<old_chain> chain = decode_redisbloom_header(header);
  if (!chain) return std::move(chain).failure();
  const growth_settings settings = chain->settings();
  return begin(encode_start({.settings = settings, .source = part_source::nobody}, 0,
                            encode(old_section{.chain = *std::move(chain)})));
}

std::optional<load_failure> arriving_filter::read_parts(std::span<const std::byte> left,
                                                        std::uint64_t file_bytes) {
  const loaded<preamble> sections =
      decode_preamble(left.first(std::min(left.size(), preamble_bytes)), file_bytes, name);
  if (!sections) return sections.failure();
  if (sections->kind != static_cast<std::uint16_t>(parts_kind::growing))
    return inconsistent("it must hold a growing filter");
  left = left.subspan(preamble_bytes);
  if (sections->parameter_bytes > left.size())
    return load_failure{load_error::truncated, std::string(name) + " is truncated"};
  const auto parameter_bytes = static_cast<std::size_t>(sections->parameter_bytes);
  const loaded<parts_parameters> whole =
      decode_parts_parameters(left.first(parameter_bytes), *sections, name);
  if (!whole) return whole.failure();
  left = left.subspan(parameter_bytes);
  if (left.size() / part_head_bytes != whole->part_bytes.size() ||
      left.size() % part_head_bytes != 0)
    return inconsistent("the head must end with the parameters of each part");

  progress_ = detail::progress_in(*whole);
  payload_checksum_ = sections->payload_checksum;
  if (const auto fault = oneprobe::find_fault(progress_.plan)) return inconsistent(*fault);
  for (const std::uint64_t bytes : whole->part_bytes) {
    loaded<file_facts> facts = detail::decode_facts(left.first(part_head_bytes), bytes, name);
    if (!facts) return std::move(facts).failure();
    if (facts->hash != whole->hash || facts->seed != whole->seed)
      return inconsistent("hash and seed of a part must be those of the whole");
    payload_bytes_ += facts->payload_bytes;
    part_bytes_.push_back(facts->payload_bytes);
    parts_.push_back(*std::move(facts));
    left = left.subspan(part_head_bytes);
  }
  return std::nullopt;
}

std::span<const counted_memory> arriving_filter::old_memory() const {
  return std::span(memory_).first(old_ ? old_->chain.links.size() : 0);
}

std::uint64_t arriving_filter::largest_part_bytes() const noexcept {
  std::uint64_t largest = 0;
  for (const std::uint64_t bytes : part_bytes_) largest = std::max(largest, bytes);
  return largest;
}

void arriving_filter::append(std::span<const std::byte> bytes) {
  for_each_touched(
      part_bytes_, received_, bytes.size(),
      [&](std::size_t part, std::uint64_t inside, std::size_t done, std::size_t count) {
        if (part == memory_.size()) memory_.emplace_back();
        make_room(memory_[part], inside, inside + count, part_bytes_[part]);
        std::memcpy(memory_[part].bytes().data() + inside, bytes.data() + done, count);
      });
  received_ += bytes.size();
}

void arriving_filter::copy_payload(std::uint64_t begin, std::span<std::byte> out) const {
  for_each_touched(
      part_bytes_, begin, out.size(),
      [&](std::size_t part, std::uint64_t inside, std::size_t done, std::size_t count) {
        std::memcpy(out.data() + done, memory_[part].bytes().data() + inside, count);
      });
}

arriving_filter arriving_filter::duplicate() const {
  arriving_filter copy;
  copy.head_ = head_;
  copy.facts_ = facts_;
  copy.progress_ = progress_;
  copy.payload_checksum_ = payload_checksum_;
  copy.old_ = old_;
  copy.parts_ = parts_;
  copy.part_bytes_ = part_bytes_;
  copy.payload_bytes_ = payload_bytes_;
  std::vector<std::byte> some(static_cast<std::size_t>(std::min(received_, chunk_bytes)));
  while (copy.received_ < received_) {
    const auto count = std::min<std::uint64_t>(some.size(), received_ - copy.received_);
    const auto next = std::span(some).first(static_cast<std::size_t>(count));
    copy_payload(copy.received_, next);
    copy.append(next);
  }
  return copy;
}

std::optional<std::string> arriving_filter::find_fault() const {
  const std::span<const counted_memory> old = old_memory();
  if (old_ && old_->is_verified && checksum_of_all(old) != old_->checksum)
    return std::string(name) + " has a checksum mismatch in its old parts";
  if (parts_.empty()) return std::nullopt;
  const auto memory = std::span(memory_).subspan(old.size());
  running_checksum checksum;
  auto part_head = std::span<const std::byte>(head_).last(parts_.size() * part_head_bytes);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    checksum.add(part_head.first(part_head_bytes));
    checksum.add(memory[i].bytes());
    part_head = part_head.subspan(part_head_bytes);
    if (auto failure = verify_payload(memory[i].bytes(), parts_[i].payload_checksum, parts_[i].plan,
                                      parts_[i].counts, name))
      return failure->sentence;
  }
  if (checksum.value() != payload_checksum_) return std::string(name) + " has a checksum mismatch";
  return std::nullopt;
}

std::size_t arriving_filter::counted_bytes() const {
  std::size_t sum = sizeof *this + head_.size() + parts_.size() * sizeof(file_facts) +
                    part_bytes_.size() * sizeof(std::uint64_t);
  if (old_) sum += old_->chain.links.size() * sizeof(old_link);
  for (const counted_memory& memory : memory_) sum += memory.counted_bytes();
  return sum;
}

}  // namespace oneprobe::redis
