// Document 001, SSH.

#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/crisis.hpp"
#include "oneprobe/model/reconstruction.hpp"
#include "oneprobe/model/summary.hpp"
#include "registry.hpp"

namespace reference {
namespace {

using namespace oneprobe::model;

const level_sizes table_1{30000, 15000, 7500, 3750, 1875};
const level_sizes table_2{40000, 10000, 5000, 2500, 2500};
const level_sizes large{400000, 100000, 50000, 25000, 12500, 12500};

/// The calculator runs for a second on the large table: once is enough.
const crisis_result& exact_10k_first() {
  static const crisis_result result = crisis(10000, table_1);
  return result;
}
const crisis_result& exact_10k() {
  static const crisis_result result = crisis(10000, table_2);
  return result;
}
const crisis_result& exact_100k() {
  static const crisis_result result = crisis(100000, large);
  return result;
}

const count_distribution& left(const arguments& a) {
  const auto level = static_cast<std::size_t>(a.key()[a.key().find("S_") + 2] - '0');
  const bool small = a.key().find("(10k)") != std::string::npos;
  return (small ? exact_10k() : exact_100k()).left_after.at(level);
}

numbers at(const count_distribution& left, std::initializer_list<std::uint64_t> counts) {
  numbers result;
  for (const std::uint64_t count : counts) result.push_back(left.at(count));
  return result;
}

summary_error single_10k(std::uint64_t cells, unsigned hashes) {
  return single_filter_summary(10000, table_2, cells, hashes);
}
const summary_error& multi_10k() {
  static const summary_error result =
      multi_filter_summary(10000, table_2, level_sizes{106000, 87500, 5500, 500, 100},
                           std::vector<unsigned>{7, 49, 49, 49, 49});
  return result;
}
const summary_error& single_100k() {
  static const summary_error result = single_filter_summary(100000, large, 1200000, 15);
  return result;
}
summary_error multi_100k(std::uint64_t third) {
  return multi_filter_summary(100000, large, level_sizes{1060000, 875000, third, 1000, 1000, 1000},
                              std::vector<unsigned>{7, 49, 49, 49, 49, 49});
}

/// [[filter, bits, f], ...]: the failure bound of one filter at a time.
numbers by_filter(const numbers& expected) {
  numbers result;
  for (std::size_t i = 0; i + 2 < expected.size(); i += 3) {
    level_sizes bits{1060000, 875000, 55000, 1000, 1000, 1000};
    const auto filter = static_cast<std::size_t>(expected[i]);
    bits[filter] = static_cast<std::uint64_t>(expected[i + 1]);
    const summary_error summary =
        multi_filter_summary(100000, large, bits, std::vector<unsigned>{7, 49, 49, 49, 49, 49});
    result.insert(result.end(),
                  {expected[i], expected[i + 1], summary.failure_per_level.at(filter - 1)});
  }
  return result;
}

}  // namespace

void add_ssh(registry& all) {
  all.add("001/p_{j,m,b}(", exact, [](const arguments& a, const numbers& expected) {
    const count_distribution occupied = occupied_bins(a.whole("j"), a.whole("m"));
    numbers result;
    for (std::size_t b = 0; b < expected.size(); ++b) result.push_back(occupied.at(b));
    return result;
  });
  all.add("001/q_l(", exact, [](const arguments& a, const numbers&) {
    return numbers{misdirection_probability(a.number("m"), a.whole("k"), a.number("l"))};
  });
  all.add("001/TableI_exact", exact,
          [](const arguments&, const numbers&) { return exact_10k_first().expected_per_level; });
  all.add("001/TableI_approx_(1-1/b)^a", exact,
          [](const arguments&, const numbers&) { return exact_10k_first().approximate_per_level; });
  all.add("001/TableI_approx_exp", exact, [](const arguments&, const numbers&) {
    return approximate_per_level(10000, table_1, approximation::exponential);
  });
  all.add("001/TableII_exact", exact,
          [](const arguments&, const numbers&) { return exact_10k().expected_per_level; });
  all.add("001/TableII_approx_(1-1/b)^a", exact,
          [](const arguments&, const numbers&) { return exact_10k().approximate_per_level; });
  all.add("001/TableII_approx_exp", exact, [](const arguments&, const numbers&) {
    return approximate_per_level(10000, table_2, approximation::exponential);
  });
  all.add("001/crisis(n=10000,sizes=30000", exact, [](const arguments&, const numbers&) {
    return numbers{exact_10k_first().crisis_probability};
  });
  for (const char* prefix : {"001/crisis(n=10000,sizes=40000", "001/crisis(10k MHT)"})
    all.add(prefix, exact, [](const arguments&, const numbers&) {
      return numbers{exact_10k().crisis_probability};
    });
  all.add("001/crisis(100k MHT)", exact, [](const arguments&, const numbers&) {
    return numbers{exact_100k().crisis_probability};
  });
  all.add("001/E|S_", exact,
          [](const arguments& a, const numbers&) { return numbers{left(a).mean()}; });
  all.add("001/sd|S_", exact,
          [](const arguments& a, const numbers&) { return numbers{left(a).standard_deviation()}; });
  all.add("001/Pr|S_1|=1132,1152,1172", exact, [](const arguments& a, const numbers&) {
    return at(left(a), {1132, 1152, 1172});
  });
  all.add("001/Pr|S_2|=44,64,84", exact, [](const arguments& a, const numbers&) {
    return at(left(a), {44, 64, 84});
  });
  for (const char* prefix : {"001/Pr|S_3|=0..6", "001/Pr|S_4|=0..6", "001/Pr|S_5|=0..6"})
    all.add(prefix, exact, [](const arguments& a, const numbers&) {
      return at(left(a), {0, 1, 2, 3, 4, 5, 6});
    });
  all.add("001/SF_fail_f_i(10k", exact, [](const arguments&, const numbers&) {
    return single_10k(120000, 15).failure_per_level;
  });
  all.add("001/SF_fail_f_i(100k", exact,
          [](const arguments&, const numbers&) { return single_100k().failure_per_level; });
  all.add("001/SF_fail(10k,m=100000,k=10)", exact, [](const arguments&, const numbers&) {
    return numbers{single_10k(100000, 10).failure_probability};
  });
  all.add("001/SF_fpp(10k)", exact, [](const arguments&, const numbers&) {
    return numbers{single_10k(120000, 15).false_positive_probability};
  });
  all.add("001/SF_fpp(100k)", exact, [](const arguments&, const numbers&) {
    return numbers{single_100k().false_positive_probability};
  });
  all.add("001/MBF_fail_f_i(10k)", exact,
          [](const arguments&, const numbers&) { return multi_10k().failure_per_level; });
  all.add("001/MBF_fpp_unpartitioned(10k)", exact, [](const arguments&, const numbers&) {
    return numbers{multi_10k().false_positive_probability};
  });
  all.add("001/MBF_fpp_unpartitioned(100k)", exact, [](const arguments&, const numbers&) {
    return numbers{multi_100k(55000).false_positive_probability};
  });
  all.add("001/MBF100k_f_by_(filter,bits)", exact,
          [](const arguments&, const numbers& expected) { return by_filter(expected); });
  all.add("001/MBF_fail_plus_crisis(100k,1.06m,875k,55k,", exact,
          [](const arguments&, const numbers&) {
            const summary_error e = multi_100k(55000);
            return numbers{e.failure_probability + e.crisis_probability};
          });
  all.add("001/MBF_fail_plus_crisis(100k,1.06m,875k,550k,", exact,
          [](const arguments&, const numbers&) {
            const summary_error e = multi_100k(550000);
            return numbers{e.failure_probability + e.crisis_probability};
          });
  all.add("001/IS_fail(", exact, [](const arguments& a, const numbers&) {
    return numbers{interpolation_failure(a.number("n"), a.whole("b"))};
  });
  all.add("001/IS_fpp(", exact, [](const arguments& a, const numbers&) {
    return numbers{interpolation_false_positive(a.number("n"), a.whole("b"))};
  });
  all.add("001/Song_fpp(", exact, [](const arguments& a, const numbers&) {
    return numbers{
        song_summary(a.number("n"), a.number("m"), a.whole("d"), 3).false_positive_probability};
  });
  all.add("001/E[M'] random deletions", exact, [](const arguments&, const numbers&) {
    return numbers{expected_moves(table_2, 9090, 0.1, deletion_order::uniform)};
  });
  all.add("001/E[M'] first-sub-table deletions", exact, [](const arguments&, const numbers&) {
    return numbers{expected_moves(table_2, 9090, 0.1, deletion_order::first_level)};
  });
  all.add("001/expected #counters>=v in 1e6 builds, B0", exact,
          [](const arguments&, const numbers&) {
            numbers result;
            for (const unsigned value : {11u, 12u, 13u, 14u, 16u})
              result.push_back(1e6 * expected_counters_at_least(106000, 10000, 7, value));
            return result;
          });
}

}  // namespace reference
