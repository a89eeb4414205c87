// `oneprobe bench store`: the page store beside LevelDB, on the same records, in one run.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/commands.hpp"
#include "bench/machine.hpp"
#include "bench/plugin_file.hpp"
#include "bench/store_contest.hpp"
#include "named_file.hpp"
#include "progress.hpp"

namespace oneprobe::cli {
namespace {

namespace fs = std::filesystem;

constexpr option element_count{"--elements", "N", "records in each store (default 10M)"};
constexpr option get_count{"--gets", "G", "gets of each kind in a round (default 1M)"};
constexpr option direct_count{"--direct-gets", "G",
                              "the same past the page cache, 0 for none (default 20k)"};
constexpr option round_count{"--rounds", "R", "rounds over both (default 3)"};
constexpr option folder_name{
    "--folder", "DIR", "where the stores are for the time being (default the temporary folder)"};
constexpr option key_seed{"--seed", "S", "start of the random records (default 1)"};

constexpr std::uint64_t fewest_elements = 1000;
constexpr std::uint64_t most_elements = 1'000'000'000;
constexpr std::uint64_t fewest_gets = 100;
constexpr std::uint64_t most_gets = 100'000'000;
constexpr unsigned most_rounds = 1000;

std::uint64_t count_between(const arguments& in, const option& what, std::uint64_t otherwise,
                            std::uint64_t low, std::uint64_t high) {
  const std::uint64_t found = in.maybe_count(what).value_or(otherwise);
  if (found < low || found > high)
    throw usage_error(
        fmt::format("{} must be from {} to {}; found {}", what.flag, low, high, found));
  return found;
}

store_contest_settings read_settings(const arguments& in) {
  store_contest_settings settings;
  settings.elements =
      count_between(in, element_count, settings.elements, fewest_elements, most_elements);
  settings.gets = count_between(in, get_count, settings.gets, fewest_gets, most_gets);
  settings.direct_gets = count_between(in, direct_count, settings.direct_gets, 0, most_gets);
  settings.rounds =
      static_cast<unsigned>(count_between(in, round_count, settings.rounds, 1, most_rounds));
  settings.seed = in.maybe_seed(key_seed).value_or(settings.seed);
  return settings;
}

/// A folder that goes with all that is in it.
class own_folder {
 public:
  explicit own_folder(const std::string& parent) {
    std::string name = (fs::path(parent) / "oneprobe-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      refuse_path(errno, fmt::format("--folder: {} cannot be written: {}", in_quotes(parent),
                                     std::strerror(errno)));
    path_ = name;
  }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;
  ~own_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct spread {
  double median = 0;
  double least = 0;
  double most = 0;
};
/// LevelDB's time over ours, in each round.
std::optional<spread> speedup(const std::vector<double>& ours, const std::vector<double>& peer) {
  if (ours.empty() || ours.size() != peer.size()) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(peer[i] / ours[i]);
  return spread{median(ratios), *std::ranges::min_element(ratios),
                *std::ranges::max_element(ratios)};
}

report object_of(const store_gets& gets) {
  report out("");
  out.whole("gets", gets.asked);
  out.number("reads_per_get", gets.reads_per_get()).number("pages_per_get", gets.pages_per_get());
  if (gets.wall_ns.empty()) {
    out.nothing("gets_per_second", "").nothing("cpu_ns", "");
  } else {
    out.number("gets_per_second", 1e9 / median(gets.wall_ns)).number("cpu_ns", median(gets.cpu_ns));
  }
  out.numbers("rounds_wall_ns", gets.wall_ns, "").numbers("rounds_cpu_ns", gets.cpu_ns, "");
  return out;
}

constexpr std::string_view name_of(page_reading reading) {
  switch (reading) {
    case page_reading::mapped:
      return "mapped";
    case page_reading::cached:
      return "pread";
    case page_reading::direct:
      return "direct";
  }
  return "unknown";
}

report object_of(const store_result& result) {
  report out("");
  out.text("name", result.name)
      .number("build_seconds", result.build_seconds)
      .whole("disk_bytes", result.disk_bytes)
      .whole("memory_bytes", result.memory_bytes);
  for (std::size_t i = 0; i < store_readings.size(); ++i) {
    const store_result::by_reading& found = result.readings[i];
    const std::string name(name_of(store_readings[i]));
    if (found.why_not.empty())
      out.object(name + "_present", object_of(found.present))
          .object(name + "_absent", object_of(found.absent));
    else
      out.nothing(name + "_present", "")
          .nothing(name + "_absent", "")
          .text(name + "_why_not", found.why_not);
  }
  return out;
}

void add_ratio(report& out, const std::string& key, const std::optional<spread>& found) {
  if (!found) {
    out.nothing(key, "");
    return;
  }
  report of("");
  of.number("median", found->median).number("least", found->least).number("most", found->most);
  out.object(key, of);
}

std::string line_of(std::string_view kind, std::string_view reading, const store_gets& gets) {
  return fmt::format("    {:<22}{:>9.4f}{:>9.4f}{:>13.0f}{:>9.2f}\n",
                     fmt::format("{}, {}", kind, reading), gets.reads_per_get(),
                     gets.pages_per_get(), 1e9 / median(gets.wall_ns), median(gets.cpu_ns) / 1000);
}

std::string table_of(const std::vector<store_result>& results) {
  std::string text =
      fmt::format("{:<26}{:>9}{:>9}{:>13}{:>9}\n", "", "reads", "pages", "gets/s", "CPU us");
  for (const store_result& each : results) {
    text += fmt::format("{}: {:.0f} MB on disk, {:.1f} MB in memory, built in {:.0f} s\n",
                        each.name, static_cast<double>(each.disk_bytes) / 1e6,
                        static_cast<double>(each.memory_bytes) / 1e6, each.build_seconds);
    for (std::size_t i = 0; i < store_readings.size(); ++i) {
      const store_result::by_reading& found = each.readings[i];
      const std::string_view reading = name_of(store_readings[i]);
      text += found.why_not.empty() ? line_of("present", reading, found.present) +
                                          line_of("absent", reading, found.absent)
                                    : fmt::format("    {}: {}\n", reading, found.why_not);
    }
  }
  return text;
}

/// How many times the peer's gets ours are.
void add_ratios(report& out, std::string& text, const store_result& ours,
                const store_result& peer) {
  report faster("");
  for (std::size_t i = 0; i < store_readings.size(); ++i) {
    const std::string name(name_of(store_readings[i]));
    const auto& mine = ours.readings[i];
    const auto& other = peer.readings[i];
    const auto present = speedup(mine.present.wall_ns, other.present.wall_ns);
    add_ratio(faster, name + "_present", present);
    add_ratio(faster, name + "_absent", speedup(mine.absent.wall_ns, other.absent.wall_ns));
    if (present)
      text += fmt::format("present keys, {}: {:.2f} times LevelDB's gets ({:.2f}-{:.2f})\n", name,
                          present->median, present->least, present->most);
  }
  out.object("times_leveldb", faster);
}

report answer(const arguments& in) {
  const store_contest_settings settings = read_settings(in);
  std::error_code no_folder;
  const std::string parent =
      in.maybe_text(folder_name).value_or(fs::temp_directory_path(no_folder).string());
  in.refuse_unread();  // before the work, which takes a while
  const machine_facts machine = describe_machine();
  const own_folder folder(parent);
  store_list stores;
  stores.push_back(make_our_store(folder.path()));
  const plugin_function plugin =
      find_plugin_function("oneprobe_store_peer.so", "oneprobe_make_leveldb");
  std::string absent = plugin.why;
  if (plugin.address != nullptr) {
    const auto make = reinterpret_cast<decltype(&oneprobe_make_leveldb)>(plugin.address);
    if (std::unique_ptr<store_contender> peer{make(folder.path())})
      stores.push_back(std::move(peer));
    else
      absent = "LevelDB was not found when the tool was configured";
  }
  progress_bar bar;
  const std::vector<store_result> results = race_stores(
      stores, settings, [&](double done, std::string_view what) { bar.show(done, what); });

  report out("Page store and LevelDB");
  out.whole("elements", settings.elements)
      .whole("key_bytes", bench_key_bytes)
      .whole("value_bytes", bench_value_bytes)
      .whole("rounds", settings.rounds)
      .whole("seed", settings.seed);
  std::vector<report> rows;
  std::uint64_t wrong = 0;
  for (const store_result& each : results) {
    rows.push_back(object_of(each));
    wrong += each.wrong_answers;
  }
  out.objects("stores", rows).whole("wrong_answers", wrong);
  std::string text = table_of(results);
  if (results.size() == 2) {
    add_ratios(out, text, results[0], results[1]);
  } else {
    out.text("leveldb_absent", absent);
    text += fmt::format("LevelDB is absent: {}\n", absent);
  }
  out.object("machine", object_of(machine));
  text += fmt::format("\n{}\n", text_of(machine));
  if (wrong > 0) {
    text += fmt::format("{} answers were wrong\n", wrong);
    out.negative();
  }
  return out.layout(text);
}

}  // namespace

const command bench_store_command{
    .name = "store",
    .summary = "the page store and LevelDB, if it is there, in one run",
    .details =
        "Both hold the same random records of 16 + 100 bytes. Ours is built by its builder and "
        "opened to be read; LevelDB is filled in the same order, compacted, and has its default "
        "10-bit filter and no block cache. Rounds of gets go over both in turn: random keys that "
        "are there, and random keys that are not: from the system's page cache in mapped files "
        "(LevelDB's default) and by pread (ours), and past it (O_DIRECT) where the file system "
        "allows that. reads: calls of the file system per get, "
        "ours by the store's own counter, LevelDB's by an Env between it and the files; pages: of "
        "4 KiB that they touch. gets/s is by the wall clock, CPU us the CPU time of the thread per "
        "get, both the median of the rounds; ratios are taken within a round. By pread and "
        "O_DIRECT ours "
        "verifies each page's checksum, mapped a page's first; LevelDB by default none. Every "
        "answer is checked: a wrong one ends "
        "the run with exit code 1. 10M records take some 5 GB of disk and about 10 minutes.",
    .source = "",
    .example = "--elements 100k --gets 20k --direct-gets 0 --rounds 2",
    .options = {{&element_count, need::optional},
                {&get_count, need::optional},
                {&direct_count, need::optional},
                {&round_count, need::optional},
                {&folder_name, need::optional},
                {&key_seed, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
