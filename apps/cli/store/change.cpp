// `oneprobe store put` and `oneprobe store erase`: changes that are on the disk when they are
// answered.
#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "store/commands.hpp"
#include "store/record_text.hpp"
#include "store/records.hpp"

namespace oneprobe::cli {
namespace {

constexpr option put_words{"FILE", "[KEY VALUE]...",
                           "the store, and the records (default: those of standard input, a key, a "
                           "tab and a value on each line)"};
constexpr option erase_words{
    "FILE", "[KEY]...", "the store, and the keys (default: those of standard input, one per line)"};

/// A complaint that says what stays.
struct change_refused : complaint {
  using complaint::complaint;
};

/// A store that is changed, and how much of that is acknowledged.
class changes {
 public:
  explicit changes(const std::string& path)
      : store_(open_store(path, {.access = file_access::update})) {}

  page_store& store() { return store_; }
  /// One more, which the next commit acknowledges.
  void add() { ++made_; }
  void commit() {
    if (const auto failure = store_.commit()) refuse(exit_code::failure, failure->sentence);
    acknowledged_ = made_;
  }
  void close() {
    commit();
    if (const auto failure = store_.close()) refuse(exit_code::failure, failure->sentence);
  }
  /// Calls `read`, which makes changes. If it comes to one that is none, or can read no further,
  /// those before it are committed.
  template <class Read>
  void make_all(Read read) {
    try {
      read();
    } catch (const change_refused&) {
      throw;
    } catch (const complaint& why) {
      commit();
      refuse(why.code(), why.what());
    }
  }
  /// What was changed before stays: the message says how much of it.
  [[noreturn]] void refuse(exit_code code, std::string_view why) const {
    throw change_refused(code, made_ == 0 ? std::string(why)
                                          : fmt::format("{}; {} changes before it are on the disk",
                                                        why, acknowledged_));
  }
  [[noreturn]] void refuse_failed() const {
    refuse(exit_code::failure,
           store_.failure() ? store_.failure()->sentence : "the store cannot be changed");
  }

 private:
  page_store store_;
  std::uint64_t made_ = 0;
  std::uint64_t acknowledged_ = 0;
};

struct put_totals {
  std::uint64_t inserted = 0;
  std::uint64_t assigned = 0;
  std::uint64_t overflowed = 0;
};

void put_one(changes& made, put_totals& sum, std::span<const std::byte> key,
             std::span<const std::byte> value) {
  switch (made.store().put(key, value, acknowledge::at_commit)) {
    case put_outcome::inserted:
      ++sum.inserted;
      break;
    case put_outcome::overflowed:
      ++sum.inserted;
      ++sum.overflowed;
      break;
    case put_outcome::assigned:
      ++sum.assigned;
      break;
    case put_outcome::full:
      made.commit();
      made.refuse(exit_code::usage, "the store is full: build a larger one");
    case put_outcome::failed:
      made.refuse_failed();
  }
  made.add();
}

report answer_put(const arguments& in) {
  const auto typed = in.words(put_words);
  if (typed.empty()) throw usage_error("FILE is missing: a page store");
  const text_form form = read_text_form(in);
  const bool binary = in.is_set(binary_records);
  if (binary && (form == text_form::hex || typed.size() > 1))
    throw usage_error("--binary is for standard input, and not with --hex");
  in.refuse_unread();
  changes made(typed.front());
  const page_store_plan& plan = made.store().plan();
  record_text text(plan, form);
  put_totals sum;
  const auto put = [&](std::span<const std::byte> key, std::span<const std::byte> value) {
    put_one(made, sum, key, value);
  };
  const auto commit = [&](std::uint64_t) { made.commit(); };
  if (typed.size() > 1) {
    const std::size_t step = plan.value_bytes == 0 ? 1 : 2;
    if ((typed.size() - 1) % step != 0)
      throw usage_error(
          fmt::format("VALUE is missing: the last key is {}", in_quotes(typed.back())));
    made.make_all([&] {
      for (std::size_t i = 1; i < typed.size(); i += step)
        put(text.key_of(typed[i]), text.value_of(step == 2 ? typed[i + 1] : std::string()));
    });
  } else {
    key_file file("-");
    made.make_all([&] {
      if (binary)
        read_binary(file, plan, put, commit);
      else
        read_lines(file, text, put, commit);
    });
  }
  made.close();
  report out(fmt::format("Page store {}", path_in_quotes(typed.front())));
  out.whole("inserted", sum.inserted)
      .whole("assigned", sum.assigned)
      .whole("overflowed", sum.overflowed)
      .whole("records", made.store().size());
  return out;
}

report answer_erase(const arguments& in) {
  const auto typed = in.words(erase_words);
  if (typed.empty()) throw usage_error("FILE is missing: a page store");
  const text_form form = read_text_form(in);
  in.refuse_unread();
  changes made(typed.front());
  record_text text(made.store().plan(), form);
  std::uint64_t erased = 0;
  std::uint64_t absent = 0;
  const auto erase = [&](std::string_view key, text_place whence) {
    switch (made.store().erase(text.key_of(key, whence), acknowledge::at_commit)) {
      case removal::erased:
        ++erased;
        made.add();
        break;
      case removal::absent:
        ++absent;
        break;
      case removal::failed:
        made.refuse_failed();
    }
  };
  made.make_all([&] {
    if (typed.size() > 1) {
      for (const std::string& key : std::span(typed).subspan(1)) erase(key, {});
    } else {
      key_file file("-");
      for_each_line(file, erase, [&](std::uint64_t) { made.commit(); });
    }
  });
  made.close();
  report out(fmt::format("Page store {}", path_in_quotes(typed.front())));
  out.whole("erased", erased).whole("absent", absent).whole("records", made.store().size());
  if (erased == 0) out.negative();
  return out;
}

}  // namespace

const command store_put_command{
    .name = "put",
    .summary = "insert records, or give keys a new value",
    .details =
        "What is reported as inserted or assigned is on the disk: a crash at any moment later, or "
        "a kill -9, loses none of it. Records from standard input are committed together, as many "
        "as one read brings. If the store is full, or a record is none, the exit code is 2 and the "
        "line says how many were kept. One process may write at a time.",
    .source = "",
    .example = "users.store alice 'alice@example.org'",
    .options = {{&binary_records, need::optional}, {&hex_digits, need::optional}},
    .words = &put_words,
    .answer = answer_put,
};

const command store_erase_command{
    .name = "erase",
    .summary = "take records out",
    .details =
        "What is reported as erased is so on the disk. Exit code: 0 if a record was erased, 1 if "
        "none of the keys was there, 2 or 3 if something went wrong.",
    .source = "",
    .example = "users.store alice bob",
    .options = {{&hex_digits, need::optional}},
    .words = &erase_words,
    .answer = answer_erase,
};

}  // namespace oneprobe::cli
