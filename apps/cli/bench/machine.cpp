#include "bench/machine.hpp"

#include <cstdlib>
#include <fstream>
#include <thread>

#include "oneprobe/core/simd.hpp"

namespace oneprobe::cli {
namespace {

std::string processor_name() {
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

machine_facts describe_machine() {
  machine_facts facts{.cpu = processor_name(),
                      .cores = std::thread::hardware_concurrency(),
                      .load_average = std::vector<double>(3),
                      .vector_instructions = std::string(name_of(simd_in_use())),
                      .compiler = ONEPROBE_BENCH_COMPILER,
                      .flags = ONEPROBE_BENCH_FLAGS};
  const int found = getloadavg(facts.load_average.data(), 3);
  facts.load_average.resize(static_cast<std::size_t>(found < 0 ? 0 : found));
  if (const std::string commit(ONEPROBE_BENCH_COMMIT); !commit.empty()) facts.commit = commit;
  return facts;
}

}  // namespace oneprobe::cli
