// `oneprobe reproduce`: every table and figure of the papers, computed again.
#pragma once

namespace CLI {
class App;
}

namespace oneprobe::cli {

void add_reproduce(CLI::App& app);

}  // namespace oneprobe::cli
