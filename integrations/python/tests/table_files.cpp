// The C++ side of table files that go to Python and back.
//
//   table_files write FILE      a map of i to 3 i, for i from -500 to 499
//   table_files sum FILE        prints how many elements there are, and the sum of their values
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/file.hpp"

int main(int count, char** arguments) {
  using map = oneprobe::bounded_map<std::int64_t, std::int64_t>;
  const std::string action = count == 3 ? arguments[1] : "";
  if (action == "write") {
    map table(1000);
    for (std::int64_t i = -500; i < 500; ++i) table.insert(i, 3 * i);
    return oneprobe::save(table, arguments[2], {.schema = 9}) ? 1 : 0;
  }
  if (action != "sum") return 2;
  const oneprobe::loaded<map> table = oneprobe::load<map>(arguments[2], {.schema = 9});
  if (!table) {
    std::fprintf(stderr, "%s\n", table.failure().sentence.c_str());
    return 1;
  }
  std::int64_t sum = 0;
  for (const auto& element : *table) sum += element.value;
  std::printf("%llu %lld\n", static_cast<unsigned long long>(table->size()),
              static_cast<long long>(sum));
  return 0;
}
