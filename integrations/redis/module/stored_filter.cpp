#include "stored_filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
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

/// Whether the newest part has all the elements it is to take.
template <class Growing>
bool is_full(const Growing& filter) {
  return filter.parts().back().counts().size >= filter.progress().grow_at;
}

}  // namespace

std::variant<std::unique_ptr<stored_filter>, not_made> stored_filter::make(const reservation& asked,
                                                                           part_limit limit) {
  try {
    const first_plan first = plan_of(asked);
    const std::uint64_t bytes = first.part.memory().total();
    if (const std::uint64_t allowed = limit.bytes(); bytes > allowed)
      return not_made{refusal::no_memory, "it needs " + std::to_string(bytes) + " bytes, and " +
                                              std::to_string(allowed) + " are allowed"};
    const seeded_hash hash(asked.seed ? *asked.seed : random_seed());
    auto made = with_growing_of(
        first.part.kind, [&]<class Growing>(std::type_identity<Growing>) -> any_growing {
          // The first part is planned; those to come are not.
          std::vector<part_of<Growing>> parts;
          parts.emplace_back(first.part, hash);
          const growing_progress progress{.plan = first.whole,
                                          .left = first.whole.fpr - first.part.predicted.fpr,
                                          .grow_at = first.part.elements,
                                          .growth = growth_state::as_planned};
          return Growing(progress, std::move(parts), planner_of(first.part.kind, asked.growth));
        });
    if (!made) return not_made{refusal::no_plan, "no such kind"};
    return std::unique_ptr<stored_filter>(new stored_filter(asked.growth, *std::move(made)));
  } catch (const std::bad_alloc&) {
    return not_made{refusal::no_memory, "there is not so much memory"};
  } catch (const std::exception& error) {
    return not_made{refusal::no_plan, error.what()};
  }
}

std::unique_ptr<stored_filter> stored_filter::duplicate() const {
  if (arriving_) return std::make_unique<stored_filter>(arriving_->duplicate());
  return std::visit(
      [&]<class Growing>(const Growing& filter) {
        std::vector<part_of<Growing>> parts;
        for (const auto& part : filter.parts()) parts.push_back(part.duplicate());
        Growing copy(filter.progress(), std::move(parts),
                     planner_of(part_of<Growing>::kind, settings_));
        return std::unique_ptr<stored_filter>(new stored_filter(settings_, std::move(copy)));
      },
      *filter_);
}

std::uint64_t stored_filter::next_part_bytes() const {
  constexpr std::uint64_t no_plan = std::numeric_limits<std::uint64_t>::max();
  return std::visit(
      [&]<class Growing>(const Growing& filter) {
        const growing_progress now = filter.progress();
        const double elements =
            std::ceil(static_cast<double>(filter.parts().back().plan().elements) * now.plan.growth);
        if (elements > static_cast<double>(filter_plan::most_bits)) return no_plan;
        try {
          const filter_plan next = planner_of(part_of<Growing>::kind, settings_)(
              static_cast<std::uint64_t>(elements), now.left * (1 - now.plan.tightening));
          return next.predicted.fpr < now.left ? next.memory().total() : no_plan;
        } catch (const std::exception&) {
          return no_plan;  // the planner said so
        }
      },
      *filter_);
}

bool stored_filter::can_grow(part_limit limit) {
  if (!next_part_bytes_) next_part_bytes_ = next_part_bytes();
  const std::uint64_t bytes = *next_part_bytes_;
  if (bytes == std::numeric_limits<std::uint64_t>::max() || bytes > limit.bytes()) return false;
  next_part_bytes_.reset();  // the next full part is another one
  return true;
}

add_outcome stored_filter::add(std::string_view item, part_limit limit) {
  return std::visit(
      [&](auto& filter) {
        const key_hash hash = filter.hash()(item);
        if (is_full(filter) && !filter.may_contain(hash)) {
          if (settings_.scale == scaling::fixed) return add_outcome::full;
          if (!can_grow(limit)) return add_outcome::no_growth;
        }
        return filter.insert(hash) == insert_outcome::added ? add_outcome::added
                                                            : add_outcome::present;
      },
      *filter_);
}

bool stored_filter::may_contain(std::string_view item) const {
  return std::visit([&](const auto& filter) { return filter.may_contain(item); }, *filter_);
}

std::uint64_t stored_filter::size() const {
  return std::visit([](const auto& filter) { return filter.counts().size; }, *filter_);
}

std::uint64_t stored_filter::capacity() const {
  return std::visit(
      [](const auto& filter) {
        std::uint64_t sum = 0;
        for (const auto& part : filter.parts()) sum += part.plan().elements;
        return sum;
      },
      *filter_);
}

std::size_t stored_filter::parts() const {
  return std::visit([](const auto& filter) { return filter.parts().size(); }, *filter_);
}

std::uint64_t stored_filter::seed() const {
  return std::visit([](const auto& filter) { return filter.hash().seed(); }, *filter_);
}

filter_kind stored_filter::kind() const {
  return std::visit(
      []<class Growing>(const Growing&) -> filter_kind { return part_of<Growing>::kind; },
      *filter_);
}

filter_stats stored_filter::stats() const {
  return std::visit([](const auto& filter) { return filter.stats(); }, *filter_);
}

growth_state stored_filter::growth() const {
  return std::visit([](const auto& filter) { return filter.growth(); }, *filter_);
}

double stored_filter::predicted_accesses() const {
  return std::visit(
      [](const auto& filter) {
        double sum = 0;
        for (const auto& part : filter.parts()) sum += part.plan().predicted.negative_accesses;
        return sum;
      },
      *filter_);
}

double stored_filter::predicted_error() const {
  return std::visit(
      [](const auto& filter) {
        double sum = 0;
        for (const auto& part : filter.parts()) sum += part.plan().predicted.fpr;
        return sum;
      },
      *filter_);
}

double stored_filter::stated_error() const {
  return std::visit([](const auto& filter) { return filter.stated_fpr(); }, *filter_);
}

std::vector<std::byte> stored_filter::head() const {
  if (arriving_) return {arriving_->head().begin(), arriving_->head().end()};
  return std::visit([&](const auto& filter) { return head_of(filter, settings_); }, *filter_);
}

std::uint64_t stored_filter::payload_bytes() const {
  if (arriving_) return arriving_->received();
  return std::visit(
      [](const auto& filter) {
        std::uint64_t sum = 0;
        for (const auto& part : filter.parts()) sum += part.memory().size();
        return sum;
      },
      *filter_);
}

void stored_filter::copy_payload(std::uint64_t begin, std::span<std::byte> out) const {
  if (arriving_) return arriving_->copy_payload(begin, out);
  std::visit(
      [&](const auto& filter) {
        std::uint64_t first = 0;
        for (const auto& part : filter.parts()) {
          const std::span<const std::byte> memory = part.memory();
          if (!out.empty() && begin < first + memory.size()) {
            const auto inside = static_cast<std::size_t>(begin - first);
            const std::size_t count = std::min(memory.size() - inside, out.size());
            std::memcpy(out.data(), memory.data() + inside, count);
            out = out.subspan(count);
            begin += count;
          }
          first += memory.size();
        }
      },
      *filter_);
}

std::optional<std::string> stored_filter::finish() {
  if (auto fault = arriving_->find_fault()) return fault;
  const filter_kind kind = arriving_->parts().front().kind();
  std::vector<counted_memory> memory = arriving_->take_memory();
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
  if (!*fault) arriving_.reset();
  return *fault;
}

std::size_t stored_filter::counted_bytes() const {
  if (arriving_) return sizeof *this + arriving_->counted_bytes();
  return std::visit(
      [&](const auto& filter) {
        std::size_t sum = sizeof *this;
        for (const auto& part : filter.parts()) sum += sizeof part + part.counted_bytes();
        return sum;
      },
      *filter_);
}

}  // namespace oneprobe::redis
