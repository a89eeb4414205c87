// Any bytes as a filter file: either one sentence that says what is wrong, or a filter that answers
// queries, tells its statistics, takes elements without losing one, and has these very bytes when
// it is saved again. Files of growing and rotating filters likewise.
//
// Every input is read twice: as it is, and with its checksums made to fit, since otherwise hardly
// any would get past them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "handles/held_filter.hpp"
#include "hostile_file.hpp"
#include "oneprobe/filter/balanced.hpp"
#include "oneprobe/filter/blocked.hpp"
#include "oneprobe/filter/file.hpp"
#include "oneprobe/filter/growing.hpp"
#include "oneprobe/filter/parts_file.hpp"
#include "oneprobe/filter/rotating.hpp"

namespace {

using namespace oneprobe;
using namespace hostile_file;

constexpr std::array<std::string_view, 4> text_keys = {"", "a", "a key", "another, longer key"};
constexpr std::uint64_t integer_keys = 40;

/// Everything that a reader can do, with the answers held to each other.
template <class Reader>
void ask(const Reader& filter) {
  std::array<std::uint64_t, integer_keys> keys{};
  for (std::uint64_t i = 0; i < integer_keys; ++i) keys[i] = i * i * i;
  std::array<bool, integer_keys> answers{};
  filter.bulk_may_contain(keys, answers);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    require(filter.may_contain(keys[i]) == answers[i], "one by one and in bulk differ");
    require(filter.explain(keys[i]).may_contain() == answers[i], "the explanation differs");
  }
  for (const std::string_view key : text_keys)
    require(filter.explain(key).may_contain() == filter.may_contain(key),
            "the explanation differs");
  const filter_stats stats = filter.stats();
  require(stats.current_fpr >= 0 && stats.current_fpr <= 1.0000001, "no probability");
  require(stats.fill_fraction >= 0 && stats.fill_fraction <= 1, "no fraction");
}

template <class Filter>
void fill(Filter& filter) {
  for (std::uint64_t i = 0; i < integer_keys; ++i) filter.insert(~i);
  for (const std::string_view key : text_keys) filter.insert(key);
  for (std::uint64_t i = 0; i < integer_keys; ++i)
    require(filter.may_contain(~i), "an element is lost");
  for (const std::string_view key : text_keys)
    require(filter.may_contain(key), "an element is lost");
}

template <class Filter>
std::vector<std::byte> saved(const Filter& filter) {
  std::vector<std::byte> bytes;
  save_to(filter, bytes);
  return bytes;
}

void read(std::span<const std::byte> bytes) {
  loaded<held_filter> filter = load_from<held_filter>(bytes);
  if (!filter) return require_sentence(filter.failure());
  require(std::ranges::equal(saved(*filter), bytes), "saved again it has other bytes");
  ask(*filter);
  fill(*filter);
  ask(*filter);
  require(load_from<held_filter>(saved(*filter)).has_value(), "what was filled cannot be loaded");
}

/// Parts as the default plans have them, unless they are large: a file may ask for any growth.
template <class Filter>
filter_plan plan_small_part(std::uint64_t elements, double fpr) {
  constexpr std::uint64_t most_elements = 10'000;
  if (elements < 1 || elements > most_elements) return {};  // which is no plan
  return Filter::engine_type::default_plan(
      elements, std::clamp(fpr, default_plan_least_fpr, default_plan_largest_fpr));
}

template <class Filter>
loaded<growing_filter<Filter>> load_parts(std::type_identity<growing_filter<Filter>>,
                                          std::span<const std::byte> bytes) {
  return load_from<growing_filter<Filter>>(bytes, plan_small_part<Filter>);
}
template <class Filter>
loaded<rotating_filter<Filter>> load_parts(std::type_identity<rotating_filter<Filter>>,
                                           std::span<const std::byte> bytes) {
  return load_from<rotating_filter<Filter>>(bytes);
}

template <class Whole>
void read_parts(std::span<const std::byte> bytes) {
  constexpr std::type_identity<Whole> type;
  auto whole = load_parts(type, bytes);
  if (!whole) return require_sentence(whole.failure());
  require(std::ranges::equal(saved(*whole), bytes), "saved again it has other bytes");
  ask(*whole);
  // No count gets so far, and a file that says so has no room for more.
  constexpr std::uint64_t most_counted = std::uint64_t{1} << 61;
  if (whole->parts().back().counts().size > most_counted) return;
  fill(*whole);
  std::array<std::uint64_t, integer_keys> keys{};
  for (std::uint64_t i = 0; i < integer_keys; ++i) keys[i] = ~i * ~i;
  whole->bulk_insert(keys);
  for (const std::uint64_t key : keys) require(whole->may_contain(key), "an element is lost");
  if constexpr (requires { whole->rotate(); }) whole->rotate();
  ask(*whole);
  require(load_parts(type, saved(*whole)).has_value(), "what was filled cannot be loaded");
}

/// The payload is not verified: answers may be wrong, but there are answers.
void view(std::span<const std::byte> bytes) {
  const loaded<file_facts> facts = read_facts(bytes);
  if (!facts) return require_sentence(facts.failure());
  line_memory aligned(bytes.size());
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const auto filter = view_of<held_filter>(aligned.bytes());
  if (filter)
    ask(*filter);
  else
    require_sentence(filter.failure());
}

bool holds_parts(std::span<const std::byte> bytes) {
  return bytes.size() >= preamble_bytes &&
         name_of(static_cast<parts_kind>(number_at<std::uint16_t>(bytes, 10))) != "unknown";
}

/// Makes everything fit in a file of several filters: first the parts, where the file says that
/// they are.
void seal_parts(std::span<std::byte> bytes) {
  constexpr std::size_t fixed_bytes = preamble_bytes + parts_parameters::fixed_bytes;
  if (bytes.size() < fixed_bytes) return;
  const auto parts = number_at<std::uint64_t>(bytes, preamble_bytes + 24);
  if (parts > (bytes.size() - fixed_bytes) / 8) return;
  const auto parameter_bytes = static_cast<std::size_t>(parts_parameters::section_bytes(parts));
  if (parameter_bytes > bytes.size() - preamble_bytes) return;
  std::span<std::byte> left = bytes.subspan(preamble_bytes + parameter_bytes);
  for (std::uint64_t i = 0; i < parts; ++i) {
    const auto part_bytes =
        number_at<std::uint64_t>(bytes, fixed_bytes + 8 * static_cast<std::size_t>(i));
    if (part_bytes > left.size()) break;
    seal(left.first(static_cast<std::size_t>(part_bytes)), filter_parameters::bytes);
    left = left.subspan(static_cast<std::size_t>(part_bytes));
  }
  seal(bytes, parameter_bytes);
}

std::vector<std::byte> sealed(std::span<const std::byte> bytes) {
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  if (holds_parts(copy))
    seal_parts(copy);
  else
    seal(copy, filter_parameters::bytes);
  return copy;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const auto& input : {std::vector<std::byte>(bytes.begin(), bytes.end()), sealed(bytes)}) {
    read(input);
    view(input);
    if (!holds_parts(input)) continue;
    read_parts<growing_filter<balanced_filter>>(input);
    read_parts<growing_filter<blocked_filter>>(input);
    read_parts<rotating_filter<balanced_filter>>(input);
    read_parts<rotating_filter<blocked_filter>>(input);
  }
  return 0;
}
