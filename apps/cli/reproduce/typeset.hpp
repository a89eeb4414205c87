// Formulas in running text, as a page and a drawing show them: "a_co" with a subscript, "e^-a" and
// "e^(2n/m)" with a superscript, "gamma_LB" with a Greek letter, "1.4e-07" with a power of ten. All
// else stays as it is.
#pragma once

#include <string>
#include <string_view>

namespace oneprobe::cli {

/// Text as it may stand in XML and HTML.
std::string escaped(std::string_view text);

/// The same with its formulas set, for HTML and for a text element of SVG.
std::string html_text(std::string_view text);
std::string svg_text(std::string_view text);

}  // namespace oneprobe::cli
