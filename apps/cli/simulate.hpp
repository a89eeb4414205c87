// `oneprobe simulate`: a table filled or churned by the code of the products, beside the model.
#pragma once

namespace CLI {
class App;
}

namespace oneprobe::cli {

void add_simulate(CLI::App& app);

}  // namespace oneprobe::cli
