#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "options.hpp"
#include "reproduce/documents.hpp"

namespace oneprobe::cli {
namespace {

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

/// Does the id ask for this experiment of this document?
bool asks_for(std::string_view id, const document& of, const experiment& what) {
  return same_but_for_case(id, of.id) || same_but_for_case(id, what.id);
}

[[noreturn]] void refuse(const std::vector<document>& from, const std::string& id) {
  // The experiments of the document it begins with help most; else the documents.
  for (const document& each : from) {
    if (id.size() <= each.id.size() ||
        !same_but_for_case(std::string_view(id).substr(0, each.id.size()), each.id))
      continue;
    std::vector<std::string_view> known;
    for (const experiment& what : each.experiments()) known.push_back(what.id);
    throw usage_error(
        fmt::format("unknown experiment {}; one of {}", in_quotes(id), fmt::join(known, ", ")));
  }
  std::vector<std::string_view> known;
  known.reserve(from.size());
  for (const document& each : from) known.push_back(each.id);
  throw usage_error(fmt::format("unknown document or experiment {}; one of {}, or see --list",
                                in_quotes(id), fmt::join(known, ", ")));
}

}  // namespace

std::vector<selection> selected(const std::vector<document>& from,
                                const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    const bool known = std::any_of(from.begin(), from.end(), [&](const document& each) {
      const auto& all = each.experiments();
      return std::any_of(all.begin(), all.end(),
                         [&](const experiment& what) { return asks_for(id, each, what); });
    });
    if (!known) refuse(from, id);
  }
  std::vector<selection> found;
  for (const document& each : from) {
    selection next{&each, {}};
    for (const experiment& what : each.experiments())
      if (ids.empty() || std::any_of(ids.begin(), ids.end(), [&](const std::string& id) {
            return asks_for(id, each, what);
          }))
        next.experiments.push_back(&what);
    if (!next.experiments.empty()) found.push_back(std::move(next));
  }
  return found;
}

}  // namespace oneprobe::cli
