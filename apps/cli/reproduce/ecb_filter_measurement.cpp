#include "reproduce/ecb_filter_measurement.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "handles/held_filter.hpp"

namespace oneprobe::cli::balancing {
namespace {

/// Keys are hashes drawn at random, so the filters' own seed is of no meaning.
const seeded_hash no_seed(0);

/// Absent keys whose way is followed, for each element. Accesses vary little from key to key; the
/// spread of their mean comes from the filters.
constexpr std::uint64_t followed_per_element = 2;

/// A view of a filter's bytes with other rules.
held_reader view_of(const held_filter& filter, const block_state& state) {
  filter_plan plan = filter.plan();
  plan.state = state;
  return {plan, filter.memory(), filter.counts(), no_seed};
}

std::uint32_t blocks_of(const lookup_path& path) {
  const bool asked_list = path.stopped == lookup_path::stop::overflow ||
                          path.stopped == lookup_path::stop::not_in_overflow;
  return path.accesses - (asked_list ? 1 : 0);
}

/// One thread's filter, used for one trial after the other.
class filter_under_test {
 public:
  explicit filter_under_test(const filter_trials& what)
      : what_(what), filter_(what.plan, no_seed), stored_(what.plan.elements) {}

  void run(std::uint64_t seed, std::uint64_t trial, filter_tally& into) {
    // The first keys are stored, those after them are not. All differ, since the generator is a
    // bijection of a counter.
    random_bits keys(seed, trial);
    for (key_hash& key : stored_) key = keys.next_hash();
    asked_.clear();
    for (std::size_t i = 0; i < stored_.size(); i += what_.stored_stride)
      asked_.push_back(stored_[i]);

    filter_.clear();
    if (has_papers_rule())
      insert_and_follow(into);
    else
      filter_.bulk_insert(stored_);
    const filter_counts counts = filter_.counts();
    into.overflow.add(static_cast<double>(counts.overflow) / static_cast<double>(stored_.size()));
    into.forced.add(static_cast<double>(counts.forced));
    into.error_by_bits.add(filter_.stats().current_fpr);
    into.missed.add(missed(filter_));
    query_absent(keys, into);
  }

 private:
  bool has_papers_rule() const {
    return what_.plan.kind == filter_kind::balanced &&
           what_.plan.state.rule == lookup_rule::counter;
  }

  /// Inserts one after the other, each after a look at where it will go.
  void insert_and_follow(filter_tally& into) {
    const held_reader replay = view_of(filter_, replaying());
    std::uint64_t accesses = 0;
    std::uint32_t most = 0;
    for (const key_hash key : stored_) {
      const std::uint32_t visited = blocks_of(replay.explain(key));
      accesses += visited;
      most = std::max(most, visited);
      filter_.insert(key);
    }
    into.insert_accesses.add(static_cast<double>(accesses) / static_cast<double>(stored_.size()));
    into.insert_worst_case.add(most);
    into.missed_by_coin.add(missed(replay));
    if (what_.plan.state.admit_probability > 0)
      into.missed_if_hasty.add(missed(view_of(filter_, hasty())));
  }
  block_state replaying() const {
    block_state state = what_.plan.state;
    state.rule = lookup_rule::coin;
    return state;
  }
  /// The counter has as many bits as before: the largest load is the same.
  block_state hasty() const {
    block_state state = what_.plan.state;
    state.threshold = state.largest_load();
    state.admit_probability = 0;
    return state;
  }

  /// The share of the stored elements asked for that are not found.
  double missed(const held_reader& reader) {
    return 1 -
           static_cast<double>(found_among(reader, asked_)) / static_cast<double>(asked_.size());
  }

  std::uint64_t found_among(const held_reader& reader, std::span<const key_hash> keys) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < keys.size(); i += answers_.size()) {
      const auto part = keys.subspan(i, std::min(answers_.size(), keys.size() - i));
      found += reader.bulk_may_contain(part, std::span(answers_).first(part.size()));
    }
    return found;
  }

  void query_absent(random_bits keys, filter_tally& into) {
    const std::uint64_t queries = std::max<std::uint64_t>(what_.queries / what_.trials, 1);
    std::array<key_hash, at_once> batch;
    std::uint64_t positives = 0;
    random_bits asked = keys;
    for (std::uint64_t i = 0; i < queries; i += batch.size()) {
      const auto part = std::span(batch).first(std::min<std::uint64_t>(at_once, queries - i));
      for (key_hash& key : part) key = asked.next_hash();
      positives += found_among(filter_, part);
    }
    into.false_positives.add(static_cast<double>(positives) / static_cast<double>(queries));

    const std::uint64_t followed =
        std::min<std::uint64_t>(queries, followed_per_element * stored_.size());
    follow_absent(filter_, keys, followed, &into.absent_accesses, into.absent_blocks);
    if (has_papers_rule())
      follow_absent(view_of(filter_, replaying()), keys, followed, nullptr, into.coin_blocks);
  }

  static void follow_absent(const held_reader& reader, random_bits keys, std::uint64_t count,
                            sample* accesses, sample& blocks) {
    std::uint64_t all = 0, in_blocks = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const lookup_path path = reader.explain(keys.next_hash());
      all += path.accesses;
      in_blocks += blocks_of(path);
    }
    const auto asked = static_cast<double>(count);
    if (accesses != nullptr) accesses->add(static_cast<double>(all) / asked);
    blocks.add(static_cast<double>(in_blocks) / asked);
  }

  static constexpr std::size_t at_once = 4096;  // keys whose answers are kept

  const filter_trials& what_;
  held_filter filter_;
  std::vector<key_hash> stored_;
  std::vector<key_hash> asked_;  // those of them that are queried
  std::array<bool, at_once> answers_{};
};

}  // namespace

void filter_tally::merge(const filter_tally& other) {
  false_positives.merge(other.false_positives);
  error_by_bits.merge(other.error_by_bits);
  absent_accesses.merge(other.absent_accesses);
  absent_blocks.merge(other.absent_blocks);
  overflow.merge(other.overflow);
  forced.merge(other.forced);
  missed.merge(other.missed);
  insert_accesses.merge(other.insert_accesses);
  insert_worst_case.merge(other.insert_worst_case);
  coin_blocks.merge(other.coin_blocks);
  missed_by_coin.merge(other.missed_by_coin);
  missed_if_hasty.merge(other.missed_if_hasty);
}

filter_tally measure_filter(const filter_trials& what, std::uint64_t seed, unsigned threads,
                            const sim::progress& tell) {
  return run_trials<filter_tally>(what.trials, threads, tell, [&] {
    return [filter = filter_under_test(what), seed](
               std::uint64_t trial, filter_tally& into) mutable { filter.run(seed, trial, into); };
  });
}

}  // namespace oneprobe::cli::balancing
