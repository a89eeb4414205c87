#include "reproduce/report_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "oneprobe/version.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "reproduce/chart_svg.hpp"
#include "reproduce/report_style.hpp"
#include "reproduce/row_text.hpp"
#include "reproduce/typeset.hpp"

namespace oneprobe::cli {
namespace {

/// How many standard errors lie between simulation and model, over a run.
struct deviations {
  std::size_t all = 0;
  std::array<std::size_t, 3> within{};  // one, two, three standard errors

  void add(const row& what) {
    if (!what.model || !what.simulated || what.allowance > 0) return;
    if (!(what.simulated->standard_error > 0)) return;
    const double away =
        std::abs(what.simulated->mean - *what.model) / what.simulated->standard_error;
    ++all;
    for (std::size_t i = 0; i < within.size(); ++i)
      within[i] += away <= static_cast<double>(i + 1) ? 1 : 0;
  }
};

std::string_view class_of(judgement how) {
  switch (how) {
    case judgement::agrees:
      return "good";
    case judgement::erratum:
      return "noted";
    case judgement::disagrees:
      break;
  }
  return "bad";
}

std::string anchor_of(std::string_view id) {
  std::string anchor(id);
  for (char& c : anchor)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '-';
  return anchor;
}

std::string counted(std::size_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", grouped(static_cast<double>(number)), number == 1 ? one : many);
}

/// "12 agree, 1 erratum", each part in its colour.
std::string tally(const verdict_counts& counts) {
  std::string text;
  const auto part = [&](std::string_view style, std::string what) {
    text += fmt::format(R"({}<span class="{}">{}</span>)", text.empty() ? "" : ", ", style, what);
  };
  if (counts.agree > 0) part("good", counted(counts.agree, "agrees", "agree"));
  if (counts.errata > 0) part("noted", counted(counts.errata, "erratum", "errata"));
  if (counts.disagree > 0) part("bad", counted(counts.disagree, "disagrees", "disagree"));
  return text;
}

class page {
 public:
  explicit page(const run_result& run) : run_(run) {
    for (const document_result& document : run.documents)
      for (const experiment_result& experiment : document.experiments)
        for (const row& each : experiment.found.rows) {
          counts_.add(judge(each));
          deviations_.add(each);
        }
  }

  std::string text() {
    put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>Oneprobe: the papers, number by "
        "number</title>\n<style>{}{}</style>\n</head>\n<body>",
        report_style, chart_style());
    head();
    put("<main>");
    contents();
    for (const document_result& each : run_.documents) section(each);
    put("</main>");
    foot();
    put("</body>\n</html>");
    return std::move(text_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> form, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), form, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void head() {
    put("<header>\n<h1>The papers, number by number</h1>");
    put(R"(<p class="lede">Oneprobe rests on a handful of texts about hashing. Here are their tables and figures once more,)"
        " with the parameters they used, each number obtained, where it can be, in two ways: by"
        " <em>model</em>, from formulas, and by <em>simulation</em>, by really placing "
        "elements.</p>");
    tiles();
    put("<p><b>How to read it.</b> In the figures a line is the model and marks are the simulation,"
        " with a bar of one standard error where it is large enough to be seen; point at a mark to"
        " read its value. In the tables <em>printed</em> is what the text says, digit by digit;"
        " <em>simulated</em> is a mean ± its standard error. The verdict follows by rule:</p>");
    put("<ul>\n<li>{}: the model rounds to what is printed (or keeps a printed bound), and the"
        " simulation lies within four standard errors of the model.</li>",
        badge(judgement::agrees, "agrees"));
    put("<li>{}: the print is wrong, in a way that the project's list of errata explains under that"
        " number, and we get the value given there.</li>",
        badge(judgement::erratum, "erratum 3.13"));
    put("<li>{}: anything else. Nothing disagrees silently.</li>\n</ul>",
        badge(judgement::disagrees, "DISAGREES"));
    if (deviations_.all > 0) {
      const auto share = [&](std::size_t i) {
        return 100.0 * static_cast<double>(deviations_.within[i]) /
               static_cast<double>(deviations_.all);
      };
      put("<p>Simulation and model were compared {} times. {:.0f} % of the simulated means lie "
          "within"
          " one standard error of the model, {:.0f} % within two and {:.1f} % within three; chance"
          " alone would give 68, 95 and 99.7 %.</p>",
          grouped(static_cast<double>(deviations_.all)), share(0), share(1), share(2));
    }
    put("</header>");
  }

  void tiles() {
    const auto tile = [&](std::string_view style, std::size_t number, std::string_view label) {
      put(R"(<div class="{}"><dd>{}</dd><dt>{}</dt></div>)", style,
          grouped(static_cast<double>(number)), label);
    };
    put(R"(<dl class="tiles">)");
    tile("all", counts_.all(), "numbers");
    tile("good", counts_.agree, "agree");
    tile("noted", counts_.errata, "explained by an erratum");
    tile(counts_.disagree > 0 ? "bad" : "all", counts_.disagree, "disagree");
    put("</dl>");
    put(R"(<div class="share" role="presentation">)");
    const auto part = [&](std::string_view style, std::size_t number) {
      if (number > 0) put(R"(<span class="{}" style="flex:{}"></span>)", style, number);
    };
    part("good", counts_.agree);
    part("noted", counts_.errata);
    part("bad", counts_.disagree);
    put("</div>");
  }

  static std::string badge(judgement how, std::string_view text) {
    return fmt::format(R"(<span class="badge {}">{}</span>)", class_of(how), escaped(text));
  }

  void contents() {
    put(R"(<nav class="contents">)");
    for (const document_result& document : run_.documents) {
      put("<h4><a href=\"#{}\">{}</a></h4>\n<ol>", anchor_of(document.of.id),
          escaped(document.of.title));
      for (const experiment_result& each : document.experiments)
        put(R"(<li><span class="id">{}</span><a href="#{}">{}</a><span class="tally">{}</span></li>)",
            escaped(each.what.id), anchor_of(each.what.id), html_text(each.what.title),
            tally(count(each.found.rows)));
      put("</ol>");
    }
    put("</nav>");
  }

  void section(const document_result& document) {
    put(R"(<section id="{}">)", anchor_of(document.of.id));
    put(R"(<h2>{}</h2><p class="authors">{}</p><p>{}</p>)", escaped(document.of.title),
        escaped(document.of.authors), html_text(document.of.gist));
    for (const experiment_result& each : document.experiments) article(each);
    put("</section>");
  }

  void article(const experiment_result& experiment) {
    put(R"(<article id="{}"><h3><span class="id">{}</span>{}</h3>)", anchor_of(experiment.what.id),
        escaped(experiment.what.id), html_text(experiment.what.title));
    put(R"(<p class="claim"><b>The text says</b>{}</p>)", html_text(experiment.what.claim));
    for (const chart& each : experiment.found.charts)
      put("<figure>{}<figcaption>Drawn from <code>{}.csv</code>.</figcaption></figure>",
          svg_of(each, svg_use::inlined), escaped(each.name));
    if (!experiment.found.found.empty()) found(experiment.found.found);
    rows(experiment.found.rows);
    put("</article>");
  }

  void found(std::string_view text) {
    put(R"(<div class="found"><b>What we found</b>)");
    while (!text.empty()) {
      const auto end = std::min(text.find("\n\n"), text.size());
      put("<p>{}</p>", html_text(text.substr(0, end)));
      text.remove_prefix(std::min(end + 2, text.size()));
    }
    put("</div>");
  }

  void rows(const std::vector<row>& all) {
    const shown_rows shown = rows_to_show(all);
    if (!shown.open.empty()) table(shown.open);
    if (shown.folded.empty()) return;
    put("<details><summary>{} points at which model and simulation are compared; all agree"
        "</summary>",
        shown.folded.size());
    table(shown.folded);
    put("</details>");
  }

  void table(const std::vector<const row*>& all) {
    put(R"(<div class="scroll"><table><thead><tr><th>number</th><th>printed</th><th>model</th>)"
        "<th>simulated</th><th>verdict</th></tr></thead><tbody>");
    std::string_view source;
    for (const row* each_row : all) {
      const row& each = *each_row;
      if (each.source != source) {
        source = each.source;
        put(R"(<tr class="source"><td colspan="5">{}</td></tr>)", escaped(source));
      }
      const row_text shown = text_of(each);
      const judgement how = judge(each);
      const std::string remark =
          each.remark.empty()
              ? ""
              : fmt::format(R"(<span class="remark">{}</span>)", html_text(each.remark));
      put("<tr><td>{}{}</td><td class=\"words\">{}</td><td>{}</td><td>{}</td><td{}>{}</td></tr>",
          html_text(each.what), remark, html_text(shown.printed), html_text(shown.model),
          html_text(shown.simulated), how == judgement::disagrees ? R"( class="wide")" : "",
          badge(how, verdict(each)));
    }
    put("</tbody></table></div>");
  }

  void foot() {
    put("<footer>\n<h4>This run</h4>\n<dl>");
    const auto line = [&](std::string_view key, std::string value) {
      put("<dt>{}</dt><dd>{}</dd>", key, value);
    };
    line("version", "oneprobe " + std::string(version));
    line("effort", std::string(name_of(run_.how_much)));
    line("seed", fmt::format("{}", run_.seed));
    line("time taken", duration(run_.seconds));
    line("again",
         fmt::format("<code>oneprobe reproduce{} --seed {}</code>",
                     run_.how_much == effort::normal ? std::string()
                                                     : fmt::format(" --{}", name_of(run_.how_much)),
                     run_.seed));
    line("numbers", "<code>rows.csv</code>, with every digit");
    put("</dl>\n<p class=\"soft\">The same seed and effort give the same numbers, with any number "
        "of"
        " threads.</p>\n</footer>");
  }

  const run_result& run_;
  verdict_counts counts_;
  deviations deviations_;
  std::string text_;
};

}  // namespace

std::string html_of(const run_result& run) { return page(run).text(); }

}  // namespace oneprobe::cli
