// `oneprobe store build`: a file of records to a page store.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "oneprobe/detail/page_store/record_partitions.hpp"
#include "oneprobe/page_store/builder.hpp"
#include "progress.hpp"
#include "store/commands.hpp"
#include "store/record_text.hpp"
#include "store/records.hpp"

namespace oneprobe::cli {
namespace {

constexpr option records_word{"RECORDS", "",
                              "the file of records, a key, a tab and a value on each line; - is "
                              "standard input"};
constexpr option output{"-o", "FILE", "the store to write; replaced once it is complete",
                        "--output"};
constexpr option key_size{"--key-bytes", "K", "bytes of a key; shorter ones are filled with zeros"};
constexpr option value_size{"--value-bytes", "V", "bytes of a value, likewise; 0: keys only"};
constexpr option elements{"--elements", "N",
                          "plan for so many records (default: as many as there are, by reading "
                          "RECORDS twice; needed where that is impossible)"};
constexpr option page_size{"--page-bytes", "B",
                           "bytes of a page, a power of two from 512 to 65536 (default 4096)"};
constexpr option seed_value{
    "--seed", "S", "seed of the hash, up to 2^64-1, 0x... in hexadecimal (default: a random one)"};

enum class record_form { lines, binary };

struct settings {
  std::string records_path;
  std::string output_path;
  record_form form = record_form::lines;
  text_form text = text_form::plain;
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
  std::uint32_t page_bytes = 4096;
  std::optional<std::uint64_t> elements;
  std::uint64_t seed = 0;
};

settings read_settings(const arguments& in) {
  settings what;
  const auto words = in.words(records_word);
  if (words.size() != 1)
    throw usage_error(words.empty()
                          ? std::string("RECORDS is missing: a file, or - for standard input")
                          : fmt::format("RECORDS must be one file; found {}", words.size()));
  what.records_path = words.front();
  const auto output_path = in.maybe_text(output);
  if (!output_path) throw usage_error("-o is missing: the store to write");
  what.output_path = *output_path;
  what.form = in.is_set(binary_records) ? record_form::binary : record_form::lines;
  what.text = read_text_form(in);
  if (what.form == record_form::binary && what.text == text_form::hex)
    throw usage_error("give either --binary or --hex, not both");
  what.key_bytes = in.whole(key_size);
  what.value_bytes = in.whole(value_size);
  what.page_bytes = in.maybe_whole(page_size).value_or(what.page_bytes);
  what.elements = in.maybe_count(elements);
  if (what.elements == std::uint64_t{0})
    throw usage_error(fmt::format("{} must be at least 1; found 0", elements.flag));
  const auto given_seed = in.maybe_seed(seed_value);
  what.seed = given_seed ? *given_seed : random_seed();
  in.refuse_unread();
  return what;
}

/// The plan for so many records. The library's refusal, in the names of the options.
page_store_plan plan_for(const settings& what, std::uint64_t records) {
  try {
    return default_page_store_plan(records, what.key_bytes, what.value_bytes, what.page_bytes);
  } catch (const std::invalid_argument& refused) {
    const std::string_view sentence = refused.what();
    for (const auto& [name, flag] : {std::pair{"elements ", elements.flag},
                                     {"key_bytes ", key_size.flag},
                                     {"value_bytes ", value_size.flag},
                                     {"page_bytes ", page_size.flag}})
      if (sentence.starts_with(name))
        throw usage_error(
            fmt::format("{} {}", flag, sentence.substr(std::string_view(name).size())));
    throw;
  }
}

std::uint64_t planned_records(const settings& what, key_file& file, progress_bar& bar) {
  if (what.elements) return *what.elements;
  if (!file.can_be_read_again())
    throw usage_error(fmt::format(
        "--elements is missing: {} can be read only once, so say how many records there will be",
        file.name()));
  // A store of nothing still has to be a store.
  if (what.form == record_form::binary)
    return std::max<std::uint64_t>(
        1, file.bytes() /
               std::max<std::uint64_t>(1, std::uint64_t{what.key_bytes} + what.value_bytes));
  const std::uint64_t records = count_keys(file, key_separator::newline, [&](std::uint64_t bytes) {
    // Counting takes a small part of the time that follows.
    bar.show(0.05 * static_cast<double>(bytes) / static_cast<double>(file.bytes()),
             "counting records");
  });
  file.rewind();
  return std::max<std::uint64_t>(records, 1);
}

struct intake {
  std::uint64_t records = 0;
  std::uint64_t replaced = 0;  // by a later one with the same key
};

/// Above this, records are first brought into the order of their pages.
constexpr std::uint64_t large_file_bytes = std::uint64_t{1} << 28;

class intake_line {
 public:
  intake_line(page_store_builder& builder, const settings& what) : builder_(builder) {
    if (builder.plan().file_bytes() <= large_file_bytes) return;
    loaded<record_partitions> parts =
        record_partitions::create(what.output_path, builder.plan(), what.seed);
    if (!parts) throw system_failure(parts.failure().sentence);
    parts_ = *std::move(parts);
  }

  void add(std::span<const std::byte> key, std::span<const std::byte> value) {
    ++found_.records;
    if (!parts_) return put(key, value);
    if (const auto failure = parts_->add(key, value)) throw system_failure(failure->sentence);
  }
  /// Puts those that wait; `tell` hears which part of them is done.
  template <class Tell>
  intake finish(Tell tell) {
    if (!parts_) return found_;
    const std::uint32_t key_bytes = builder_.plan().key_bytes;
    std::size_t done = 0;
    if (const auto failure = parts_->for_each_part(
            [&](std::span<const std::byte> record) {
              put(record.first(key_bytes), record.subspan(key_bytes));
            },
            [&] {
              builder_.release_memory();
              tell(static_cast<double>(++done) / static_cast<double>(parts_->parts()));
            }))
      throw system_failure(failure->sentence);
    return found_;
  }
  std::uint64_t records() const { return found_.records; }

 private:
  void put(std::span<const std::byte> key, std::span<const std::byte> value) {
    const put_outcome outcome = builder_.put(key, value);
    if (outcome == put_outcome::full)
      throw usage_error(
          fmt::format("the store is full after {} records: plan for more with --elements",
                      builder_.counts().size));
    found_.replaced += outcome == put_outcome::assigned ? 1u : 0u;
  }

  page_store_builder& builder_;
  std::optional<record_partitions> parts_;
  intake found_{};
};

intake put_all(page_store_builder& builder, const settings& what, key_file& file,
               progress_bar& bar) {
  intake_line line(builder, what);
  const auto add = [&](std::span<const std::byte> key, std::span<const std::byte> value) {
    line.add(key, value);
  };
  const auto tell = [&](std::uint64_t bytes) {
    const double done =
        file.bytes() > 0
            ? static_cast<double>(bytes) / static_cast<double>(file.bytes())
            : static_cast<double>(line.records()) / static_cast<double>(builder.plan().elements);
    bar.show(0.05 + 0.45 * done, "reading records");
  };
  if (what.form == record_form::binary) {
    read_binary(file, builder.plan(), add, tell);
  } else {
    record_text text(builder.plan(), what.text);
    read_lines(file, text, add, tell);
  }
  const intake found =
      line.finish([&](double done) { bar.show(0.5 + 0.4 * done, "putting records"); });
  bar.show(0.9, "writing pages");
  return found;
}

report answer(const arguments& in) {
  const auto begin = std::chrono::steady_clock::now();
  const settings what = read_settings(in);
  plan_for(what, 1);  // sizes that cannot be are refused before anything is read
  key_file file(what.records_path);
  check_output(what.output_path, file);
  progress_bar bar;
  const page_store_plan plan = plan_for(what, planned_records(what, file, bar));
  loaded<page_store_builder> builder =
      page_store_builder::create(what.output_path, plan, what.seed);
  if (!builder) throw system_failure(builder.failure().sentence);
  const intake found = put_all(*builder, what, file, bar);
  const page_store_counts counts = builder->counts();
  const std::uint64_t failures = builder->failures();
  const std::uint64_t memory = builder->memory_bytes();
  if (const auto failure = builder->finish()) throw system_failure(failure->sentence);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  report out(fmt::format("Page store {}", path_in_quotes(what.output_path)));
  out.whole("records_read", found.records).whole("replaced", found.replaced, "by later ones");
  add_counts(out, counts, plan);
  out.whole("failures", failures, "of them because the summary would mislead");
  add_plan(out, plan);
  out.whole("memory_bytes", memory, "that the summary and the loads take when it is open")
      .text("seed", fmt::format("{}", what.seed))
      .number("seconds", seconds);
  return out;
}

}  // namespace

const command store_build_command{
    .name = "build",
    .summary = "a file of records to a page store",
    .details =
        "Every line is a record: a key, a tab, and a value, which may contain tabs; with "
        "--value-bytes 0 a line is a key. All keys of a store have one size, and all values. What "
        "is shorter is filled with zero bytes, which are left out when it is printed; what is "
        "longer is refused. With --hex both are hexadecimal digits, with --binary the input is "
        "records byte for byte, without separators. Of records with equal keys the last is kept. A "
        "regular file is read twice, first to count; anything else needs --elements. Memory is the "
        "summary, about 22 bits per record, a tenth of the file at most, and a constant. For a "
        "file of more than 256 MiB the records are first put in the order of their pages, in a "
        "temporary file beside it that is as large as they are.",
    .source = "",
    .example = "users.tsv -o users.store --key-bytes 16 --value-bytes 100",
    .options = {{&output},
                {&key_size},
                {&value_size},
                {&elements, need::optional},
                {&page_size, need::optional},
                {&binary_records, need::optional},
                {&hex_digits, need::optional},
                {&seed_value, need::optional}},
    .words = &records_word,
    .answer = answer,
};

}  // namespace oneprobe::cli
