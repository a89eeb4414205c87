#include "explore.hpp"

#include <fmt/format.h>

#include <thread>

#include "command.hpp"
#include "explorer/answers.hpp"
#include "explorer/server.hpp"

namespace oneprobe::cli {
namespace {

constexpr option chosen_port{"--port", "N", "port to listen on (default: any that is free)"};

report answer(const arguments& in) {
  constexpr unsigned most = 65535;
  const unsigned port = in.maybe_whole(chosen_port, most).value_or(0);
  const auto listening = [](int found) {
    print_now(fmt::format("http://127.0.0.1:{}/\nCtrl-C ends it.\n", found));
    std::thread(explorer::warm_up).detach();
  };
  if (explorer::serve(static_cast<int>(port), explorer::answer, listening) ==
      explorer::outcome::port_taken)
    throw system_failure(port == 0
                             ? std::string("no port of 127.0.0.1 can be listened on")
                             : fmt::format("{} {} cannot be listened on: it is taken, or reserved",
                                           chosen_port.flag, port));
  return report("").layout("");
}

const command explore_command{
    .name = "explore",
    .summary = "the trade-offs of filters and tables as a web page on this machine",
    .details =
        "Serves a page on 127.0.0.1, for this machine alone, and prints its address: sliders for "
        "what is needed, charts of what it costs, and the plan as C++, as a command and as JSON. "
        "Every number is the planner's. Runs until Ctrl-C.",
    .source = "",
    .example = "--port 8080",
    .options = {{&chosen_port, need::optional}},
    .form = output_form::none,
    .answer = answer,
};

}  // namespace

void add_explore(CLI::App& app) { add_command(app, explore_command); }

}  // namespace oneprobe::cli
