#include <leveldb/slice.h>

#include <algorithm>
#include <cstdint>
#include <oneprobe/hash.hpp>
#include <oneprobe_leveldb/filter_policy.hpp>
#include <oneprobe_leveldb/small_pocket.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oneprobe::leveldb_integration {
namespace {

class small_pocket_policy final : public leveldb::FilterPolicy {
 public:
  explicit small_pocket_policy(pocket_budget budget) : budget_(budget) {}

  // Another name for every change after which filters of before would deny keys.
  const char* Name() const override { return "oneprobe.small_pocket.1"; }

  void CreateFilter(const leveldb::Slice* keys, int count, std::string* out) const override {
    std::vector<std::uint64_t> hashes;
    hashes.reserve(static_cast<std::size_t>(count));
    for (const leveldb::Slice& key : std::span(keys, static_cast<std::size_t>(count)))
      hashes.push_back(hash_of(key).value);
    // A key comes once for each of its versions.
    std::ranges::sort(hashes);
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
    append_pocket(hashes, budget_, *out);
  }

  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    return pocket_may_contain({filter.data(), filter.size()}, hash_of(key));
  }

 private:
  static key_hash hash_of(const leveldb::Slice& key) noexcept {
    return seeded_hash()(std::string_view(key.data(), key.size()));
  }

  pocket_budget budget_;
};

}  // namespace

std::unique_ptr<const leveldb::FilterPolicy> make_filter_policy(double bits_per_key) {
  return std::make_unique<small_pocket_policy>(pocket_budget(bits_per_key));
}

}  // namespace oneprobe::leveldb_integration
