// The report of `oneprobe demo`: one HTML page that needs nothing else.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "demo/findings.hpp"

namespace oneprobe::cli::demo {

/// One line of a comparison. Empty: there is nothing to say.
struct compared {
  std::string_view what;
  std::string predicted;
  std::string measured;
  std::string beside;
};

/// The same lines for the terminal and for the page.
std::vector<compared> filter_lines(const filter_findings& found);
std::vector<compared> table_lines(const table_findings& found);
/// What depends on the machine and the hour: predicted stays empty.
std::vector<compared> time_lines(const filter_findings& names, const table_findings& flows);

/// "fingerprint, 16.38 bits per name, 27,450 + 4,036 + 495 blocks of 512 bits".
std::string filter_choice(const filter_findings& found);
std::string table_choice(const table_findings& found);

/// What to try next, as arguments of the tool.
inline constexpr std::array<std::string_view, 3> next_steps{
    "plan filter --elements 100M --fpr 1e-5", "filter build KEYS -o FILE", "explore"};

/// `tool` is what to type for it.
std::string page_of(const filter_findings& names, const table_findings& flows,
                    std::string_view tool);

}  // namespace oneprobe::cli::demo
