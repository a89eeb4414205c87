#include "held_filter.hpp"

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "oneprobe/filter/any_filter.hpp"
#include "oneprobe/filter/file.hpp"

namespace oneprobe::python {

struct held_filter::any {
  any_filter filter;

  template <class Visit>
  auto visit(Visit visit) {
    return std::visit(visit, filter);
  }
  template <class Visit>
  auto visit(Visit visit) const {
    return std::visit(visit, filter);
  }
};

held_filter::held_filter(std::unique_ptr<any> filter) : filter_(std::move(filter)) {}
held_filter::held_filter(const filter_plan& plan, std::uint64_t seed)
    : filter_(new any{make_any(plan, seeded_hash(seed))}) {}
held_filter::~held_filter() = default;
held_filter::held_filter(const held_filter& other) : filter_(new any(*other.filter_)) {}
held_filter::held_filter(held_filter&& other) noexcept = default;
held_filter& held_filter::operator=(held_filter&& other) noexcept = default;

loaded<held_filter> held_filter::load(const std::string& path) {
  loaded<any_filter> read = load_any(path);
  if (!read) return std::move(read).failure();
  return held_filter(std::unique_ptr<any>(new any{*std::move(read)}));
}
loaded<held_filter> held_filter::from_bytes(std::span<const std::byte> bytes) {
  loaded<any_filter> read = load_any_from(bytes);
  if (!read) return std::move(read).failure();
  return held_filter(std::unique_ptr<any>(new any{*std::move(read)}));
}
std::optional<save_failure> held_filter::save(const std::string& path) const {
  return filter_->visit([&](const auto& filter) { return oneprobe::save(filter, path); });
}
std::vector<std::byte> held_filter::bytes() const {
  std::vector<std::byte> bytes;
  filter_->visit([&](const auto& filter) { save_to(filter, bytes); });
  return bytes;
}

insert_outcome held_filter::insert(key_hash hash) noexcept {
  return filter_->visit([&](auto& filter) { return filter.insert(hash); });
}
std::uint64_t held_filter::insert_all(const hash_feed& hashes) {
  return filter_->visit([&](auto& filter) { return filter.bulk_insert(hashes); });
}
bool held_filter::may_contain(key_hash hash) const noexcept {
  return filter_->visit([&](const auto& filter) { return filter.may_contain(hash); });
}
void held_filter::query_all(const hash_feed& hashes, std::span<bool> answers) const {
  filter_->visit([&](const auto& filter) { filter.bulk_may_contain(hashes, answers); });
}
lookup_path held_filter::explain(key_hash hash) const noexcept {
  return filter_->visit([&](const auto& filter) { return filter.explain(hash); });
}
std::optional<erase_outcome> held_filter::erase(key_hash hash) noexcept {
  return filter_->visit([&](auto& filter) -> std::optional<erase_outcome> {
    if constexpr (requires { filter.erase(hash); })
      return filter.erase(hash);
    else
      return std::nullopt;
  });
}
merge_outcome held_filter::merge(const held_filter& other) {
  return filter_->visit([&]<class Filter>(Filter& filter) {
    const Filter* const same = std::get_if<Filter>(&other.filter_->filter);
    return same == nullptr ? merge_outcome::different_plan : filter.merge(*same);
  });
}
void held_filter::clear() noexcept {
  filter_->visit([](auto& filter) { filter.clear(); });
}

const seeded_hash& held_filter::hash() const noexcept {
  return *filter_->visit([](const auto& filter) { return &filter.hash(); });
}
const filter_plan& held_filter::plan() const noexcept {
  return *filter_->visit([](const auto& filter) { return &filter.plan(); });
}
filter_counts held_filter::counts() const noexcept {
  return filter_->visit([](const auto& filter) { return filter.counts(); });
}
filter_stats held_filter::stats() const {
  return filter_->visit([](const auto& filter) { return filter.stats(); });
}

}  // namespace oneprobe::python
