#include "nonsense_calls.hpp"

#include <array>
#include <iterator>
#include <map>
#include <span>
#include <sstream>
#include <utility>

namespace oneprobe::cli {
namespace {

/// What several calls have in common, by the word that stands for it below.
const std::map<std::string_view, std::string_view> abbreviations{
    {"TABLE", "--load-factor 1 --bucket-capacity 4"},
    {"LEVELS", "--elements 10k --levels 40k,10k,5k,2.5k,2.5k"},
    {"SHAPE", "--kind balanced --bits-per-element 20 --threshold 252 --bits-set 13"},
    {"FINGERPRINT",
     "--kind fingerprint --bits-per-element 20 --bucket-capacity 27 --remainder-bits 16"},
};

// One sensible call of each model, and of the simulator. Every option in it is given garbage.
constexpr std::array sensible{
    "model overflow-bound TABLE --accesses 1.5",
    "model overflow-bound TABLE --overflow 0.3",
    "model cutoff --scheme multilevel TABLE --choices 4",
    "model cutoff --scheme sequential TABLE --choices 4",
    "model cutoff --scheme single TABLE --choices 4",
    "model fluid --scheme multilevel TABLE --choices 3 --level-fractions 0.5,0.3,0.2 "
    "--admit-probability 0.5 --accesses 1.2 --time 0.5 --method ode",
    "model fluid --scheme sequential TABLE --choices 4 --admit-probability 0.5 --accesses 1.2 "
    "--time 0.5",
    "model fluid --scheme d-left TABLE --choices 4",
    "model fluid --scheme single TABLE --choices 4",
    "model least-overflow TABLE --choices 4",
    "model least-overflow --overflow 1e-3 --bucket-capacity 4 --choices 4 --churn",
    "model finite-size --elements 1M TABLE --choices 3 --scheme multilevel --level-fractions "
    "0.5,0.3,0.2 --probability 1e-9",
    "model churn TABLE --scheme multilevel --choices 3 --level-fractions 0.5,0.3,0.2",
    "model churn TABLE --scheme d-random --choices 3",
    "model balance-bound --elements-per-bucket 8 --accesses 1.1 --overflow 0.01",
    "model balance --scheme multilevel --elements-per-bucket 8 --choices 3 --accesses 1.2 "
    "--overflow 0.01",
    "model balance --scheme sequential --elements-per-bucket 8 --choices 3 --accesses 1.2 "
    "--overflow 0.05",
    "model filter --kind standard --bits-per-element 10 --bits-set 7 --elements 1000",
    "model filter --kind standard --bits-per-element 10 --block-bits 512 --choices 3 --accesses "
    "1.2",
    "model filter --kind partitioned --bits-per-element 10 --bits-set 7 --elements 1000",
    "model filter --kind blocked --bits-per-element 10 --bits-set 7 --block-bits 512 --layout "
    "distinct --elements 1000",
    "model filter --kind balanced --bits-per-element 20 --bits-set 13 --block-bits 512 --choices 3 "
    "--rule popcount",
    "model filter --kind balanced --bits-per-element 20 --bits-set 13 --block-bits 512 --choices 3 "
    "--rule counter --accesses 1.2",
    "model filter --kind balanced --bits-per-element 20 --bits-set 13 --block-bits 512 --choices 3 "
    "--accesses 1.2 --as-printed",
    "model filter SHAPE --tracking-bits 12 --choices 4 --block-bits 512 --scheme multilevel --rule "
    "popcount",
    "model filter --kind balanced --rule coin --threshold 20 --bits-set 13 --arrivals 20 "
    "--admit-probability 0.5",
    "model filter FINGERPRINT --note-bits 1 --choices 3 --block-bits 512 --order prefix",
    "model filter --kind fingerprint --arrivals 26 --bucket-capacity 27 --remainder-bits 16",
    "model crisis LEVELS",
    "model summary --kind interpolation LEVELS --string-bits 55",
    "model summary --kind single-filter LEVELS --cells 120k --hashes 15",
    "model summary --kind multi-filter LEVELS --filter-bits 106k,87.5k,5.5k,500,100 --hashes "
    "7,49,49,49,49",
    "model summary --kind song --elements 10k --buckets 131072 --choices 10 --counter-bits 3",
    "model reconstruction LEVELS --deleted-fraction 0.1 --deletions uniform",
    "model balls --balls 23 --bins 365 --choices 2",
    "simulate --scheme multilevel --levels 60,40 --choices 2 --bucket-capacity 4 "
    "--admit-probability 0.5 --load-factor 0.9 --accesses 1.2 --looks 0.5,1 --trials 2 --seed 7 "
    "--threads 2",
    "simulate --scheme multilevel --buckets 100 --level-fractions 0.6,0.4 --bucket-capacity 4 "
    "--elements 300 --trials 2 --churn level --level 2 --warm-up 1 --batches 2 --batch-turnovers 1",
    "simulate --scheme single --buckets 100 --choices 4 --elements 100",
};

// Values that are refused although they can be read.
constexpr std::array out_of_range{
    // No load, too much load, no slots, no choices.
    "model overflow-bound --load-factor 0 --bucket-capacity 4 --accesses 1",
    "model overflow-bound --load-factor 1e7 --bucket-capacity 4 --accesses 1",
    "model overflow-bound --load-factor 1 --bucket-capacity 0 --accesses 1",
    "model overflow-bound --load-factor 1 --bucket-capacity 65537 --accesses 1",
    "model overflow-bound --load-factor 1 --bucket-capacity 4.5 --accesses 1",
    "model overflow-bound TABLE --overflow 1.5",
    "model overflow-bound --load-factor 2 --bucket-capacity 4 --overflow 0.1",
    "model cutoff --scheme multilevel TABLE --choices 0",
    "model cutoff --scheme multilevel TABLE --choices 65",
    "model cutoff --scheme single TABLE --choices 0",
    "model cutoff --scheme d-left TABLE --choices 4",
    "model fluid --scheme sequential TABLE --choices 0",
    "model fluid --scheme multilevel TABLE --choices 0",
    "model fluid --scheme sequential TABLE --choices 4 --time 1.5",
    "model fluid --scheme sequential TABLE --choices 4 --admit-probability 1.5",
    "model fluid --scheme d-left TABLE --choices 4 --admit-probability 0.5",
    "model fluid --scheme d-random TABLE --choices 4 --admit-probability 0.5",
    "model fluid --scheme d-left --load-factor 1 --bucket-capacity 2000 --choices 4",
    // Levels that do not sum to one, are not positive, are not there, or are not as many as the
    // choices.
    "model fluid --scheme multilevel TABLE --level-fractions 0.5,0.3",
    "model fluid --scheme multilevel TABLE --level-fractions 0.5,0.6,-0.1",
    "model fluid --scheme multilevel TABLE --level-fractions 0,1",
    "model fluid --scheme multilevel TABLE --choices 3 --level-fractions 0.5,0.5",
    "model fluid --scheme multilevel TABLE --level-fractions 0.01*100",
    "model churn TABLE --level-fractions 0.5,0.3",
    "model churn TABLE --choices 3 --level-fractions 0.5,0.5",
    "model finite-size --elements 0 TABLE --choices 4",
    "model finite-size --elements 1M TABLE --choices 4 --probability 0",
    "model finite-size --elements 1M TABLE --choices 4 --scheme sequential --level-fractions "
    "0.5,0.5",
    "model least-overflow TABLE --choices 0",
    "model least-overflow --overflow 2 --bucket-capacity 4 --choices 4",
    "model least-overflow --overflow 0 --bucket-capacity 4 --choices 4",
    "model balance-bound --elements-per-bucket 0 --accesses 1.1",
    "model balance-bound --elements-per-bucket 8 --accesses 0.5",
    "model balance-bound --elements-per-bucket 8 --accesses 1.1 --overflow 1.5",
    "model balance --scheme multilevel --elements-per-bucket 8 --choices 3 --accesses 0.5",
    "model balance --scheme multilevel --elements-per-bucket 8 --choices 3 --accesses 4",
    "model balance --scheme multilevel --elements-per-bucket 8 --choices 3 --accesses 1.2 "
    "--overflow 0.001",
    "model balance --scheme multilevel --elements-per-bucket 8 --choices 0 --accesses 1.2",
    "model balance --scheme single --elements-per-bucket 8 --choices 1 --accesses 1.2",
    // Filters.
    "model filter --kind standard --bits-per-element 0",
    "model filter --kind standard --bits-per-element 10 --bits-set 0",
    "model filter --kind standard --bits-per-element 10 --choices 0",
    "model filter --kind standard --bits-per-element 10 --accesses 0",
    "model filter --kind standard --bits-per-element 10 --block-bits 0",
    "model filter --kind standard --bits-per-element 1e9",
    "model filter --kind standard --bits-per-element 10 --elements 1e13",
    "model filter --kind partitioned --bits-per-element 10 --bits-set 0",
    "model filter --kind blocked --bits-per-element 10 --block-bits 0",
    "model filter --kind blocked --bits-per-element 10 --block-bits 100000",
    "model filter --kind blocked --bits-per-element 10 --bits-set 0",
    "model filter --kind blocked --bits-per-element 10 --as-printed --layout lanes",
    "model filter --kind balanced --bits-per-element 20 --accesses 0.5",
    "model filter --kind balanced --bits-per-element 20 --choices 0",
    "model filter --kind balanced --bits-per-element 20 --bits-set 0",
    "model filter --kind balanced --bits-per-element 20 --block-bits 0",
    "model filter --kind balanced --bits-per-element 20 --rule counter --accesses 9",
    "model filter --kind balanced --bits-per-element 20 --as-printed --rule flag",
    "model filter --kind balanced --bits-per-element 20 --threshold 252",
    "model filter --kind balanced --bits-per-element 20 --threshold 0 --bits-set 13",
    "model filter --kind balanced --bits-per-element 20 --tracking-bits 4",
    "model filter --kind fingerprint --bits-per-element 20 --as-printed",
    "model filter --kind fingerprint --bits-per-element 20 --accesses 0.5",
    "model filter --kind fingerprint --bits-per-element 20 --bucket-capacity 0 --remainder-bits 16",
    "model filter --kind fingerprint --bits-per-element 20 --bucket-capacity 270 --remainder-bits "
    "16",
    "model filter --kind fingerprint --bits-per-element 20 --bucket-capacity 27",
    "model filter --kind fingerprint --bits-per-element 0.001",
    "model filter --kind standard --bits-per-element 10 --threshold 5",
    "model filter --kind standard --bits-per-element 10 --rule counter",
    "model filter --kind blocked --bits-per-element 10 --order prefix",
    "model filter --kind bloom --bits-per-element 10",
    // Tables of single slots.
    "model crisis --elements 0 --levels 10",
    "model crisis --elements 10 --levels 0",
    "model crisis --elements 10 --levels 10,0,5",
    "model crisis --elements 10 --levels 10*100",
    "model summary --kind interpolation --elements 0 --levels 10 --string-bits 20",
    "model summary --kind interpolation LEVELS --string-bits 0",
    "model summary --kind interpolation LEVELS --string-bits 513",
    "model summary --kind interpolation LEVELS",
    "model summary --kind interpolation LEVELS --string-bits 55 --cells 100",
    "model summary --kind single-filter LEVELS --cells 0 --hashes 15",
    "model summary --kind single-filter LEVELS --cells 120k --hashes 0",
    "model summary --kind single-filter LEVELS --cells 120k --hashes 15,3",
    "model summary --kind multi-filter LEVELS --filter-bits 1k,1k --hashes 7,49,49,49,49",
    "model summary --kind multi-filter LEVELS --filter-bits 1k,1k,1k,1k,1k --hashes 7,49",
    "model summary --kind multi-filter LEVELS --filter-bits 1k,1k,1k,1k,0 --hashes 7,49,49,49,49",
    "model summary --kind song --elements 10k --buckets 0 --choices 10",
    "model summary --kind song --elements 10k --buckets 131072 --choices 0",
    "model reconstruction LEVELS --deleted-fraction 0.1 --deletions everywhere",
    "model reconstruction LEVELS --deleted-fraction 1e9 --deletions uniform",
    "model reconstruction --elements 0 --levels 10 --deleted-fraction 0.1 --deletions uniform",
    "model balls --balls 10 --bins 0",
    "model balls --balls 10 --bins 10 --choices 0",
    // More than 10^13.
    "model crisis --elements 1e14 --levels 10",
    "model crisis --elements 10 --levels 1e14",
    "model crisis --elements 10000000000001 --levels 10",
    "model summary --kind interpolation --elements 11T --levels 10 --string-bits 20",
    "model reconstruction --elements 1e14 --levels 10 --deleted-fraction 0.1 --deletions uniform",
    "model balls --balls 1e14 --bins 10",
    "model balls --balls 10 --bins 99999999999999999999",
    "model finite-size --elements 1e14 TABLE --choices 4",
    "simulate --scheme single --buckets 0 --elements 10",
    "simulate --scheme single --buckets 10 --elements 0",
    "simulate --scheme single --buckets 1e13 --elements 10",
    "simulate --scheme single --buckets 10 --elements 1e13",
    "simulate --scheme single --buckets 10 --bucket-capacity 4 --elements 10 --churn random "
    "--threads 1 --trials 1 --batch-turnovers 0",
    "simulate --scheme single --buckets 1 --bucket-capacity 4 --load-factor 1e-9",
    "simulate --scheme single --buckets 10 --bucket-capacity 0 --elements 10",
    "simulate --scheme single --buckets 10 --bucket-capacity 4 --load-factor -1",
    "simulate --scheme single --buckets 10 --bucket-capacity 4294967295 --elements 10",
    "simulate --scheme single --buckets 10 --choices 0 --elements 10",
    "simulate --scheme sequential --buckets 10 --choices 0 --elements 10",
    "simulate --scheme sequential --buckets 10 --choices 33 --elements 10",
    "simulate --scheme d-left --buckets 3 --choices 4 --elements 10",
    "simulate --scheme d-left --buckets 8 --choices 4 --bucket-capacity 2 --elements 10 "
    "--admit-probability 0.5",
    "simulate --scheme sequential --buckets 8 --choices 4 --elements 10 --admit-probability 0.5",
    "simulate --scheme sequential --buckets 8 --choices 4 --bucket-capacity 2 --elements 10 "
    "--admit-probability 1.5",
    "simulate --scheme sequential --buckets 8 --choices 4 --elements 10 --accesses 33",
    "simulate --scheme sequential --buckets 8 --choices 4 --elements 10 --looks 0.5,0.4",
    "simulate --scheme sequential --buckets 8 --choices 4 --elements 10 --looks 1.5",
    "simulate --scheme sequential --buckets 8 --choices 4 --elements 10 --trials 0",
    "simulate --scheme sequential --buckets 8 --choices 4 --elements 10 --trials 4e9",
    "simulate --scheme sequential --buckets 8 --choices 4 --elements 10 --threads 0",
    "simulate --scheme sequential --buckets 8 --choices 4 --elements 10 --threads 1025",
    "simulate --scheme multilevel --levels 6,0 --elements 10",
    "simulate --scheme multilevel --levels 6,4 --buckets 11 --elements 10",
    "simulate --scheme multilevel --levels 6,4 --choices 3 --elements 10",
    "simulate --scheme multilevel --levels 10*33 --elements 10",
    "simulate --scheme multilevel --buckets 10 --level-fractions 0.6,0.3 --elements 10",
    "simulate --scheme multilevel --buckets 10 --level-fractions 0.6,0.4 --choices 3 --elements 10",
    "simulate --scheme multilevel --buckets 1 --level-fractions 0.6,0.4 --elements 10",
    "simulate --scheme multilevel --buckets 10 --choices 2 --elements 10",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn level --level 0",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn level --level 3",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn random --warm-up 1e7",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn random --batches 0",
};

// Missing, repeated, contradicting and unknown options, and calls that are not calls at all.
constexpr std::array usage{
    "model",
    "model nonsense",
    "model nonsense --load-factor 1",
    "nonsense",
    "demo nonsense",
    "demo --nonsense",
    "demo --json=1",
    "--nonsense",
    "-x",
    "model --json",
    "model cutoff cutoff",
    "model cutoff balance",
    "model cutoff demo",
    "model overflow-bound TABLE",
    "model overflow-bound TABLE --accesses 1 --overflow 0.1",
    "model overflow-bound TABLE --accesses 1 --accesses 2",
    "model overflow-bound TABLE --accesses",
    "model overflow-bound TABLE --accesses=",
    "model overflow-bound TABLE --accesses 1 --nonsense",
    "model overflow-bound TABLE --accesses 1 nonsense",
    "model overflow-bound TABLE --accesses 1 -- 3",
    "model overflow-bound TABLE --accesses 1 --json=no",
    "model least-overflow TABLE --overflow 0.1 --choices 4",
    "model least-overflow --bucket-capacity 4 --choices 4",
    "model fluid --scheme sequential TABLE --choices 4 --level-fractions 0.5,0.5",
    "model fluid --scheme sequential TABLE",
    "model fluid --scheme multilevel TABLE",
    "model filter --bits-per-element 10",
    "model filter --kind standard",
    "simulate",
    "simulate nonsense",
    "simulate --scheme single",
    "simulate --scheme round-robin --buckets 10 --elements 10",
    "simulate --buckets 10 --elements 10",
    "simulate --scheme single --buckets 10",
    "simulate --scheme single --elements 10",
    "simulate --scheme single --buckets 10 --load-factor 1",
    "simulate --scheme single --buckets 10 --bucket-capacity 4 --elements 10 --load-factor 1",
    "simulate --scheme single --levels 6,4 --elements 10",
    "simulate --scheme single --buckets 10 --level-fractions 0.6,0.4 --elements 10",
    "simulate --scheme sequential --buckets 10 --elements 10",
    "simulate --scheme multilevel --levels 6,4 --level-fractions 0.6,0.4 --elements 10",
    "simulate --scheme multilevel --buckets 10 --bucket-capacity 4 --elements 10",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn sideways",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn level",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn random --level 1",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn random --looks 1",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn random --accesses 1",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --warm-up 1",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --batches 1",
    "simulate --scheme single --buckets 10 --elements 10 --seed 1 --seed 2",
    "model overflow-bound",
    "model cutoff",
    "model fluid",
    "model least-overflow",
    "model finite-size",
    "model churn",
    "model balance-bound",
    "model balance",
    "model filter",
    "model crisis",
    "model summary",
    "model reconstruction",
    "model balls",
};

std::vector<words> split_all(std::span<const char* const> lines) {
  std::vector<words> calls;
  for (const char* const line : lines) calls.push_back(split(line));
  return calls;
}

std::string repeated(std::string_view item, std::size_t times) {
  std::string list(item);
  for (std::size_t i = 1; i < times; ++i) list.append(",").append(item);
  return list;
}

void append(std::vector<words>& to, std::vector<words> more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

}  // namespace

words split(std::string_view line) {
  words result;
  std::istringstream text{std::string(line)};
  for (std::string word; text >> word;) {
    if (const auto found = abbreviations.find(word); found != abbreviations.end()) {
      for (std::string& each : split(found->second)) result.push_back(std::move(each));
      continue;
    }
    if (const auto star = word.find('*'); star != std::string::npos)
      word = repeated(word.substr(0, star), std::stoul(word.substr(star + 1)));
    result.push_back(word);
  }
  return result;
}

std::vector<words> sensible_calls() { return split_all(sensible); }

const std::vector<std::string>& garbage() {
  static const std::vector<std::string> all{
      "",
      " ",
      "x",
      "nan",
      "NaN",
      "inf",
      "-inf",
      "-1",
      "-0.5",
      "1e999",
      "-1e300",
      "1e300",
      "1.5.2",
      "0x10",
      "1,",
      ",1",
      "1,,2",
      "--json",
      "-",
      "--",
      "1;2",
      "5 5",
      "%s%n",
      "\n",
      "\x1b[31m",
      "\xc3\xa9",
      "\xff\xfe",
      std::string(10'000, '9'),
      repeated("1", 5'001),
  };
  return all;
}

bool takes_a_value(std::string_view word) {
  return word.starts_with("--") && word != "--churn" && word != "--as-printed";
}

std::vector<words> calls_with_garbage() {
  std::vector<words> calls;
  for (const words& call : sensible_calls())
    for (std::size_t i = 0; i + 1 < call.size(); ++i) {
      if (!takes_a_value(call[i])) continue;
      for (const std::string& piece : garbage()) {
        if (call[i] == "--seed" && piece == "0x10") continue;  // a seed as good as any
        calls.push_back(call);
        calls.back()[i + 1] = piece;
      }
    }
  return calls;
}

std::vector<words> calls_out_of_range() { return split_all(out_of_range); }

std::vector<words> calls_of_wrong_usage() { return split_all(usage); }

std::vector<words> nonsense_calls() {
  std::vector<words> calls = calls_with_garbage();
  append(calls, calls_out_of_range());
  append(calls, calls_of_wrong_usage());
  return calls;
}

std::string shown(const words& call) {
  constexpr std::size_t longest = 60;
  std::string text = "oneprobe";
  for (const std::string& word : call)
    text.append(" '").append(word.substr(0, longest)).append("'");
  return text;
}

}  // namespace oneprobe::cli
