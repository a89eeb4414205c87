#include "model/common.hpp"

#include <fmt/format.h>

namespace oneprobe::cli {

unsigned read_choices(const arguments& in, model::scheme_kind scheme) {
  if (scheme == model::scheme_kind::single) {
    in.ignore_whole(choices, 1, model::largest_choices);
    return 1;
  }
  return in.whole(choices);
}

scheme_on_table read_scheme_on_table(const arguments& in) {
  scheme_on_table table{};
  table.scheme =
      in.maybe_choice(scheme_of_all, all_schemes).value_or(model::scheme_kind::multilevel);
  table.load_factor = in.number(load_factor);
  table.bucket_capacity = in.whole(bucket_capacity);
  if (table.scheme != model::scheme_kind::multilevel || !in.has(level_fractions)) {
    table.choices = read_choices(in, table.scheme);
    return table;
  }
  table.level_fractions = in.numbers(level_fractions);
  table.choices =
      in.maybe_whole(choices).value_or(static_cast<unsigned>(table.level_fractions.size()));
  if (table.choices != table.level_fractions.size())
    throw usage_error(
        fmt::format("--level-fractions must have as many items as --choices, {}; found {}",
                    table.choices, table.level_fractions.size()));
  return table;
}

}  // namespace oneprobe::cli
