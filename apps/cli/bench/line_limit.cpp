#include "bench/line_limit.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/hash/range_hashes.hpp"
#include "oneprobe/detail/placement/ring.hpp"
#include "oneprobe/detail/simd/isa.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::cli {
namespace {

class line_limit final : public contender {
 public:
  line_limit(std::uint64_t bytes, const seeded_hash& hash, line_asking how)
      : facts_{.name = how == line_asking::first_cache ? line_limit_name : own_ring_limit_name,
               .kind = contender_kind::memory,
               .memory_bytes = bytes,
               .bits_set = {},
               .fpr_model = {}},
        memory_(bytes),
        lines_(memory_.size() / line_memory::line_bytes),
        hash_(hash),
        how_(how) {
    // Zero pages that were never written may all be one page: then nothing would be random.
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

  std::uint64_t count_bulk(key_span keys) const override {
    return how_ == line_asking::first_cache ? with_instructions_in_use<sum_of_first_cache>(keys)
                                            : with_instructions_in_use<sum_of_own_ring>(keys);
  }

  counted_costs count_costs(key_span, key_span) const override {
    return {.miss_lines = 1, .miss_accesses = 1};
  }

 private:
  template <auto Sum>
  std::uint64_t with_instructions_in_use(key_span keys) const {
    using enum isa;
    if (simd_in_use() == avx512)
      return compiled_for<avx512, Sum, const line_limit&, key_span>::call(*this, keys);
    if (simd_in_use() == avx2)
      return compiled_for<avx2, Sum, const line_limit&, key_span>::call(*this, keys);
    return Sum(*this, keys);
  }

  static std::uint64_t sum_of_first_cache(const line_limit& limit, key_span keys) {
    constexpr std::size_t width = 32;
    const range_hashes ranged(limit.hash_, keys);
    const hash_feed& hashes = ranged.feed();
    std::array<key_hash, width> ahead;
    const auto hash_ring = [&](std::size_t first) {
      const std::size_t some = std::min(width, keys.size() - std::min(first, keys.size()));
      if (some != 0) hashes.fill(first, std::span(ahead).first(some));
      return some;
    };
    std::array<const std::byte*, width> ring;
    const auto ask = [&](std::size_t i) {
      ring[i] = limit.line_of(ahead[i]);
      __builtin_prefetch(ring[i]);
    };
    std::uint64_t sum = 0;
    std::size_t some = hash_ring(0);
    for (std::size_t i = 0; i < some; ++i) ask(i);
    for (std::size_t first = 0; some != 0; first += width) {
      const std::size_t following = hash_ring(first + width);
      for (std::size_t i = 0; i < some; ++i) {
        sum += word_at(ring[i]);
        if (i < following) ask(i);
      }
      some = following;
    }
    return sum;
  }

  struct line_read {
    static constexpr bool single_step = true;

    void prefetch(const std::byte* line) const { prefetch_line_ahead(line); }
    std::uint64_t step(const std::byte* line) const { return word_at(line); }
  };
  static std::uint64_t sum_of_own_ring(const line_limit& limit, key_span keys) {
    std::uint64_t sum = 0;
    const line_read walk;
    const range_hashes hashes(limit.hash_, keys);
    roll(
        walk, keys.size(), hashes.feed(), [&](key_hash hash) { return limit.line_of(hash); },
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
  line_asking how_;
};

}  // namespace

std::unique_ptr<contender> make_line_limit(std::uint64_t bytes, const seeded_hash& hash,
                                           line_asking how) {
  // At least one line.
  return std::make_unique<line_limit>(std::max<std::uint64_t>(bytes, line_memory::line_bytes), hash,
                                      how);
}

}  // namespace oneprobe::cli
