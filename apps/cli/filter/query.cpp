// `oneprobe filter query`: which keys a filter may contain.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "filter/commands.hpp"
#include "filter/hashed_keys.hpp"
#include "filter/query_wish.hpp"
#include "filter/read_ahead.hpp"
#include "handles/held_filter.hpp"
#include "named_file.hpp"
#include "oneprobe/filter/file.hpp"

namespace oneprobe::cli {
namespace {

constexpr option words{"FILE", "[KEYS]",
                       "the filter file, and the file of keys, one per line (default: -, standard "
                       "input)"};
struct settings {
  std::string filter_path;
  std::string keys_path = "-";
  query_wish wish{};
};

settings read_settings(const arguments& in) {
  settings asked;
  const auto paths = in.words(words);
  if (paths.empty()) throw usage_error("FILE is missing: a filter file");
  if (paths.size() > 2)
    throw usage_error(
        fmt::format("at most FILE and KEYS may be named; found {} names", paths.size()));
  asked.filter_path = paths[0];
  if (paths.size() > 1) asked.keys_path = paths[1];
  asked.wish = read_wish(in);
  in.refuse_unread();
  return asked;
}

/// Answers for some keys, in memory that is kept.
class answers {
 public:
  std::span<bool> room_for(std::size_t keys) {
    if (keys > room_) {
      values_ = std::make_unique<bool[]>(keys);
      room_ = keys;
    }
    return {values_.get(), keys};
  }

 private:
  std::unique_ptr<bool[]> values_;
  std::size_t room_ = 0;
};

/// The lines with the wanted answer, as they stand; neighbours in one piece.
void append_wanted(const hashed_keys& keys, std::span<const bool> found, bool wanted,
                   std::string& to) {
  for (std::size_t i = 0; i < found.size();) {
    if (found[i] != wanted) {
      ++i;
      continue;
    }
    const std::size_t first = i;
    while (i < found.size() && found[i] == wanted) ++i;
    to += keys.lines(first, i);
  }
}

query_totals query_all(const held_reader& filter, const settings& asked) {
  query_totals sum;
  answers found;
  std::string lines_to_print;
  key_file file(asked.keys_path);
  key_lines lines(file, asked.wish.separator);
  read_ahead<hashed_keys> blocks([&](hashed_keys& next) { return next.read(lines, filter.hash()); },
                                 [&] { file.stop_waiting(); });
  while (const hashed_keys* keys = blocks.wait()) {
    const std::span<bool> each = found.room_for(keys->hashes().size());
    sum.keys += each.size();
    sum.contained += filter.bulk_may_contain(keys->hashes(), each);
    if (asked.wish.print != query_wish::printing::keys) continue;
    lines_to_print.clear();
    append_wanted(*keys, each, asked.wish.wants_contained, lines_to_print);
    if (!lines_to_print.empty()) print_now(lines_to_print);
  }
  return sum;
}

report answer(const arguments& in) {
  const settings asked = read_settings(in);
  const auto filter = mapped_filter<held_filter>::map(asked.filter_path);
  if (!filter) refuse_file(filter.failure(), asked.filter_path);
  return answer_of(query_all(**filter, asked), asked.wish);
}

}  // namespace

const command filter_query_command{
    .name = "query",
    .summary = "which keys a filter may contain",
    .details =
        "Prints the keys that may be contained, byte for byte as they came, or with --invert those "
        "that surely are not. What a key is, see oneprobe filter build --help. The filter file is "
        "mapped, not read. With --json: only how many of each there are. Exit code: 0 if there was "
        "a key to print, 1 if there was none, 2 or 3 if there is no answer.",
    .source = "",
    .example = "seen.filter keys.txt --invert",
    .options = {{&invert_option, need::optional},
                {&count_option, need::optional},
                {&nul_separated, need::optional}},
    .words = &words,
    .answer = answer,
};

}  // namespace oneprobe::cli
