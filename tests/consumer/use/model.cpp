#include <cstdio>
#include <oneprobe/model/overflow_bound.hpp>
#include <oneprobe/version.hpp>

int main() {
  const double accesses = 1.5;
  const double load_factor = 1.0;
  const unsigned bucket_capacity = 4;
  std::printf("oneprobe %s: overflow at least %.6f\n", ONEPROBE_VERSION_STRING,
              oneprobe::model::overflow_bound(accesses, load_factor, bucket_capacity));
}
