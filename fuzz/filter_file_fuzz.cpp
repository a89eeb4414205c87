// Any bytes as a filter file: either one sentence that says what is wrong, or a filter that answers
// queries, tells its statistics, takes elements without losing one, and has these very bytes when
// it is saved again.
//
// Every input is read twice: as it is, and with its checksums made to fit, since otherwise hardly
// any would get past them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "oneprobe/filter/any_filter.hpp"

namespace {

using namespace oneprobe;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "filter_file_fuzz: %s\n", what);
  std::abort();
}

void require_sentence(const load_failure& failure) {
  require(!failure.sentence.empty() && failure.sentence.size() < 1000,
          "the sentence is no sentence");
  for (const char c : failure.sentence)
    require(c >= 0x20 && c < 0x7f, "the sentence is not one printable line");
}

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
  loaded<any_filter> filter = load_any_from(bytes);
  if (!filter) return require_sentence(filter.failure());
  std::visit(
      [&](auto& f) {
        require(std::ranges::equal(saved(f), bytes), "saved again it has other bytes");
        ask(f);
        fill(f);
        ask(f);
        const auto again = load_any_from(saved(f));
        require(again.has_value(), "what was filled cannot be loaded");
      },
      *filter);
}

/// The payload is not verified: answers may be wrong, but there are answers.
void view(std::span<const std::byte> bytes) {
  const loaded<file_facts> facts = read_facts(bytes);
  if (!facts) return require_sentence(facts.failure());
  line_memory aligned(bytes.size());
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  with_filter_of(facts->plan, [&]<class Filter>(std::type_identity<Filter>) {
    const auto filter = view_of<Filter>(aligned.bytes());
    if (filter)
      ask(*filter);
    else
      require_sentence(filter.failure());
  });
}

/// The same with checksums that fit, as far as there are sections.
std::vector<std::byte> sealed(std::span<const std::byte> bytes) {
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  constexpr std::size_t head_bytes = preamble_bytes + filter_parameters::bytes;
  if (copy.size() < head_bytes) return copy;
  std::ranges::copy(file_magic, copy.begin());
  const auto put = [&](std::size_t at, std::uint64_t value) {
    byte_writer(std::span<std::byte>(copy).subspan(at, 8)).put(value);
  };
  const std::span<const std::byte> all(copy);
  put(16, filter_parameters::bytes);
  put(24, copy.size() - head_bytes);
  put(32, checksum_of(all.subspan(preamble_bytes, filter_parameters::bytes)));
  put(40, checksum_of(all.subspan(head_bytes)));
  put(56, checksum_of(all.first(56)));
  return copy;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const auto& input : {std::vector<std::byte>(bytes.begin(), bytes.end()), sealed(bytes)}) {
    read(input);
    view(input);
  }
  return 0;
}
