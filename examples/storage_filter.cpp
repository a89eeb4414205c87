// A filter before storage: ten files of sorted keys, as a log-structured store has them, each with
// a filter file beside it. How many files are read for a key, with the filters and without.
//
//   storage_filter [FOLDER]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <oneprobe/filter/file.hpp>
#include <oneprobe/filter/fingerprint.hpp>
#include <oneprobe/key_hash.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace oneprobe;

constexpr std::size_t runs = 10;
constexpr std::uint64_t keys_per_run = 100'000;
constexpr std::uint64_t questions = 200'000;
constexpr double stated_error = 1e-3;

// In your program: a file on a disk, or an object in a bucket. Here a read is counted.
class sorted_run {
 public:
  sorted_run(std::size_t number, std::string filter_path) {
    for (std::uint64_t i = 0; i < keys_per_run; ++i)
      keys_.push_back(mix_bits(number * keys_per_run + i));
    write_filter(filter_path);
    std::ranges::sort(keys_);
    // The filter is mapped, not loaded: processes share it, and an unused one costs nothing.
    auto mapped = mapped_filter<fingerprint_filter>::map(filter_path);
    if (!mapped) throw std::runtime_error(mapped.failure().sentence);
    filter_ = std::make_unique<mapped_filter<fingerprint_filter>>(std::move(*mapped));
    std::remove(filter_path.c_str());  // the mapping stays
  }

  bool read(std::uint64_t key) const { return std::ranges::binary_search(keys_, key); }
  const auto& filter() const { return **filter_; }

 private:
  void write_filter(const std::string& path) const {
    // A fixed seed, so that this program prints the same every time. Leave it out in yours.
    fingerprint_filter filter(keys_per_run, stated_error, seeded_hash(20081));
    filter.bulk_insert(keys_);
    // The file is replaced as a whole: a crash leaves the old one or the new one.
    if (auto failure = save(filter, path)) throw std::runtime_error(failure->sentence);
  }

  std::vector<std::uint64_t> keys_;
  std::unique_ptr<mapped_filter<fingerprint_filter>> filter_;
};

struct tally {
  std::uint64_t reads = 0;
  std::uint64_t found = 0;
};

// From the newest run to the oldest; a run whose filter says no is not read.
tally look_up(const std::vector<sorted_run>& store, std::uint64_t first_key, bool filtered) {
  tally counts;
  for (std::uint64_t i = 0; i < questions; ++i) {
    const std::uint64_t key = mix_bits(first_key + i);
    for (auto run = store.rbegin(); run != store.rend(); ++run) {
      if (filtered && !run->filter().may_contain(key)) continue;
      ++counts.reads;
      if (run->read(key)) {
        ++counts.found;
        break;
      }
    }
  }
  return counts;
}

void show(const std::string& folder) {
  std::vector<sorted_run> store;
  for (std::size_t i = 0; i < runs; ++i)
    store.emplace_back(i, folder + "/storage_filter-" + std::to_string(i) + ".filter");
  const filter_plan& plan = store.front().filter().plan();
  std::printf("%zu runs of %d keys; %.1f bits of filter per key, stated error %.0e\n", runs,
              static_cast<int>(keys_per_run), plan.bits_per_element(), stated_error);
  std::printf("files read per key      without filters   with filters    found\n");
  for (const auto& [what, first] :
       {std::pair<const char*, std::uint64_t>{"keys that are there", 400'000},
        std::pair<const char*, std::uint64_t>{"keys that are not", 5'000'000}}) {
    const tally all = look_up(store, first, false), few = look_up(store, first, true);
    if (all.found != few.found) throw std::runtime_error("a filter has lost a key");
    std::printf("%-22s %16.3f %14.4f %8d\n", what, static_cast<double>(all.reads) / questions,
                static_cast<double>(few.reads) / questions, static_cast<int>(few.found));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    show(argc > 1 ? argv[1] : ".");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "storage_filter: %s\n", error.what());
    return 1;
  }
}
