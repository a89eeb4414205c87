// `oneprobe model NAME`: any formula of the papers.
#pragma once

namespace CLI {
class App;
}

namespace oneprobe::cli {

void add_model(CLI::App& app);

}  // namespace oneprobe::cli
