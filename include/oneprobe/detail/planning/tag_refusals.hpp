// What a bucket refuses for a tag, ready for code that asks often: planners, and tables that plan
// for themselves. The refusals of model/grouped_slots.hpp without those of a full bucket, from a
// table that the model writes.
//
//   const detail::tag_refusals* refused = detail::tag_refusals_of(table_workload::churn, 16, 16);
//   refused->at(6.0).fraction;      // 2.2e-4 of the arrivals; with one group there is no table
//
// Right to one part in ten thousand of all that a bucket refuses. With less than 0.005 or more than
// 2 arrivals per slot, to a twentieth: a bucket hardly refuses anything then, or hardly for a tag.
// Pure and thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "oneprobe/detail/generated/tag_refusals_table.hpp"
#include "oneprobe/map/plan.hpp"

namespace oneprobe::inline v0_1::detail {

/// E(y), of y arrivals per bucket: a cubic spline of the logarithms that ends straight, and goes on
/// so. For few arrivals E is a power of y, for many a bucket is full.
class tag_refusals {
 public:
  constexpr explicit tag_refusals(const tag_refusals_row& row) noexcept : row_(row) {
    constexpr std::size_t last = tag_refusals_row::knots - 1;
    std::array<double, last + 1> factor{};
    for (std::size_t i = 1; i < last; ++i) {
      const double change = -row.minus_logs[i + 1] + 2 * row.minus_logs[i] - row.minus_logs[i - 1];
      factor[i] = 1 / (4 - factor[i - 1]);
      bend_[i] = (change - bend_[i - 1]) * factor[i];
    }
    for (std::size_t i = last; i-- > 1;) bend_[i] -= factor[i] * bend_[i + 1];
  }

  constexpr bool is_of(table_workload workload, std::uint32_t bucket_capacity,
                       std::uint32_t group_slots) const noexcept {
    return row_.workload == workload && row_.bucket_capacity == bucket_capacity &&
           row_.group_slots == group_slots;
  }

  struct value {
    double fraction = 0;  // E(y)
    double slope = 0;     // y E'(y) / E(y)
  };
  value at(double arrivals) const noexcept {
    constexpr double last = tag_refusals_row::knots - 1;
    constexpr double step = tag_refusals_row::step;
    const double first = std::log(tag_refusals_row::fewest_arrivals * row_.bucket_capacity);
    const double place = (std::log(arrivals) - first) / step;
    const double inside = std::clamp(place, 0.0, last);
    const double left = std::min(std::floor(inside), last - 1);
    const auto i = static_cast<std::size_t>(left);
    const double b = inside - left, a = 1 - b;
    const double log_inside = -a * row_.minus_logs[i] - b * row_.minus_logs[i + 1] +
                              a * (a * a - 1) * bend_[i] + b * (b * b - 1) * bend_[i + 1];
    const double rise = row_.minus_logs[i] - row_.minus_logs[i + 1] + (1 - 3 * a * a) * bend_[i] +
                        (3 * b * b - 1) * bend_[i + 1];
    return {.fraction = std::exp(log_inside + rise * (place - inside)), .slope = rise / step};
  }

 private:
  tag_refusals_row row_;
  /// Second derivatives at the knots, over 6, with knots at a distance of 1.
  std::array<double, tag_refusals_row::knots> bend_{};
};

template <std::size_t... I>
constexpr std::array<tag_refusals, sizeof...(I)> tag_refusals_of_rows(
    std::index_sequence<I...>) noexcept {
  return {tag_refusals(tag_refusals_rows[I])...};
}

/// The refusals of a bucket of elements of so many bytes; none if nothing is refused for a tag.
inline const tag_refusals* tag_refusals_of(table_workload workload, std::uint32_t bucket_capacity,
                                           std::uint64_t slot_bytes) noexcept {
  static constexpr auto all =
      tag_refusals_of_rows(std::make_index_sequence<tag_refusals_rows.size()>());
  const std::uint32_t group_slots = group_slots_of(slot_bytes, bucket_capacity);
  const auto* found = std::find_if(all.begin(), all.end(), [&](const tag_refusals& one) {
    return one.is_of(workload, bucket_capacity, group_slots);
  });
  return found == all.end() ? nullptr : found;
}

}  // namespace oneprobe::inline v0_1::detail
