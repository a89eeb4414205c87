// Reads the golden filter files and builds them again: a program of its own, so that it can be
// compiled for machines of another byte order and run there. Prints what differs; exit code 1 if
// anything does.
//
//   read_golden FOLDER
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "golden_filters.hpp"
#include "oneprobe/filter/any_filter.hpp"

namespace {

using namespace oneprobe;

std::map<std::string, std::string> read_answers(const std::string& path) {
  std::ifstream file(path);
  std::map<std::string, std::string> answers;
  for (std::string name, digits; file >> name >> digits;) answers[name] = digits;
  return answers;
}

/// What is wrong with one file; empty if nothing is.
std::string find_difference(const golden_filter& golden, const std::string& path,
                            const std::string& answers) {
  const loaded<any_mapped_filter> mapped = map_any(path);
  if (!mapped) return mapped.failure().sentence;
  const auto payload =
      std::visit([](const auto& filter) { return filter.verify_payload(); }, *mapped);
  if (payload) return payload->sentence;
  const bool all_there = std::visit(
      [&](const auto& filter) { return contains_all_golden_keys(golden, *filter); }, *mapped);
  if (!all_there) return "a key is missing";
  if (std::visit([](const auto& filter) { return golden_answers(*filter); }, *mapped) != answers)
    return "other answers";

  std::vector<std::byte> rebuilt;
  std::visit([&](const auto& filter) { save_to(filter, rebuilt); }, build_any_golden(golden));
  std::ifstream file(path, std::ios::binary);
  const std::string stored{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!std::ranges::equal(rebuilt, stored, {}, {},
                          [](char c) { return static_cast<std::byte>(c); }))
    return "other bytes when it is built again";
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: read_golden FOLDER\n");
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  auto answers = read_answers(folder + "answers.txt");
  int different = 0;
  for (const golden_filter& golden : golden_filters()) {
    const std::string difference =
        find_difference(golden, folder + golden.name + ".filter", answers[golden.name]);
    if (difference.empty()) continue;
    std::printf("%s: %s\n", golden.name.c_str(), difference.c_str());
    ++different;
  }
  std::printf("%zu files, %d different\n", golden_filters().size(), different);
  return different == 0 ? 0 : 1;
}
