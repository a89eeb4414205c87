// Many commands to a Redis server or a Redis Cluster, each to the node that serves its slot.
//
//   cluster servers({"10.0.0.1:6379"}, options);
//   std::vector<redis_reply> replies = servers.run(requests);
//
// Nodes are sent everything before any reply is read, so that they work side by side. A slot that
// has moved, is moving, or whose node is gone is asked for again until it is answered or the
// patience is at an end, which is a system_failure that says what was wrong last. Commands may
// thereby run twice: give it only such as may.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/connection.hpp"

namespace oneprobe::cli {

inline constexpr unsigned cluster_slots = 16384;

/// The slot of a key: of what stands between its first braces, if anything does.
unsigned slot_of(std::string_view key);

struct redis_request {
  unsigned slot = 0;
  std::vector<std::string_view> words{};
};

struct cluster_options {
  std::chrono::milliseconds patience{60'000};
  unsigned replicas = 0;  // commands count as done when so many replicas have them
};

class cluster {
 public:
  /// Throws system_failure if none of the nodes answers.
  cluster(std::vector<node_address> nodes, cluster_options options);

  std::vector<redis_reply> run(std::span<const redis_request> requests);
  redis_reply run(const redis_request& request) { return run(std::span(&request, 1)).front(); }
  std::size_t nodes() const;  // that serve slots

 private:
  struct batch;

  void find_slots();
  bool find_slots_from(const node_address& node);
  connection& connected(const node_address& node);
  void send(batch& to, std::span<const redis_request> requests);
  bool receive(batch& from, std::vector<redis_reply>& replies, std::vector<std::size_t>& again);
  bool is_answered(std::size_t request, const redis_reply& reply);
  void give_up() const;

  std::vector<node_address> seeds_;
  cluster_options options_;
  std::vector<node_address> known_{};
  std::array<std::uint16_t, cluster_slots> node_of_slot_{};  // a place in known_
  std::map<node_address, std::unique_ptr<connection>> connections_{};
  std::map<std::size_t, node_address> asking_{};  // requests whose slot is moving
  std::string trouble_{};                         // the last that was seen
};

}  // namespace oneprobe::cli
