#include "explorer/answers.hpp"

#include <unistd.h>

#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "explorer/curves.hpp"
#include "explorer/page_files.hpp"
#include "plan/commands.hpp"

namespace oneprobe::explorer {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view api = "/api/";

reply refusal(int status, const std::string& sentence) {
  return {.status = status, .body = json{{"error", sentence}}.dump() + '\n'};
}

/// A query as options: `elements=1M` is --elements 1M.
cli::arguments arguments_of(const query& asked, const std::vector<const cli::option*>& options) {
  cli::arguments in;
  for (auto each = asked.begin(); each != asked.end(); each = asked.upper_bound(each->first)) {
    const std::string flag = "--" + each->first;
    const cli::option* known = nullptr;
    for (const cli::option* option : options)
      if (option->flag == flag) known = option;
    if (known == nullptr) {
      std::vector<std::string> flags;
      flags.reserve(options.size());
      for (const cli::option* option : options) flags.emplace_back(option->flag);
      const auto meant = cli::nearest_word(flag, flags);
      throw cli::usage_error("unknown option " + cli::in_quotes(flag) +
                             (meant ? "; did you mean " + *meant + "?" : ""));
    }
    std::vector<std::string> values;
    for (auto [from, to] = asked.equal_range(each->first); from != to; ++from)
      values.push_back(from->second);
    // A switch has no value.
    if (known->value.empty() && values == std::vector<std::string>{""}) values = {"true"};
    in.give(known->flag, std::move(values));
  }
  return in;
}

std::vector<const cli::option*> options_of(const cli::command& what) {
  std::vector<const cli::option*> options;
  for (const cli::option_use& use : what.options) options.push_back(use.what);
  return options;
}

std::vector<const cli::option*> options_of(const std::vector<cli::option>& all) {
  std::vector<const cli::option*> options;
  options.reserve(all.size());
  for (const cli::option& each : all) options.push_back(&each);
  return options;
}

/// As the tool answers with --json; as it does without where another form is asked for.
reply planned(const cli::command& what, const query& asked) {
  const cli::arguments in = arguments_of(asked, options_of(what));
  const cli::report found = what.answer(in);
  in.refuse_unread();
  if (asked.contains("cpp") && !found.is_negative())
    return {.type = "text/plain", .body = found.table()};
  return {.body = found.json()};
}

reply drawn(json (*curves)(const cli::arguments&), const std::vector<const cli::option*>& options,
            const query& asked) {
  return {.body = curves(arguments_of(asked, options)).dump() + '\n'};
}

/// Which work runs first: what the page draws at once, then plans, then what was not requested yet.
/// On Linux niceness is a thread's own.
enum niceness { of_plans = 10, of_tables_for_later = 19 };
void step_back(niceness by) { [[maybe_unused]] const int now = nice(by); }

/// On a thread of its own, which steps back: a plan takes up to seconds.
template <class Work>
reply behind_others(Work work) {
  return std::async(std::launch::async,
                    [&] {
                      step_back(of_plans);
                      return work();
                    })
      .get();
}

reply computed(std::string_view name, const query& asked) {
  if (name == "plan/filter")
    return behind_others([&] { return planned(cli::plan_filter_command, asked); });
  if (name == "plan/table")
    return behind_others([&] { return planned(cli::plan_table_command, asked); });
  if (name == "frontier/filter")
    return drawn(filter_frontier, options_of(filter_frontier_options()), asked);
  if (name == "frontier/table")
    return drawn(table_frontier, options_of(table_frontier_options()), asked);
  if (name == "picture/table")
    return behind_others(
        [&] { return drawn(table_picture, options_of(cli::plan_table_command), asked); });
  return refusal(404, "there is no such question");
}

/// What was answered of late: sliders go back and forth.
class memory {
 public:
  std::optional<reply> recall(const std::string& question) const {
    const std::lock_guard lock(guard_);
    const auto found = known_.find(question);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(const std::string& question, const reply& found) {
    const std::lock_guard lock(guard_);
    if (!known_.try_emplace(question, found).second) return;
    order_.push_back(question);
    if (order_.size() <= most) return;
    known_.erase(order_.front());
    order_.pop_front();
  }

 private:
  static constexpr std::size_t most = 500;  // of some ten thousand bytes each
  mutable std::mutex guard_;
  std::map<std::string, reply> known_;
  std::deque<std::string> order_;
};

std::string question_of(const std::string& path, const query& asked) {
  std::string text = path;
  for (const auto& [name, value] : asked)
    text.append(1, '\n').append(name).append(1, '=').append(value);
  return text;
}

reply remembered(const std::string& path, const query& asked) {
  static memory last;
  const std::string question = question_of(path, asked);
  if (const std::optional<reply> known = last.recall(question)) return *known;
  try {
    reply found = computed(std::string_view(path).substr(api.size()), asked);
    if (found.status == 200) last.keep(question, found);
    return found;
  } catch (const cli::usage_error& error) {
    return refusal(400, error.what());
  } catch (const std::invalid_argument& error) {
    return refusal(400, error.what());
  }
}

}  // namespace

reply answer(const std::string& path, const query& asked) {
  if (path.starts_with(api)) return remembered(path, asked);
  for (const page_file& file : page_files())
    if (file.path == path)
      return {.type = std::string(file.type), .body = std::string(file.text), .constant = true};
  return refusal(404, "there is no such page");
}

void warm_up() {
  answer("/api/frontier/filter", {});
  answer("/api/frontier/table", {});
  // The rest takes seconds. A request that comes meanwhile is answered first.
  step_back(of_tables_for_later);
  for (const char* workload : {"churn", "fill-only"})
    for (const char* slots : {"16", "8", "4"})
      answer("/api/frontier/table", {{"workload", workload}, {"bucket-capacity", slots}});
}

}  // namespace oneprobe::explorer
