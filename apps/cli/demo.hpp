// `oneprobe demo`: the main job end to end, on made-up data.
#pragma once

namespace CLI {
class App;
}

namespace oneprobe::cli {

void add_demo(CLI::App& app);

}  // namespace oneprobe::cli
