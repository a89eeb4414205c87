// `oneprobe filter build`: a file of keys to a filter file.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "filter/commands.hpp"
#include "filter/filter_report.hpp"
#include "filter/hashed_keys.hpp"
#include "filter/needs.hpp"
#include "filter/read_ahead.hpp"
#include "handles/held_filter.hpp"
#include "oneprobe/filter/file.hpp"
#include "progress.hpp"

namespace oneprobe::cli {
namespace {

constexpr option keys_word{"KEYS", "", "the file of keys, one per line; - is standard input"};
constexpr option output{"-o", "FILE", "the filter file to write; replaced once it is complete",
                        "--output"};
constexpr option elements{"--elements", "N",
                          "plan for so many keys (default: as many as there are, by reading KEYS "
                          "twice; needed where that is impossible)"};
constexpr option seed_value{
    "--seed", "S", "seed of the hash, up to 2^64-1, 0x... in hexadecimal (default: a random one)"};

struct settings {
  std::string keys_path;
  std::string output_path;
  key_separator separator = key_separator::newline;
  std::optional<std::uint64_t> elements;
  std::uint64_t seed = 0;
  filter_needs needs;
};

settings read_settings(const arguments& in) {
  settings what;
  const auto words = in.words(keys_word);
  if (words.empty()) throw usage_error("KEYS is missing: a file of keys, or - for standard input");
  if (words.size() > 1)
    throw usage_error(
        fmt::format("KEYS must be one file; found {} names, {} the second; to join files: cat A B "
                    "| oneprobe filter build - --elements N -o FILE",
                    words.size(), path_in_quotes(words[1])));
  what.keys_path = words.front();
  const auto output_path = in.maybe_text(output);
  if (!output_path) throw usage_error("-o is missing: the filter file to write");
  what.output_path = *output_path;
  what.separator = read_separator(in);
  what.elements = in.maybe_count(elements);
  if (what.elements == std::uint64_t{0})
    throw usage_error(fmt::format("{} must be at least 1; found 0", elements.flag));
  const auto given_seed = in.maybe_seed(seed_value);
  what.seed = given_seed ? *given_seed : random_seed();
  what.needs = read_needs(in);
  // Before the work, not after it.
  in.refuse_unread();
  return what;
}

/// Refuses what would be killed for want of memory half way.
void check_memory(const filter_plan& plan) {
  const auto bytes = static_cast<double>(plan.memory().total());
  const double machine =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > machine)
    throw system_failure(
        fmt::format("not enough memory: this filter needs {:.3g} GiB, the machine has {:.3g}; a "
                    "larger --fpr needs less",
                    bytes / 0x1p30, machine / 0x1p30));
}

/// What was found on the way through the keys.
struct intake {
  std::uint64_t keys = 0;
  std::uint64_t empty = 0;
  std::uint64_t with_carriage_return = 0;
};

/// How far it is: bytes of a file that is read once or twice, or keys of those announced.
class build_progress {
 public:
  build_progress(const settings& what, const key_file& file)
      : bytes_(static_cast<double>(file.bytes())),
        passes_(what.elements ? 1 : 2),
        elements_(static_cast<double>(what.elements.value_or(1))) {}

  void counting(std::uint64_t bytes) {
    bar_.show(static_cast<double>(bytes) / bytes_ / passes_, "counting keys");
  }
  void inserting(std::uint64_t bytes, std::uint64_t keys) {
    const double done =
        bytes_ > 0 ? static_cast<double>(bytes) / bytes_ : static_cast<double>(keys) / elements_;
    bar_.show((passes_ - 1 + done) / passes_, "inserting keys");
  }

 private:
  progress_bar bar_{};
  double bytes_;
  double passes_;
  double elements_;
};

std::uint64_t planned_elements(const settings& what, key_file& file, build_progress& progress) {
  if (what.elements) return *what.elements;
  if (!file.can_be_read_again())
    throw usage_error(fmt::format(
        "--elements is missing: {} can be read only once, so say how many keys there will be",
        file.name()));
  const std::uint64_t keys =
      count_keys(file, what.separator, [&](std::uint64_t bytes) { progress.counting(bytes); });
  file.rewind();
  // A filter of nothing still has to be a filter.
  return std::max<std::uint64_t>(keys, 1);
}

intake insert_all(held_filter& filter, const settings& what, key_file& file,
                  build_progress& progress) {
  intake found;
  key_lines lines(file, what.separator);
  read_ahead<hashed_keys> blocks([&](hashed_keys& next) { return next.read(lines, filter.hash()); },
                                 [&] { file.stop_waiting(); });
  while (const hashed_keys* keys = blocks.wait()) {
    filter.bulk_insert(keys->hashes());
    found.keys += keys->hashes().size();
    found.empty += keys->empty_keys();
    found.with_carriage_return += keys->keys_with_carriage_return();
    progress.inserting(keys->bytes_read(), found.keys);
  }
  return found;
}

void add_notes(report& out, const settings& what, const intake& found) {
  if (found.keys == 0) out.note("There were no keys: this filter says \"surely not\" to all.");
  if (found.empty > 0)
    out.note(fmt::format("{} of the keys {} empty: an empty {} is a key too.",
                         grouped(static_cast<double>(found.empty)), found.empty == 1 ? "is" : "are",
                         what.separator == key_separator::newline ? "line" : "string"));
  if (found.with_carriage_return > 0 && what.separator == key_separator::newline)
    out.note(fmt::format(
        "{} of the keys end with a carriage return, which belongs to the key: query with lines "
        "that have it too, or remove it first (tr -d '\\r').",
        grouped(static_cast<double>(found.with_carriage_return))));
}

report answer(const arguments& in) {
  const auto begin = std::chrono::steady_clock::now();
  settings what = read_settings(in);
  key_file file(what.keys_path);
  check_output(what.output_path, file);
  build_progress progress(what, file);
  what.needs.elements = planned_elements(what, file, progress);
  const filter_plan plan = plan_or_refuse(what.needs);
  check_memory(plan);

  held_filter filter(plan, seeded_hash(what.seed));
  const intake found = insert_all(filter, what, file, progress);
  if (const auto failure = save(filter, what.output_path)) throw system_failure(failure->sentence);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  const filter_stats stats = filter.stats();
  report out(fmt::format("Filter file {}", path_in_quotes(what.output_path)));
  out.whole("keys", found.keys)
      .whole("empty_keys", found.empty)
      .whole("keys_with_carriage_return", found.with_carriage_return);
  add_state(out, stats);
  add_plan(out, plan);
  out.text("seed", fmt::format("{}", what.seed)).number("seconds", seconds);
  add_notes(out, what, found);
  add_warning(out, stats);
  return out;
}

std::vector<option_use> options_of_build() {
  std::vector<option_use> options{{&output}};
  for (const option_use& each : need_options()) options.push_back(each);
  options.push_back({&elements, need::optional});
  options.push_back({&seed_value, need::optional});
  options.push_back({&nul_separated, need::optional});
  return options;
}

}  // namespace

const command filter_build_command{
    .name = "build",
    .summary = "a file of keys to a filter file",
    .details =
        "Every line is a key, byte for byte: an empty line is the empty key, a carriage return "
        "before the line end belongs to the key, the last line counts with or without a line end. "
        "A key has at most 1,048,576 bytes. A regular file is read twice, first to count the keys; "
        "anything else needs --elements. More keys than planned for are taken all the same: the "
        "answer says so, and what the error is now. Memory is the filter and a constant.",
    .source = "",
    .example = "keys.txt -o seen.filter --fpr 0.0001",
    .options = options_of_build(),
    .words = &keys_word,
    .answer = answer,
};

}  // namespace oneprobe::cli
