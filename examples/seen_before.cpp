// Has this visitor been here before? A balanced filter answers from 21 bits per visitor: "no" is
// always right, "yes" is wrong once in 10,000 times.
//
//   seen_before [VISITORS]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <oneprobe/filter/balanced.hpp>
#include <oneprobe/key_hash.hpp>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace oneprobe;

constexpr double stated_error = 1e-4;

// In your program: a log, a queue, a crawl. Two visits per visitor on average, in no order.
std::string visitor_name(std::uint64_t number) { return "visitor-" + std::to_string(number); }
std::uint64_t visitor_of(std::uint64_t visit, std::uint64_t visitors) {
  return mix_bits(visit) % visitors;
}

// Keys are text here; numbers, bytes and plain structs do as well.
void insert_all_visits(balanced_filter& seen, std::uint64_t visitors) {
  std::vector<bool> truth(visitors);
  std::uint64_t first_visits = 0, returns = 0, called_returning = 0, called_new = 0;
  for (std::uint64_t visit = 0; visit < 2 * visitors; ++visit) {
    const std::uint64_t visitor = visitor_of(visit, visitors);
    const insert_outcome outcome = seen.insert(visitor_name(visitor));
    if (!truth[visitor]) {
      ++first_visits;
      called_returning += outcome == insert_outcome::possibly_present ? 1u : 0u;
    } else {
      ++returns;
      called_new += outcome == insert_outcome::added ? 1u : 0u;
    }
    truth[visitor] = true;
  }
  std::printf("%llu first visits, of which %llu were taken for returns\n",
              static_cast<unsigned long long>(first_visits),
              static_cast<unsigned long long>(called_returning));
  std::printf("%llu returns, of which %llu were taken for first visits\n\n",
              static_cast<unsigned long long>(returns),
              static_cast<unsigned long long>(called_new));
}

// Strangers' names, `count` of them from number `first` on: none is in the filter.
std::vector<std::string> strangers(std::uint64_t first, std::uint64_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i)
    names.push_back("stranger-" + std::to_string(first + i));
  return names;
}

// Many queries at once: the filter asks for memory ahead, and is several times faster than one
// after the other.
double found_fraction(const balanced_filter& seen, const std::vector<std::string>& names) {
  const auto answers = std::make_unique<bool[]>(names.size());
  const std::uint64_t found = seen.bulk_may_contain(names, std::span(answers.get(), names.size()));
  return static_cast<double>(found) / static_cast<double>(names.size());
}

void show(std::uint64_t visitors) {
  // A fixed seed, so that this program prints the same every time. Leave it out in yours: then
  // no client can know which keys collide.
  balanced_filter seen(visitors, stated_error, seeded_hash(20081));
  const filter_plan& plan = seen.plan();
  std::printf("%.1f bits per visitor, %.2f MiB, planned: %.2f accesses per absent key\n\n",
              plan.bits_per_element(), static_cast<double>(plan.memory().total()) / (1u << 20),
              plan.predicted.miss_accesses);

  insert_all_visits(seen, visitors);

  // More visitors than planned: nothing fails and nothing is lost, but the error grows.
  const std::vector<std::string> absent = strangers(0, 4 * visitors);
  std::printf("elements of plan  strangers found  error by stats()  accesses  condition\n");
  std::uint64_t more = 0;
  for (const double fill : {0.0, 1.0, 1.05, 1.2, 1.5}) {
    while (static_cast<double>(seen.counts().size) < fill * static_cast<double>(visitors))
      seen.insert("newcomer-" + std::to_string(more++));
    std::uint64_t accesses = 0;
    for (const std::string& name : absent) accesses += seen.explain(name).accesses;
    const filter_stats now = seen.stats();
    std::printf("%14.1f %%  %15.2e  %16.2e  %8.3f  %s\n",
                100 * static_cast<double>(now.counts.size) / static_cast<double>(visitors),
                found_fraction(seen, absent), now.current_fpr,
                static_cast<double>(accesses) / static_cast<double>(absent.size()),
                std::string(name_of(now.condition)).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const long long visitors = argc > 1 ? std::atoll(argv[1]) : 500'000;
    if (argc > 2 || visitors < 1000 || visitors > 100'000'000) {
      std::fprintf(stderr, "usage: seen_before [VISITORS], from 1000 to 100000000\n");
      return 2;
    }
    show(static_cast<std::uint64_t>(visitors));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "seen_before: %s\n", error.what());
    return 1;
  }
}
