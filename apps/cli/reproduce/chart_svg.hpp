// Draws a chart as SVG: model as lines, simulation as marks with error bars, 720 units wide.
//
//   write(name + ".svg", svg_of(what, svg_use::standalone));
//
// Colours are those of Okabe and Ito, which stay apart for the colour-blind; every colour has a
// mark of its own shape as well. They follow the reader's light or dark background.
#pragma once

#include <string>

#include "reproduce/experiment.hpp"

namespace oneprobe::cli {

enum class svg_use {
  standalone,  // a file of its own
  inlined,     // inside a page that has chart_style() once
};

std::string svg_of(const chart& what, svg_use how);

/// The style sheet of all charts.
std::string chart_style();

}  // namespace oneprobe::cli
