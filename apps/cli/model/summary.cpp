#include "oneprobe/model/summary.hpp"

#include <fmt/format.h>

#include "model/common.hpp"

namespace oneprobe::cli {
namespace {

enum class summary_kind { interpolation, single_filter, multi_filter, song };

constexpr option kind{"--kind", "NAME", "interpolation, single-filter, multi-filter or song"};
constexpr option string_bits{"--string-bits", "B", "interpolation: bits of each hashed string"};
constexpr option cells{"--cells", "M", "single-filter: cells"};
constexpr option filter_bits{"--filter-bits", "A,B,...", "multi-filter: bits of each filter"};
constexpr option hashes{"--hashes", "A,B,...",
                        "hash functions: one number for single-filter, one per filter for "
                        "multi-filter"};
constexpr option buckets{"--buckets", "M", "song: buckets of the table"};
constexpr option counter_bits{"--counter-bits", "W", "song: bits of each counter (default 3)"};

constexpr std::array<word<summary_kind>, 4> kinds{{
    {"interpolation", summary_kind::interpolation},
    {"single-filter", summary_kind::single_filter},
    {"multi-filter", summary_kind::multi_filter},
    {"song", summary_kind::song},
}};

void check_length(const option& what, std::size_t found, std::size_t level_count) {
  if (found != level_count)
    throw usage_error(fmt::format("{} must have as many items as --levels, {}; found {}", what.flag,
                                  level_count, found));
}

report song(const arguments& in, std::uint64_t n) {
  const model::song_error e =
      model::song_summary(static_cast<double>(n), static_cast<double>(in.count(buckets)),
                          in.whole(choices), in.maybe_whole(counter_bits).value_or(3));
  report out("The scheme of Song et al., as a baseline", "SSH, Section IV");
  return out.amount("bytes", e.bytes)
      .probability("false_positive_probability", e.false_positive_probability);
}

model::summary_error evaluate(summary_kind which, const arguments& in, std::uint64_t n,
                              const model::level_sizes& sizes) {
  switch (which) {
    case summary_kind::interpolation:
      return model::interpolation_summary(n, sizes, in.whole(string_bits));
    case summary_kind::single_filter:
      return model::single_filter_summary(n, sizes, in.count(cells), in.whole(hashes));
    default: {
      const auto bits = in.counts(filter_bits);
      const auto functions = in.wholes(hashes);
      check_length(filter_bits, bits.size(), sizes.size());
      check_length(hashes, functions.size(), sizes.size());
      return model::multi_filter_summary(n, sizes, bits, functions);
    }
  }
}

report answer(const arguments& in) {
  const auto which = in.choice(kind, kinds);
  const auto n = in.count(elements);
  if (which == summary_kind::song) return song(in, n);
  const auto sizes = in.counts(levels);
  const model::summary_error e = evaluate(which, in, n, sizes);
  report out("Summary that tells which level holds a key", "SSH, Sections VII to IX, Table III");
  return out.amount("bytes", e.bytes)
      .probability("false_positive_probability", e.false_positive_probability)
      .probability("failure_probability", e.failure_probability)
      .probability("crisis_probability", e.crisis_probability)
      .numbers("failure_per_level", e.failure_per_level, "level");
}

}  // namespace

const command summary_command{
    .name = "summary",
    .summary = "bytes and errors of a table's summary",
    .details =
        "A false positive sends an absent key to a bucket needlessly; a failure sends a stored "
        "key to the wrong level; a crisis is an element the table cannot take. Bytes include "
        "one occupancy bit per bucket.",
    .source = "SSH, Sections IV and VII to IX, Appendix III; Table III",
    .example =
        "--kind multi-filter --elements 10k --levels 40k,10k,5k,2.5k,2.5k "
        "\\\n    --filter-bits 106k,87.5k,5.5k,500,100 --hashes 7,49,49,49,49",
    .options = {{&kind},
                {&elements},
                {&levels, need::optional},
                {&string_bits, need::optional},
                {&cells, need::optional},
                {&filter_bits, need::optional},
                {&hashes, need::optional},
                {&buckets, need::optional},
                {&choices, need::optional},
                {&counter_bits, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
