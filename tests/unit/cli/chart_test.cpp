#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "reproduce/chart_axis.hpp"
#include "reproduce/chart_legend.hpp"
#include "reproduce/chart_svg.hpp"
#include "reproduce/typeset.hpp"

namespace {

using namespace oneprobe::cli;

span_of_values span(scale how, std::initializer_list<double> values) {
  span_of_values all(how);
  for (const double each : values) all.add(each);
  return all;
}

std::vector<std::string> labels(const axis& of) {
  std::vector<std::string> texts;
  for (const tick& each : of.ticks)
    if (!each.label.empty()) texts.push_back(each.label);
  return texts;
}

std::size_t times(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

using texts = std::vector<std::string>;

TEST(axis, has_ticks_at_round_numbers_and_takes_zero_in_if_it_is_near) {
  const axis y = fit_axis(span(scale::linear, {0.07, 0.62}), axis_ends::at_ticks);
  EXPECT_EQ(y.low, 0);
  EXPECT_NEAR(y.high, 0.7, 1e-12);
  EXPECT_EQ(labels(y), (texts{"0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"}));
  const axis far = fit_axis(span(scale::linear, {0.97, 1.02}), axis_ends::at_ticks);
  EXPECT_NEAR(far.low, 0.97, 1e-12);
}

TEST(axis, labels_whole_numbers_one_by_one) {
  const axis x = fit_axis(span(scale::linear, {0, 1, 2, 3, 4}), axis_ends::padded);
  EXPECT_EQ(labels(x), (texts{"0", "1", "2", "3", "4"}));
  EXPECT_LT(x.low, 0);
}

TEST(axis, a_logarithmic_one_has_decades) {
  const axis y = fit_axis(span(scale::logarithmic, {3e-6, 0.5}), axis_ends::at_ticks);
  EXPECT_EQ(labels(y), (texts{"10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰"}));
  EXPECT_NEAR(*y.share(1e-3), 0.5, 1e-9);
  const axis wide = fit_axis(span(scale::logarithmic, {1e-30, 1}), axis_ends::at_ticks);
  EXPECT_LE(labels(wide).size(), 9u);
  const axis narrow = fit_axis(span(scale::logarithmic, {2, 9}), axis_ends::at_ticks);
  EXPECT_GE(labels(narrow).size(), 4u);
}

TEST(axis, passes_over_what_it_cannot_show) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto values = span(scale::logarithmic, {0, -1, 10, 1000, infinity, std::nan("")});
  EXPECT_EQ(values.low(), 10);
  EXPECT_EQ(values.high(), 1000);
  const axis y = fit_axis(values, axis_ends::tight);
  EXPECT_FALSE(y.share(0));
  EXPECT_FALSE(y.share(infinity));
  EXPECT_TRUE(y.share(100));
}

TEST(axis, nothing_and_one_value_still_make_an_axis) {
  for (const scale how : {scale::linear, scale::logarithmic})
    for (const axis_ends ends :
         {axis_ends::tight, axis_ends::padded, axis_ends::at_ticks, axis_ends::at_zero})
      for (const auto& values : {span(how, {}), span(how, {3}), span(how, {1e-300})}) {
        const axis any = fit_axis(values, ends);
        EXPECT_LT(any.low, any.high);
        EXPECT_LT(any.ticks.size(), 100u);
      }
}

TEST(legend, stays_in_one_row_if_it_fits_and_keeps_families_together) {
  EXPECT_EQ(arrange({{50, 0}, {50, 1}}, 200, 20).rows, 1u);
  // One, then three pairs: the pairs are not split although three would fit in a row.
  const legend_layout layout =
      arrange({{50, 0}, {50, 1}, {50, 1}, {50, 2}, {50, 2}, {50, 3}, {50, 3}}, 200, 20);
  for (const std::size_t first : {1u, 3u, 5u})
    EXPECT_EQ(layout.places[first].row, layout.places[first + 1].row);
  EXPECT_EQ(arrange({{500, 0}, {500, 1}}, 200, 20).rows, 2u);
  EXPECT_EQ(arrange({}, 200, 20).rows, 0u);
}

TEST(typeset, sets_indices_and_powers_and_leaves_names_alone) {
  EXPECT_EQ(html_text("a_co < e^(2n/m)"), "a<sub>co</sub> &lt; e<sup>2n/m</sup>");
  EXPECT_EQ(html_text("gamma_LB, n^-2"), "γ<sub>LB</sub>, n<sup>-2</sup>");
  EXPECT_EQ(html_text("level_sizes, x ^ y, a_, ^2"), "level_sizes, x ^ y, a_, ^2");
  EXPECT_EQ(html_text("e^(open"), "e^(open");
  EXPECT_EQ(html_text("(1.4 ± 0.1)e-07, 2e12"), "(1.4 ± 0.1)×10<sup>−7</sup>, 2×10<sup>12</sup>");
  EXPECT_EQ(html_text("2 edges, 3e, 5e-x"), "2 edges, 3e, 5e-x");
  EXPECT_EQ(escaped("\"a\" & <b>\n"), "&quot;a&quot; &amp; &lt;b&gt; ");
  EXPECT_EQ(svg_text("f_1"), R"(f<tspan class="small" dy="3">1</tspan>)");
}

chart two_series() {
  return {
      .name = "test",
      .title = "A < B",
      .x_label = "x",
      .y_label = "y",
      .lines = {
          {.name = "model", .how = series::kind::line, .points = {{0, 1}, {1, 2}}},
          {.name = "simulation", .how = series::kind::marks, .points = {{0, 1, 0.1}, {1, 2, 0}}}}};
}

TEST(chart, draws_curves_marks_and_error_bars) {
  const std::string svg = svg_of(two_series(), svg_use::standalone);
  EXPECT_TRUE(svg.starts_with("<svg xmlns"));
  EXPECT_EQ(times(svg, "<path class=\"line\""), 2u);  // the curve and its sample in the legend
  EXPECT_EQ(times(svg, "class=\"mark\""), 3u);
  EXPECT_EQ(times(svg, "class=\"error\""), 1u);
  EXPECT_EQ(times(svg, "A &lt; B"), 2u);  // title of the drawing, title in it
  EXPECT_EQ(svg.find("nan"), svg.npos);
}

TEST(chart, inside_a_page_it_brings_no_style_and_no_addresses) {
  const std::string svg = svg_of(two_series(), svg_use::inlined);
  EXPECT_EQ(svg.find("<style"), svg.npos);
  EXPECT_EQ(svg.find("http"), svg.npos);
}

TEST(chart, series_without_a_colour_get_one_of_their_own) {
  chart what = two_series();
  what.lines[1].colour = 0;
  const std::string svg = svg_of(what, svg_use::inlined);
  // The simulation claims colour 0, so the model takes the next.
  EXPECT_LT(svg.find("<g class=\"c1\">\n<path class=\"line\""), svg.find("class=\"mark\""));
}

TEST(chart, a_curve_is_broken_where_a_logarithm_does_not_exist) {
  chart what = two_series();
  what.y_scale = scale::logarithmic;
  what.lines = {{.name = "model",
                 .how = series::kind::line,
                 .points = {{0, 1}, {1, 0.1}, {2, 0}, {3, 0.1}, {4, 1}}}};
  const std::string svg = svg_of(what, svg_use::inlined);
  const auto begin = svg.find("<path class=\"line\"");
  const std::string path = svg.substr(begin, svg.find("/>", begin) - begin);
  EXPECT_EQ(times(path, "M"), 2u);
  EXPECT_EQ(times(path, "L"), 2u);
}

TEST(chart, bars_stand_side_by_side) {
  chart what = two_series();
  what.lines = {{.name = "a", .how = series::kind::bars, .points = {{0, 1}, {1, 2}}},
                {.name = "b", .how = series::kind::bars, .points = {{0, 2}, {1, 1}}}};
  const std::string svg = svg_of(what, svg_use::inlined);
  EXPECT_EQ(times(svg, "<rect class=\"bar\""), 6u);  // four, and two in the legend
}

TEST(chart, one_without_points_is_still_a_drawing) {
  chart what = two_series();
  what.lines.clear();
  EXPECT_TRUE(svg_of(what, svg_use::inlined).ends_with("</svg>\n"));
}

}  // namespace
