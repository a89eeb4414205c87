// A made-up trace of packets for the flow table: clients that come and go, some of them busy and
// most of them quiet, over IPv4 and IPv6, and in the middle a SYN flood from forged addresses.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <oneprobe/key_hash.hpp>
#include <vector>

namespace packets {

/// What tells one flow from another. IPv4 addresses stand in the last four bytes, as in RFC 4291.
struct five_tuple {
  std::array<std::uint8_t, 16> source{};
  std::array<std::uint8_t, 16> destination{};
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t protocol = 6;  // as wide as is needed to leave no padding, which would be hashed

  friend bool operator==(const five_tuple&, const five_tuple&) = default;
};

enum class phase { calm, flood, aftermath };
inline constexpr std::size_t phases = 3;

struct packet {
  five_tuple flow;
  bool forged = false;  // for counting; a flow table cannot see it
};

/// Packet after packet, the same in every run.
class trace {
 public:
  static constexpr std::uint64_t packets_per_phase = 1'000'000;
  static constexpr std::uint64_t packets = phases * packets_per_phase;

  trace() : busy_(clients) {
    // Zipf: the client of rank r sends in proportion to 1/r.
    double sum = 0;
    for (std::size_t rank = 0; rank < clients; ++rank)
      busy_[rank] = sum += 1 / static_cast<double>(rank + 1);
    for (double& share : busy_) share /= sum;
  }

  static phase phase_at(std::uint64_t time) { return static_cast<phase>(time / packets_per_phase); }

  packet at(std::uint64_t time) const {
    const std::uint64_t random = oneprobe::mix_bits(time * 2 + 1);
    // Two packets of three, while it lasts.
    if (phase_at(time) == phase::flood && random % 3 != 0)
      return {.flow = flow_of(oneprobe::mix_bits(time * 2)), .forged = true};
    const auto rank = static_cast<std::uint64_t>(
        std::ranges::lower_bound(busy_, static_cast<double>(random >> 11) * 0x1p-53) -
        busy_.begin());
    // After a while a client connects anew, from another port; not all at the same time.
    const std::uint64_t connection = (time + oneprobe::mix_bits(rank) % life) / life;
    return {.flow = flow_of(oneprobe::mix_bits(rank) + connection)};
  }

 private:
  static constexpr std::size_t clients = 80'000;
  static constexpr std::uint64_t life = 600'000;  // packets of all clients

  static five_tuple flow_of(std::uint64_t id) {
    five_tuple flow{.destination_port = 443};
    flow.destination[15] = 1;
    const std::array<std::uint64_t, 2> bits{oneprobe::mix_bits(id), oneprobe::mix_bits(~id)};
    const bool version_6 = bits[0] % 10 < 3;
    const std::size_t bytes = version_6 ? 16 : 4;
    std::memcpy(flow.source.data() + (16 - bytes), bits.data(), bytes);
    flow.source_port = static_cast<std::uint16_t>(1024 + bits[1] % 64'000);
    return flow;
  }

  std::vector<double> busy_;  // of the clients up to each rank, their share of the packets
};

}  // namespace packets
