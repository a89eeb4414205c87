// Reads the golden filter files and builds them again: a program of its own, so that it can be
// compiled for machines of another byte order and run there. Prints what differs; exit code 1 if
// anything does.
//
//   read_golden FOLDER
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "golden_filters.hpp"
#include "handles/held_filter.hpp"
#include "oneprobe/filter/file.hpp"
#include "oneprobe/filter/parts_file.hpp"

namespace {

using namespace oneprobe;

std::map<std::string, std::string> read_answers(const std::string& path) {
  std::ifstream file(path);
  std::map<std::string, std::string> answers;
  for (std::string name, digits; file >> name >> digits;) answers[name] = digits;
  return answers;
}

template <class Filter>
bool has_bytes_of(const Filter& rebuilt, const std::string& path) {
  std::vector<std::byte> bytes;
  save_to(rebuilt, bytes);
  std::ifstream file(path, std::ios::binary);
  const std::string stored{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return std::ranges::equal(bytes, stored, {}, {},
                            [](char c) { return static_cast<std::byte>(c); });
}

/// What is wrong with one file; empty if nothing is.
std::string find_difference(const golden_filter& golden, const std::string& path,
                            const std::string& answers) {
  const auto mapped = mapped_filter<held_filter>::map(path);
  if (!mapped) return mapped.failure().sentence;
  if (const auto failure = mapped->verify_payload()) return failure->sentence;
  if (!contains_all_golden_keys(golden, **mapped)) return "a key is missing";
  if (golden_answers(**mapped) != answers) return "other answers";
  if (!has_bytes_of(build_golden(golden), path)) return "other bytes when it is built again";
  return "";
}

/// The same for a file of several filters.
template <class Filter>
std::string find_difference(const Filter& rebuilt, std::uint64_t first_key, const std::string& path,
                            const std::string& answers) {
  const loaded<Filter> filter = load<Filter>(path);
  if (!filter) return filter.failure().sentence;
  if (!contains_golden_keys_from(first_key, *filter)) return "a key is missing";
  if (golden_answers(*filter) != answers) return "other answers";
  if (!has_bytes_of(rebuilt, path)) return "other bytes when it is built again";
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
  const auto note = [&](const std::string& name, const std::string& difference) {
    if (difference.empty()) return;
    std::printf("%s: %s\n", name.c_str(), difference.c_str());
    ++different;
  };
  for (const golden_filter& golden : golden_filters())
    note(golden.name,
         find_difference(golden, folder + golden.name + ".filter", answers[golden.name]));
  for_each_golden_parts([&](const std::string& name, const auto& rebuilt, std::uint64_t first_key) {
    note(name, find_difference(rebuilt, first_key, folder + name + ".filter", answers[name]));
  });
  std::printf("%zu files, %d different\n", golden_filters().size() + golden_parts_files, different);
  return different == 0 ? 0 : 1;
}
