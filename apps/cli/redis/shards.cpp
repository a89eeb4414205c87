#include "redis/shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "filter/key_lines.hpp"

namespace oneprobe::cli {
namespace {

constexpr std::string_view note_begin = "oneprobe filter, shards ";

std::string needed(const arguments& in, const option& what) {
  const auto text = in.maybe_text(what);
  if (!text) throw usage_error(fmt::format("{} is missing: {}", what.flag, what.help));
  return *text;
}

/// Empty if it is none.
std::optional<node_address> node_in(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  unsigned port = 0;
  if (colon != text.npos) {
    const char* first = text.data() + colon + 1;
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), port);
    if (error != std::errc() || end != text.data() + text.size()) port = 0;
  }
  if (colon == 0 || port == 0 || port > 65535) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return node_address{std::string(host), std::to_string(port)};
}

}  // namespace

node_address read_node(const arguments& in, const option& what) {
  const std::string text = needed(in, what);
  if (auto node = node_in(text)) return *std::move(node);
  throw usage_error(fmt::format("{} must be HOST:PORT; found {}", what.flag, path_in_quotes(text)));
}

std::vector<shard_key> shard_keys(std::string_view name, unsigned shards) {
  std::vector<shard_key> keys(shards);
  unsigned missing = shards;
  for (unsigned tag = 0; missing > 0; ++tag) {
    std::string key = fmt::format("{}{{{}}}", name, tag);
    const unsigned slot = slot_of(key);
    shard_key& shard = keys[slot * shards / cluster_slots];
    if (!shard.name.empty()) continue;
    shard = {std::move(key), slot};
    --missing;
  }
  return keys;
}

std::string shard_note(unsigned shards) { return fmt::format("{}{}", note_begin, shards); }

unsigned shards_in_note(std::string_view note) {
  if (!note.starts_with(note_begin)) return 0;
  note.remove_prefix(note_begin.size());
  unsigned shards = 0;
  const auto [end, error] = std::from_chars(note.data(), note.data() + note.size(), shards);
  return error == std::errc() && end == note.data() + note.size() && shards <= most_shards ? shards
                                                                                           : 0;
}

std::vector<node_address> read_nodes(const arguments& in) {
  const std::string text = needed(in, nodes_option);
  std::vector<node_address> nodes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view each = std::string_view(text).substr(begin, end - begin);
    auto node = node_in(each);
    if (!node)
      throw usage_error(
          fmt::format("{} must be HOST:PORT, or several separated by commas; found {}",
                      nodes_option.flag, path_in_quotes(each)));
    nodes.push_back(*std::move(node));
    begin = end + 1;
  }
  return nodes;
}

std::string read_name(const arguments& in) {
  std::string name = needed(in, name_option);
  if (name.find_first_of("{}") != name.npos)
    throw usage_error(
        fmt::format("{} must have no braces, which name the slots of its shards; found {}",
                    name_option.flag, path_in_quotes(name)));
  return name;
}

std::chrono::milliseconds read_timeout(const arguments& in) {
  const double seconds = in.maybe_number(timeout_option).value_or(60);
  if (!(seconds >= 0.1 && seconds <= 86400))
    throw usage_error(fmt::format("{} must be from 0.1 to 86400 seconds; found {}",
                                  timeout_option.flag, seconds));
  return std::chrono::milliseconds(static_cast<long long>(seconds * 1000));
}

void refuse_lost_shards(cluster& servers, std::span<const shard_key> keys) {
  std::vector<redis_request> requests;
  for (const shard_key& key : keys)
    requests.push_back({key.slot, {"OP.INFO", key.name, "CAPACITY"}});
  const std::vector<redis_reply> replies = servers.run(requests);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (replies[i].text.starts_with("ERR not found"))
      throw usage_error(
          fmt::format("the shard {} is lost: there is no such key; delete the other shards and "
                      "build the filter anew",
                      path_in_quotes(keys[i].name)));
    refuse_error(replies[i], fmt::format("cannot ask the shard {}", path_in_quotes(keys[i].name)));
  }
}

std::vector<shard_facts> facts_of(cluster& servers, std::span<const shard_key> keys) {
  std::vector<redis_request> requests;
  for (const shard_key& key : keys) requests.push_back({key.slot, {"OP.INFO", key.name}});
  const std::vector<redis_reply> replies = servers.run(requests);
  std::vector<shard_facts> facts(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    refuse_error(replies[i], fmt::format("cannot ask the shard {}", path_in_quotes(keys[i].name)));
    const std::vector<redis_reply>& words = replies[i].items;  // name, value, name, value, ...
    for (std::size_t j = 0; j + 1 < words.size(); j += 2) {
      const redis_reply& value = words[j + 1];
      if (words[j].text == "Capacity") facts[i].capacity = static_cast<std::uint64_t>(value.number);
      if (words[j].text == "Number of items inserted")
        facts[i].items = static_cast<std::uint64_t>(value.number);
      if (words[j].text == "Stated error") {
        const char* end = value.text.data() + value.text.size();
        std::from_chars(value.text.data(), end, facts[i].stated_error);
      }
    }
  }
  return facts;
}

void refuse_error(const redis_reply& reply, std::string_view doing) {
  if (!reply.is_error()) return;
  const bool unknown = reply.text.starts_with("ERR unknown command");
  // The name that was given is a key of something else.
  const bool misnamed = reply.text.starts_with("WRONGTYPE");
  throw complaint(misnamed ? exit_code::usage : exit_code::failure,
                  fmt::format("{}: the server says {}{}", doing, path_in_quotes(reply.text),
                              unknown ? "; it must load our module, oneprobe.so" : ""));
}

}  // namespace oneprobe::cli
