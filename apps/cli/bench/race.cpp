#include "bench/race.hpp"

#include <algorithm>
#include <cstring>

#include "bench/latency_watch.hpp"
#include "bench/measuring.hpp"
#include "bench/tick_clock.hpp"

namespace oneprobe::cli {
namespace {

// Parts of a filling: an even number, half of them for each way to insert.
constexpr std::uint64_t parts_of_filling = 16;
// So many keys tell a mean number of accesses to about 0.1 %.
constexpr std::uint64_t keys_for_costs = 1'000'000;

/// Reads every line once, so that each contender finds as much of itself in the caches as fits,
/// whichever ran before.
void touch(std::span<const std::byte> memory) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at + sizeof sum <= memory.size(); at += 64) {
    std::uint64_t word;
    std::memcpy(&word, memory.data() + at, sizeof word);
    sum += word;
  }
  // The sum is not used; this keeps the compiler from noticing.
  __asm__ volatile("" : : "r"(sum));
}

class track {
 public:
  track(const contender_list& contenders, const race_settings& settings, const race_progress& tell)
      : contenders_(contenders),
        settings_(settings),
        tell_(tell),
        results_(contenders.size()),
        inserted_(static_cast<std::size_t>(settings.elements)),
        absent_(static_cast<std::size_t>(settings.queries)) {
    make_keys(inserted_, 0, settings.seed);
  }

  std::vector<race_result> run() {
    // The pages of a new filter are made when they are first written: not in the measured time.
    for (const auto& each : contenders_) each->clear();
    for (round_ = 0; round_ < settings_.rounds; ++round_) {
      in_turn("filling", [&](std::size_t who) { fill(who); });
      make_keys(absent_, settings_.elements + round_ * settings_.queries, settings_.seed);
      in_turn("absent keys", [&](std::size_t who) { ask_absent_one_by_one(who); });
      in_turn("absent keys in bulk", [&](std::size_t who) { ask_absent_in_bulk(who); });
      in_turn("inserted keys", [&](std::size_t who) { ask_inserted(who, operation::positive); });
      in_turn("inserted keys in bulk",
              [&](std::size_t who) { ask_inserted(who, operation::bulk_positive); });
    }
    in_turn("all keys again", [&](std::size_t who) { finish(who); });
    return std::move(results_);
  }

 private:
  /// Every contender once, each round beginning with another.
  template <class Work>
  void in_turn(std::string_view what, Work work) {
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      tell_(static_cast<double>(steps_done_++) / steps(), what);
      work((i + round_) % contenders_.size());
    }
  }
  double steps() const {
    return static_cast<double>(contenders_.size()) * (5.0 * settings_.rounds + 1);
  }

  bool is_filter(std::size_t who) const {
    return contenders_[who]->facts().kind != contender_kind::memory;
  }
  void add_time(std::size_t who, operation what, double ns, std::uint64_t operations) {
    if (operations == 0) return;
    results_[who].rounds_ns[static_cast<std::size_t>(what)].push_back(
        ns / static_cast<double>(operations));
  }

  void fill(std::size_t who) {
    if (!is_filter(who)) return;
    contender& filter = *contenders_[who];
    filter.clear();
    std::array<double, 2> ns{};
    std::array<std::uint64_t, 2> keys{};
    for (std::uint64_t part = 0; part < parts_of_filling; ++part) {
      const key_span some = part_of_filling(part);
      const std::size_t way = (part + round_) % 2;
      const double begin = cpu_ns();
      if (way == 0)
        filter.insert_one_by_one(some);
      else
        filter.insert_bulk(some);
      ns[way] += cpu_ns() - begin;
      keys[way] += some.size();
    }
    add_time(who, operation::insert, ns[0], keys[0]);
    add_time(who, operation::bulk_insert, ns[1], keys[1]);
    latency_watch watch(clock_);
    filter.insert_watched(key_span(inserted_).subspan(unwatched()), watch);
    results_[who].latencies.push_back({.p50_ns = watch.quantile_ns(0.5),
                                       .p99_ns = watch.quantile_ns(0.99),
                                       .p999_ns = watch.quantile_ns(0.999),
                                       .p9999_ns = watch.quantile_ns(0.9999),
                                       .max_ns = watch.largest_ns(),
                                       .max_running_ns = watch.largest_running_ns()});
  }

  template <class Ask>
  std::uint64_t timed(std::size_t who, operation what, std::uint64_t keys, Ask ask) {
    touch(contenders_[who]->memory());
    const double begin = cpu_ns();
    const std::uint64_t yes = ask(*contenders_[who]);
    // A number that is used, so that the reading of the bare memory cannot be left out either.
    __asm__ volatile("" : : "r"(yes));
    add_time(who, what, cpu_ns() - begin, keys);
    return yes;
  }

  void ask_absent_one_by_one(std::size_t who) {
    const std::uint64_t yes =
        timed(who, operation::negative, absent_.size(),
              [&](const contender& asked) { return asked.count_one_by_one(absent_); });
    if (!is_filter(who)) return;
    results_[who].negatives_asked += absent_.size();
    results_[who].false_positives += yes;
    yes_of_round_.resize(contenders_.size());
    yes_of_round_[who] = yes;
  }

  void ask_absent_in_bulk(std::size_t who) {
    const std::uint64_t yes =
        timed(who, operation::bulk_negative, absent_.size(),
              [&](const contender& asked) { return asked.count_bulk(absent_); });
    if (!is_filter(who)) return;
    const std::uint64_t before = yes_of_round_[who];
    results_[who].different_answers += std::max(yes, before) - std::min(yes, before);
  }

  void ask_inserted(std::size_t who, operation what) {
    // Another part of them in every round.
    const std::size_t count = std::min(absent_.size(), inserted_.size());
    const std::size_t places = inserted_.size() - count;
    const std::size_t first = places == 0 ? 0 : round_ * count % (places + 1);
    const key_span some = key_span(inserted_).subspan(first, count);
    const std::uint64_t yes = timed(who, what, some.size(), [&](const contender& asked) {
      return what == operation::positive ? asked.count_one_by_one(some) : asked.count_bulk(some);
    });
    if (is_filter(who))
      results_[who].false_negatives += some.size() - std::min<std::uint64_t>(some.size(), yes);
  }

  /// What needs no clock: every key once more, and the counted costs.
  void finish(std::size_t who) {
    const contender& asked = *contenders_[who];
    if (is_filter(who))
      results_[who].false_negatives +=
          inserted_.size() - std::min<std::uint64_t>(inserted_.size(), asked.count_bulk(inserted_));
    const auto some = [](const std::vector<std::uint64_t>& keys) {
      return key_span(keys).first(std::min<std::size_t>(keys.size(), keys_for_costs));
    };
    // Spread over the filling: early elements lie otherwise than late ones.
    std::vector<std::uint64_t> spread;
    const std::size_t step = std::max<std::size_t>(1, inserted_.size() / keys_for_costs);
    for (std::size_t i = 0; i < inserted_.size(); i += step) spread.push_back(inserted_[i]);
    results_[who].costs = asked.count_costs(spread, some(absent_));
    results_[who].current_fpr = asked.current_fpr();
  }

  /// How many of the keys are inserted before the watched ones.
  std::size_t unwatched() const {
    const auto all = static_cast<double>(inserted_.size());
    return inserted_.size() - static_cast<std::size_t>(watched_share * all);
  }
  key_span part_of_filling(std::uint64_t part) const {
    const std::size_t first = unwatched() * part / parts_of_filling;
    const std::size_t last = unwatched() * (part + 1) / parts_of_filling;
    return key_span(inserted_).subspan(first, last - first);
  }

  const contender_list& contenders_;
  const race_settings& settings_;
  const race_progress& tell_;
  tick_clock clock_{};
  std::vector<race_result> results_;
  std::vector<std::uint64_t> inserted_;
  std::vector<std::uint64_t> absent_;
  std::vector<std::uint64_t> yes_of_round_{};
  std::uint64_t round_ = 0;
  std::uint64_t steps_done_ = 0;
};

}  // namespace

std::vector<race_result> race(const contender_list& contenders, const race_settings& settings,
                              const race_progress& tell) {
  return track(contenders, settings, tell).run();
}

std::optional<insert_latencies> summary_of(const std::vector<insert_latencies>& rounds) {
  if (rounds.empty()) return std::nullopt;
  const auto each = [&](double insert_latencies::*what) {
    std::vector<double> values;
    values.reserve(rounds.size());
    for (const insert_latencies& round : rounds) values.push_back(round.*what);
    return values;
  };
  const auto worst = [&](double insert_latencies::*what) { return std::ranges::max(each(what)); };
  return insert_latencies{.p50_ns = median(each(&insert_latencies::p50_ns)),
                          .p99_ns = median(each(&insert_latencies::p99_ns)),
                          .p999_ns = median(each(&insert_latencies::p999_ns)),
                          .p9999_ns = median(each(&insert_latencies::p9999_ns)),
                          .max_ns = worst(&insert_latencies::max_ns),
                          .max_running_ns = worst(&insert_latencies::max_running_ns)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<ratio> ratio_of(const std::vector<double>& times, const std::vector<double>& base) {
  if (times.empty() || times.size() != base.size()) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (base[i] > 0) ratios.push_back(times[i] / base[i]);
  if (ratios.size() != times.size()) return std::nullopt;
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return ratio{.median = median(ratios), .least = *least, .most = *most};
}

}  // namespace oneprobe::cli
