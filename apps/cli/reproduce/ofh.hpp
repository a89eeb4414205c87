// The experiments of OFH, by the part of the paper they belong to.
#pragma once

#include "reproduce/experiment.hpp"

namespace oneprobe::cli::ofh {

// Sections I to III: largest loads, the lower bound, mixtures that reach it.
outcome largest_loads(const conditions& in);
outcome lower_bound(const conditions& in);
outcome mixtures(const conditions& in);

// Section IV: SIMPLE.
outcome single_slots(const conditions& in);
outcome single_occupancy(const conditions& in);
outcome single_overflow(const conditions& in);

// Sections V-C and VI-D: GREEDY and MHT with two choices of one slot.
outcome sequential_case(const conditions& in);
outcome multilevel_case(const conditions& in);

// Section VII: all schemes side by side.
outcome partitions(const conditions& in);
outcome comparison(const conditions& in);
outcome cutoffs_by_load(const conditions& in);
outcome overflow_by_load(const conditions& in);

}  // namespace oneprobe::cli::ofh
