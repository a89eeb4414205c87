#include "bench/our_tables.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "bench/table_loops.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/default_plan.hpp"
#include "oneprobe/plan/table.hpp"

namespace oneprobe::cli {
namespace {

// Answers of one call of the bulk function: they fit the first cache.
constexpr std::size_t most_keys_per_call = 8192;

template <std::uint32_t BucketCapacity>
class our_table {
 public:
  using map = bounded_map<std::uint64_t, std::uint64_t, seeded_hash, std::equal_to<>, multilevel,
                          BucketCapacity>;

  our_table(const table_plan& plan, seeded_hash hash) : map_(plan, hash) {}

  bool insert(std::uint64_t key, std::uint64_t value) {
    const insertion outcome = map_.try_emplace(key, value).outcome;
    return outcome == insertion::inserted || outcome == insertion::overflowed;
  }
  bool find(std::uint64_t key, std::uint64_t& value) {
    const auto* found = map_.find(key);
    if (found == nullptr) return false;
    value = found->value;
    return true;
  }
  bool erase(std::uint64_t key) { return map_.erase(key) == erase_outcome::erased; }

  std::uint64_t size() const { return map_.size(); }
  double load_factor() const {
    return static_cast<double>(map_.size()) /
           (static_cast<double>(map_.plan().buckets()) * BucketCapacity);
  }
  std::uint64_t memory_bytes() const { return map_.memory().size(); }

  map& bounded() { return map_; }
  const map& bounded() const { return map_; }

 private:
  map map_;
};

template <std::uint32_t BucketCapacity>
class our_contender final : public looped_table<our_table<BucketCapacity>> {
  using measured = our_table<BucketCapacity>;
  using element = typename measured::map::value_type;

 public:
  our_contender(table_facts facts, const table_plan& plan, seeded_hash hash)
      : looped_table<measured>(std::move(facts),
                               [plan, hash] { return std::make_unique<measured>(plan, hash); }),
        plan_(plan) {}

  std::optional<std::uint64_t> count_right_bulk(table_keys keys, std::size_t at_a_time) override {
    return in_calls(keys, at_a_time, [](table_keys some, std::span<element* const> found) {
      std::uint64_t right = 0;
      for (std::size_t i = 0; i < some.size(); ++i)
        right += found[i] != nullptr && found[i]->value == value_of(some[i]) ? 1u : 0u;
      return right;
    });
  }
  std::optional<std::uint64_t> count_present_bulk(table_keys keys, std::size_t at_a_time) override {
    return in_calls(keys, at_a_time, [](table_keys, std::span<element* const> found) {
      return static_cast<std::uint64_t>(
          std::count_if(found.begin(), found.end(), [](const element* e) { return e != nullptr; }));
    });
  }

  std::optional<table_costs> count_costs(table_keys present, table_keys absent) const override {
    table_costs costs{.bound = plan_.choices + table_plan::overflow_choices};
    const auto add = [&](table_keys keys, double& accesses, double& lines, double& unread) {
      for (const std::uint64_t key : keys) {
        const table_path path = this->table().bounded().explain(key);
        const std::uint64_t visited = visited_by(path);
        accesses += static_cast<double>(visited);
        lines += path.lines;
        unread += path.unread_lines;
        costs.most_accesses = std::max(costs.most_accesses, visited);
      }
      if (keys.empty()) return;
      accesses /= static_cast<double>(keys.size());
      lines /= static_cast<double>(keys.size());
      unread /= static_cast<double>(keys.size());
    };
    add(present, costs.hit_accesses, costs.hit_lines, costs.hit_unread_lines);
    add(absent, costs.miss_accesses, costs.miss_lines, costs.miss_unread_lines);
    return costs;
  }
  /// An insertion visits what a lookup before it visits, until the key is ruled out, and goes on
  /// until there is room, which is where a lookup after it ends.
  std::optional<double> count_insert_accesses(table_keys keys, std::size_t most) override {
    this->build();
    measured& filled = this->table();
    const std::size_t every = std::max<std::size_t>(1, keys.size() / most);
    std::uint64_t visited = 0, counted = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool is_counted = i % every == 0;
      const std::uint64_t before =
          is_counted ? visited_by(filled.bounded().explain(keys[i])) : std::uint64_t{0};
      if (!filled.insert(keys[i], value_of(keys[i])) || !is_counted) continue;
      visited += std::max(before, visited_by(filled.bounded().explain(keys[i])));
      ++counted;
    }
    this->drop();
    if (counted == 0) return std::nullopt;
    return static_cast<double>(visited) / static_cast<double>(counted);
  }
  std::optional<double> overflow_fraction() const override {
    const table_counts& counts = this->table().bounded().counts();
    return counts.size == 0
               ? 0
               : static_cast<double>(counts.overflow) / static_cast<double>(counts.size);
  }
  std::optional<double> predicted_overflow_fraction() const override {
    return forecast(plan_, plan_.elements, sizeof(element)).predicted.overflow_fraction;
  }

 private:
  static std::uint64_t visited_by(const table_path& path) {
    return path.accesses + path.overflow_accesses;
  }
  template <class Count>
  std::uint64_t in_calls(table_keys keys, std::size_t at_a_time, Count count) {
    std::array<element*, most_keys_per_call> found;
    const std::size_t most = std::min(at_a_time, most_keys_per_call);
    std::uint64_t counted = 0;
    while (!keys.empty()) {
      const table_keys some = keys.first(std::min(most, keys.size()));
      const std::span<element*> answers = std::span(found).first(some.size());
      this->table().bounded().bulk_find(some, answers);
      counted += count(some, answers);
      keys = keys.subspan(some.size());
    }
    return counted;
  }

  table_plan plan_;
};

template <std::uint32_t BucketCapacity>
void add(table_list& list, const table_contest_size& size, table_role role, const char* name) {
  table_facts facts{
      .name = name, .kind = table_kind::ours, .role = role, .elements = size.elements};
  list.push_back(std::make_unique<our_contender<BucketCapacity>>(
      std::move(facts), default_table_plan(size.elements, BucketCapacity), size.hash));
}

}  // namespace

table_list make_our_tables(const table_contest_size& size) {
  table_list list;
  add<16>(list, size, table_role::ordinary, "bounded_map");
  add<8>(list, size, table_role::second, "bounded_map h=8");
  return list;
}

}  // namespace oneprobe::cli
