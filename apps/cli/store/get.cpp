// `oneprobe store get`: the records of keys.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "named_file.hpp"
#include "store/commands.hpp"
#include "store/record_text.hpp"
#include "store/records.hpp"

namespace oneprobe::cli {
namespace {

constexpr option words{"FILE", "[KEY]...",
                       "the store, and the keys (default: those of standard input, one per line)"};
constexpr option explained{"--explain", "",
                           "print for each key where the lookup went instead of the record"};
constexpr option direct{"--direct", "",
                        "read pages past the system's page cache (O_DIRECT): of 4096 bytes and up"};

enum class printing { records, paths, nothing };

std::string_view name_of(store_path::stop stopped) {
  switch (stopped) {
    case store_path::stop::found:
      return "found";
    case store_path::stop::found_in_overflow:
      return "found in the overflow";
    case store_path::stop::absent:
      return "absent";
    case store_path::stop::misled:
      return "absent, another's string";
    case store_path::stop::unreadable:
      return "unreadable";
  }
  return "unknown";
}

struct totals {
  std::uint64_t keys = 0;
  std::uint64_t found = 0;
  std::uint64_t page_reads = 0;
};

/// Answers keys one after the other.
class lookups {
 public:
  lookups(const page_store& store, text_form form, printing print)
      : store_(store), text_(store.plan(), form), value_(store.plan().value_bytes), print_(print) {}

  void answer(std::string_view typed, text_place whence = {}) {
    const std::span<const std::byte> key = text_.key_of(typed, whence);
    const std::uint64_t reads = store_.page_reads();
    const get_outcome outcome = store_.get(key, value_);
    const auto page_reads = store_.page_reads() - reads;
    // Once more, for what a get does not say.
    std::optional<store_path> path;
    if (print_ == printing::paths || outcome == get_outcome::unreadable) path = store_.explain(key);
    if (outcome == get_outcome::unreadable)
      refuse_file(path->failure.value_or(load_failure{load_error::io, "a page cannot be read"}));
    ++sum_.keys;
    sum_.found += outcome == get_outcome::found ? 1u : 0u;
    sum_.page_reads += page_reads;
    if (print_ == printing::paths)
      lines_ +=
          fmt::format("{}\t{}\t{} page reads{}{}\n", text_.text_of(key), name_of(path->stopped),
                      page_reads, path->page ? fmt::format("\tpage {}", *path->page) : "",
                      path->level ? fmt::format("\tlevel {}", *path->level + 1) : "");
    else if (print_ == printing::records && outcome == get_outcome::found)
      lines_ += value_.empty() ? fmt::format("{}\n", text_.text_of(key))
                               : fmt::format("{}\t{}\n", text_.text_of(key), text_.text_of(value_));
  }
  /// What the last answer was, for JSON.
  report last_as_object(std::string_view typed) {
    const store_path path = store_.explain(text_.key_of(typed));
    report out{std::string()};
    // As it was typed, if it can stand there.
    const bool shown = is_printable(std::as_bytes(std::span(typed)));
    if (shown)
      out.text("key", std::string(typed));
    else
      out.nothing("key", "");
    out.yes_no("found", path.contains()).text("stopped", std::string(name_of(path.stopped)));
    out.whole("page_reads", path.page_reads);
    if (path.contains() && is_printable(value_))
      out.text("value", record_text(store_.plan(), text_form::plain).text_of(value_));
    else
      out.nothing("value", "");
    if (path.contains()) out.text("value_hex", hexadecimal_text(value_));
    return out;
  }
  /// Prints what has been answered since.
  void flush() {
    if (!lines_.empty()) print_now(lines_);
    lines_.clear();
  }
  const totals& sum() const { return sum_; }

 private:
  const page_store& store_;
  record_text text_;
  std::vector<std::byte> value_;
  printing print_;
  std::string lines_{};
  totals sum_{};
};

report answer(const arguments& in) {
  const auto typed = in.words(words);
  if (typed.empty()) throw usage_error("FILE is missing: a page store");
  const text_form form = read_text_form(in);
  const bool explains = in.is_set(explained);  // JSON explains anyway
  const printing print = in.is_set(json_output) ? printing::nothing
                         : explains             ? printing::paths
                                                : printing::records;
  const page_reading reading = in.is_set(direct) ? page_reading::direct : page_reading::cached;
  in.refuse_unread();
  const page_store store = open_store(typed.front(), {.reading = reading});
  lookups asked(store, form, print);
  std::vector<report> objects;
  if (typed.size() > 1) {
    for (const std::string& key : std::span(typed).subspan(1)) {
      asked.answer(key);
      if (print == printing::nothing) objects.push_back(asked.last_as_object(key));
    }
    asked.flush();
  } else {
    key_file file("-");
    for_each_line(
        file, [&](std::string_view key, text_place here) { asked.answer(key, here); },
        [&](std::uint64_t) { asked.flush(); });
  }
  const totals& sum = asked.sum();
  report out("get");
  out.whole("keys", sum.keys)
      .whole("found", sum.found)
      .whole("absent", sum.keys - sum.found)
      .whole("page_reads", sum.page_reads)
      .layout({});
  if (!objects.empty()) out.objects("results", objects);
  if (sum.found < sum.keys || sum.keys == 0) out.negative();
  return out;
}

}  // namespace

const command store_get_command{
    .name = "get",
    .summary = "the records of keys",
    .details =
        "Prints a line for each key that is there: the key, a tab, and the value. Each get reads "
        "at most one page; --explain prints instead where it went: found in a page or in the "
        "overflow, absent by the summary alone, or absent after a needless page read. With "
        "--json: how many were found and how many pages were read, and for keys that were typed "
        "each answer. Exit code: 0 if all keys were found, 1 if one was not, 2 or 3 if there is "
        "no answer.",
    .source = "",
    .example = "users.store alice bob --explain",
    .options = {{&explained, need::optional},
                {&direct, need::optional},
                {&hex_digits, need::optional}},
    .words = &words,
    .answer = answer,
};

}  // namespace oneprobe::cli
