// A table of loads, filled and churned by the plainest code there is: the witness that the
// predictions about finite tables are held to.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "oneprobe/model/churn.hpp"

struct table_shape {
  oneprobe::model::scheme_kind scheme;
  unsigned buckets;
  unsigned slots;
  unsigned choices;
  std::vector<double> level_fractions;  // multilevel; each a whole number of buckets
};

/// The same table as the models see it.
inline oneprobe::model::fluid_parameters filling(const table_shape& shape, double load_factor) {
  return {.scheme = shape.scheme,
          .load_factor = load_factor,
          .bucket_capacity = shape.slots,
          .choices = shape.choices,
          .level_fractions = shape.level_fractions};
}
inline oneprobe::model::churn_parameters churning(const table_shape& shape, double load_factor) {
  return {.scheme = shape.scheme,
          .load_factor = load_factor,
          .bucket_capacity = shape.slots,
          .choices = shape.choices,
          .level_fractions = shape.level_fractions};
}

class small_table {
 public:
  small_table(const table_shape& shape, std::uint64_t seed)
      : shape_(shape), random_(seed), loads_(shape.buckets, 0) {}

  /// The bucket that takes one more element; `buckets` for the overflow.
  unsigned place() {
    using oneprobe::model::scheme_kind;
    unsigned best = shape_.buckets;
    const unsigned tries = shape_.scheme == scheme_kind::single ? 1 : shape_.choices;
    const bool parallel =
        shape_.scheme == scheme_kind::d_random || shape_.scheme == scheme_kind::d_left;
    for (unsigned choice = 0; choice < tries; ++choice) {
      const unsigned candidate = draw(choice);
      if (loads_[candidate] >= shape_.slots) continue;
      if (best == shape_.buckets || loads_[candidate] < loads_[best]) best = candidate;
      if (!parallel) break;
    }
    if (best == shape_.buckets)
      ++overflow_;
    else
      ++loads_[best];
    return best;
  }

  void erase(unsigned bucket) {
    if (bucket == shape_.buckets)
      --overflow_;
    else
      --loads_[bucket];
  }

  double overflow() const { return overflow_; }
  unsigned below(std::uint64_t limit) { return static_cast<unsigned>(random_() % limit); }

 private:
  unsigned draw(unsigned choice) {
    using oneprobe::model::scheme_kind;
    unsigned first = 0, size = shape_.buckets;
    if (shape_.scheme == scheme_kind::d_left) {
      size = shape_.buckets / shape_.choices;
      first = choice * size;
    } else if (shape_.scheme == scheme_kind::multilevel) {
      for (unsigned level = 0; level < choice; ++level) first += level_size(level);
      size = level_size(choice);
    }
    return first + below(size);
  }
  unsigned level_size(unsigned level) const {
    return static_cast<unsigned>(std::lround(shape_.level_fractions[level] * shape_.buckets));
  }

  table_shape shape_;
  std::mt19937_64 random_;
  std::vector<unsigned> loads_;
  double overflow_ = 0;
};

/// Mean and standard deviation of what was added.
class sample {
 public:
  void add(double value) {
    ++count_;
    sum_ += value;
    squares_ += value * value;
  }
  double count() const { return count_; }
  double mean() const { return sum_ / count_; }
  double deviation() const { return std::sqrt(squares_ / count_ - mean() * mean()); }

 private:
  double count_ = 0, sum_ = 0, squares_ = 0;
};

/// The overflow of `tables` tables with seeds 1, 2, ..., each filled with `elements` elements.
inline sample overflow_of_filled(const table_shape& shape, unsigned elements, unsigned tables) {
  sample found;
  for (std::uint64_t seed = 1; seed <= tables; ++seed) {
    small_table table(shape, seed);
    for (unsigned i = 0; i < elements; ++i) table.place();
    found.add(table.overflow());
  }
  return found;
}

/// The overflow of five tables under churn, looked at every two residence times.
inline sample overflow_of_churning(const table_shape& shape, unsigned elements,
                                   unsigned looks_per_table) {
  constexpr int warm_up = 5;
  sample found;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    small_table table(shape, seed);
    std::vector<unsigned> where;
    for (unsigned i = 0; i < elements; ++i) where.push_back(table.place());
    for (int look = -warm_up; look < static_cast<int>(looks_per_table); ++look) {
      for (unsigned i = 0; i < 2 * elements; ++i) {
        unsigned& place = where[table.below(elements)];
        table.erase(place);
        place = table.place();
      }
      if (look >= 0) found.add(table.overflow());
    }
  }
  return found;
}
