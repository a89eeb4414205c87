// The bulk calls of the library in C++, to set beside the same calls from Python.
//
//   cpp_bulk FILTER TABLE KEYS ROUNDS
//
// FILTER and TABLE are files that Python saved; keys are made as bulk_bench.py makes them. Prints
// JSON: seconds of CPU time for each call and round.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "oneprobe/filter/any_filter.hpp"
#include "oneprobe/hash/derive.hpp"
#include "oneprobe/table/bounded_map.hpp"
#include "oneprobe/table/file.hpp"

namespace {

using namespace oneprobe;
using map = bounded_map<std::int64_t, std::int64_t>;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
void time(const char* name, unsigned rounds, const char* end, Work work) {
  std::printf("\"%s\": [", name);
  for (unsigned round = 0; round < rounds; ++round) {
    const double start = cpu_seconds();
    work();
    std::printf("%s%.6f", round == 0 ? "" : ", ", cpu_seconds() - start);
  }
  std::printf("]%s", end);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return 2;
  const std::size_t keys_asked = std::strtoull(arguments[3], nullptr, 10);
  const auto rounds = static_cast<unsigned>(std::strtoul(arguments[4], nullptr, 10));
  loaded<any_filter> filter = load_any(arguments[1]);
  loaded<map> table = load<map>(arguments[2]);
  if (!filter || !table) return 1;

  std::vector<std::uint64_t> keys(keys_asked);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = mix_bits(i);
  const std::vector<std::int64_t> numbers(keys.begin(), keys.end());
  // Made anew in each round, as Python makes its arrays.
  std::printf("{\"compiler\": \"g++ %s\", ", __VERSION__);
  std::visit(
      [&](auto& held) {
        time("may_contain_many", rounds, ", ", [&] {
          const auto answers = std::make_unique<bool[]>(keys.size());
          held.bulk_may_contain(keys, std::span(answers.get(), keys.size()));
        });
        time("add_many", rounds, ", ", [&] {
          held.clear();
          held.bulk_insert(keys);
        });
      },
      *filter);
  time("find_many", rounds, ", ", [&] {
    std::vector<const map::value_type*> found(keys.size());
    std::vector<std::int64_t> values(keys.size());
    const auto there = std::make_unique<bool[]>(keys.size());
    std::as_const(*table).bulk_find(numbers, found);
    for (std::size_t i = 0; i < found.size(); ++i) {
      there[i] = found[i] != nullptr;
      values[i] = found[i] != nullptr ? found[i]->value : 0;
    }
  });
  time("assign_many", rounds, "}\n", [&] {
    table->clear();
    for (const std::int64_t key : numbers) table->insert_or_assign(key, key);
  });
  return 0;
}
