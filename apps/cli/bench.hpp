// `oneprobe bench`: what this machine makes of the filters, the bare memory and installed peers.
#pragma once

namespace CLI {
class App;
}

namespace oneprobe::cli {

void add_bench(CLI::App& app);

}  // namespace oneprobe::cli
