// A contest of filters: which took part, and whether the answers were right.
#pragma once

#include <string>
#include <vector>

#include "bench/contender.hpp"
#include "bench/race.hpp"

namespace oneprobe::cli {

/// One contender and what it did.
struct contest_entry {
  contender_facts facts;
  race_result result;
};

/// All contenders at one size.
struct filter_contest {
  contest_size size;
  race_settings settings;
  std::vector<contest_entry> entries;
  std::vector<std::string> left_out;
};

/// What is wrong with the answers, as sentences; none if all of them were as they must be. Of a
/// filter that is right, chance lets one run in a million fail.
std::vector<std::string> faults_of(const contest_entry& entry);

}  // namespace oneprobe::cli
