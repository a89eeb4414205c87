// Options that several models share, each with one name and one meaning.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "command.hpp"
#include "oneprobe/model/fluid.hpp"

namespace oneprobe::cli {

// Tables.
inline constexpr option load_factor{"--load-factor", "C", "elements per slot, c = n / (m h)"};
inline constexpr option bucket_capacity{"--bucket-capacity", "H", "slots per bucket, h"};
inline constexpr option choices{"--choices", "D", "candidate buckets per element, d"};
inline constexpr option level_fractions{"--level-fractions", "X,Y,...",
                                        "share of the buckets in each level, summing to 1"};
inline constexpr option accesses{"--accesses", "A", "mean bucket accesses per element, a"};
inline constexpr option overflow{"--overflow", "G",
                                 "fraction of the elements that may overflow, gamma"};
inline constexpr option elements_per_bucket{"--elements-per-bucket", "R", "mean load, r = n / m"};
inline constexpr option admit_probability{
    "--admit-probability", "P", "a bucket that holds H admits one more with this probability"};

// Counts: 10M, 1e8, 64Ki.
inline constexpr option elements{"--elements", "N", "number of elements; 10M and 1e8 are numbers"};
inline constexpr option levels{"--levels", "A,B,...", "buckets in each level, of one slot each"};

inline constexpr option scheme_of_three{"--scheme", "NAME", "single, sequential or multilevel"};
inline constexpr option scheme_of_all{"--scheme", "NAME",
                                      "single, sequential, multilevel, d-random or d-left"};

inline constexpr std::array<word<model::scheme_kind>, 3> placement_schemes{{
    {"single", model::scheme_kind::single},
    {"sequential", model::scheme_kind::sequential},
    {"multilevel", model::scheme_kind::multilevel},
}};
inline constexpr std::array<word<model::scheme_kind>, 5> all_schemes{{
    {"single", model::scheme_kind::single},
    {"sequential", model::scheme_kind::sequential},
    {"multilevel", model::scheme_kind::multilevel},
    {"d-random", model::scheme_kind::d_random},
    {"d-left", model::scheme_kind::d_left},
}};

/// What `fluid`, `churn` and `finite-size` have in common: a scheme on a table.
struct scheme_on_table {
  model::scheme_kind scheme;
  double load_factor;
  unsigned bucket_capacity;
  unsigned choices;
  std::vector<double> level_fractions;  // empty: not multilevel, or to be chosen by the caller
};

/// Reads it. `single` needs no --choices; multilevel takes them from --level-fractions.
scheme_on_table read_scheme_on_table(const arguments& in);

/// d, if the scheme has a choice; 1 for single, whatever was given.
unsigned read_choices(const arguments& in, model::scheme_kind scheme);

// The commands, one file each or per small family.
extern const command overflow_bound_command;
extern const command cutoff_command;
extern const command fluid_command;
extern const command least_overflow_command;
extern const command finite_size_command;
extern const command churn_command;
extern const command balance_bound_command;
extern const command balance_command;
extern const command filter_command;
extern const command crisis_command;
extern const command summary_command;
extern const command reconstruction_command;
extern const command balls_command;

}  // namespace oneprobe::cli
