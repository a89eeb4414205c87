#include "held_filter.hpp"

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "oneprobe/filter/any_filter.hpp"

namespace oneprobe::inline v0_1::detail {
namespace {

template <class Engine>
class held final : public held_engine {
 public:
  held(const filter_plan& plan, line_memory memory, const filter_counts& counts)
      : engine_(plan, std::move(memory), counts) {}
  explicit held(const Engine& engine) : engine_(engine) {}

  std::unique_ptr<held_engine> copy() const noexcept override {
    try {
      return std::make_unique<held>(engine_);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  insert_outcome insert(key_hash hash) noexcept override { return engine_.insert(hash); }
  std::uint64_t insert_all(const hash_feed& hashes) override { return engine_.insert_all(hashes); }
  bool may_contain(key_hash hash) const noexcept override { return engine_.may_contain(hash); }
  void query_all(const hash_feed& hashes, bool* answers) const override {
    engine_.query_all(hashes, answers);
  }
  lookup_path explain(key_hash hash) const noexcept override { return engine_.explain(hash); }
  erase_outcome erase([[maybe_unused]] key_hash hash) noexcept override {
    if constexpr (erasing_engine<Engine>)
      return engine_.erase(hash);
    else
      return erase_outcome::absent;  // never asked
  }
  void merge(const held_engine& other) noexcept override {
    engine_.merge(static_cast<const held&>(other).engine_);
  }
  void clear() noexcept override { engine_.clear(); }

  const filter_plan& plan() const noexcept override { return engine_.plan(); }
  filter_counts counts() const noexcept override { return engine_.counts(); }
  std::span<const std::byte> memory() const noexcept override { return engine_.memory(); }
  double current_fpr() const noexcept override { return engine_.current_fpr(); }
  double fill_fraction() const noexcept override { return engine_.fill_fraction(); }

 private:
  Engine engine_;
};

}  // namespace

held_engine::made held_engine::make(const filter_plan& plan, line_memory memory,
                                    const filter_counts& counts) noexcept {
  try {
    if (const std::optional<std::string> fault = find_fault(plan)) return {nullptr, *fault};
    return with_filter_of(plan, [&]<class Filter>(std::type_identity<Filter>) -> made {
      using engine = typename Filter::engine_type;
      static_assert(erasing_engine<engine> == (Filter::kind == filter_kind::counting));
      return {std::make_unique<held<engine>>(plan, std::move(memory), counts), {}};
    });
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace oneprobe::inline v0_1::detail
