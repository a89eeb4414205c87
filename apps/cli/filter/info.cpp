// `oneprobe filter info`: what a filter file holds.
#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "filter/commands.hpp"
#include "filter/filter_report.hpp"
#include "handles/held_filter.hpp"
#include "named_file.hpp"
#include "oneprobe/filter/file.hpp"

namespace oneprobe::cli {
namespace {

constexpr option words{"FILE", "", "the filter file"};
constexpr option verify{"--verify", "",
                        "compare all bytes with their checksum; exit code 1 if one is wrong"};

template <class T>
T& value_or_refuse(loaded<T>& what, const std::string& path) {
  if (!what) refuse_file(what.failure(), path);
  return *what;
}

/// From the bits, which say it whatever hash the keys went through.
filter_stats stats_of(const file_facts& facts, std::span<const std::byte> payload) {
  return held_reader(facts.plan, payload, facts.counts, seeded_hash(facts.seed)).stats();
}

report answer(const arguments& in) {
  const auto paths = in.words(words);
  if (paths.size() != 1)
    throw usage_error(paths.empty() ? std::string("FILE is missing: a filter file")
                                    : fmt::format("FILE must be one; found {}", paths.size()));
  const bool verified = in.is_set(verify);
  in.refuse_unread();

  loaded<file_facts> read = read_facts(paths.front());
  const file_facts& facts = value_or_refuse(read, paths.front());
  loaded<mapped_file> mapped = mapped_file::map(paths.front());
  const std::span<const std::byte> bytes = value_or_refuse(mapped, paths.front()).bytes();
  if (bytes.size() != facts.file_bytes)
    throw system_failure(fmt::format("{} was changed while it was read", mapped->name()));
  const auto payload = bytes.subspan(static_cast<std::size_t>(facts.payload_begin));
  const filter_stats stats = stats_of(facts, payload);

  report out(fmt::format("Filter file {}", path_in_quotes(paths.front())));
  add_state(out, stats);
  add_plan(out, facts.plan);
  add_predictions(out, facts.plan);
  out.text("hash", facts.hash == file_hash::seeded ? "seeded_hash" : "the writer's own")
      .text("seed", fmt::format("{}", facts.seed))
      .whole("format_version", facts.version)
      .whole("file_bytes", facts.file_bytes, in_larger_units(facts.file_bytes));
  std::optional<load_failure> failure;
  if (verified)
    failure =
        verify_payload(payload, facts.payload_checksum, facts.plan, facts.counts, mapped->name());
  out.text("checksum", !verified ? "not compared (--verify)" : failure ? "wrong" : "right");
  add_warning(out, stats);
  if (facts.hash == file_hash::own)
    out.note("The keys were hashed by a policy of the writer's own: this tool cannot query it.");
  if (failure) out.note(fmt::format("Do not use it: {}.", failure->sentence)).negative();
  return out;
}

}  // namespace

const command filter_info_command{
    .name = "info",
    .summary = "what a filter file holds, and how good it is now",
    .details =
        "Shows the elements, the error as planned and as it is now from the bits that are set, "
        "memory by part, parameters and predictions. The bytes before the filter are always held "
        "to their checksums, the filter itself with --verify.",
    .source = "",
    .example = "seen.filter --verify",
    .options = {{&verify, need::optional}},
    .words = &words,
    .answer = answer,
};

}  // namespace oneprobe::cli
