#include <cstdio>
#include <oneprobe/sim/simulate.hpp>

int main() {
  using namespace oneprobe;
  const sim::findings found = sim::simulate({.scheme = scheme_kind::sequential,
                                             .buckets = 1000,
                                             .choices = 4,
                                             .bucket_capacity = 4,
                                             .elements = 4000,
                                             .trials = 2,
                                             .threads = 2});
  std::printf("overflow %.6f\n", found.end().overflow_fraction.mean);
}
