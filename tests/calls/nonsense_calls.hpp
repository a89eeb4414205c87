// Calls of the tool, sensible and not: one list for what is called in this process and in others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace oneprobe::cli {

/// What stands behind the name of the tool, word by word.
using words = std::vector<std::string>;

/// A line as words. TABLE, LEVELS, SHAPE and FINGERPRINT stand for the options that several calls
/// share, 10*33 for a list of 33 times 10.
words split(std::string_view line);

/// Every model, and small simulations.
std::vector<words> sensible_calls();

/// What no option takes.
const std::vector<std::string>& garbage();

/// Whether a value stands behind this word of a sensible call, in the place of which garbage is
/// refused.
bool takes_a_value(std::string_view word);

/// Every sensible call with each value of its options replaced by each piece of garbage.
std::vector<words> calls_with_garbage();
/// Values that are refused although they can be read.
std::vector<words> calls_out_of_range();
/// Missing, repeated, contradicting and unknown options.
std::vector<words> calls_of_wrong_usage();
/// The three together: all that ends with exit code 2.
std::vector<words> nonsense_calls();

/// For the message of a test: the call, cut short.
std::string shown(const words& call);

}  // namespace oneprobe::cli
