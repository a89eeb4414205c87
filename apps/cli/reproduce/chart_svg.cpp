#include "reproduce/chart_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "output.hpp"
#include "reproduce/chart_axis.hpp"
#include "reproduce/chart_legend.hpp"
#include "reproduce/typeset.hpp"

namespace oneprobe::cli {
namespace {

// Lengths are in units of the drawing; a browser shows it about 700 pixels wide.
constexpr double drawing_width = 720;
constexpr double plot_height = 310;
constexpr double margin = 14;
constexpr double text_size = 12.5;
constexpr double title_size = 15.5;
constexpr double line_height = 19;
constexpr double mark_radius = 4;
constexpr double small_mark_radius = 2.6;
constexpr std::size_t many_marks = 60;
// Mean width of a letter as a share of its size, on the safe side for the usual sans-serif fonts.
constexpr double letter_width = 0.56;
constexpr double bold_letter_width = 0.6;

struct two_colours {
  const char* light;
  const char* dark;
};
// Okabe and Ito's set without its yellow, which is lost on white, and with a grey for its black;
// on a dark background the same hues, lighter.
constexpr std::array<two_colours, 7> palette{{
    {"#0072B2", "#58B0EC"},
    {"#D55E00", "#FF8C4A"},
    {"#009E73", "#2FCBA0"},
    {"#B65A92", "#E79CC8"},
    {"#C98700", "#F2B93B"},
    {"#3D3D3D", "#D5D5D5"},
    {"#4E9FD1", "#9AD3F5"},
}};

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

double width_of(std::string_view text) {
  return static_cast<double>(letters(text)) * letter_width * text_size;
}

struct place {
  double x;
  double y;
};

/// The mark of a colour: its outline around the origin.
std::string mark_at(place at, std::size_t colour, double r) {
  const auto polygon = [&](std::initializer_list<place> corners) {
    std::string points;
    for (const place corner : corners)
      points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", at.x + r * corner.x,
                            at.y + r * corner.y);
    return fmt::format(R"svg(<polygon class="mark" points="{}"/>)svg", points);
  };
  switch (colour % palette.size()) {
    case 0:
      return fmt::format(R"svg(<circle class="mark" cx="{:.1f}" cy="{:.1f}" r="{}"/>)svg", at.x,
                         at.y, r);
    case 1:
      return polygon({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case 2:
      return polygon({{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}});
    case 3:
      return polygon({{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}});
    case 4:
      return polygon({{0, 1.2}, {1.1, -0.8}, {-1.1, -0.8}});
    case 5:
      return polygon({{-1.2, 0}, {0.8, 1.1}, {0.8, -1.1}});
    default:
      return polygon({{1.2, 0}, {-0.8, 1.1}, {-0.8, -1.1}});
  }
}

/// The colour of each series: its own, or the first that no other one claims.
std::vector<std::size_t> colours_of(const std::vector<series>& lines) {
  const auto claimed = [&](std::size_t colour) {
    return std::any_of(lines.begin(), lines.end(), [colour](const series& each) {
      return each.colour >= 0 && static_cast<std::size_t>(each.colour) == colour;
    });
  };
  std::vector<std::size_t> colours;
  std::size_t next = 0;
  for (const series& each : lines) {
    if (each.colour >= 0) {
      colours.push_back(static_cast<std::size_t>(each.colour));
    } else {
      while (claimed(next)) ++next;
      colours.push_back(next++);
    }
  }
  return colours;
}

/// A name in the legend, and the series that share it and their colour.
struct legend_name {
  std::string_view text;
  std::vector<std::size_t> series;
};

// A sample of the line or mark, before its name.
constexpr double sample_width = 26;
constexpr double sample_gap = 7;
constexpr double entry_gap = 20;

class drawing {
 public:
  drawing(const chart& what, svg_use how)
      : chart_(what), how_(how), colours_(colours_of(what.lines)) {
    fit();
    lay_out();
  }

  std::string text() {
    grid();
    for (const series::kind kind :
         {series::kind::bars, series::kind::steps, series::kind::line, series::kind::marks})
      for (std::size_t i = 0; i < chart_.lines.size(); ++i)
        if (chart_.lines[i].how == kind) draw(i);
    labels();
    legend();
    return opening() + body_ + "</svg>\n";
  }

 private:
  // --- what is shown ---------------------------------------------------------------------------

  bool has(series::kind kind) const {
    return std::any_of(chart_.lines.begin(), chart_.lines.end(),
                       [kind](const series& each) { return each.how == kind; });
  }

  void fit() {
    span_of_values across(chart_.x_scale), upward(chart_.y_scale);
    for (const series& each : chart_.lines)
      for (const point& at : each.points) {
        across.add(at.x);
        upward.add(at.y);
        if (chart_.y_scale == scale::linear && at.error > 0) {
          // What is a share or a count stays above zero, whatever its error.
          upward.add(at.y >= 0 ? std::max(0.0, at.y - at.error) : at.y - at.error);
          upward.add(at.y + at.error);
        }
      }
    const bool bars = has(series::kind::bars);
    if (bars) measure_bars(across);
    x_ = fit_axis(across, bars || has(series::kind::marks) ? axis_ends::padded : axis_ends::tight);
    y_ = fit_axis(upward, bars ? axis_ends::at_zero : axis_ends::at_ticks);
  }

  /// The room of one group of bars, from the least distance of two of them.
  void measure_bars(span_of_values& across) {
    std::vector<double> xs;
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      if (chart_.lines[i].how != series::kind::bars) continue;
      bar_place_.emplace(colours_[i], bar_place_.size());
      for (const point& at : chart_.lines[i].points) xs.push_back(at.x);
    }
    if (xs.empty()) return;
    std::sort(xs.begin(), xs.end());
    double least = 0;
    for (std::size_t i = 1; i < xs.size(); ++i)
      if (xs[i] > xs[i - 1] && (least == 0 || xs[i] - xs[i - 1] < least)) least = xs[i] - xs[i - 1];
    bar_room_ = least > 0 ? least : 1;
    if (chart_.x_scale == scale::linear) across.make_room(bar_room_ / 2);
  }

  /// Bars side by side, and marks of the same colour above the bar they belong to.
  double bar_shift(std::size_t index) const {
    const auto found = bar_place_.find(colours_[index]);
    if (found == bar_place_.end() || chart_.x_scale != scale::linear) return 0;
    const series::kind kind = chart_.lines[index].how;
    if (kind != series::kind::bars && kind != series::kind::marks) return 0;
    const double middle = (static_cast<double>(bar_place_.size()) - 1) / 2;
    return (static_cast<double>(found->second) - middle) * bar_width();
  }
  double bar_width() const { return 0.8 * bar_room_ / static_cast<double>(bar_place_.size()); }

  // --- where it is shown -----------------------------------------------------------------------

  void lay_out() {
    title_lines_ =
        lines_of(chart_.title, drawing_width - 2 * margin, bold_letter_width * title_size);
    double widest = 0;
    for (const tick& each : y_.ticks) widest = std::max(widest, width_of(each.label));
    left_ = margin + line_height + widest + 10;
    right_ = drawing_width - margin - 10;
    const double title_height = static_cast<double>(title_lines_.size()) * (line_height + 2);
    legend_top_ = margin + title_height + 4;
    arrange_legend();
    top_ = legend_top_ + static_cast<double>(legend_.rows) * line_height + 10;
    bottom_ = top_ + plot_height;
    height_ = bottom_ + 52;
  }

  static std::vector<std::string> lines_of(std::string_view text, double width, double letter) {
    std::vector<std::string> lines;
    std::string rest = wrapped(text, static_cast<std::size_t>(width / letter), 0);
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      lines.push_back(rest.substr(0, end));
      rest.erase(0, end + 1);
    }
    return lines;
  }

  void arrange_legend() {
    std::vector<legend_entry> entries;
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      const std::string_view name = chart_.lines[i].name;
      if (name.empty()) continue;
      const auto same = std::find_if(names_.begin(), names_.end(), [&](const legend_name& each) {
        return each.text == name && colours_[each.series.front()] == colours_[i];
      });
      if (same != names_.end()) {
        same->series.push_back(i);
      } else {
        names_.push_back({name, {i}});
        entries.push_back({sample_width + sample_gap + width_of(name), colours_[i]});
      }
    }
    legend_ = arrange(entries, right_ - left_, entry_gap);
  }

  std::optional<place> at(double x, double y) const {
    const auto across = x_.share(x), upward = y_.share(y);
    if (!across || !upward) return std::nullopt;
    return place{left_ + *across * (right_ - left_), bottom_ - *upward * (bottom_ - top_)};
  }

  // --- drawing ---------------------------------------------------------------------------------

  template <class... Args>
  void put(fmt::format_string<Args...> form, Args&&... args) {
    fmt::format_to(std::back_inserter(body_), form, std::forward<Args>(args)...);
    body_ += '\n';
  }

  std::string opening() const {
    const std::string label = escaped(chart_.title);
    if (how_ == svg_use::inlined)
      return fmt::format(
          R"svg(<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {} {:.0f}">)svg"
          "\n",
          label, drawing_width, height_);
    return fmt::format(
        R"svg(<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" width="{0}" height="{1:.0f}" viewBox="0 0 {0} {1:.0f}">)svg"
        "\n<title>{2}</title>\n<style>{3}</style>\n"
        R"svg(<rect class="ground" width="{0}" height="{1:.0f}"/>)svg"
        "\n",
        drawing_width, height_, label, chart_style());
  }

  void grid() {
    constexpr double spare = 1.5;  // A curve along the edge keeps its full width.
    put(R"svg(<clipPath id="plot-{}"><rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/></clipPath>)svg",
        escaped(chart_.name), left_ - spare, top_ - spare, right_ - left_ + 2 * spare,
        bottom_ - top_ + 2 * spare);
    for (const tick& each : x_.ticks) {
      const double x = left_ + *x_.share(each.value) * (right_ - left_);
      put(R"svg(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)svg",
          each.label.empty() ? "faint" : "grid", x, top_, x, bottom_);
      if (!each.label.empty())
        put(R"svg(<text class="soft" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)svg", x,
            bottom_ + 18, each.label);
    }
    for (const tick& each : y_.ticks) {
      const double y = bottom_ - *y_.share(each.value) * (bottom_ - top_);
      put(R"svg(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)svg",
          each.label.empty() ? "faint" : "grid", left_, y, right_, y);
      if (!each.label.empty())
        put(R"svg(<text class="soft" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)svg",
            left_ - 8, y + 4, each.label);
    }
    put(R"svg(<path class="axis" d="M{:.1f} {:.1f}V{:.1f}H{:.1f}"/>)svg", left_, top_, bottom_,
        right_);
  }

  void draw(std::size_t index) {
    const series& what = chart_.lines[index];
    put(R"svg(<g class="c{}">)svg", colours_[index] % palette.size());
    switch (what.how) {
      case series::kind::line:
      case series::kind::steps:
        curve(what, colours_[index]);
        break;
      case series::kind::bars:
        bars(what, bar_shift(index));
        break;
      case series::kind::marks:
        marks(what, index);
        break;
    }
    body_ += "</g>\n";
  }

  /// Colours that come around again are distinguished by dots.
  static std::string dashes(const series& what, std::size_t colour) {
    if (what.dashed) return R"svg( stroke-dasharray="7 5")svg";
    return colour >= palette.size() ? R"svg( stroke-dasharray="2 3")svg" : "";
  }

  void curve(const series& what, std::size_t colour) {
    std::string path;
    bool broken = true;  // where it cannot be shown
    for (const point& each : what.points) {
      const auto here = at(each.x, each.y);
      if (here && broken)
        path += fmt::format("M{:.1f} {:.1f}", here->x, here->y);
      else if (here && what.how == series::kind::steps)
        path += fmt::format("H{:.1f}V{:.1f}", here->x, here->y);
      else if (here)
        path += fmt::format("L{:.1f} {:.1f}", here->x, here->y);
      broken = !here;
    }
    put(R"svg(<path class="line" clip-path="url(#plot-{})"{} d="{}"/>)svg", escaped(chart_.name),
        dashes(what, colour), path);
  }

  void bars(const series& what, double shift) {
    const double floor = y_.how == scale::linear ? 0 : y_.low;
    for (const point& each : what.points) {
      const double from = each.x + shift - bar_width() / 2;
      const auto foot = at(from, floor), head = at(from + bar_width(), each.y);
      if (!foot || !head) continue;
      put(R"svg(<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>)svg",
          foot->x, std::min(foot->y, head->y), head->x - foot->x, std::abs(head->y - foot->y),
          value_text(each));
      error_bar(each, shift);
    }
  }

  void marks(const series& what, std::size_t index) {
    const double radius = what.points.size() > many_marks ? small_mark_radius : mark_radius;
    const double shift = bar_shift(index);
    for (const point& each : what.points) error_bar(each, shift);
    for (const point& each : what.points)
      if (const auto here = at(each.x + shift, each.y))
        put("<g>{}<title>{}</title></g>", mark_at(*here, colours_[index], radius),
            value_text(each));
  }

  void error_bar(const point& each, double shift) {
    if (!(each.error > 0)) return;
    const auto upper = at(each.x + shift, each.y + each.error);
    auto lower = at(each.x + shift, each.y - each.error);
    if (!upper) return;
    // On a logarithmic scale it may reach down to zero.
    if (!lower) lower = place{upper->x, bottom_};
    const double cap = mark_radius - 1;
    put(R"svg(<path class="error" clip-path="url(#plot-{0})" d="M{1:.1f} {3:.1f}H{2:.1f}M{1:.1f} {4:.1f}H{2:.1f}M{5:.1f} {3:.1f}V{4:.1f}"/>)svg",
        escaped(chart_.name), upper->x - cap, upper->x + cap, upper->y, lower->y, upper->x);
  }

  static std::string value_text(const point& each) {
    const std::string error = each.error > 0 ? fmt::format(" ± {:.2g}", each.error) : "";
    return fmt::format("{:.6g}: {:.6g}{}", each.x, each.y, error);
  }

  void labels() {
    double y = margin + title_size - 2;
    for (const std::string& line : title_lines_) {
      put(R"svg(<text class="title" x="{}" y="{:.1f}">{}</text>)svg", margin, y, svg_text(line));
      y += line_height + 2;
    }
    put(R"svg(<text class="ink" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)svg",
        (left_ + right_) / 2, height_ - margin, svg_text(chart_.x_label));
    put(R"svg(<text class="ink" transform="translate({:.1f} {:.1f}) rotate(-90)" text-anchor="middle">{}</text>)svg",
        margin + 8, (top_ + bottom_) / 2, svg_text(chart_.y_label));
  }

  void legend() {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const double x = left_ + legend_.places[i].x;
      const double y =
          legend_top_ + (static_cast<double>(legend_.places[i].row) + 0.5) * line_height;
      for (const std::size_t index : names_[i].series) sample(index, x, y);
      put(R"svg(<text class="ink" x="{:.1f}" y="{:.1f}">{}</text>)svg",
          x + sample_width + sample_gap, y + 4, svg_text(names_[i].text));
    }
  }

  void sample(std::size_t index, double x, double y) {
    const series& what = chart_.lines[index];
    const std::size_t colour = colours_[index];
    put(R"svg(<g class="c{}">)svg", colour % palette.size());
    switch (what.how) {
      case series::kind::line:
      case series::kind::steps:
        put(R"svg(<path class="line"{} d="M{:.1f} {:.1f}h{}"/>)svg", dashes(what, colour), x, y,
            sample_width);
        break;
      case series::kind::bars:
        put(R"svg(<rect class="bar" x="{:.1f}" y="{:.1f}" width="{}" height="10"/>)svg", x + 5,
            y - 5, sample_width - 10);
        break;
      case series::kind::marks:
        put("{}", mark_at({x + sample_width / 2, y}, colour, mark_radius));
        break;
    }
    body_ += "</g>\n";
  }

  const chart& chart_;
  svg_use how_;
  std::vector<std::size_t> colours_;
  std::map<std::size_t, std::size_t> bar_place_;  // of each colour in a group of bars
  double bar_room_ = 0;
  axis x_, y_;
  std::vector<std::string> title_lines_;
  std::vector<legend_name> names_;
  legend_layout legend_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0, height_ = 0, legend_top_ = 0;
  std::string body_;
};

struct neutral_colours {
  const char* ground;
  const char* ink;
  const char* soft;
  const char* grid;
  const char* faint;
  const char* axis;
};
constexpr neutral_colours light{"#ffffff", "#1c1e21", "#50555c", "#dfe2e6", "#eef0f2", "#8a9099"};
constexpr neutral_colours dark{"#16181c", "#e8eaed", "#aab0b8", "#33373d", "#25282d", "#737a84"};

std::string neutral_rules(const neutral_colours& use) {
  return fmt::format(
      ".chart .ground,.chart .mark{{fill:{0}}}.chart .ink,.chart .title{{fill:{1}}}"
      ".chart .soft{{fill:{2}}}.chart .grid{{stroke:{3}}}.chart .faint{{stroke:{4}}}"
      ".chart .axis{{stroke:{5}}}",
      use.ground, use.ink, use.soft, use.grid, use.faint, use.axis);
}

}  // namespace

std::string svg_of(const chart& what, svg_use how) { return drawing(what, how).text(); }

std::string chart_style() {
  std::string rules = fmt::format(
      ".chart text{{font:{}px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}}"
      ".chart .title{{font-size:{}px;font-weight:600}}.chart .small{{font-size:75%}}"
      ".chart .grid,.chart .faint{{stroke-width:1}}"
      ".chart .axis{{fill:none;stroke-width:1}}"
      ".chart .line{{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}}"
      ".chart .mark{{stroke:currentColor;stroke-width:1.8}}"
      ".chart .error{{fill:none;stroke:currentColor;stroke-width:1.3}}"
      ".chart .bar{{fill:currentColor;fill-opacity:.3;stroke:currentColor;stroke-width:1.2}}",
      text_size, title_size);
  std::string in_light = neutral_rules(light), in_dark = neutral_rules(dark);
  for (std::size_t i = 0; i < palette.size(); ++i) {
    in_light += fmt::format(".chart .c{}{{color:{}}}", i, palette[i].light);
    in_dark += fmt::format(".chart .c{}{{color:{}}}", i, palette[i].dark);
  }
  return rules + in_light + "@media (prefers-color-scheme:dark){" + in_dark + "}";
}

}  // namespace oneprobe::cli
