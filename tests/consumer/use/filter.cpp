#include <cstdio>
#include <numeric>
#include <oneprobe/filter/balanced.hpp>
#include <vector>

#if !ONEPROBE_COMPILED_FILTERS
#error "the headers are not told that the filters are compiled"
#endif

int main() {
  oneprobe::balanced_filter seen(1000, 1e-4, oneprobe::seeded_hash(1));
  std::vector<int> keys(1000);
  std::iota(keys.begin(), keys.end(), 0);
  seen.bulk_insert(keys);
  int found = 0;
  for (const int key : keys) found += seen.may_contain(key);
  std::printf("%d of %zu found\n", found, keys.size());
}
