#include "bench/line_limit.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "oneprobe/core/line_memory.hpp"
#include "oneprobe/core/prefetch.hpp"
#include "oneprobe/hash/derive.hpp"
#include "oneprobe/scheme/ring.hpp"

namespace oneprobe::cli {
namespace {

class line_limit final : public contender {
 public:
  line_limit(std::uint64_t bytes, const seeded_hash& hash)
      : facts_{.name = "one random line",
               .kind = contender_kind::memory,
               .memory_bytes = bytes,
               .bits_set = {},
               .fpr_model = {}},
        memory_(bytes),
        lines_(memory_.size() / line_memory::line_bytes),
        hash_(hash) {
    // Zero pages that nobody wrote may all be one page: then nothing would be random.
    std::memset(memory_.data(), 1, memory_.size());
  }

  const contender_facts& facts() const override { return facts_; }
  std::span<const std::byte> memory() const override { return memory_.bytes(); }

  void clear() override {}
  void insert_one_by_one(key_span) override {}
  void insert_bulk(key_span) override {}

  std::uint64_t count_one_by_one(key_span keys) const override {
    std::uint64_t sum = 0;
    for (const std::uint64_t key : keys) sum += word_at(line_of(key));
    return sum;
  }

  std::uint64_t count_bulk(key_span keys) const override {
    constexpr std::size_t width = default_ring_width;
    std::array<const std::byte*, width> ring{};
    const auto begin = [&](std::size_t i) {
      ring[i % width] = line_of(keys[i]);
      prefetch_line(ring[i % width]);
    };
    const std::size_t filled = std::min(width, keys.size());
    for (std::size_t i = 0; i < filled; ++i) begin(i);
    std::uint64_t sum = 0;
    std::size_t i = 0;
    for (; i + width < keys.size(); ++i) {
      sum += word_at(ring[i % width]);
      begin(i + width);
    }
    for (; i < keys.size(); ++i) sum += word_at(ring[i % width]);
    return sum;
  }

  counted_costs count_costs(key_span, key_span) const override {
    return {.negative_lines = 1, .negative_accesses = 1};
  }

 private:
  const std::byte* line_of(std::uint64_t key) const {
    return memory_.data() + reduce(hash_(key).value, lines_) * line_memory::line_bytes;
  }
  static std::uint64_t word_at(const std::byte* line) {
    std::uint64_t word;
    std::memcpy(&word, line, sizeof word);
    return word;
  }

  contender_facts facts_;
  line_memory memory_;
  std::uint64_t lines_;
  seeded_hash hash_;
};

}  // namespace

std::unique_ptr<contender> make_line_limit(std::uint64_t bytes, const seeded_hash& hash) {
  // At least one line.
  return std::make_unique<line_limit>(std::max<std::uint64_t>(bytes, line_memory::line_bytes),
                                      hash);
}

}  // namespace oneprobe::cli
