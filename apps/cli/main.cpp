// The command line tool. How a call ends, see exit_code.hpp.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "command.hpp"
#include "tool.hpp"

int main(int argc, char** argv) {
  using namespace oneprobe::cli;
  if (argc > 0) set_tool_name(argv[0]);
  const std::vector<std::string> call(argv + std::min(argc, 1), argv + argc);
  return static_cast<int>(run(call, {.answers = stdout, .complaints = stderr}));
}
