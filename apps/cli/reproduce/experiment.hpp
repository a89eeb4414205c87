// What `oneprobe reproduce` is made of: experiments, each a table or figure of a document, that
// give charts and rows. One row is one number: printed, model, simulated, and a verdict that
// follows from them by rule, so that nothing disagrees silently.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/sim/simulate.hpp"

namespace oneprobe::cli {

/// How much simulation: seconds, minutes, or as much as the papers did.
enum class effort { quick, normal, full };

/// A number as a document prints it.
struct printed_number {
  std::string text;      // "57.68 %", "< 1.01e-12", "about 1.1": as it stands there
  double value = 0;      // 0.5768
  double half_unit = 0;  // half of its last digit (0.00005), or how far it may stray: then say why
  enum class kind { rounded, upper_bound, lower_bound } how = kind::rounded;
};

/// "57.68" with two decimals, times `scale` (0.01 for percent): value and half_unit from the
/// digits. "2.17e-9" works as well. A leading "<" or ">" makes it a bound.
printed_number as_printed(std::string text, double scale = 1);

/// What a document says wrongly, and what is right (docs/papers.md lists them by number).
struct erratum {
  std::string number;    // "3.13"
  double corrected = 0;  // the erratum's own value, as literal digits, independent of our model
  double half_unit = 0;  // half of its last digit
};

struct row {
  std::string source;  // "OFH, Fig. 5a"
  std::string what;    // "buckets with 3 elements"
  std::optional<printed_number> printed{};
  std::optional<double> model{};
  std::optional<sim::estimate> simulated{};
  double allowance = 0;  // how far, relatively, simulation may stray from the model beyond 4
                         // standard errors; the remark says why
  std::optional<erratum> known_erratum{};
  std::string remark{};
};

enum class judgement { agrees, erratum, disagrees };

/// agrees: the model prints as printed (or respects the bound), and the simulation lies within four
/// standard errors (plus the allowance) of the model; where there is no model, the simulation is
/// held to the printed number. erratum: what is printed does not, and the model (or the simulation)
/// equals the erratum's value. Everything else disagrees.
judgement judge(const row& what);
/// "agrees", "erratum 3.13", "DISAGREES: ...".
std::string verdict(const row& what);

struct point {
  double x = 0;
  double y = 0;
  double error = 0;  // one standard error; 0: no bar
};

struct series {
  enum class kind { line, marks, steps, bars };
  std::string name;  // "model", "simulation", "printed"
  kind how = kind::line;
  std::vector<point> points{};
  int colour = -1;  // series of one chart with the same colour belong together; -1: the next free
  bool dashed = false;
};

enum class scale { linear, logarithmic };

struct chart {
  std::string name;  // file name: "ofh-fig5b"
  std::string title;
  std::string x_label;
  std::string y_label;
  scale x_scale = scale::linear;
  scale y_scale = scale::linear;
  std::vector<series> lines{};
};

struct outcome {
  std::vector<chart> charts;
  std::vector<row> rows;
  std::string found;  // a short paragraph: what we found, with the numbers of this run
};

struct conditions {
  effort how_much = effort::normal;
  std::uint64_t seed = 1;
  unsigned threads = 0;
  sim::progress tell;  // 0 to 1 of this experiment
};

struct experiment {
  std::string_view
      id;  // "OFH-Fig5a": document, then figure, table or section; matched without case
  std::string_view title;  // "Load of SIMPLE buckets"
  std::string_view claim;  // what the document says, in our words, one or two sentences
  double quick_seconds;    // roughly what it takes on two cores; for the progress bar
  double normal_seconds;
  outcome (*compute)(const conditions& in);

  /// Computes with random numbers of its own: the seed of the run goes through the letters of the
  /// id, so that no two experiments see the same keys, whatever the seeds of their runs.
  outcome run(conditions in) const {
    for (const char letter : id)
      in.seed = hash_stream({in.seed}, static_cast<unsigned char>(letter));
    return compute(in);
  }
};

// The documents, one file each, in the order of their figures.
const std::vector<experiment>& ofh_experiments();
const std::vector<experiment>& ecb_experiments();
const std::vector<experiment>& bbf_experiments();
const std::vector<experiment>& ssh_experiments();
const std::vector<experiment>& lec_experiments();

}  // namespace oneprobe::cli
