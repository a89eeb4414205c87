#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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

struct spot {
  double x;
  double y;
};
using spots = std::vector<spot>;

/// An element of a drawing, and where its corners are; a path has several lists of them if it is
/// broken.
struct shape {
  std::string name;
  std::string attributes;
  std::string colour;  // class of the group that it is in
  std::vector<spots> pieces;

  std::string attribute(const std::string& of) const {
    std::smatch found;
    const bool there = std::regex_search(attributes, found, std::regex(' ' + of + "=\"([^\"]*)\""));
    return there ? found[1].str() : "";
  }
  bool is(std::string_view kind) const { return attribute("class") == kind; }
  spot least() const {
    return edge([](double a, double b) { return std::min(a, b); });
  }
  spot most() const {
    return edge([](double a, double b) { return std::max(a, b); });
  }
  spot centre() const { return {(least().x + most().x) / 2, (least().y + most().y) / 2}; }

 private:
  template <class Choose>
  spot edge(Choose choose) const {
    spot found = pieces.at(0).at(0);
    for (const spots& piece : pieces)
      for (const spot& each : piece) found = {choose(found.x, each.x), choose(found.y, each.y)};
    return found;
  }
};

std::vector<double> numbers_in(const std::string& text) {
  static const std::regex form("-?[0-9.]+");
  std::vector<double> found;
  for (std::sregex_iterator each(text.begin(), text.end(), form), end; each != end; ++each)
    found.push_back(std::stod(each->str()));
  return found;
}

/// Of paths that go to places, not by steps.
std::vector<spots> pieces_of_path(const std::string& path) {
  static const std::regex form("([A-Za-z])([^A-Za-z]*)");
  std::vector<spots> pieces;
  spot at{};
  for (std::sregex_iterator each(path.begin(), path.end(), form), end; each != end; ++each) {
    const char command = (*each)[1].str()[0];
    const std::vector<double> to = numbers_in((*each)[2]);
    if (command == 'M' || command == 'L') at = {to.at(0), to.at(1)};
    if (command == 'H') at.x = to.at(0);
    if (command == 'h') at.x += to.at(0);
    if (command == 'V') at.y = to.at(0);
    if (command == 'M') pieces.emplace_back();
    pieces.at(pieces.size() - 1).push_back(at);
  }
  return pieces;
}

std::vector<spots> pieces_of(const shape& each) {
  const auto number = [&](const char* name) { return numbers_in(each.attribute(name)).at(0); };
  if (each.name == "path") return pieces_of_path(each.attribute("d"));
  if (each.name == "polygon") {
    const std::vector<double> all = numbers_in(each.attribute("points"));
    spots corners;
    for (std::size_t i = 0; i + 1 < all.size(); i += 2) corners.push_back({all[i], all[i + 1]});
    return {corners};
  }
  if (each.name == "circle")
    return {{{number("cx") - number("r"), number("cy") - number("r")},
             {number("cx") + number("r"), number("cy") + number("r")}}};
  if (each.name == "rect" && !each.attribute("x").empty())
    return {{{number("x"), number("y")},
             {number("x") + number("width"), number("y") + number("height")}}};
  return {};
}

/// What a drawing shows between its axes; what is around it, the legend too, is left out.
std::vector<shape> shown_in(const std::string& svg) {
  static const std::regex tag("<(/?)(\\w+)([^>]*?)/?>");
  std::vector<shape> all;
  std::vector<std::string> groups;
  for (std::sregex_iterator each(svg.begin(), svg.end(), tag), end; each != end; ++each) {
    shape found{.name = (*each)[2], .attributes = (*each)[3], .colour = "", .pieces = {}};
    if (found.name == "g" && (*each)[1].length() != 0) groups.pop_back();
    if (found.name == "g" && (*each)[1].length() == 0) groups.push_back(found.attribute("class"));
    if ((*each)[1].length() != 0) continue;
    found.pieces = pieces_of(found);
    for (const std::string& group : groups)
      if (!group.empty()) found.colour = group;
    if (!found.pieces.empty()) all.push_back(found);
  }
  const auto axis =
      std::find_if(all.begin(), all.end(), [](const shape& each) { return each.is("axis"); });
  if (axis == all.end()) throw std::runtime_error("a drawing without axes");
  const spot least = axis->least(), most = axis->most();
  std::erase_if(all, [&](const shape& each) {
    return each.is("axis") || each.least().x < least.x - 1 || each.most().x > most.x + 1 ||
           each.centre().y < least.y - 1 || each.most().y > most.y + 1;
  });
  return all;
}

std::vector<shape> of_kind(const std::vector<shape>& all, std::string_view kind) {
  std::vector<shape> found;
  for (const shape& each : all)
    if (each.is(kind)) found.push_back(each);
  return found;
}

// Half a unit of a drawing that is 720 wide: what is rounded is nearer.
constexpr double near = 0.5;

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
  const auto shown = shown_in(svg);
  const auto curves = of_kind(shown, "line"), marks = of_kind(shown, "mark");
  ASSERT_EQ(curves.size(), 1u);
  ASSERT_EQ(marks.size(), 2u);
  // Both have the same numbers, so marks are on the corners of the curve, which rises.
  const spots corners = curves[0].pieces.at(0);
  ASSERT_EQ(corners.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(marks[i].centre().x, corners[i].x, near);
    EXPECT_NEAR(marks[i].centre().y, corners[i].y, near);
  }
  EXPECT_LT(corners[0].x + 100, corners[1].x);
  EXPECT_GT(corners[0].y, corners[1].y + 100);
  // A tenth of the way from the one to the other on either side.
  const auto errors = of_kind(shown, "error");
  ASSERT_EQ(errors.size(), 1u);
  const double tenth = (corners[0].y - corners[1].y) / 10;
  EXPECT_NEAR(errors[0].centre().x, corners[0].x, near);
  EXPECT_NEAR(errors[0].least().y, corners[0].y - tenth, near);
  EXPECT_NEAR(errors[0].most().y, corners[0].y + tenth, near);
  for (const std::string_view name : {"model", "simulation"}) EXPECT_EQ(times(svg, name), 1u);
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
  const auto shown = shown_in(svg);
  // The simulation claims the first colour, so the model takes the next.
  EXPECT_EQ(of_kind(shown, "mark").at(0).colour, "c0");
  EXPECT_EQ(of_kind(shown, "line").at(0).colour, "c1");
}

TEST(chart, a_curve_is_broken_where_a_logarithm_does_not_exist) {
  chart what = two_series();
  what.y_scale = scale::logarithmic;
  what.lines = {{.name = "model",
                 .how = series::kind::line,
                 .points = {{0, 1}, {1, 0.1}, {2, 0}, {3, 0.1}, {4, 1}}}};
  const auto curves = of_kind(shown_in(svg_of(what, svg_use::inlined)), "line");
  ASSERT_EQ(curves.size(), 1u);
  ASSERT_EQ(curves[0].pieces.size(), 2u);
  const spots before = curves[0].pieces[0], after = curves[0].pieces[1];
  ASSERT_EQ(before.size(), 2u);
  ASSERT_EQ(after.size(), 2u);
  // Each goes from one number to the next; between them there is room for the one that is missing.
  const double step = before[1].x - before[0].x;
  EXPECT_GT(step, 50);
  EXPECT_NEAR(after[0].x - before[1].x, 2 * step, 2 * near);
  EXPECT_NEAR(after[1].x - after[0].x, step, near);
  EXPECT_NEAR(before[0].y, after[1].y, near);
  EXPECT_NEAR(before[1].y, after[0].y, near);
}

TEST(chart, bars_stand_side_by_side) {
  chart what = two_series();
  what.lines = {{.name = "a", .how = series::kind::bars, .points = {{0, 1}, {1, 2}}},
                {.name = "b", .how = series::kind::bars, .points = {{0, 2}, {1, 1}}}};
  const auto bars = of_kind(shown_in(svg_of(what, svg_use::inlined)), "bar");
  ASSERT_EQ(bars.size(), 4u);  // first those of a
  const auto height = [&](std::size_t i) { return bars[i].most().y - bars[i].least().y; };
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(bars[i].most().y, bars[0].most().y, near) << "they stand on one line";
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_TRUE(bars[i].least().x > bars[j].most().x - near ||
                  bars[j].least().x > bars[i].most().x - near);
  }
  EXPECT_NEAR(bars[2].least().x, bars[0].most().x, near) << "those of one group touch";
  EXPECT_NEAR(bars[3].least().x, bars[1].most().x, near);
  EXPECT_GT(height(0), 50);
  EXPECT_NEAR(height(1), 2 * height(0), 2 * near);
  EXPECT_NEAR(height(2), height(1), near);
  EXPECT_NEAR(height(3), height(0), near);
}

TEST(chart, one_without_points_is_still_a_drawing) {
  chart what = two_series();
  what.lines.clear();
  EXPECT_TRUE(svg_of(what, svg_use::inlined).ends_with("</svg>\n"));
}

}  // namespace
