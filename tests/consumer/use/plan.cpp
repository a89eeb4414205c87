#include <cstdio>
#include <oneprobe/plan/table.hpp>

int main() {
  const oneprobe::table_proposal proposal = oneprobe::plan_table({.elements = 1'000'000});
  if (!proposal.plan) return 1;
  std::printf("%u choices\n", proposal.plan->choices);
}
