#include "filter/query_wish.hpp"

#include <fmt/format.h>

#include "filter/commands.hpp"

namespace oneprobe::cli {

query_wish read_wish(const arguments& in) {
  query_wish wish;
  wish.separator = read_separator(in);
  wish.wants_contained = !in.is_set(invert_option);
  if (in.is_set(count_option)) wish.print = query_wish::printing::count;
  if (in.is_set(json_output)) wish.print = query_wish::printing::nothing;
  return wish;
}

report answer_of(const query_totals& sum, const query_wish& wish) {
  const std::uint64_t surely_not = sum.keys - sum.contained;
  const std::uint64_t wanted = wish.wants_contained ? sum.contained : surely_not;
  report out("query");
  out.whole("keys", sum.keys)
      .whole("may_contain", sum.contained)
      .whole("surely_not", surely_not)
      .layout({});
  if (wish.print == query_wish::printing::count) print_now(fmt::format("{}\n", wanted));
  if (wanted == 0) out.negative();
  return out;
}

}  // namespace oneprobe::cli
