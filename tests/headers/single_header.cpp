// The single header in use, with nothing else of ours on the include path.
#include <cstdint>
#include <cstdio>
#include <string>

#include <oneprobe_single.hpp>

int main() {
  oneprobe::balanced_filter seen(1'000, 1e-4);
  seen.insert("a name");
  oneprobe::bounded_map<std::string, std::uint64_t> counts(1'000);
  counts.insert("a name", 7);
  oneprobe::concurrent_map<std::uint64_t, std::uint64_t> shared(1'000);
  shared.insert(1, 2);
  const bool right = seen.may_contain("a name") && counts.find("a name")->value == 7 &&
                     shared.find(1) == 2u && !shared.find(2);
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
