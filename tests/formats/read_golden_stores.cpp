// Reads the golden page stores and builds one of them again: a program of its own, as
// read_golden.cpp. Prints what differs; exit code 1 if anything does.
//
//   read_golden_stores FOLDER
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>

#include "oneprobe/page_store/builder.hpp"
#include "oneprobe/page_store/page_store.hpp"

namespace {

using namespace oneprobe;

using contents = std::map<std::uint64_t, std::uint64_t>;

/// Little-endian wherever this runs: as the files were made.
std::array<std::byte, 8> bytes_of(std::uint64_t number) {
  std::array<std::byte, 8> bytes;
  byte_writer(bytes).put(number);
  return bytes;
}
std::uint64_t number_of(std::span<const std::byte> bytes) {
  return byte_reader(bytes).take<std::uint64_t>();
}

contents built_contents() {
  contents all;
  for (std::uint64_t key = 0; key < 60; ++key) all[key] = key * key;
  return all;
}

/// What is wrong with a file; empty if nothing is.
std::string find_difference(const std::string& path, const contents& expected) {
  const loaded<page_store> store = page_store::open(path);
  if (!store) return store.failure().sentence;
  if (const auto failure = store->verify()) return failure->sentence;
  contents found;
  static_cast<void>(
      store->for_each([&](auto key, auto value) { found[number_of(key)] = number_of(value); }));
  if (found != expected) return "it has other records";
  for (const auto& [key, value] : expected) {
    std::array<std::byte, 8> got{};
    if (store->get(bytes_of(key), got) != get_outcome::found || number_of(got) != value)
      return "a record is not found";
  }
  return {};
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Builds the store once more, from the plan that the file has.
std::string find_other_bytes(const std::string& path) {
  const loaded<page_store> golden = page_store::open(path);
  if (!golden) return golden.failure().sentence;
  const std::string again = "rebuilt.store";
  auto builder = page_store_builder::create(again, golden->plan(), golden->seed());
  if (!builder) return builder.failure().sentence;
  for (const auto& [key, value] : built_contents()) builder->put(bytes_of(key), bytes_of(value));
  if (const auto failure = builder->finish()) return failure->sentence;
  const bool same = text_of_file(again) == text_of_file(path);
  std::remove(again.c_str());
  return same ? std::string() : "built again it has other bytes";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string folder = std::string(arguments[1]) + "/";
  contents changed = built_contents();
  changed.erase(1);
  changed[2] = 5;
  changed[100] = 7;
  int code = 0;
  const auto expect_none = [&](const std::string& name, const std::string& difference) {
    if (difference.empty()) return;
    std::printf("%s: %s\n", name.c_str(), difference.c_str());
    code = 1;
  };
  expect_none("built.store", find_difference(folder + "built.store", built_contents()));
  expect_none("logged.store", find_difference(folder + "logged.store", changed));
  expect_none("built.store", find_other_bytes(folder + "built.store"));
  return code;
}
