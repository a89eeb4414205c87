// `oneprobe redis build`: a file of keys into a filter over a cluster.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/commands.hpp"
#include "filter/key_lines.hpp"
#include "progress.hpp"
#include "redis/cluster.hpp"
#include "redis/commands.hpp"
#include "redis/shards.hpp"

namespace oneprobe::cli {
namespace {

constexpr option keys_word{"KEYS", "", "the file of keys, one per line; - is standard input"};
constexpr option shards_option{"--shards", "N",
                               "into so many filters, 1 to 1024 (default: 4 for each node)"};
constexpr option error_option{"--fpr", "P",
                              "largest probability of \"perhaps\" for a key that is not there "
                              "(default 0.001)"};
constexpr option elements{"--elements", "N",
                          "plan for so many keys (default: as many as there are, by reading KEYS "
                          "twice; needed where that is impossible)"};
constexpr option add_switch{"--add", "", "add to the filter that is there"};
constexpr option replicas_option{"--replicas", "N",
                                 "go on only when so many replicas of each node have the keys "
                                 "(default 0)"};

constexpr double usual_error = 0.001;

struct settings {
  std::string keys_path;
  std::string name;
  std::vector<node_address> nodes;
  std::optional<unsigned> shards;
  std::optional<double> error;
  std::optional<std::uint64_t> elements;
  key_separator separator = key_separator::newline;
  bool adds = false;
  cluster_options how{};
};

settings read_settings(const arguments& in) {
  settings what;
  const auto words = in.words(keys_word);
  if (words.size() != 1)
    throw usage_error(fmt::format(
        "KEYS must be one file of keys, or - for standard input; found {} names", words.size()));
  what.keys_path = words.front();
  what.nodes = read_nodes(in);
  what.name = read_name(in);
  what.shards = in.maybe_whole(shards_option);
  if (what.shards && (*what.shards < 1 || *what.shards > most_shards))
    throw usage_error(
        fmt::format("{} must be 1 to 1024; found {}", shards_option.flag, *what.shards));
  what.error = in.maybe_number(error_option);
  if (what.error && !(*what.error >= 1e-12 && *what.error <= 0.25))
    throw usage_error(
        fmt::format("{} must be from 1e-12 to 0.25; found {}", error_option.flag, *what.error));
  what.elements = in.maybe_count(elements);
  if (what.elements == std::uint64_t{0})
    throw usage_error(fmt::format("{} must be at least 1; found 0", elements.flag));
  what.separator = read_separator(in);
  what.adds = in.is_set(add_switch);
  what.how.replicas = in.maybe_whole(replicas_option).value_or(0);
  what.how.patience = read_timeout(in);
  in.refuse_unread();
  return what;
}

std::uint64_t planned_elements(const settings& what, key_file& file) {
  if (what.elements) return *what.elements;
  if (!file.can_be_read_again())
    throw usage_error(fmt::format(
        "--elements is missing: {} can be read only once, so say how many keys there will be",
        file.name()));
  const std::uint64_t keys = count_keys(file, what.separator, [](std::uint64_t) {});
  file.rewind();
  return std::max<std::uint64_t>(keys, 1);
}

/// Keys fall into shards at random: room for four deviations more than the mean.
std::uint64_t shard_capacity(std::uint64_t all_keys, unsigned shards) {
  const double mean = static_cast<double>(all_keys) / shards;
  return static_cast<std::uint64_t>(std::ceil(mean + (shards > 1 ? 4 * std::sqrt(mean) : 0)));
}

/// The number of shards of the filter that is there; 0 if there is none.
unsigned shards_there(cluster& servers, const std::string& name) {
  const redis_reply note = servers.run({slot_of(name), {"GET", name}});
  refuse_error(note, fmt::format("cannot read {}", path_in_quotes(name)));
  if (note.type == redis_reply::kind::nothing) return 0;
  const unsigned shards = shards_in_note(note.text);
  if (shards == 0)
    throw usage_error(fmt::format("{} is a key of something else", path_in_quotes(name)));
  return shards;
}

/// A filter that is there may be ours, of a request whose reply was lost or of a build that was
/// broken off: then it is empty, and as it was asked for.
void refuse_others(cluster& servers, std::span<const shard_key> keys, double error,
                   std::uint64_t capacity) {
  const std::vector<shard_facts> there = facts_of(servers, keys);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (there[i].stated_error == error && there[i].capacity == capacity && there[i].items == 0)
      continue;
    throw usage_error(fmt::format(
        "the key {} has a filter already, of error {}, capacity {} and {} keys, where an empty one "
        "of error {} and capacity {} is to be; delete it, or choose another {}",
        path_in_quotes(keys[i].name), there[i].stated_error, there[i].capacity, there[i].items,
        error, capacity, name_option.flag));
  }
}

void reserve_all(cluster& servers, const settings& what, std::span<const shard_key> keys,
                 std::uint64_t capacity) {
  const double wanted_error = what.error.value_or(usual_error);
  const std::string error = fmt::format("{}", wanted_error);
  const std::string room = std::to_string(capacity);
  std::vector<redis_request> requests;
  for (const shard_key& key : keys)
    requests.push_back({key.slot, {"OP.RESERVE", key.name, error, room}});
  const std::vector<redis_reply> replies = servers.run(requests);
  std::vector<shard_key> found;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (replies[i].text.starts_with("ERR item exists"))
      found.push_back(keys[i]);
    else
      refuse_error(replies[i], fmt::format("cannot make the filter {}", keys[i].name));
  }
  refuse_others(servers, found, wanted_error, capacity);
  const auto shards = static_cast<unsigned>(keys.size());
  refuse_error(servers.run({slot_of(what.name), {"SET", what.name, shard_note(shards)}}),
               "cannot note the number of shards");
}

/// What is added to a filter has the filter's error.
void refuse_other_error(cluster& servers, std::span<const shard_key> keys, double error) {
  const std::vector<shard_facts> there = facts_of(servers, keys);
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (there[i].stated_error != error)
      throw usage_error(fmt::format("{} must be that of the filter, {} in {}; found {}",
                                    error_option.flag, there[i].stated_error,
                                    path_in_quotes(keys[i].name), error));
}

unsigned prepare(cluster& servers, const settings& what, key_file& file) {
  const unsigned there = shards_there(servers, what.name);
  if (there > 0) {
    if (!what.adds)
      throw usage_error(
          fmt::format("a filter {} is there already; --add adds to it", path_in_quotes(what.name)));
    if (what.shards && *what.shards != there)
      throw usage_error(fmt::format("{} must be that of the filter, {}; found {}",
                                    shards_option.flag, there, *what.shards));
    const std::vector<shard_key> keys = shard_keys(what.name, there);
    refuse_lost_shards(servers, keys);
    if (what.error) refuse_other_error(servers, keys, *what.error);
    return there;
  }
  const auto usual = static_cast<unsigned>(std::min<std::size_t>(4 * servers.nodes(), most_shards));
  const unsigned shards = what.shards.value_or(usual);
  const std::uint64_t capacity = shard_capacity(planned_elements(what, file), shards);
  reserve_all(servers, what, shard_keys(what.name, shards), capacity);
  return shards;
}

/// The keys of one round, by shard.
class round_of_keys {
 public:
  explicit round_of_keys(std::span<const shard_key> keys) : keys_(keys), of_shard_(keys.size()) {}

  void add(unsigned shard, std::string_view key) { of_shard_[shard].push_back(key); }

  /// Adds all to the filters; returns how many were surely not there before.
  std::uint64_t send(cluster& servers) {
    std::vector<redis_request> requests;
    for (std::size_t shard = 0; shard < keys_.size(); ++shard) {
      const auto& items = of_shard_[shard];
      for (std::size_t first = 0; first < items.size(); first += items_at_once) {
        redis_request& next = requests.emplace_back();
        next.slot = keys_[shard].slot;
        next.words = {"OP.INSERT", keys_[shard].name, "NOCREATE", "ITEMS"};
        const std::size_t end = std::min(items.size(), first + items_at_once);
        next.words.insert(next.words.end(), items.begin() + static_cast<std::ptrdiff_t>(first),
                          items.begin() + static_cast<std::ptrdiff_t>(end));
      }
    }
    std::uint64_t added = 0;
    for (const redis_reply& reply : servers.run(requests)) {
      refuse_error(reply, "cannot add keys");
      for (const redis_reply& each : reply.items) {
        refuse_error(each, "cannot add a key");
        if (each.number == 1) ++added;
      }
    }
    for (auto& items : of_shard_) items.clear();
    return added;
  }

 private:
  static constexpr std::size_t items_at_once = 256;

  std::span<const shard_key> keys_;
  std::vector<std::vector<std::string_view>> of_shard_;
};

report answer(const arguments& in) {
  const auto begin = std::chrono::steady_clock::now();
  const settings what = read_settings(in);
  key_file file(what.keys_path);
  cluster servers(what.nodes, what.how);
  const unsigned shards = prepare(servers, what, file);
  const std::vector<shard_key> keys = shard_keys(what.name, shards);

  progress_bar bar;
  const shard_choice shard_of(shards);
  round_of_keys round(keys);
  key_lines lines(file, what.separator);
  std::uint64_t added = 0;
  for (key_text text; lines.next(text);) {
    for_each_key(text.view(), what.separator,
                 [&](std::string_view key) { round.add(shard_of(key), key); });
    added += round.send(servers);
    if (file.bytes() > 0)
      bar.show(static_cast<double>(lines.bytes()) / static_cast<double>(file.bytes()),
               "adding keys");
    else if (what.elements)
      bar.show(static_cast<double>(lines.keys()) / static_cast<double>(*what.elements),
               "adding keys");
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report out(fmt::format("Filter {} in {} shards", path_in_quotes(what.name), shards));
  out.whole("keys", lines.keys())
      .whole("added", added)
      .whole("shards", shards)
      .whole("nodes", servers.nodes())
      .number("seconds", seconds);
  if (added < lines.keys())
    out.note("Keys that were not added came twice, or the filter took them for others.");
  return out;
}

}  // namespace

const command redis_build_command{
    .name = "build",
    .summary = "a file of keys into a filter over a Redis server or cluster",
    .details =
        "Makes one filter for each shard, with room for its part of the keys, and adds all keys. "
        "What a key is, see oneprobe filter build --help. Slots that move and nodes that fail on "
        "the way are followed. A password is taken from REDISCLI_AUTH. A filter that is there is "
        "left alone unless --add is given.",
    .source = "",
    .example = "keys.txt --nodes 10.0.0.1:6379 --name seen --shards 12 --fpr 0.0001",
    .options = {{&nodes_option},
                {&name_option},
                {&shards_option, need::optional},
                {&error_option, need::optional},
                {&elements, need::optional},
                {&add_switch, need::optional},
                {&replicas_option, need::optional},
                {&timeout_option, need::optional},
                {&nul_separated, need::optional}},
    .words = &keys_word,
    .answer = answer,
};

}  // namespace oneprobe::cli
