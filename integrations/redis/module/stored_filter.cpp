#include "stored_filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <type_traits>

namespace oneprobe::redis {
namespace {

using growing_variant = stored_filter::any_growing;

template <class Growing>
using part_of = typename Growing::filter_type;

/// Calls use(std::type_identity<Growing>) for the kind of a plan, or says that there is none.
template <std::size_t I = 0, class Use>
auto with_growing_of(filter_kind kind, Use use) -> std::optional<
    decltype(use(std::type_identity<std::variant_alternative_t<0, growing_variant>>()))> {
  if constexpr (I < std::variant_size_v<growing_variant>) {
    using each = std::variant_alternative_t<I, growing_variant>;
    if (part_of<each>::kind == kind) return use(std::type_identity<each>());
    return with_growing_of<I + 1>(kind, use);
  } else {
    return std::nullopt;
  }
}

/// Whether the newest part has all the elements it is to take: those that it was planned for, also
/// where it was filled beyond them before it was saved.
template <class Growing>
bool is_full(const Growing& filter) {
  const auto& newest = filter.parts().back();
  return newest.counts().size >= newest.plan().elements;
}

/// A filter of one part, which is planned, those to come are not. Empty if there is no such kind.
std::optional<growing_variant> begin(const growing_plan& whole, const filter_plan& part,
                                     const growth_settings& settings, std::uint64_t seed) {
  return with_growing_of(
      part.kind, [&]<class Growing>(std::type_identity<Growing>) -> growing_variant {
        std::vector<part_of<Growing>> parts;
        parts.emplace_back(part, seeded_hash(seed));
        const growing_progress progress{.plan = whole,
                                        .left = whole.fpr - part.predicted.fpr,
                                        .grow_at = part.elements,
                                        .growth = growth_state::as_planned};
        return Growing(progress, std::move(parts), planner_of(part.kind, settings));
      });
}

growing_variant duplicate_of(const growing_variant& from, const growth_settings& settings) {
  return std::visit(
      [&]<class Growing>(const Growing& filter) -> growing_variant {
        std::vector<part_of<Growing>> parts;
        for (const auto& part : filter.parts()) parts.push_back(part.duplicate());
        return Growing(filter.progress(), std::move(parts),
                       planner_of(part_of<Growing>::kind, settings));
      },
      from);
}

}  // namespace

std::variant<std::unique_ptr<stored_filter>, not_made> stored_filter::make(const reservation& asked,
                                                                           part_limit limit,
                                                                           part_source source) {
  try {
    const first_plan first = plan_of(asked, source);
    auto made = make({.settings = asked.growth,
                      .whole = first.whole,
                      .part = first.part,
                      .seed = asked.seed ? *asked.seed : random_seed()},
                     limit);
    if (auto* filter = std::get_if<0>(&made)) (*filter)->source_ = source;
    return made;
  } catch (const std::bad_alloc&) {
    return not_made{refusal::no_memory, "there is not so much memory"};
  } catch (const std::exception& error) {
    return not_made{refusal::no_plan, error.what()};
  }
}

std::variant<std::unique_ptr<stored_filter>, not_made> stored_filter::make(const part_record& first,
                                                                           part_limit limit) {
  const std::uint64_t bytes = first.part.memory().total();
  if (const std::uint64_t allowed = limit.bytes(); bytes > allowed)
    return not_made{refusal::no_memory, "it needs " + std::to_string(bytes) + " bytes, and " +
                                            std::to_string(allowed) + " are allowed"};
  try {
    auto filter = begin(first.whole, first.part, first.settings, first.seed);
    if (!filter) return not_made{refusal::no_plan, "no such kind"};
    return std::unique_ptr<stored_filter>(new stored_filter(
        filter_facts{first.settings, first.history, part_source::records}, *std::move(filter)));
  } catch (const std::bad_alloc&) {
    return not_made{refusal::no_memory, "there is not so much memory"};
  } catch (const std::exception& error) {
    return not_made{refusal::no_plan, error.what()};
  }
}

stored_filter::stored_filter(old_parts old)
    : settings_(old.chain().settings()),
      source_(part_source::nobody),
      old_(std::make_unique<old_parts>(std::move(old))) {}

std::unique_ptr<stored_filter> stored_filter::duplicate() const {
  if (damage_ != damage::none) return std::make_unique<stored_filter>(damage_);
  if (arriving_) return std::make_unique<stored_filter>(arriving_->duplicate());
  if (old_) {
    auto copy = std::make_unique<stored_filter>(old_->duplicate());
    copy->history_ = history_;
    copy->source_ = source_;
    if (filter_) copy->filter_ = duplicate_of(*filter_, settings_);
    return copy;
  }
  return std::unique_ptr<stored_filter>(
      new stored_filter(facts(), duplicate_of(*filter_, settings_)));
}

reservation stored_filter::asked_of_own() const {
  return {.error = old_->error_to_spend(),
          .capacity = old_->elements_of_next_part(),
          .growth = settings_};
}

std::optional<filter_plan> stored_filter::plan_of_next_part(part_source source) const {
  if (!filter_) try {
      return plan_of(asked_of_own(), source).part;
    } catch (const std::invalid_argument&) {
      return std::nullopt;
    }
  return std::visit(
      [&]<class Growing>(const Growing& filter) -> std::optional<filter_plan> {
        try {
          const std::uint64_t elements =
              elements_behind(filter.parts().back().plan().elements, filter.elements_of_next_part(),
                              settings_, source);
          return plan_part(part_of<Growing>::kind, settings_, elements, filter.error_of_next_part(),
                           source);
        } catch (const std::invalid_argument&) {
          return std::nullopt;  // the planner said so
        }
      },
      *filter_);
}

growth_state stored_filter::grow(part_limit limit, part_source source) {
  try {
    if (!next_plan_) {
      const std::optional<filter_plan> plan = plan_of_next_part(source);
      next_plan_ = plan ? std::make_unique<filter_plan>(*plan) : nullptr;
    }
    if (*next_plan_ == nullptr) return growth_ = growth_state::no_plan;
    const filter_plan& next = **next_plan_;
    const growth_state grown =
        filter_ ? grow_by(next, limit)
                : begin_own(growth_of(asked_of_own()), next, random_seed(), limit);
    if (grown == growth_state::as_planned) source_ = source;
  } catch (const std::bad_alloc&) {
    growth_ = growth_state::no_memory;
  }
  return growth_;
}

growth_state stored_filter::grow(const part_record& next, part_limit limit) {
  const growth_state grown =
      filter_ ? grow_by(next.part, limit) : begin_own(next.whole, next.part, next.seed, limit);
  if (grown == growth_state::as_planned) source_ = part_source::records;
  return growth_;
}

growth_state stored_filter::begin_own(const growing_plan& whole, const filter_plan& part,
                                      std::uint64_t seed, part_limit limit) {
  growth_ = growth_state::no_plan;
  if (part.memory().total() > limit.bytes()) return growth_;
  try {
    if (auto made = begin(whole, part, settings_, seed)) {
      history_ = old_->first_history();
      filter_ = std::move(made);
      growth_ = growth_state::as_planned;
      next_plan_.reset();
    }
  } catch (const std::bad_alloc&) {
    growth_ = growth_state::no_memory;
  } catch (const std::invalid_argument&) {
    // No filter goes by such a plan.
  }
  return growth_;
}

growth_state stored_filter::grow_by(const filter_plan& next, part_limit limit) {
  growth_ = next.memory().total() > limit.bytes()
                ? growth_state::no_plan
                : std::visit([&](auto& filter) { return filter.grow_by(next); }, *filter_);
  if (growth_ == growth_state::as_planned) next_plan_.reset();
  return growth_;
}

part_record stored_filter::newest_part() const {
  return std::visit(
      [&](const auto& filter) {
        return part_record{.settings = settings_,
                           .whole = filter.progress().plan,
                           .part = filter.parts().back().plan(),
                           .seed = filter.hash().seed(),
                           .parts = filter.parts().size() - 1,
                           .elements = filter.counts().size,
                           .history = history_};
      },
      *filter_);
}

bool stored_filter::is_continued_by(const part_record& next) const {
  if (!filter_)
    return next.settings == settings_ && next.parts == 0 && next.elements == 0 &&
           next.history == history();
  const growing_plan whole =
      std::visit([](const auto& filter) { return filter.progress().plan; }, *filter_);
  const std::uint64_t elements = size() - (old_ ? old_->chain().items : 0);
  const std::size_t own_parts = parts() - (old_ ? old_->chain().links.size() : 0);
  return next.settings == settings_ && next.whole.first_elements == whole.first_elements &&
         next.whole.fpr == whole.fpr && next.whole.growth == whole.growth &&
         next.whole.tightening == whole.tightening && next.part.kind == kind() &&
         next.seed == seed() && next.parts == own_parts && next.elements == elements &&
         next.history == history_;
}

add_outcome stored_filter::add(std::string_view item) {
  if (old_) [[unlikely]]
    return add_beside_old(item);
  return add_to_own(item);
}

/// What an old part has, or takes for something that it has, is there.
add_outcome stored_filter::add_beside_old(std::string_view item) {
  if (old_->may_contain(item)) return add_outcome::present;
  if (filter_) return add_to_own(item);
  return settings_.scale == scaling::fixed && old_->room() == 0 ? add_outcome::full
                                                                : add_outcome::needs_part;
}

add_outcome stored_filter::add_to_old(std::string_view item) {
  try {
    switch (old_->add(item)) {
      case old_parts::outcome::added:
        return add_outcome::added;
      case old_parts::outcome::full:
        return add_outcome::full;
      case old_parts::outcome::no_link:
        growth_ = growth_state::no_plan;
        break;
    }
  } catch (const std::bad_alloc&) {
    growth_ = growth_state::no_memory;
  }
  return add_outcome::needs_part;
}

inline add_outcome stored_filter::add_to_own(std::string_view item) {
  return std::visit(
      [&](auto& filter) {
        const key_hash hash = filter.hash()(item);
        if (is_full(filter)) [[unlikely]] {
          if (filter.may_contain(hash)) return add_outcome::present;
          return settings_.scale == scaling::fixed ? add_outcome::full : add_outcome::needs_part;
        }
        if (filter.insert(hash) != insert_outcome::added) return add_outcome::present;
        constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
        history_ = (history_ ^ hash.value) * odd;
        ++unchecked_;
        return add_outcome::added;
      },
      *filter_);
}

bool stored_filter::may_contain(std::string_view item) const {
  if (old_) [[unlikely]] {
    if (old_->may_contain(item)) return true;
    if (!filter_) return false;
  }
  return std::visit([&](const auto& filter) { return filter.may_contain(item); }, *filter_);
}

std::uint64_t stored_filter::size() const {
  return of_own([](const auto& filter) { return filter.counts().size; }) +
         (old_ ? old_->chain().items : 0);
}

std::uint64_t stored_filter::capacity() const {
  return of_own([](const auto& filter) {
           std::uint64_t sum = 0;
           for (const auto& part : filter.parts()) sum += part.plan().elements;
           return sum;
         }) +
         (old_ ? old_->capacity() : 0);
}

std::size_t stored_filter::parts() const {
  return of_own([](const auto& filter) { return filter.parts().size(); }) +
         (old_ ? old_->chain().links.size() : 0);
}

std::vector<part_facts> stored_filter::facts_of_parts() const {
  std::vector<part_facts> facts;
  if (old_)
    for (const old_link& link : old_->chain().links)
      facts.push_back({.bytes = link.bytes,
                       .hashes = link.item_bits,
                       .capacity = link.elements,
                       .size = link.items,
                       .error = link.error});
  const std::vector<part_facts> own = of_own([](const auto& filter) {
    std::vector<part_facts> all;
    for (const auto& part : filter.parts()) {
      const filter_plan& plan = part.plan();
      all.push_back({.bytes = part.memory().size(),
                     .hashes = plan.sets_bits() ? plan.bits_set : 1,
                     .capacity = plan.elements,
                     .size = part.counts().size,
                     .error = plan.predicted.fpr});
    }
    return all;
  });
  facts.insert(facts.end(), own.begin(), own.end());
  return facts;
}

std::optional<std::uint64_t> stored_filter::seed() const {
  return of_own([](const auto& filter) { return std::optional(filter.hash().seed()); });
}

std::optional<filter_kind> stored_filter::kind() const {
  return of_own([]<class Growing>(const Growing&) -> std::optional<filter_kind> {
    return part_of<Growing>::kind;
  });
}

filter_stats stored_filter::stats() const {
  filter_stats sum = of_own([](const auto& filter) { return filter.stats(); });
  if (!old_) return sum;
  const double own = sum.current_fpr;
  sum.current_fpr = own + old_->error() - own * old_->error();
  sum.bits_per_element = 8 * static_cast<double>(payload_bytes()) / static_cast<double>(capacity());
  return sum;
}

double stored_filter::predicted_accesses() const {
  return of_own([](const auto& filter) {
           double sum = 0;
           for (const auto& part : filter.parts()) sum += part.plan().predicted.miss_accesses;
           return sum;
         }) +
         (old_ ? old_->accesses() : 0);
}

double stored_filter::predicted_error() const {
  return of_own([](const auto& filter) {
           double sum = 0;
           for (const auto& part : filter.parts()) sum += part.plan().predicted.fpr;
           return sum;
         }) +
         (old_ ? old_->error() : 0);
}

double stored_filter::stated_error() const {
  const double own = of_own([](const auto& filter) { return filter.stated_fpr(); });
  if (!old_) return own;
  return std::min(1.0, old_->error() + (filter_ ? own : old_->error_to_spend()));
}

std::vector<std::byte> stored_filter::head() const {
  if (damage_ != damage::none) return encode_damage(damage_);
  if (arriving_) return {arriving_->head().begin(), arriving_->head().end()};
  const std::vector<std::byte> old = old_ ? old_->section() : std::vector<std::byte>();
  if (!filter_) return encode_start(facts(), 0, old);
  return std::visit([&](const auto& filter) { return head_of(filter, facts(), old); }, *filter_);
}

std::uint64_t stored_filter::payload_bytes() const {
  if (damage_ != damage::none) return 0;
  if (arriving_) return arriving_->received();
  return of_own([](const auto& filter) {
           std::uint64_t sum = 0;
           for (const auto& part : filter.parts()) sum += part.memory().size();
           return sum;
         }) +
         (old_ ? old_->chain().bytes() : 0);
}

void stored_filter::copy_payload(std::uint64_t begin, std::span<std::byte> out) const {
  if (damage_ != damage::none) return;
  if (arriving_) return arriving_->copy_payload(begin, out);
  std::uint64_t first = 0;
  const auto copy_of_part = [&](std::span<const std::byte> memory) {
    if (!out.empty() && begin < first + memory.size()) {
      const auto inside = static_cast<std::size_t>(begin - first);
      const std::size_t count = std::min(memory.size() - inside, out.size());
      std::memcpy(out.data(), memory.data() + inside, count);
      out = out.subspan(count);
      begin += count;
    }
    first += memory.size();
  };
  if (old_)
    for (const counted_memory& bits : old_->bits()) copy_of_part(bits.bytes());
  if (!filter_) return;
  std::visit(
      [&](const auto& filter) {
        for (const auto& part : filter.parts()) copy_of_part(part.memory());
      },
      *filter_);
}

std::optional<std::string> stored_filter::finish() {
  if (auto fault = arriving_->find_fault()) return fault;
  std::vector<counted_memory> memory = arriving_->take_memory();
  const auto own_memory = std::span(memory).last(arriving_->parts().size());
  if (!own_memory.empty())
    if (auto fault = finish_own(own_memory)) return fault;
  if (const old_section* section = arriving_->old()) {
    memory.resize(section->chain.links.size());
    old_ = std::make_unique<old_parts>(section->chain, std::move(memory));
  }
  arriving_.reset();
  return std::nullopt;
}

std::optional<std::string> stored_filter::finish_own(std::span<counted_memory> memory) {
  const filter_kind kind = arriving_->parts().front().kind();
  const growing_progress progress = arriving_->progress();
  auto fault = with_growing_of(
      kind, [&]<class Growing>(std::type_identity<Growing>) -> std::optional<std::string> {
        std::vector<part_of<Growing>> parts;
        for (std::size_t i = 0; i < memory.size(); ++i) {
          const file_facts& facts = arriving_->parts()[i];
          if (auto failure = detail::find_mismatch<part_of<Growing>>(facts, "the payload"))
            return failure->sentence;
          parts.emplace_back(facts.plan, std::move(memory[i]), facts.counts,
                             seeded_hash(facts.seed));
        }
        if (auto wrong = Growing::find_fault(progress, parts)) return wrong;
        filter_.emplace(Growing(progress, std::move(parts), planner_of(kind, settings_)));
        return std::nullopt;
      });
  if (!fault) return "the payload holds a kind of filter that this module does not know";
  return *fault;
}

std::size_t stored_filter::counted_bytes() const {
  if (damage_ != damage::none) return sizeof *this;
  if (arriving_) return sizeof *this + arriving_->counted_bytes();
  return sizeof *this + (old_ ? old_->counted_bytes() : 0) + of_own([](const auto& filter) {
           std::size_t sum = 0;
           for (const auto& part : filter.parts()) sum += sizeof part + part.counted_bytes();
           return sum;
         });
}

}  // namespace oneprobe::redis
