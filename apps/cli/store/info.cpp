// `oneprobe store info`: what a page store holds.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "filter/filter_report.hpp"
#include "named_file.hpp"
#include "store/commands.hpp"

namespace oneprobe::cli {

page_store open_store(const std::string& path, page_store_options options) {
  loaded<page_store> store = page_store::open(path, options);
  if (store) return *std::move(store);
  // What can be read otherwise is well: the call asks for what this store does not have.
  if (options.reading == page_reading::direct && page_store::open(path))
    throw usage_error(store.failure().sentence);
  refuse_file(store.failure(), path, options.access);
}

void add_counts(report& out, const page_store_counts& counts, const page_store_plan& plan) {
  const auto in_pages = static_cast<double>(counts.size - counts.overflow);
  out.whole("records", counts.size)
      .whole("planned_records", plan.elements)
      .whole("overflow", counts.overflow, "records in the overflow, which is in memory")
      .whole("overflow_room", plan.overflow_pages * plan.page_records())
      .probability("absent_page_reads", plan.summary.false_positive_probability(in_pages));
}

void add_plan(report& out, const page_store_plan& plan) {
  out.whole("key_bytes", plan.key_bytes)
      .whole("value_bytes", plan.value_bytes)
      .whole("page_bytes", plan.page_bytes)
      .whole("records_per_page", plan.page_records())
      .whole("pages", plan.pages())
      .whole("overflow_pages", plan.overflow_pages)
      .fraction("load_factor_planned", plan.load_factor())
      .number("string_bits", plan.summary.string_bits(), "b, of the summary")
      .number("summary_bits_per_record", plan.summary.bits_per_element())
      .number("overflow_planned", plan.predicted.overflow_mean, "under churn, for both causes")
      .number("failures_planned", plan.predicted.failures_mean, "of them for their string")
      .whole("file_bytes", plan.file_bytes(), in_larger_units(plan.file_bytes()))
      .whole("log_bytes", plan.log_bytes, in_larger_units(plan.log_bytes))
      .wholes("level_pages", {plan.level_pages.begin(), plan.level_pages.begin() + plan.levels},
              "level");
}

namespace {

constexpr option words{"FILE", "", "the store"};
constexpr option verify{"--verify", "",
                        "read all pages: checksums, and each record found where it is; exit code 1 "
                        "if something is wrong"};

report answer(const arguments& in) {
  const auto paths = in.words(words);
  if (paths.size() != 1)
    throw usage_error(paths.empty() ? std::string("FILE is missing: a page store")
                                    : fmt::format("FILE must be one; found {}", paths.size()));
  const bool verified = in.is_set(verify);
  in.refuse_unread();
  const page_store store = open_store(paths.front(), {});
  const page_store_stats stats = store.stats();
  report out(fmt::format("Page store {}", path_in_quotes(paths.front())));
  add_counts(out, stats.counts, store.plan());
  out.whole("memory_bytes", stats.memory_bytes, in_larger_units(stats.memory_bytes))
      .text("opened_by", stats.recovery == store_recovery::snapshot ? "snapshot and log"
                                                                    : "reading all pages and log")
      .whole("log_entries", stats.replayed)
      .whole("log_bytes_used", stats.log_bytes_used)
      .whole("changed_pages", stats.changed_pages, "in the log, not yet in their places");
  add_plan(out, store.plan());
  out.text("seed", fmt::format("{}", store.seed()));
  std::optional<load_failure> failure;
  if (verified) failure = store.verify();
  out.text("pages_verified", !verified ? "no (--verify)" : failure ? "wrong" : "all right");
  if (failure) out.note(fmt::format("Do not trust it: {}.", failure->sentence)).negative();
  return out;
}

}  // namespace

const command store_info_command{
    .name = "info",
    .summary = "what a page store holds, and how it is laid out",
    .details =
        "Shows the records, the overflow, how often an absent key reads a page, memory when it is "
        "open, and the plan. What a writer that ended early has left in the log is counted in; "
        "nothing is changed.",
    .source = "",
    .example = "users.store --verify",
    .options = {{&verify, need::optional}},
    .words = &words,
    .answer = answer,
};

}  // namespace oneprobe::cli
