// `oneprobe store build|get|put|erase|info`: records on disk, one page read per get.
#pragma once

namespace CLI {
class App;
}

namespace oneprobe::cli {

void add_store(CLI::App& app);

}  // namespace oneprobe::cli
