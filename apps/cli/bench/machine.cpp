#include "bench/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "oneprobe/detail/simd/isa.hpp"

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
  // NOLINTNEXTLINE(readability-redundant-string-init): it may be empty
  if (const std::string commit(ONEPROBE_BENCH_COMMIT); !commit.empty()) facts.commit = commit;
  return facts;
}

report object_of(const machine_facts& facts) {
  report out("");
  out.text("cpu", facts.cpu).whole("cores", facts.cores);
  out.numbers("load_average", facts.load_average, "");
  out.text("vector_instructions", facts.vector_instructions);
  out.text("compiler", facts.compiler).text("flags", facts.flags);
  if (facts.commit)
    out.text("commit", *facts.commit);
  else
    out.nothing("commit", "");
  return out;
}

std::string text_of(const machine_facts& facts) {
  constexpr std::size_t line_width = 80;
  return wrapped(fmt::format("{}, {} cores, load average {:.2f}; {}, {}; vector instructions: {}.",
                             facts.cpu, facts.cores, fmt::join(facts.load_average, ", "),
                             facts.compiler, facts.flags, facts.vector_instructions),
                 line_width, 0);
}

}  // namespace oneprobe::cli
