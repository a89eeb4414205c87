#include "bench/line_limit.hpp"

#include <algorithm>
#include <cstring>

#include "oneprobe/core/line_memory.hpp"
#include "oneprobe/core/prefetch.hpp"
#include "oneprobe/core/simd.hpp"
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
  void insert_watched(key_span, latency_watch&) override {}

  std::uint64_t count_one_by_one(key_span keys) const override {
    std::uint64_t sum = 0;
    for (const std::uint64_t key : keys) sum += word_at(line_of(hash_(key)));
    return sum;
  }

  /// By the filters' own ring and with their instructions: what they do, but for what they do with
  /// a line.
  std::uint64_t count_bulk(key_span keys) const override {
    if (simd_in_use() == simd_level::avx512)
      return compiled_for<simd_level::avx512, sum_ahead, const line_limit&, key_span>::call(*this,
                                                                                            keys);
    if (simd_in_use() == simd_level::avx2)
      return compiled_for<simd_level::avx2, sum_ahead, const line_limit&, key_span>::call(*this,
                                                                                          keys);
    return sum_ahead(*this, keys);
  }

  counted_costs count_costs(key_span, key_span) const override {
    return {.negative_lines = 1, .negative_accesses = 1};
  }

 private:
  struct line_read {
    static constexpr bool single_step = true;

    void prefetch(const std::byte* line) const { prefetch_line(line); }
    std::uint64_t step(const std::byte* line) const { return word_at(line); }
  };
  struct hashes_ahead {
    key_span keys;
    const seeded_hash& hash;

    key_hash operator()(std::size_t i) const { return hash(keys[i]); }
    void ask_for(std::size_t first, std::size_t count) const {
      prefetch_bytes(keys.data() + first, count * sizeof keys[0]);
    }
  };
  static std::uint64_t sum_ahead(const line_limit& limit, key_span keys) {
    std::uint64_t sum = 0;
    const line_read walk;
    roll(
        walk, keys.size(), hashes_ahead{keys, limit.hash_},
        [&](key_hash hash) { return limit.line_of(hash); },
        [&](std::size_t, std::uint64_t word) { sum += word; });
    return sum;
  }

  const std::byte* line_of(key_hash hash) const {
    return memory_.data() + reduce(hash.value, lines_) * line_memory::line_bytes;
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
