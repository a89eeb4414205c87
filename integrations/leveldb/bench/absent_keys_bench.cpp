// Absent keys looked up in two LevelDB databases, one with the built-in filter policy, one with
// ours: needless block reads and gets per second of CPU time, as JSON on standard output.
//
//   leveldb_bench [RECORDS [GETS [ROUNDS]]]         1000000 2000000 5
//
// The databases are made in the temporary folder, one after the other for each number of bits per
// key, and asked in turn, round by round.
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <oneprobe_leveldb/filter_policy.hpp>
#include <oneprobe_leveldb/small_pocket.hpp>
#include <string>
#include <vector>

#include "../counted_database.hpp"

namespace {

using namespace oneprobe::leveldb_integration;
using policy_pointer = std::unique_ptr<const leveldb::FilterPolicy>;

struct measured {
  std::uint64_t gets = 0;
  std::uint64_t wasted_reads = 0;
  std::vector<double> gets_per_second;

  void add(const absent_gets& round) {
    gets += round.gets;
    wasted_reads += round.wasted_reads;
    gets_per_second.push_back(static_cast<double>(round.gets) / round.cpu_seconds);
  }
  void print(const char* name, std::uint64_t table_bytes, const char* end) {
    std::ranges::sort(gets_per_second);
    std::printf(
        "   {\"policy\": \"%s\", \"gets\": %llu, \"wasted_reads\": %llu, \"gets_per_second\": "
        "{\"median\": %.0f, \"least\": %.0f, \"most\": %.0f}, \"table_bytes\": %llu}%s\n",
        name, static_cast<unsigned long long>(gets), static_cast<unsigned long long>(wasted_reads),
        gets_per_second[gets_per_second.size() / 2], gets_per_second.front(),
        gets_per_second.back(), static_cast<unsigned long long>(table_bytes), end);
  }
};

/// Our policy, and what the model says of every filter it made. A key comes to a block in
/// proportion to the keys that the block has.
class watched_policy final : public leveldb::FilterPolicy {
 public:
  explicit watched_policy(int bits) : budget_(bits), policy_(make_filter_policy(bits)) {}

  const char* Name() const override { return policy_->Name(); }
  void CreateFilter(const leveldb::Slice* keys, int count, std::string* out) const override {
    policy_->CreateFilter(keys, count, out);
    const auto filter_keys = static_cast<std::uint64_t>(count);
    keys_ += static_cast<double>(filter_keys);
    errors_ += static_cast<double>(filter_keys) * pocket_shape_of(filter_keys, budget_).fpr();
  }
  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    return policy_->KeyMayMatch(key, filter);
  }
  /// REQUIRES: nothing is written meanwhile.
  double predicted_fpr() const { return errors_ / keys_; }

 private:
  pocket_budget budget_;
  policy_pointer policy_;
  // LevelDB writes tables on one thread at a time.
  mutable double keys_ = 0;
  mutable double errors_ = 0;
};

std::filesystem::path folder_of(const char* name) {
  return std::filesystem::temp_directory_path() /
         ("oneprobe_leveldb_bench_" + std::to_string(getpid()) + "_" + name);
}

void compare(int bits, const database_shape& shape, std::uint64_t gets, unsigned rounds,
             const char* end) {
  const policy_pointer built_in(leveldb::NewBloomFilterPolicy(bits));
  const watched_policy ours(bits);
  counted_database with_built_in(folder_of("built_in"), built_in.get(), shape);
  counted_database with_ours(folder_of("ours"), &ours, shape);
  measured of_built_in, of_ours;
  for (unsigned round = 0; round < rounds; ++round) {
    of_built_in.add(with_built_in.ask_absent(gets));
    of_ours.add(with_ours.ask_absent(gets));
  }
  std::printf("  {\"bits_per_key\": %d, \"predicted_fpr\": %.4g, \"policies\": [\n", bits,
              ours.predicted_fpr());
  of_built_in.print("built-in", with_built_in.table_bytes(), ",");
  of_ours.print("oneprobe", with_ours.table_bytes(), "]}");
  std::printf("%s\n", end);
}

int run(int count, char** arguments) {
  const auto number = [&](int place, std::uint64_t otherwise) -> std::uint64_t {
    if (count <= place) return otherwise;
    char* end = nullptr;
    const std::uint64_t found = std::strtoull(arguments[place], &end, 10);
    if (*end != '\0' || found == 0)
      throw std::invalid_argument("arguments must be whole numbers from 1 up; found " +
                                  std::string(arguments[place]));
    return found;
  };
  const database_shape shape{.records = number(1, 1'000'000)};
  const std::uint64_t gets = number(2, 2'000'000);
  const auto rounds = static_cast<unsigned>(number(3, 5));
  std::printf(
      "{\"leveldb\": \"%d.%d\", \"records\": %llu, \"key_bytes\": %u, \"value_bytes\": %u, "
      "\"block_bytes\": %u, \"gets_per_round\": %llu, \"rounds\": %u, \"compiler\": \"g++ %s\",\n "
      "\"bits\": [\n",
      leveldb::kMajorVersion, leveldb::kMinorVersion,
      static_cast<unsigned long long>(shape.records), database_shape::key_bytes, shape.value_bytes,
      shape.block_bytes, static_cast<unsigned long long>(gets), rounds, __VERSION__);
  compare(10, shape, gets, rounds, "  ,");
  compare(16, shape, gets, rounds, "  ,");
  compare(20, shape, gets, rounds, "  ]}");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "leveldb_bench: %s\n", failure.what());
    return 2;
  }
}
