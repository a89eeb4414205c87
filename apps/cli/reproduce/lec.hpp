// The experiments of LEC.
#pragma once

#include "reproduce/experiment.hpp"

namespace oneprobe::cli::lec {

outcome birthdays(const conditions& in);
outcome empty_bins(const conditions& in);
outcome bins_with_k(const conditions& in);
outcome maximum_theorem(const conditions& in);
outcome largest_loads(const conditions& in);
outcome chains(const conditions& in);
outcome universal_families(const conditions& in);

}  // namespace oneprobe::cli::lec
