// `oneprobe filter build|query|info`: files of keys to a filter file, and answers from it.
#pragma once

namespace CLI {
class App;
}

namespace oneprobe::cli {

void add_filter(CLI::App& app);

}  // namespace oneprobe::cli
