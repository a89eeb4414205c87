// A Redis server, and where it belongs to a cluster the nodes that it points to: one command at a
// time, to the node that serves the key.
//
//   node_group from({"10.0.0.1", "6379"}, seconds(5), {"REDISCLI_AUTH"});
//   redis_reply reply = from.ask({"BF.SCANDUMP", "seen", "0"});
//
// A command is sent again only where it was not done. What goes wrong with a connection is a
// node_failure.
#pragma once

#include <chrono>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "exit_code.hpp"
#include "redis/connection.hpp"

namespace oneprobe::cli {

/// Nothing more can be asked.
struct node_failure : system_failure {
  using system_failure::system_failure;
};

class node_group {
 public:
  node_group(node_address first, std::chrono::milliseconds patience,
             std::vector<const char*> passwords);

  const node_address& first() const noexcept { return first_; }
  redis_reply ask(std::span<const std::string_view> words);
  redis_reply ask(std::initializer_list<std::string_view> words) {
    return ask(std::span(words.begin(), words.size()));
  }

 private:
  redis_reply ask(const node_address& node, std::span<const std::string_view> words);

  node_address first_;
  std::chrono::milliseconds patience_;
  std::vector<const char*> passwords_;
  node_address now_;  // which served the last command, and probably the next
  std::map<node_address, std::unique_ptr<connection>> connections_{};
};

}  // namespace oneprobe::cli
