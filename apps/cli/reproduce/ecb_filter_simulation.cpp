#include "reproduce/ecb_filter_simulation.hpp"

#include <algorithm>
#include <limits>

#include "oneprobe/hash/derive.hpp"
#include "oneprobe/scheme/admission.hpp"
#include "oneprobe/scheme/schemes.hpp"
#include "oneprobe/scheme/walk.hpp"
#include "oneprobe/store/load_counters.hpp"

namespace oneprobe::cli::balancing {
namespace {

/// Load counters, and beside each a small Bloom filter.
class counted_blocks {
 public:
  struct item {
    key_hash hash;
  };
  using key = key_hash;
  struct slot {};

  counted_blocks(std::uint64_t blocks, std::uint64_t bloom_bits, unsigned bits_set)
      : loads_(blocks),
        bloom_bits_(bloom_bits),
        words_((bloom_bits + 63) / 64),
        bits_set_(bits_set),
        bits_(blocks * words_) {}

  /// A query goes on past blocks with at least this load.
  void go_on_from(std::uint32_t load) { beyond_from_ = load; }
  void clear() {
    loads_.clear();
    std::fill(bits_.begin(), bits_.end(), 0);
  }

  void prefetch(position at) const noexcept { loads_.prefetch(at); }
  std::optional<std::uint32_t> load(position at) const noexcept { return loads_.load(at); }

  oneprobe::verdict try_put(position at, item& element, std::uint32_t limit) noexcept {
    load_counters<std::uint32_t>::item counted;
    const oneprobe::verdict answer = loads_.try_put(at, counted, limit);
    if (answer == oneprobe::verdict::placed)
      all_bits(at, element.hash, [](std::uint64_t& word, std::uint64_t bit) {
        word |= bit;
        return true;
      });
    return answer;
  }

  std::optional<slot> find(position at, key wanted) const noexcept {
    const bool found = all_bits(
        at, wanted, [](const std::uint64_t& word, std::uint64_t bit) { return (word & bit) != 0; });
    return found ? std::optional<slot>(slot{}) : std::nullopt;
  }

  bool may_be_beyond(position at, key_hash) const noexcept {
    return loads_[at.bucket] >= beyond_from_;
  }

 private:
  // Beyond the streams of candidates, coins and fingerprints.
  static constexpr std::uint64_t first_bit_stream = 192;

  /// Calls use(word, bit) for the element's bits until it says no; two positions from each stream.
  template <class Self, class Use>
  static bool all_bits_of(Self& self, position at, key_hash hash, Use use) {
    auto* const block = self.bits_.data() + at.bucket * self.words_;
    for (unsigned i = 0; i < self.bits_set_; ++i) {
      const std::uint64_t drawn = hash_stream(hash, first_bit_stream + i / 2);
      const std::uint64_t place = reduce(i % 2 == 0 ? drawn : drawn << 32, self.bloom_bits_);
      if (!use(block[place / 64], std::uint64_t{1} << place % 64)) return false;
    }
    return true;
  }
  template <class Use>
  bool all_bits(position at, key_hash hash, Use use) {
    return all_bits_of(*this, at, hash, use);
  }
  template <class Use>
  bool all_bits(position at, key_hash hash, Use use) const {
    return all_bits_of(*this, at, hash, use);
  }

  load_counters<std::uint32_t> loads_;
  std::uint64_t bloom_bits_;
  std::uint64_t words_;  // of 64 bits, per block
  unsigned bits_set_;
  std::uint32_t beyond_from_ = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint64_t> bits_;
};

/// One thread's filter, used for one trial after the other.
class filter_under_test {
 public:
  explicit filter_under_test(const filter_setup& what)
      : what_(what),
        table_(what.level_sizes),
        blocks_(table_.buckets(), what.bloom_bits, what.bits_set),
        rule_(what.threshold ? admission(*what.threshold, what.admit_probability)
                             : admission::always()) {}

  void run(std::uint64_t seed, std::uint64_t trial, filter_tally& into) {
    blocks_.clear();
    insert(seed, trial, into);
    if (what_.threshold) {
      blocks_.go_on_from(*what_.threshold + 1);
      into.missed_if_hasty.add(missed(seed, trial));
      blocks_.go_on_from(*what_.threshold);
    }
    into.missed.add(missed(seed, trial));
    query_absent(seed, trial, into);
  }

 private:
  /// The trial's keys: the first are stored, those after them are not. All differ, since the
  /// generator is a bijection of a counter.
  static random_bits keys_of(std::uint64_t seed, std::uint64_t trial) { return {seed, trial}; }

  void insert(std::uint64_t seed, std::uint64_t trial, filter_tally& into) {
    placing walk(table_, blocks_, rule_);
    random_bits keys = keys_of(seed, trial);
    std::uint64_t accesses = 0, overflowed = 0;
    std::uint32_t most = 0;
    in_overflow_.assign(what_.elements, false);
    for (std::uint64_t i = 0; i < what_.elements; ++i) {
      const key_hash hash = keys.next_hash();
      const auto placed = walk_to_end(walk, walk.start(hash, {hash}));
      accesses += placed.accesses;
      most = std::max(most, placed.accesses);
      if (placed.end == walk_end::placed) continue;
      in_overflow_[i] = true;
      ++overflowed;
    }
    const auto n = static_cast<double>(what_.elements);
    into.insert_accesses.add(static_cast<double>(accesses) / n);
    into.insert_worst_case.add(most);
    into.overflow.add(static_cast<double>(overflowed) / n);
  }

  /// The share of the stored elements queried that are not found: a query must end at the bits of a
  /// block, or go all the way to the overflow list if the element is there.
  double missed(std::uint64_t seed, std::uint64_t trial) const {
    finding walk(table_, blocks_);
    random_bits keys = keys_of(seed, trial);
    std::uint64_t asked = 0, lost = 0;
    for (std::uint64_t i = 0; i < what_.elements; ++i) {
      const key_hash hash = keys.next_hash();
      if (i % what_.stored_stride != 0) continue;
      ++asked;
      const walk_end end = walk_to_end(walk, walk.start(hash, hash)).end;
      const bool in_list = end == walk_end::overflowed && in_overflow_[i];
      if (end != walk_end::present && !in_list) ++lost;
    }
    return static_cast<double>(lost) / static_cast<double>(asked);
  }

  void query_absent(std::uint64_t seed, std::uint64_t trial, filter_tally& into) const {
    const std::uint64_t queries = std::max<std::uint64_t>(what_.queries / what_.trials, 1);
    finding walk(table_, blocks_);
    random_bits keys = keys_of(seed, trial);
    for (std::uint64_t i = 0; i < what_.elements; ++i) keys.next();
    std::uint64_t positives = 0, accesses = 0;
    for (std::uint64_t i = 0; i < queries; ++i) {
      const key_hash hash = keys.next_hash();
      const auto found = walk_to_end(walk, walk.start(hash, hash));
      accesses += found.accesses;
      if (found.end == walk_end::present) ++positives;
    }
    const auto asked = static_cast<double>(queries);
    into.false_positives.add(static_cast<double>(positives) / asked);
    into.absent_accesses.add(static_cast<double>(accesses) / asked);
  }

  const filter_setup& what_;
  multilevel table_;
  counted_blocks blocks_;
  admission rule_;
  std::vector<bool> in_overflow_;
};

}  // namespace

void filter_tally::merge(const filter_tally& other) {
  false_positives.merge(other.false_positives);
  absent_accesses.merge(other.absent_accesses);
  insert_accesses.merge(other.insert_accesses);
  overflow.merge(other.overflow);
  missed.merge(other.missed);
  missed_if_hasty.merge(other.missed_if_hasty);
  insert_worst_case.merge(other.insert_worst_case);
}

filter_tally simulate_filter(const filter_setup& what, std::uint64_t seed, unsigned threads,
                             const sim::progress& tell) {
  return run_trials<filter_tally>(what.trials, threads, tell, [&] {
    return [filter = filter_under_test(what), seed](
               std::uint64_t trial, filter_tally& into) mutable { filter.run(seed, trial, into); };
  });
}

}  // namespace oneprobe::cli::balancing
