#include "bench/boost_bloom.hpp"

#if defined(ONEPROBE_PEER_BOOST_BLOOM)

#include <boost/bloom/block.hpp>
#include <boost/bloom/fast_multiblock32.hpp>
#include <boost/bloom/fast_multiblock64.hpp>
#include <boost/bloom/filter.hpp>
#include <cmath>

#include "oneprobe/detail/base/huge_pages.hpp"

namespace oneprobe::cli {
namespace {

/// Our hash in Boost's form. It says that its bits are all good, so that Boost does not mix again.
struct boost_hash {
  using is_avalanching = void;
  seeded_hash hash{};
  std::size_t operator()(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>(hash(key).value);
  }
};

template <class Block>
class boost_contender final : public contender {
  using filter = boost::bloom::filter<std::uint64_t, 1, Block, 0, boost_hash,
                                      huge_page_allocator<unsigned char>>;

 public:
  boost_contender(std::string name, const contest_size& size)
      : filter_(static_cast<std::size_t>(
                    std::llround(static_cast<double>(size.elements) * size.bits_per_element)),
                boost_hash{size.hash}),
        facts_{.name = std::move(name),
               .kind = contender_kind::boost,
               .memory_bytes = filter_.capacity() / 8,
               .bits_set = Block::k,
               .fpr_model =
                   filter::fpr_for(static_cast<std::size_t>(size.elements), filter_.capacity())} {}

  const contender_facts& facts() const override { return facts_; }
  std::span<const std::byte> memory() const override {
    return std::as_bytes(std::span(filter_.array().data(), filter_.array().size()));
  }

  void clear() override { filter_.clear(); }
  void insert_one_by_one(key_span keys) override {
    for (const std::uint64_t key : keys) filter_.insert(key);
  }
  void insert_bulk(key_span keys) override { filter_.insert(keys.begin(), keys.end()); }
  void insert_watched(key_span keys, latency_watch& watch) override {
    insert_each_watched(filter_, keys, watch);
  }

  std::uint64_t count_one_by_one(key_span keys) const override {
    std::uint64_t yes = 0;
    for (const std::uint64_t key : keys) yes += filter_.may_contain(key) ? 1u : 0u;
    return yes;
  }
  std::uint64_t count_bulk(key_span keys) const override {
    std::uint64_t yes = 0;
    filter_.may_contain(keys.begin(), keys.end(),
                        [&yes](std::uint64_t, bool answer) { yes += answer ? 1u : 0u; });
    return yes;
  }

  counted_costs count_costs(key_span, key_span) const override {
    // Each block is read once, whatever is asked; none of these lies across lines that it does
    // not fill.
    constexpr double lines = (sizeof(typename Block::value_type) + 63) / 64;
    return {.miss_lines = lines,
            .insert_accesses = 1,
            .miss_accesses = 1,
            .hit_accesses = 1,
            .overflow_fraction = 0};
  }

 private:
  filter filter_;
  contender_facts facts_;
};

template <class Block>
void add(contender_list& list, const char* name, const contest_size& size) {
  list.push_back(std::make_unique<boost_contender<Block>>(name, size));
}

}  // namespace

peer_state boost_bloom_state() { return peer_state::compiled_in; }
std::string boost_bloom_flags() { return ONEPROBE_PEER_BOOST_BLOOM_FLAGS; }

contender_list make_boost_bloom(const contest_size& size) {
  using namespace boost::bloom;
  // From about here up twice the bits in two lines have the lower error.
  constexpr double many_bits = 24;
  contender_list list;
  add<fast_multiblock64<8>>(list, "boost fast_multiblock64<8>", size);
  if (size.bits_per_element >= many_bits)
    add<fast_multiblock64<16>>(list, "boost fast_multiblock64<16>", size);
  add<fast_multiblock32<8>>(list, "boost fast_multiblock32<8>", size);
  add<block<std::uint64_t, 6>>(list, "boost block<uint64_t, 6>", size);
  return list;
}

}  // namespace oneprobe::cli

#else

namespace oneprobe::cli {

peer_state boost_bloom_state() { return peer_state::absent; }
std::string boost_bloom_flags() { return {}; }
contender_list make_boost_bloom(const contest_size&) { return {}; }

}  // namespace oneprobe::cli

#endif
