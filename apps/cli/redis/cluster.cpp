#include "redis/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "options.hpp"

namespace oneprobe::cli {
namespace {

using clock = std::chrono::steady_clock;

/// CRC-16/XMODEM, by which Redis Cluster knows slots.
unsigned crc16(std::string_view text) {
  unsigned crc = 0;
  for (const char c : text) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 0x8000) != 0 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1 & 0xffff;
  }
  return crc;
}

/// "MOVED 3999 127.0.0.1:6381" in its three words.
struct redirection {
  unsigned slot;
  node_address node;
};
std::optional<redirection> redirection_in(const std::string& error, std::string_view kind,
                                          const node_address& from) {
  if (!error.starts_with(kind) || error.size() <= kind.size() + 1) return std::nullopt;
  const std::string_view rest = std::string_view(error).substr(kind.size() + 1);
  redirection read{};
  const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), read.slot);
  const std::size_t space = rest.find(' ');
  const std::size_t colon = rest.rfind(':');
  if (fault != std::errc() || read.slot >= cluster_slots || space == rest.npos ||
      colon == rest.npos || colon < space || end != rest.data() + space)
    return std::nullopt;
  read.node = {std::string(rest.substr(space + 1, colon - space - 1)),
               std::string(rest.substr(colon + 1))};
  if (read.node.host.empty()) read.node.host = from.host;  // "where you are"
  return read;
}

/// A node that will know better in a moment.
bool is_passing(const std::string& error) {
  for (const std::string_view word :
       {"TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY", "BUSY", "NOREPLICAS"})
    if (error.starts_with(word)) return true;
  return false;
}

}  // namespace

unsigned slot_of(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open != key.npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != key.npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  return crc16(key) % cluster_slots;
}

/// What one node is asked in one round.
struct cluster::batch {
  node_address node;
  std::vector<std::size_t> requests{};
  bool sent = false;
};

cluster::cluster(std::vector<node_address> nodes, cluster_options options)
    : seeds_(std::move(nodes)), options_(options) {
  find_slots();
  if (known_.empty()) give_up();
}

std::size_t cluster::nodes() const {
  std::vector<bool> serves(known_.size());
  for (const std::uint16_t node : node_of_slot_) serves[node] = true;
  return static_cast<std::size_t>(std::count(serves.begin(), serves.end(), true));
}

connection& cluster::connected(const node_address& node) {
  std::unique_ptr<connection>& there = connections_[node];
  if (!there) there = std::make_unique<connection>(node, options_.patience);
  return *there;
}

/// Asks the nodes that are known, then those that were named, until one says which node serves
/// what.
void cluster::find_slots() {
  std::vector<node_address> asked = known_;
  asked.insert(asked.end(), seeds_.begin(), seeds_.end());
  for (const node_address& node : asked) {
    try {
      if (find_slots_from(node)) return;
    } catch (const connection_error& error) {
      connections_.erase(node);
      trouble_ = error.what();
    }
  }
}

bool cluster::find_slots_from(const node_address& node) {
  const redis_reply slots = connected(node).ask({"CLUSTER", "SLOTS"});
  std::vector<node_address> known;
  std::array<std::uint16_t, cluster_slots> node_of_slot{};
  if (slots.is_error()) {
    if (slots.text.find("cluster support disabled") == std::string::npos) {
      trouble_ = fmt::format("the node {} says: {}", node.text(), slots.text);
      return false;
    }
    if (seeds_.size() > 1)
      throw usage_error(fmt::format(
          "{} is no node of a cluster: name it alone, or start it with cluster-enabled yes",
          node.text()));
    known.push_back(node);  // one server for all
  }
  std::size_t covered = known.empty() ? 0 : cluster_slots;
  for (const redis_reply& range : slots.items) {
    if (range.items.size() < 3 || range.items[2].items.size() < 2) continue;
    const redis_reply& primary = range.items[2];
    node_address address{primary.items[0].text, std::to_string(primary.items[1].number)};
    if (address.host.empty()) address.host = node.host;
    const auto at = std::find(known.begin(), known.end(), address);
    const auto place = static_cast<std::uint16_t>(at - known.begin());
    if (at == known.end()) known.push_back(std::move(address));
    for (long long slot = std::max(range.items[0].number, 0LL);
         slot <= range.items[1].number && slot < cluster_slots; ++slot, ++covered)
      node_of_slot[static_cast<std::size_t>(slot)] = place;
  }
  if (covered < cluster_slots) {
    trouble_ = fmt::format("the node {} knows nodes for {} of {} slots only", node.text(), covered,
                           cluster_slots);
    return false;
  }
  known_ = std::move(known);
  node_of_slot_ = node_of_slot;
  return true;
}

void cluster::send(batch& to, std::span<const redis_request> requests) {
  try {
    connection& there = connected(to.node);
    for (const std::size_t each : to.requests) {
      if (asking_.contains(each)) there.send(std::array<std::string_view, 1>{"ASKING"});
      there.send(requests[each].words);
    }
    if (options_.replicas > 0) {
      const std::string replicas = std::to_string(options_.replicas);
      there.send(std::array<std::string_view, 3>{"WAIT", replicas, "5000"});
    }
    there.flush();
    to.sent = true;
  } catch (const connection_error& error) {
    connections_.erase(to.node);
    trouble_ = error.what();
  }
}

/// Whether that was the last word. If not, the request knows where to go next.
bool cluster::is_answered(std::size_t request, const redis_reply& reply) {
  if (!reply.is_error()) return true;
  const node_address nowhere{};
  if (auto moved = redirection_in(reply.text, "MOVED", nowhere)) {
    trouble_ = reply.text;
    return false;  // the slots are asked for before the next round
  }
  if (auto ask = redirection_in(reply.text, "ASK", nowhere)) {
    asking_[request] = ask->node;
    return false;
  }
  if (is_passing(reply.text)) {
    trouble_ = reply.text;
    return false;
  }
  return true;
}

/// False if the slots should be asked for. What must be asked again is in `again`.
bool cluster::receive(batch& from, std::vector<redis_reply>& replies,
                      std::vector<std::size_t>& again) {
  std::vector<std::size_t> open;
  try {
    if (!from.sent) throw connection_error(trouble_);
    connection& there = connected(from.node);
    for (const std::size_t each : from.requests) {
      if (asking_.contains(each)) there.receive();
      replies[each] = there.receive();
    }
    const redis_reply waited = options_.replicas > 0 ? there.receive() : redis_reply{};
    const bool is_kept = options_.replicas == 0 || waited.number >= options_.replicas;
    if (!is_kept)
      trouble_ = fmt::format("{} of the {} wanted replicas of {} have the keys",
                             std::max(waited.number, 0LL), options_.replicas, from.node.text());
    for (const std::size_t each : from.requests) {
      asking_.erase(each);
      if (!is_answered(each, replies[each]) || !is_kept) open.push_back(each);
    }
  } catch (const connection_error& error) {
    connections_.erase(from.node);
    trouble_ = error.what();
    open = from.requests;
    for (const std::size_t each : open) asking_.erase(each);
  }
  again.insert(again.end(), open.begin(), open.end());
  return open.empty();
}

std::vector<redis_reply> cluster::run(std::span<const redis_request> requests) {
  std::vector<redis_reply> replies(requests.size());
  std::vector<std::size_t> open(requests.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  asking_.clear();
  const auto end = clock::now() + options_.patience;
  constexpr auto pause = std::chrono::milliseconds(50);
  while (true) {
    std::map<node_address, batch> batches;
    for (const std::size_t each : open) {
      const auto asking = asking_.find(each);
      const node_address& node =
          asking != asking_.end() ? asking->second : known_[node_of_slot_[requests[each].slot]];
      batch& to = batches.try_emplace(node, batch{node}).first->second;
      to.requests.push_back(each);
    }
    for (auto& [node, to] : batches) send(to, requests);
    std::vector<std::size_t> again;
    bool all_answered = true;
    for (auto& [node, from] : batches) all_answered = receive(from, replies, again) && all_answered;
    if (all_answered) return replies;
    if (clock::now() > end) give_up();
    const bool only_asking =
        std::all_of(again.begin(), again.end(), [&](std::size_t i) { return asking_.contains(i); });
    if (!only_asking) {
      std::this_thread::sleep_for(pause);
      find_slots();
    }
    open = std::move(again);
  }
}

void cluster::give_up() const {
  throw system_failure(fmt::format("no answer from {}: {}",
                                   seeds_.size() == 1 ? "the node" : "the nodes", trouble_));
}

}  // namespace oneprobe::cli
