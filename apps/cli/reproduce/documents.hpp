// The documents in the order of the report, and what is asked for of them.
#pragma once

#include <string>
#include <vector>

#include "reproduce/result.hpp"

namespace oneprobe::cli {

const std::vector<document>& documents();

/// The experiments of a document that are asked for; never empty.
struct selection {
  const document* of;
  std::vector<const experiment*> experiments;
};

/// `ids` name documents ("OFH") or experiments ("OFH-Fig5a"), without regard to case; none: all.
/// Throws usage_error for one that does not exist, with those that do and resemble it.
std::vector<selection> selected(const std::vector<document>& from,
                                const std::vector<std::string>& ids);

}  // namespace oneprobe::cli
