#include "redis/node_group.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace oneprobe::cli {
namespace {

/// Where "MOVED SLOT HOST:PORT" points; without a host to the node that says so.
std::optional<node_address> moved_to(const redis_reply& reply, const node_address& from) {
  if (!reply.is_error() || !reply.text.starts_with("MOVED ")) return std::nullopt;
  const std::string_view text(reply.text);
  const std::size_t space = text.rfind(' ');
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || colon < space) return std::nullopt;
  std::string host(text.substr(space + 1, colon - space - 1));
  return node_address{host.empty() ? from.host : std::move(host),
                      std::string(text.substr(colon + 1))};
}

}  // namespace

node_group::node_group(node_address first, std::chrono::milliseconds patience,
                       std::vector<const char*> passwords)
    : first_(std::move(first)),
      patience_(patience),
      passwords_(std::move(passwords)),
      now_(first_) {}

redis_reply node_group::ask(std::span<const std::string_view> words) {
  constexpr int most_moves = 5;
  redis_reply reply = ask(now_, words);
  for (int moves = 0; moves < most_moves; ++moves) {
    const auto next = moved_to(reply, now_);
    if (!next) break;
    now_ = *next;
    reply = ask(now_, words);
  }
  return reply;
}

redis_reply node_group::ask(const node_address& node, std::span<const std::string_view> words) {
  try {
    std::unique_ptr<connection>& server = connections_[node];
    if (server == nullptr) server = std::make_unique<connection>(node, patience_, passwords_);
    server->send(words);
    server->flush();
    return server->receive();
  } catch (const connection_error& error) {
    throw node_failure(fmt::format("no answer from the node: {}", error.what()));
  }
}

}  // namespace oneprobe::cli
