// `oneprobe redis import`: filters of a server that has RedisBloom to one that has our module.
//
// A filter is read in chunks to a key beside its own, compared, and then renamed: at the target
// there is all of it or nothing. RedisBloom's header counts the items, so that one that is the same
// before and after says that nothing was added between.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "filter/key_lines.hpp"
#include "progress.hpp"
#include "redis/commands.hpp"
#include "redis/node_group.hpp"
#include "redis/shards.hpp"

namespace oneprobe::cli {
namespace {

constexpr option keys_word{"[KEY...]", "", "the keys of the filters"};
constexpr option from_option{"--from", "HOST:PORT", "the server that has RedisBloom"};
constexpr option to_option{"--to", "HOST:PORT", "the server that has our module"};
constexpr option match_option{"--match", "PATTERN",
                              "all filters whose keys are so, in place of KEY; '*' is all of them"};
constexpr option replace_switch{"--replace", "", "in place of what the keys hold at the target"};

constexpr std::string_view redisbloom_type = "MBbloom--";
constexpr int most_attempts = 5;  // for a filter that changes while it is read
constexpr std::size_t probes = 1000;

struct settings {
  std::vector<std::string> keys{};
  std::optional<std::string> pattern{};
  bool replaces = false;
};

/// What RedisBloom's header says: items, and the bytes that follow it.
struct header_facts {
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
};

std::uint64_t number_at(std::string_view text, std::size_t begin) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(text[begin + i]);
  return number;
}

header_facts facts_in(std::string_view header) {
  constexpr std::size_t begin = 20;
  constexpr std::size_t link = 53;
  if (header.size() < begin + link || (header.size() - begin) % link != 0)
    throw usage_error("the server does not dump it as RedisBloom does");
  header_facts facts{.items = number_at(header, 0)};
  for (std::size_t at = begin; at < header.size(); at += link) facts.bytes += number_at(header, at);
  return facts;
}

struct chunk {
  long long iterator = 0;
  std::string data{};
};

chunk chunk_in(redis_reply reply) {
  refuse_error(reply, "cannot be read");
  if (reply.items.size() != 2 || reply.items[0].type != redis_reply::kind::number)
    throw usage_error("the server does not dump it as RedisBloom does");
  return {reply.items[0].number, std::move(reply.items[1].text)};
}

/// One filter on its way.
class transfer {
 public:
  transfer(node_group& from, node_group& to, std::string key, bool replaces)
      : from_(from), to_(to), key_(std::move(key)), beside_(beside(key_)), replaces_(replaces) {}

  /// Calls show(done) with 0 to 1. Throws complaint; then nothing has changed at the target.
  template <class Show>
  header_facts run(Show show) {
    refuse_other_types();
    if (!replaces_) refuse_what_is_there();
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      try {
        if (const auto facts = copy(show)) {
          rename();
          return *facts;
        }
      } catch (...) {
        drop();
        throw;
      }
    }
    drop();
    throw system_failure(fmt::format(
        "it changed while it was read, {} times; stop what writes to it", most_attempts));
  }

 private:
  /// In a cluster it must have the slot of the key. No other key is named so: it may be
  /// deleted.
  static std::string beside(const std::string& key) {
    const std::string ending = fmt::format(":oneprobe-import:{:016x}", random_seed());
    std::string name = key + ending;  // enough if it has a tag
    if (slot_of(name) != slot_of(key)) name = '{' + key + '}' + ending;
    // Not so where a brace of the key ends the tag.
    for (unsigned tag = 0; slot_of(name) != slot_of(key); ++tag)
      name = fmt::format("{{{}}}{}", tag, ending);
    return name;
  }

  void refuse_other_types() {
    const redis_reply type = from_.ask({"TYPE", key_});
    refuse_error(type, "cannot be read");
    if (type.text == "none") throw usage_error("there is no such key");
    if (type.text != redisbloom_type)
      throw usage_error(fmt::format("it is no Bloom filter of RedisBloom, but of the type {}",
                                    path_in_quotes(type.text)));
  }
  void refuse_what_is_there() {
    const redis_reply there = to_.ask({"EXISTS", key_});
    refuse_error(there, "cannot be written");
    if (there.number != 0) throw it_is_there();
  }
  static usage_error it_is_there() {
    return usage_error(fmt::format("the target has it already; {} puts this one in its place",
                                   replace_switch.flag));
  }

  chunk dumped(long long iterator) {
    return chunk_in(from_.ask({"BF.SCANDUMP", key_, std::to_string(iterator)}));
  }
  void load(const chunk& next) {
    refuse_error(to_.ask({"OP.LOADCHUNK", beside_, std::to_string(next.iterator), next.data}),
                 "cannot be loaded");
  }

  /// None if it changed meanwhile.
  template <class Show>
  std::optional<header_facts> copy(Show show) {
    drop();
    const chunk header = dumped(0);
    const header_facts facts = facts_in(header.data);
    load(header);
    std::uint64_t done = 0;
    for (long long iterator = header.iterator;;) {
      const chunk next = dumped(iterator);
      if (next.iterator == 0) break;
      done += next.data.size();
      if (next.iterator <= iterator || done > facts.bytes) return std::nullopt;
      load(next);
      iterator = next.iterator;
      show(static_cast<double>(done) / static_cast<double>(facts.bytes));
    }
    const bool is_same = done == facts.bytes && has_items(facts.items) && answers_alike();
    if (dumped(0).data != header.data) return std::nullopt;
    if (!is_same)
      throw system_failure("what arrived is not what was read: the servers answer differently");
    if (!keep_expiry()) return std::nullopt;
    return facts;
  }

  bool has_items(std::uint64_t items) {
    const redis_reply there = to_.ask({"OP.CARD", beside_});
    refuse_error(there, "cannot be compared");
    return there.number >= 0 && static_cast<std::uint64_t>(there.number) == items;
  }
  /// Of items that were never added each server takes the same for its own: one bit that is not the
  /// same shows in a large filter only by chance, other positions at once.
  bool answers_alike() {
    std::vector<std::string> items;
    for (std::size_t i = 0; i < probes; ++i) items.push_back(fmt::format("oneprobe import {}", i));
    std::vector<std::string_view> words{"BF.MEXISTS", key_};
    words.insert(words.end(), items.begin(), items.end());
    const redis_reply here = from_.ask(words);
    refuse_error(here, "cannot be compared");
    words[0] = "OP.MEXISTS";
    words[1] = beside_;
    const redis_reply there = to_.ask(words);
    refuse_error(there, "cannot be compared");
    return std::ranges::equal(
        here.items, there.items,
        [](const redis_reply& a, const redis_reply& b) { return a.number == b.number; });
  }

  /// False if the key is no longer there.
  bool keep_expiry() {
    const redis_reply left = from_.ask({"PTTL", key_});
    refuse_error(left, "cannot be read");
    constexpr long long no_key = -2;
    if (left.number == no_key) return false;
    if (left.number >= 0)
      refuse_error(to_.ask({"PEXPIRE", beside_, std::to_string(left.number)}), "cannot be written");
    return true;
  }
  void rename() {
    const redis_reply done = to_.ask({replaces_ ? "RENAME" : "RENAMENX", beside_, key_});
    refuse_error(done, "cannot be written");
    if (!replaces_ && done.number == 0) throw it_is_there();
  }
  void drop() { refuse_error(to_.ask({"DEL", beside_}), "cannot be written"); }

  node_group& from_;
  node_group& to_;
  std::string key_;
  std::string beside_;
  bool replaces_;
};

std::vector<std::string> keys_like(node_group& from, const std::string& pattern) {
  std::set<std::string> found;  // the same one may come twice
  std::string cursor = "0";
  do {
    const redis_reply some =
        from.ask({"SCAN", cursor, "MATCH", pattern, "COUNT", "1000", "TYPE", redisbloom_type});
    refuse_error(some, "cannot look for keys");
    if (some.items.size() != 2)
      throw system_failure("the server does not answer SCAN as Redis does");
    cursor = some.items[0].text;
    for (const redis_reply& key : some.items[1].items) found.insert(key.text);
  } while (cursor != "0");
  return {found.begin(), found.end()};
}

settings read_settings(const arguments& in) {
  settings what;
  what.keys = in.words(keys_word);
  what.pattern = in.maybe_text(match_option);
  if (what.keys.empty() == !what.pattern)
    throw usage_error(
        fmt::format("give the keys of filters, or {}: one of the two", match_option.flag));
  what.replaces = in.is_set(replace_switch);
  return what;
}

report answer(const arguments& in) {
  const auto begin = std::chrono::steady_clock::now();
  const settings what = read_settings(in);
  const auto patience = read_timeout(in);
  node_group from(read_node(in, from_option), patience, {"REDISCLI_AUTH_FROM", "REDISCLI_AUTH"});
  node_group to(read_node(in, to_option), patience, {"REDISCLI_AUTH"});
  in.refuse_unread();
  if (from.first() == to.first())
    throw usage_error(
        fmt::format("{} and {} are the same server", from_option.flag, to_option.flag));
  const std::vector<std::string> keys = what.pattern ? keys_like(from, *what.pattern) : what.keys;

  progress_bar bar;
  header_facts sum;
  std::vector<std::string> refused;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string name = path_in_quotes(keys[i]);
    try {
      const header_facts facts = transfer(from, to, keys[i], what.replaces).run([&](double done) {
        bar.show((static_cast<double>(i) + done) / static_cast<double>(keys.size()), name);
      });
      sum.items += facts.items;
      sum.bytes += facts.bytes;
    } catch (const node_failure& why) {
      throw system_failure(fmt::format("the filter {} is not imported, {} were before it: {}", name,
                                       i - refused.size(), why.what()));
    } catch (const complaint& why) {
      const std::string sentence =
          fmt::format("the filter {} is not imported: {}", name, why.what());
      if (keys.size() == 1) throw complaint(why.code(), sentence);
      refused.push_back(sentence);
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report out(
      fmt::format("Filters of RedisBloom from {} to {}", from.first().text(), to.first().text()));
  out.whole("filters", keys.size() - refused.size())
      .whole("items", sum.items)
      .whole("bytes", sum.bytes)
      .whole("refused", refused.size())
      .number("seconds", seconds);
  out.texts("why", refused);
  for (const std::string& sentence : refused) out.note(sentence + ".");
  if (!refused.empty() || keys.empty()) out.negative();
  return out;
}

}  // namespace

const command redis_import_command{
    .name = "import",
    .summary = "filters of a server that has RedisBloom, to one that has our module",
    .details =
        "Each filter keeps its bits, so that no item is lost and none has to be added again; what "
        "is added later goes to parts of ours beside them. Nothing is written to the server with "
        "RedisBloom. A filter that changes while it is read is read again, 5 times at most. At the "
        "target it is there when all of it has arrived and was compared, with the time that it "
        "has to live. In a cluster the nodes that keys have moved to are found; --match looks at "
        "the node of --from. Database 0. A password is taken from REDISCLI_AUTH, that of --from "
        "from REDISCLI_AUTH_FROM if that is set. Exit code: 0 if all filters were imported, 1 if "
        "some were not or none is so, 2 or 3 if the only one was not.",
    .source = "",
    .example = "seen --from 10.0.0.1:6379 --to 10.0.0.2:6379",
    .options = {{&from_option},
                {&to_option},
                {&match_option, need::optional},
                {&replace_switch, need::optional},
                {&timeout_option, need::optional}},
    .words = &keys_word,
    .answer = answer,
};

}  // namespace oneprobe::cli
