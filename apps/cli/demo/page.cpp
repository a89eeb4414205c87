#include "demo/page.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "oneprobe/version.hpp"
#include "output.hpp"
#include "reproduce/chart_svg.hpp"
#include "reproduce/experiment.hpp"
#include "reproduce/report_style.hpp"
#include "reproduce/typeset.hpp"

namespace oneprobe::cli::demo {
namespace {

chart error_chart(const filter_findings& found) {
  series model{.name = "predicted", .how = series::kind::line, .points = {}, .colour = 0};
  series ours{.name = "measured", .how = series::kind::marks, .points = {}, .colour = 0};
  series blocked{.name = "blocked filter, measured", .how = series::kind::marks, .points = {}};
  blocked.colour = 1;
  for (const fill_look& look : found.looks) {
    model.points.push_back({look.factor, look.predicted_fpr});
    ours.points.push_back({look.factor, look.fpr});
    blocked.points.push_back({look.factor, look.blocked_fpr});
  }
  return {.name = "demo-error",
          .title = "How often a filter of the same memory is wrong",
          .x_label = "names over planned names",
          .y_label = "wrong answers",
          .y_scale = scale::logarithmic,
          .lines = {model, ours, blocked}};
}

chart time_chart(const table_findings& found) {
  const auto line = [](std::string name, const insert_times& times, int colour) {
    series drawn{
        .name = std::move(name), .how = series::kind::line, .points = {}, .colour = colour};
    for (const auto& [share, ns] : times.curve) drawn.points.push_back({share, ns});
    return drawn;
  };
  return {.name = "demo-insert",
          .title = "How long a flow waits to be inserted",
          .x_label = "share of the insertions that take longer",
          .y_label = "ns",
          .x_scale = scale::logarithmic,
          .y_scale = scale::logarithmic,
          .lines = {line("bounded_map", found.ours.times, 0),
                    line("std::unordered_map", found.beside, 1)}};
}

class demo_page {
 public:
  std::string text(const filter_findings& names, const table_findings& flows,
                   std::string_view tool) {
    put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>Oneprobe: predicted and measured</title>\n<style>{}{}</style>\n</head>\n<body>",
        report_style, chart_style());
    put("<header>\n<h1>Predicted and measured</h1>\n<p class=\"lede\">A filter and a table, "
        "planned for made-up data, built, and held to what was predicted of them.</p>\n"
        "</header>\n<main>");
    put("<h2>A filter of {} names</h2>\n<p>Wanted: at most one wrong answer in {} for names that "
        "are not there. Planned: {}. Beside it a blocked Bloom filter of the same memory.</p>",
        grouped(static_cast<double>(demo::name_count)), grouped(1 / wanted_fpr),
        escaped(filter_choice(names)));
    table(filter_lines(names), "predicted", "measured", "blocked filter");
    figure(error_chart(names));
    put("<h2>A table of {} flows</h2>\n<p>Flows come and go for a day, {} turnovers of all of "
        "them. Wanted: at most one in {} overflows. Planned: {}. Beside it std::unordered_map, "
        "reserved for as many.</p>",
        grouped(static_cast<double>(demo::flow_count)), turnovers, grouped(1 / wanted_overflow),
        escaped(table_choice(flows)));
    table(table_lines(flows), "predicted", "measured", "std::unordered_map");
    figure(time_chart(flows));
    put("<h2>Times of this run</h2>\n<p>They belong to this machine and this hour. A filter that "
        "errs less reads more than one line now and then, and pays for it with time.</p>");
    table(time_lines(names, flows), "", "Oneprobe", "beside it");
    put("<h2>Your numbers</h2>\n<ul>");
    for (const std::string_view arguments : next_steps)
      put("<li><code>{} {}</code></li>", escaped(tool), arguments);
    put("</ul>\n</main>\n<footer><p class=\"soft\">oneprobe {}, <code>oneprobe demo</code>. All "
        "but the times is the same in every run.</p></footer>\n</body>\n</html>",
        version);
    return std::move(text_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> form, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), form, std::forward<Args>(args)...);
    text_ += '\n';
  }
  void table(const std::vector<compared>& lines, std::string_view first, std::string_view second,
             std::string_view third) {
    put("<div class=\"scroll\"><table><thead><tr><th></th><th>{}</th><th>{}</th><th>{}</th></tr>"
        "</thead><tbody>",
        first, second, third);
    for (const compared& line : lines)
      put("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>", line.what,
          escaped(line.predicted), escaped(line.measured), escaped(line.beside));
    put("</tbody></table></div>");
  }
  void figure(const chart& what) { put("<figure>{}</figure>", svg_of(what, svg_use::inlined)); }

  std::string text_;
};

}  // namespace

std::string page_of(const filter_findings& names, const table_findings& flows,
                    std::string_view tool) {
  return demo_page().text(names, flows, tool);
}

}  // namespace oneprobe::cli::demo
