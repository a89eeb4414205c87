// `oneprobe plan`: needs in, parameters and predictions out.
#pragma once

namespace CLI {
class App;
}

namespace oneprobe::cli {

void add_plan(CLI::App& app);

}  // namespace oneprobe::cli
