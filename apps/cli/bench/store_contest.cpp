#include "bench/store_contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include "bench/measuring.hpp"
#include "oneprobe/page_store/builder.hpp"
#include "oneprobe/page_store/page_store.hpp"
#include "options.hpp"

namespace oneprobe::cli {
namespace {

using teller = std::function<void(double done, std::string_view what)>;

class our_store final : public store_contender {
 public:
  explicit our_store(const std::string& folder) : path_(folder + "/oneprobe.store") {}
  ~our_store() override {
    store_.reset();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  std::string name() const override { return "page_store"; }
  std::string build(std::uint64_t records, std::uint64_t seed,
                    void (*tell)(void* bar, std::uint64_t done), void* bar) override {
    auto builder = page_store_builder::create(
        path_, default_page_store_plan(records, bench_key_bytes, bench_value_bytes), seed);
    if (!builder) return builder.failure().sentence;
    for (std::uint64_t i = 0; i < records; ++i) {
      const bench_record made = make_record(i, seed);
      if (builder->put(made.key, made.value) == put_outcome::full) return "the store is full";
      if (i % 1000 == 999) tell(bar, i);
    }
    if (const auto failure = builder->finish()) return failure->sentence;
    return {};
  }
  std::string open(page_reading reading) override {
    store_.reset();
    loaded<page_store> opened = page_store::open(path_, {.reading = reading});
    if (!opened) return opened.failure().sentence;
    store_ = *std::move(opened);
    counted_ = 0;
    return {};
  }
  bool get(const std::array<std::byte, bench_key_bytes>& key,
           std::array<std::byte, bench_value_bytes>& value) override {
    return store_->get(key, value) == get_outcome::found;
  }
  read_counts take_read_counts() override {
    const std::uint64_t before = std::exchange(counted_, store_->page_reads());
    return {counted_ - before, counted_ - before};
  }
  std::uint64_t disk_bytes() const override { return std::filesystem::file_size(path_); }
  std::uint64_t memory_bytes() const override { return store_->stats().memory_bytes; }

 private:
  std::string path_;
  std::optional<page_store> store_;
  std::uint64_t counted_ = 0;
};

/// Random records that are there, or that are not.
enum class asked_keys { present, absent };

void ask(store_contender& store, const store_contest_settings& settings, asked_keys which,
         std::uint64_t gets, unsigned round, store_gets& into, std::uint64_t& wrong) {
  // Keys are made in advance: they are not what is measured.
  std::mt19937_64 random(settings.seed * 1000 + round);
  std::vector<bench_record> asked(static_cast<std::size_t>(gets));
  for (bench_record& each : asked)
    each = make_record(
        random() % settings.elements + (which == asked_keys::absent ? settings.elements : 0),
        settings.seed);
  std::array<std::byte, bench_value_bytes> value{};
  store.take_read_counts();
  const double cpu_before = cpu_ns();
  const auto begin = std::chrono::steady_clock::now();
  for (const bench_record& each : asked) {
    const bool found = store.get(each.key, value);
    const bool right = which == asked_keys::present ? found && value == each.value : !found;
    wrong += right ? 0u : 1u;
  }
  const std::chrono::duration<double, std::nano> wall = std::chrono::steady_clock::now() - begin;
  into.cpu_ns.push_back((cpu_ns() - cpu_before) / static_cast<double>(gets));
  into.wall_ns.push_back(wall.count() / static_cast<double>(gets));
  const read_counts counted = store.take_read_counts();
  into.asked += gets;
  into.counted.reads += counted.reads;
  into.counted.pages += counted.pages;
}

struct build_teller {
  const teller* tell;
  double begin;
  double share;
  double elements;
  std::string name;
};
void tell_build(void* told, std::uint64_t done) {
  const auto& [tell, begin, share, elements, name] = *static_cast<const build_teller*>(told);
  (*tell)(begin + share * static_cast<double>(done) / elements, "building " + name);
}

/// Half the time goes to building, and most of that to compaction.
constexpr double build_share = 0.6;

}  // namespace

std::unique_ptr<store_contender> make_our_store(const std::string& folder) {
  return std::make_unique<our_store>(folder);
}

std::vector<store_result> race_stores(const store_list& stores,
                                      const store_contest_settings& settings, const teller& tell) {
  const auto count = static_cast<double>(stores.size());
  std::vector<store_result> results(stores.size());
  for (std::size_t i = 0; i < stores.size(); ++i) {
    results[i].name = stores[i]->name();
    build_teller told{&tell, build_share * static_cast<double>(i) / count, build_share / count,
                      static_cast<double>(settings.elements), results[i].name};
    const auto begin = std::chrono::steady_clock::now();
    if (const std::string why =
            stores[i]->build(settings.elements, settings.seed, tell_build, &told);
        !why.empty())
      throw system_failure(fmt::format("{} cannot be built: {}", results[i].name, why));
    results[i].build_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  for (std::size_t how = 0; how < store_readings.size(); ++how) {
    const page_reading reading = store_readings[how];
    const bool direct = reading == page_reading::direct;
    const std::uint64_t gets = direct ? settings.direct_gets : settings.gets;
    for (std::size_t i = 0; i < stores.size(); ++i) {
      store_result::by_reading& into = results[i].readings[how];
      into.why_not = gets == 0 ? "not asked for" : stores[i]->open(reading);
      if (!into.why_not.empty()) continue;
      results[i].disk_bytes = stores[i]->disk_bytes();
      // Once before the first round, which then finds everything in the page cache.
      store_gets unseen;
      if (!direct)
        ask(*stores[i], settings, asked_keys::present, gets, settings.rounds, unseen,
            results[i].wrong_answers);
      results[i].memory_bytes = std::max(results[i].memory_bytes, stores[i]->memory_bytes());
    }
    for (unsigned round = 0; round < settings.rounds; ++round)
      for (std::size_t i = 0; i < stores.size(); ++i) {
        store_result::by_reading& into = results[i].readings[how];
        if (!into.why_not.empty()) continue;
        tell(build_share +
                 (1 - build_share) *
                     (static_cast<double>(how) + static_cast<double>(round) / settings.rounds) /
                     static_cast<double>(store_readings.size()),
             results[i].name);
        ask(*stores[i], settings, asked_keys::present, gets, round, into.present,
            results[i].wrong_answers);
        ask(*stores[i], settings, asked_keys::absent, gets, round, into.absent,
            results[i].wrong_answers);
      }
  }
  return results;
}

}  // namespace oneprobe::cli
