// `oneprobe redis query`: which keys a filter over a cluster may contain.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/commands.hpp"
#include "filter/key_lines.hpp"
#include "filter/query_wish.hpp"
#include "redis/cluster.hpp"
#include "redis/commands.hpp"
#include "redis/shards.hpp"

namespace oneprobe::cli {
namespace {

constexpr option keys_word{"[KEYS]", "",
                           "the file of keys, one per line (default: -, standard input)"};
struct settings {
  std::string keys_path = "-";
  std::string name;
  std::vector<node_address> nodes;
  query_wish wish{};
  cluster_options how{};
};

settings read_settings(const arguments& in) {
  settings asked;
  const auto words = in.words(keys_word);
  if (words.size() > 1)
    throw usage_error(fmt::format("KEYS must be one file; found {} names", words.size()));
  if (!words.empty()) asked.keys_path = words.front();
  asked.nodes = read_nodes(in);
  asked.name = read_name(in);
  asked.wish = read_wish(in);
  asked.how.patience = read_timeout(in);
  in.refuse_unread();
  return asked;
}

unsigned find_shards(cluster& servers, const std::string& name) {
  const redis_reply note = servers.run({slot_of(name), {"GET", name}});
  refuse_error(note, fmt::format("cannot read {}", path_in_quotes(name)));
  const unsigned shards = shards_in_note(note.text);
  if (shards == 0)
    throw usage_error(
        fmt::format("there is no filter {}; oneprobe redis build makes one", path_in_quotes(name)));
  return shards;
}

/// The keys of one text, asked all at once.
class question {
 public:
  explicit question(std::span<const shard_key> keys) : keys_(keys), of_shard_(keys.size()) {}

  void ask(cluster& servers, const key_text& text, key_separator separator,
           const shard_choice& shard_of) {
    items_.clear();
    for (auto& places : of_shard_) places.clear();
    for_each_key(text.view(), separator, [&](std::string_view key) {
      of_shard_[shard_of(key)].push_back(items_.size());
      items_.push_back(key);
    });
    found_.assign(items_.size(), false);
    std::vector<redis_request> requests;
    std::vector<std::span<const std::size_t>> places;
    for (std::size_t shard = 0; shard < keys_.size(); ++shard)
      for (std::size_t first = 0; first < of_shard_[shard].size(); first += items_at_once) {
        const auto some =
            std::span(of_shard_[shard])
                .subspan(first, std::min(items_at_once, of_shard_[shard].size() - first));
        places.emplace_back(some);
        redis_request& next = requests.emplace_back();
        next.slot = keys_[shard].slot;
        next.words = {"OP.MEXISTS", keys_[shard].name};
        for (const std::size_t place : some) next.words.push_back(items_[place]);
      }
    const std::vector<redis_reply> replies = servers.run(requests);
    for (std::size_t i = 0; i < replies.size(); ++i) {
      refuse_error(replies[i], "cannot ask for keys");
      if (replies[i].items.size() != places[i].size())
        throw system_failure("the server answered for another number of keys than was asked for");
      for (std::size_t j = 0; j < places[i].size(); ++j)
        found_[places[i][j]] = replies[i].items[j].number == 1;
    }
    refuse_lost_shards(servers, keys_);  // after the answers: it was there when they were given
  }

  std::span<const std::string_view> items() const { return items_; }
  bool found(std::size_t item) const { return found_[item]; }

 private:
  static constexpr std::size_t items_at_once = 256;

  std::span<const shard_key> keys_;
  std::vector<std::vector<std::size_t>> of_shard_;
  std::vector<std::string_view> items_{};
  std::vector<bool> found_{};
};

report answer(const arguments& in) {
  const settings asked = read_settings(in);
  key_file file(asked.keys_path);
  cluster servers(asked.nodes, asked.how);
  const unsigned shards = find_shards(servers, asked.name);
  const std::vector<shard_key> keys = shard_keys(asked.name, shards);
  const shard_choice shard_of(shards);
  refuse_lost_shards(servers, keys);

  query_totals sum;
  question next(keys);
  key_lines lines(file, asked.wish.separator);
  std::string lines_to_print;
  for (key_text text; lines.next(text);) {
    next.ask(servers, text, asked.wish.separator, shard_of);
    lines_to_print.clear();
    for (std::size_t i = 0; i < next.items().size(); ++i) {
      if (next.found(i)) ++sum.contained;
      if (next.found(i) != asked.wish.wants_contained) continue;
      lines_to_print += next.items()[i];
      lines_to_print += static_cast<char>(asked.wish.separator);
    }
    if (asked.wish.print == query_wish::printing::keys && !lines_to_print.empty())
      print_now(lines_to_print);
  }
  sum.keys = lines.keys();
  return answer_of(sum, asked.wish);
}

}  // namespace

const command redis_query_command{
    .name = "query",
    .summary = "which keys a filter over a Redis server or cluster may contain",
    .details =
        "Prints the keys that may be contained, or with --invert those that surely are not, one "
        "per line in the order in which they came. What a key is, see oneprobe filter build "
        "--help. With --json: only how many of each there are. Exit code: 0 if there was a key to "
        "print, 1 if there was none, 2 or 3 if there is no answer.",
    .source = "",
    .example = "keys.txt --nodes 10.0.0.1:6379 --name seen --invert",
    .options = {{&nodes_option},
                {&name_option},
                {&invert_option, need::optional},
                {&count_option, need::optional},
                {&timeout_option, need::optional},
                {&nul_separated, need::optional}},
    .words = &keys_word,
    .answer = answer,
};

}  // namespace oneprobe::cli
