// What the printers of tools/gdb/oneprobe.py are shown.
#include <cstdint>
#include <oneprobe/filter/balanced.hpp>
#include <oneprobe/filter/standard.hpp>
#include <oneprobe/map/bounded_map.hpp>
#include <oneprobe/map/bounded_set.hpp>
#include <oneprobe/map/concurrent_map.hpp>

volatile int stopped = 0;

int main() {
  using namespace oneprobe;
  const seeded_hash hash(1);
  bounded_map<std::uint64_t, int> map(1'000, hash);
  map.insert(7, 70);
  bounded_set<std::uint64_t> set(1'000, hash);
  set.insert(1'234);
  set.insert(5'678);
  concurrent_map<std::uint64_t, std::uint64_t> shared(1'000, hash);
  shared.insert(1, 1);
  balanced_filter balanced(1'000, 1e-4, hash);
  balanced.insert(1);
  balanced.insert(2);
  standard_filter standard(1'000, 1e-2, hash);
  standard.insert(1);
  const key_hash hashed{0x2a};
  stopped = 1;  // gdb stops here
  return hashed.value == 0;
}
