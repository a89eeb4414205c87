// `oneprobe explore`.
#pragma once

namespace CLI {
class App;
}

namespace oneprobe::cli {

void add_explore(CLI::App& app);

}  // namespace oneprobe::cli
