#include "old_parts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "oneprobe/detail/filter/parts_parameters.hpp"
#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/io/checksum.hpp"

namespace oneprobe::redis {
namespace {

constexpr double least_share = 1.0 / 64;  // of the error that was stated, for parts of ours
constexpr double least_error = 1e-11;     // for which there are plans

std::uint64_t bits_set_in(std::span<const std::byte> bytes) noexcept {
  std::uint64_t sum = 0;
  for (; bytes.size() >= sizeof sum; bytes = bytes.subspan(sizeof sum)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    sum += static_cast<std::uint64_t>(std::popcount(word));
  }
  for (const std::byte each : bytes)
    sum += static_cast<std::uint64_t>(std::popcount(std::to_integer<unsigned>(each)));
  return sum;
}

}  // namespace

std::vector<std::byte> encode(const old_section& section) {
  std::vector<std::byte> bytes(section.bytes());
  byte_writer out(bytes);
  out.put(static_cast<std::uint32_t>(section.chain.links.size()));
  out.put(section.chain.options);
  out.put(section.chain.expansion);
  out.put(std::uint32_t{section.is_verified});
  out.put(section.chain.items);
  out.put(section.checksum);
  out.put(std::uint64_t{0});
  for (const old_link& link : section.chain.links) {
    out.put(link.bytes);
    out.put(link.bits);
    out.put(link.items);
    out.put(link.error);
    out.put(link.bits_per_element);
    out.put(link.elements);
    out.put(link.item_bits);
    out.put(link.log2_bits);
  }
  out.put(checksum_of(std::span<const std::byte>(bytes).first(out.written())));
  return bytes;
}

loaded<old_section> decode_old_section(std::span<const std::byte> bytes, std::string_view name) {
  const auto truncated = [&] {
    return load_failure{load_error::truncated, std::string(name) + " is truncated"};
  };
  if (bytes.size() < old_section::fixed_bytes) return truncated();
  byte_reader in(bytes);
  old_section read;
  const std::size_t links = in.take<std::uint32_t>();
  if (links > old_chain::most_links) return detail::inconsistent(name, "it has too many old parts");
  if (bytes.size() < old_section::bytes_for(links)) return truncated();
  read.chain.links.resize(links);
  if (byte_reader(bytes.subspan(read.bytes() - old_section::checksum_bytes))
          .take<std::uint64_t>() !=
      checksum_of(bytes.first(read.bytes() - old_section::checksum_bytes)))
    return load_failure{load_error::checksum_mismatch,
                        std::string(name) + " has a checksum mismatch in its old parts"};
  read.chain.options = in.take<std::uint32_t>();
  read.chain.set_expansion(in.take<std::uint32_t>());
  const auto verified = in.take<std::uint32_t>();
  read.is_verified = verified == 1;
  read.chain.items = in.take<std::uint64_t>();
  read.checksum = in.take<std::uint64_t>();
  const auto reserved = in.take<std::uint64_t>();
  if (verified > 1 || (verified == 0 && read.checksum != 0) || reserved != 0)
    return detail::inconsistent(name, "its old parts must have a checksum or none");
  for (old_link& link : read.chain.links) {
    link.bytes = in.take<std::uint64_t>();
    link.bits = in.take<std::uint64_t>();
    link.items = in.take<std::uint64_t>();
    link.error = in.take<double>();
    link.bits_per_element = in.take<double>();
    link.elements = in.take<std::uint64_t>();
    link.item_bits = in.take<std::uint32_t>();
    link.log2_bits = in.take<std::uint32_t>();
  }
  if (const auto fault = find_fault(read.chain)) return detail::inconsistent(name, *fault);
  return read;
}

std::uint64_t checksum_of_all(std::span<const counted_memory> bits) noexcept {
  running_checksum sum;
  for (const counted_memory& each : bits) sum.add(each.bytes());
  return sum.value();
}

old_parts::old_parts(old_chain chain, std::vector<counted_memory> bits)
    : chain_(std::move(chain)), bits_(std::move(bits)) {}

const old_parts::measures& old_parts::measured() const noexcept {
  if (measured_) return *measured_;
  measures& all = measured_.emplace();
  all.checksum = checksum_of_all(bits_);
  double none_says_yes = 1;
  for (std::size_t i = 0; i < bits_.size(); ++i) {
    const old_link& link = chain_.links[i];
    const std::uint64_t set = bits_set_in(bits_[i].bytes());
    const double fill = static_cast<double>(set) / static_cast<double>(link.modulus());
    none_says_yes *= 1 - error_of(chain_, link, set);
    all.accesses += fill < 1 ? (1 - std::pow(fill, link.item_bits)) / (1 - fill) : link.item_bits;
  }
  all.error = 1 - none_says_yes;
  return all;
}

old_parts old_parts::duplicate() const {
  old_parts copy;
  copy.chain_ = chain_;
  for (const counted_memory& from : bits_) {
    counted_memory to(from.bytes().size(), counted_memory::contents::anything);
    std::memcpy(to.bytes().data(), from.bytes().data(), from.bytes().size());
    copy.bits_.push_back(std::move(to));
  }
  copy.measured_ = measured_;
  return copy;
}

/// The newest first: it has the most items.
bool old_parts::may_contain(std::string_view item) const noexcept {
  const old_hash hash = old_hash_of(chain_, item);
  for (std::size_t i = bits_.size(); i-- > 0;)
    if (has_bits_of(chain_.links[i], bits_[i].bytes().data(), hash)) return true;
  return false;
}

old_parts::outcome old_parts::add(std::string_view item) {
  if (room() == 0) {
    if ((chain_.options & old_chain::does_not_scale) != 0) return outcome::full;
    const std::optional<old_link> next = next_link(chain_);
    if (!next) return outcome::no_link;
    counted_memory empty(next->bytes, counted_memory::contents::zeros);
    chain_.links.reserve(chain_.links.size() + 1);
    bits_.push_back(std::move(empty));
    chain_.links.push_back(*next);
  }
  old_link& newest = chain_.links.back();
  set_bits_of(newest, bits_.back().bytes().data(), old_hash_of(chain_, item));
  ++newest.items;
  ++chain_.items;
  measured_.reset();
  return outcome::added;
}

std::uint64_t old_parts::first_history() const {
  const std::vector<std::byte> bytes = section();
  return checksum_of(bytes);
}

std::uint64_t old_parts::capacity() const noexcept {
  std::uint64_t sum = 0;
  for (const old_link& link : chain_.links) sum += link.elements;
  return sum;
}

std::uint64_t old_parts::room() const noexcept {
  return chain_.links.back().elements - chain_.links.back().items;
}

double old_parts::error_to_spend() const noexcept {
  // The first link of a filter that grows has half of what was stated, but in versions that
  // rounded bits to a power of two, which gave it all.
  const bool is_half =
      chain_.settings().scale == scaling::grows && (chain_.options & old_chain::not_rounded) != 0;
  const double stated = (is_half ? 2 : 1) * chain_.links.front().error;
  return std::max({stated - error(), stated * least_share, least_error});
}

std::uint64_t old_parts::elements_of_next_part() const noexcept {
  const growth_settings growth = chain_.settings();
  if (growth.scale == scaling::fixed) return room();
  const std::uint64_t newest = chain_.links.back().elements;
  if (room() >= newest - newest / 2) return room();
  // What is too much is for the planner to refuse.
  return newest > filter_plan::most_bits / growth.expansion ? filter_plan::most_bits
                                                            : newest * growth.expansion;
}

std::size_t old_parts::counted_bytes() const noexcept {
  std::size_t sum = sizeof *this + chain_.links.size() * sizeof(old_link);
  for (const counted_memory& each : bits_) sum += sizeof each + each.counted_bytes();
  return sum;
}

}  // namespace oneprobe::redis
