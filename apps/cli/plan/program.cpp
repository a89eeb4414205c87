#include "plan/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>

#include "oneprobe/plan/table.hpp"
#include "output.hpp"
#include "plan/text.hpp"

namespace oneprobe::cli {
namespace {

/// A name of the tool as one of C++: "coin-flag" is coin_flag.
std::string identifier(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

/// "1'000'000".
std::string literal(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, '\'');
  return digits;
}

/// The assignments of a plan's members.
class members {
 public:
  members& whole(std::string_view name, std::uint64_t value) { return set(name, literal(value)); }
  template <class Enum>
  members& word(std::string_view name, std::string_view type, Enum value) {
    return set(name, fmt::format("oneprobe::{}::{}", type, identifier(name_of(value))));
  }
  template <class Number>
  members& list(std::string_view name, std::span<const Number> values) {
    std::string text;
    for (const Number value : values) text += (text.empty() ? "" : ", ") + literal(value);
    return set(name, '{' + text + '}');
  }
  members& number(std::string_view name, double value) {
    return set(name, fmt::format("{}", value));
  }
  members& set(std::string_view name, std::string_view value) {
    text_ += fmt::format("  plan.{} = {};\n", name, value);
    return *this;
  }
  /// The function that makes the plan.
  std::string function(std::string_view type) const {
    return fmt::format("oneprobe::{0} planned() {{\n  oneprobe::{0} plan;\n{1}  return plan;\n}}\n",
                       type, text_);
  }

 private:
  std::string text_;
};

/// Everything but the comment at the top.
struct parts {
  std::string includes;   // lines of system headers, then of ours
  std::string functions;  // the plan among them
  std::string main;       // the body
};

/// `what` is a sentence or two on what was planned.
std::string whole(std::string_view what, const parts& of) {
  std::string comment = wrapped(what, line_width - 3, 0);
  comment +=
      "\nNeeds the headers of Oneprobe and of xxHash only:\n"
      "  c++ -std=c++20 -O2 -I oneprobe/include planned.cpp\n";
  std::string text;
  for (std::size_t at = 0; at < comment.size();) {
    const std::size_t end = comment.find('\n', at);
    const std::string line = comment.substr(at, end - at);
    text += line.empty() ? "//\n" : fmt::format("// {}\n", line);
    at = end + 1;
  }
  return fmt::format("{}{}\n{}\nint main() {{\n  const auto plan = planned();\n{}}}\n", text,
                     of.includes, of.functions, of.main);
}

// ---- filters ----

std::string class_of(const filter_plan& plan) {
  if (plan.kind == filter_kind::balanced && plan.scheme != scheme_kind::multilevel)
    return fmt::format("oneprobe::basic_balanced_filter<oneprobe::{}, oneprobe::seeded_hash>",
                       identifier(name_of(plan.scheme)));
  return fmt::format("oneprobe::{}_filter", name_of(plan.kind));
}

std::string function_of(const filter_plan& plan) {
  members out;
  out.word("kind", "filter_kind", plan.kind).whole("elements", plan.elements);
  if (plan.sets_bits()) out.whole("bits_set", plan.bits_set);
  if (!plan.in_blocks()) {
    out.whole("cells", plan.cells);
    if (plan.kind == filter_kind::counting) out.whole("counter_bits", plan.counter_bits);
  } else {
    out.whole("block_bits", plan.block_bits);
    if (plan.sets_bits()) out.word("layout", "block_layout", plan.layout);
    out.list("level_buckets", std::span(plan.level_buckets).first(plan.levels))
        .whole("levels", plan.levels);
  }
  if (plan.has_candidates())
    out.word("scheme", "scheme_kind", plan.scheme).whole("choices", plan.choices);
  if (plan.kind == filter_kind::balanced) {
    const block_state& state = plan.state;
    out.word("state.rule", "lookup_rule", state.rule)
        .whole("state.threshold", state.threshold)
        .number("state.admit_probability", state.admit_probability)
        .whole("state.tracking_bits", state.tracking_bits);
  }
  if (plan.kind == filter_kind::fingerprint)
    out.whole("fingerprint_bucket.bucket_capacity", plan.fingerprint_bucket.bucket_capacity)
        .whole("fingerprint_bucket.remainder_bits", plan.fingerprint_bucket.remainder_bits);
  if (plan.has_candidates())
    out.whole("overflow_slots", plan.overflow_slots)
        .whole("overflow_reserve", plan.overflow_reserve);
  const filter_prediction& seen = plan.predicted;
  out.number("predicted.fpr", seen.fpr)
      .number("predicted.insert_accesses", seen.insert_accesses)
      .number("predicted.hit_accesses", seen.hit_accesses)
      .number("predicted.miss_accesses", seen.miss_accesses)
      .number("predicted.overflow_fraction", seen.overflow_fraction);
  return out.function("filter_plan");
}

// ---- keys and values ----

/// The largest power of two up to 8 that divides a size.
std::uint32_t alignment_of(std::uint32_t bytes) {
  return std::min<std::uint32_t>(8, 1u << std::countr_zero(bytes));
}

/// So many bytes in whole integers of `width`.
std::string integers(std::uint32_t bytes, std::uint32_t width) {
  const std::string integer = fmt::format("std::uint{}_t", 8 * width);
  return bytes == width ? integer : fmt::format("std::array<{}, {}>", integer, bytes / width);
}

constexpr std::string_view made_up_keys =
    "\n// Keys to try it with; yours come from elsewhere.\n"
    "key key_of(std::uint64_t number) {\n"
    "  key made{};\n"
    "  std::memcpy(&made, &number, std::min(sizeof made, sizeof number));\n"
    "  return made;\n"
    "}\n";

/// What an element is made of, and the table `holds`, a class template's beginning and end.
std::string types(std::string_view key, std::string_view value, std::string_view holds,
                  std::uint64_t slot_bytes) {
  return fmt::format(
      "using key = {};\n{}using table = {};\n"
      "static_assert(sizeof(table::value_type) == {}, \"planned for elements of this size\");\n\n",
      key, value.empty() ? "" : fmt::format("using value = {};\n", value), holds, slot_bytes);
}

constexpr std::string_view table_includes =
    "#include <algorithm>\n#include <array>\n#include <cstdint>\n#include <cstring>\n"
    "#include <functional>\n#include <iostream>\n\n";

}  // namespace

std::string program_of(const filter_plan& plan) {
  parts of;
  of.includes =
      fmt::format("#include <cstdint>\n#include <iostream>\n\n#include <oneprobe/filter/{}.hpp>\n",
                  name_of(plan.kind));
  of.functions = function_of(plan);
  of.main = fmt::format(
      "  {} seen(plan);  // with a secret random seed\n"
      "  for (std::uint64_t key = 0; key < plan.elements; ++key) seen.insert(key);\n"
      "\n"
      "  std::uint64_t missing = 0, wrong = 0;\n"
      "  constexpr std::uint64_t absent = 1'000'000;\n"
      "  for (std::uint64_t key = 0; key < plan.elements; ++key) missing += "
      "!seen.may_contain(key);\n"
      "  for (std::uint64_t i = 0; i < absent; ++i) wrong += seen.may_contain(plan.elements + i);\n"
      "  const oneprobe::filter_stats now = seen.stats();\n"
      "  std::cout << plan.elements << \" keys in \" << now.memory.total() << \" bytes, \"\n"
      "            << now.bits_per_element << \" bits per key\\n\"\n"
      "            << \"wrong answers: \" << wrong << \" of \" << absent << \", planned \"\n"
      "            << now.planned_fpr * absent << \", by the filter as it is \"\n"
      "            << now.current_fpr * absent << '\\n'\n"
      "            << \"keys denied: \" << missing << '\\n';\n"
      "  return missing == 0 ? 0 : 1;\n",
      class_of(plan));
  return whole(fmt::format("A {} filter for {} elements: {:.2f} bits per element, wrong about {} "
                           "absent keys.",
                           name_of(plan.kind), grouped(static_cast<double>(plan.elements)),
                           plan.bits_per_element(), error_text(plan.predicted.fpr)),
               of);
}

std::string program_of(const table_plan& plan, std::uint32_t key_bytes, std::uint32_t value_bytes) {
  const bool is_set = value_bytes == 0;
  const std::string key = integers(key_bytes, alignment_of(key_bytes));
  const std::string value = is_set ? "" : integers(value_bytes, alignment_of(value_bytes));
  std::string holds = is_set ? "oneprobe::bounded_set<key" : "oneprobe::bounded_map<key, value";
  constexpr std::uint32_t usual_capacity = 16;
  if (plan.scheme != scheme_kind::multilevel || plan.bucket_capacity != usual_capacity)
    holds += fmt::format(",\n    oneprobe::seeded_hash, std::equal_to<>, oneprobe::{}, {}",
                         identifier(name_of(plan.scheme)), plan.bucket_capacity);
  const std::uint32_t slot_bytes =
      slot_bytes_of({.key_bytes = key_bytes, .value_bytes = value_bytes});

  members numbers;
  numbers.whole("elements", plan.elements)
      .whole("bucket_capacity", plan.bucket_capacity)
      .word("scheme", "scheme_kind", plan.scheme)
      .whole("choices", plan.choices)
      .whole("levels", plan.levels)
      .list("level_buckets", std::span(plan.level_buckets).first(plan.levels))
      .whole("overflow_reserve", plan.overflow_reserve)
      .whole("overflow_buckets", plan.overflow_buckets)
      .word("workload", "table_workload", plan.workload);
  const table_prediction& seen = plan.predicted;
  numbers.number("predicted.insert_accesses", seen.insert_accesses)
      .number("predicted.hit_accesses", seen.hit_accesses)
      .number("predicted.miss_accesses", seen.miss_accesses)
      .number("predicted.overflow_fraction", seen.overflow_fraction)
      .number("predicted.overflow_mean", seen.overflow_mean)
      .number("predicted.overflow_deviation", seen.overflow_deviation)
      .number("predicted.exceed_probability", seen.exceed_probability);

  parts of;
  of.includes = fmt::format("{}#include <oneprobe/map/bounded_{}.hpp>\n", table_includes,
                            is_set ? "set" : "map");
  of.functions = types(key, value, holds + '>', slot_bytes) + numbers.function("table_plan") +
                 std::string(made_up_keys);
  of.main = fmt::format(
      "  table known(plan);  // with a secret random seed\n"
      "  std::uint64_t refused = 0, missing = 0;\n"
      "  for (std::uint64_t i = 0; i < plan.elements; ++i)\n"
      "    refused += known.{}(key_of(i)).outcome == oneprobe::insertion::full;\n"
      "  for (std::uint64_t i = 0; i < plan.elements; ++i) missing += !known.contains(key_of(i));\n"
      "\n"
      "  // Filled once; what was predicted is for {}.\n"
      "  const oneprobe::table_stats now = known.stats();\n"
      "  std::cout << known.size() << \" elements in \" << now.memory.total() << \" bytes, \"\n"
      "            << now.bytes_per_element << \" per element\\n\"\n"
      "            << \"buckets per hit: \" << now.hit_accesses << \", planned \"\n"
      "            << plan.predicted.hit_accesses << \"; per miss: \" << now.miss_accesses\n"
      "            << \", planned \" << plan.predicted.miss_accesses << '\\n'\n"
      "            << \"in the overflow: \" << now.counts.overflow << \", planned \"\n"
      "            << plan.predicted.overflow_mean << \" of \" << plan.overflow_reserve << '\\n'\n"
      "            << \"refused: \" << refused << \", missing: \" << missing << '\\n';\n"
      "  return refused == 0 && missing == 0 ? 0 : 1;\n",
      is_set ? "insert" : "try_emplace",
      plan.workload == table_workload::churn ? "a table in which elements come and go for long"
                                             : "that");
  return whole(fmt::format("A table for {} elements of {} bytes: {:.2f} bytes per element, {:.3f} "
                           "buckets per hit, at most {} and {} of the overflow.",
                           grouped(static_cast<double>(plan.elements)), slot_bytes,
                           plan.bytes_per_element(slot_bytes), seen.hit_accesses, plan.choices,
                           table_plan::overflow_choices),
               of);
}

std::string program_of(const summary_plan& plan, std::uint32_t element_bytes) {
  const bool counting = plan.deletion == summary_deletion::counting;
  const bool sorted = plan.kind == summary_kind::interpolation;
  const std::string_view shape = plan.kind == summary_kind::single_filter ? "single" : "multi";
  const std::string header = plan.packs_strings() ? "packed_strings"
                             : sorted             ? "interpolation_summary"
                                                  : fmt::format("{}_filter", shape);
  const std::uint32_t width = alignment_of(element_bytes);
  const std::uint32_t key_bytes = std::min<std::uint32_t>(8, element_bytes);
  const std::uint32_t value_bytes = element_bytes - key_bytes;
  const std::string summary =
      plan.packs_strings() ? "oneprobe::packed_strings_summary"
      : sorted             ? "oneprobe::interpolation_summary"
               : fmt::format("oneprobe::{}{}_filter_summary", counting ? "counting_" : "", shape);

  members numbers;
  numbers.word("kind", "summary_kind", plan.kind)
      .word("deletion", "summary_deletion", plan.deletion)
      .word("departures", "summary_departures", plan.departures)
      .whole("elements", plan.elements)
      .whole("bucket_capacity", plan.bucket_capacity)
      .whole("levels", plan.levels)
      .list("level_buckets", std::span(plan.level_buckets).first(plan.levels));
  if (sorted)
    numbers.whole("string_blocks", plan.string_blocks).whole("remainder_bits", plan.remainder_bits);
  else
    numbers.list("filter_cells", std::span(plan.filter_cells).first(plan.filters()))
        .list("filter_hashes", std::span(plan.filter_hashes).first(plan.filters()));
  if (counting && !sorted)
    numbers.list("counter_bits", std::span(plan.counter_bits).first(plan.levels))
        .whole("counted_once_from", plan.counted_once_from);
  numbers.whole("overflow_reserve", plan.overflow_reserve);
  if (plan.is_lazy()) numbers.whole("deleted_limit", plan.deleted_limit);
  if (plan.deletion == summary_deletion::incremental)
    numbers.whole("work_per_change", plan.work_per_change);
  const summary_prediction& seen = plan.predicted;
  numbers.number("predicted.false_positive_probability", seen.false_positive_probability)
      .number("predicted.absent_read_probability", seen.absent_read_probability)
      .number("predicted.failure_probability", seen.failure_probability)
      .number("predicted.crisis_probability", seen.crisis_probability)
      .number("predicted.equal_hash_probability", seen.equal_hash_probability)
      .number("predicted.overflow_mean", seen.overflow_mean)
      .number("predicted.reconstruction_moves", seen.reconstruction_moves);

  parts of;
  of.includes = fmt::format(
      "{}#include <oneprobe/one_probe/{}.hpp>\n#include "
      "<oneprobe/one_probe/one_probe_map.hpp>\n",
      table_includes, header);
  of.functions =
      (value_bytes == 0 ? "struct nothing {};\n" : "") +
      types(integers(key_bytes, width), value_bytes == 0 ? "nothing" : integers(value_bytes, width),
            fmt::format("oneprobe::one_probe_map<key, value, {},\n"
                        "    oneprobe::seeded_hash, std::equal_to<>, {}>",
                        summary, plan.bucket_capacity),
            element_bytes) +
      numbers.function("summary_plan") + std::string(made_up_keys);
  of.main =
      "  table known(plan);  // with a secret random seed\n"
      "  std::uint64_t refused = 0, missing = 0, most = 0;\n"
      "  for (std::uint64_t i = 0; i < plan.elements; ++i)\n"
      "    refused += known.try_emplace(key_of(i)).outcome == oneprobe::insertion::full;\n"
      "  for (std::uint64_t i = 0; i < plan.elements; ++i) {\n"
      "    const oneprobe::table_path path = known.explain(key_of(i));\n"
      "    missing += !path.contains();\n"
      "    most = std::max<std::uint64_t>(most, path.accesses);\n"
      "  }\n"
      "\n"
      "  const oneprobe::one_probe_stats now = known.stats();\n"
      "  std::cout << known.size() << \" elements; fast memory \" << now.fast_bytes\n"
      "            << \" bytes, slow \" << now.slow_bytes << '\\n'\n"
      "            << \"buckets read per lookup: at most \" << most << '\\n'\n"
      "            << \"in the overflow: \" << now.counts.overflow << \", planned \"\n"
      "            << plan.predicted.overflow_mean << '\\n'\n"
      "            << \"refused: \" << refused << \", missing: \" << missing << '\\n';\n"
      "  return refused == 0 && missing == 0 && most <= 1 ? 0 : 1;\n";
  return whole(
      fmt::format("A table for {} elements of {} bytes that is read once per lookup: {} bytes of "
                  "fast memory beside it.",
                  grouped(static_cast<double>(plan.elements)), element_bytes,
                  grouped(static_cast<double>(plan.summary_bytes()))),
      of);
}

}  // namespace oneprobe::cli
