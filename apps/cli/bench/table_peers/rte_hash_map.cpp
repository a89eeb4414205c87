#include "bench/table_peers/flat_table.hpp"

#if defined(ONEPROBE_TABLE_PEER_RTE)

#include <fcntl.h>
#include <rte_config.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_malloc.h>
#include <rte_version.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdio>
#include <stdexcept>

#include "oneprobe/detail/base/huge_pages.hpp"

namespace oneprobe::cli::peers {
namespace {

seeded_hash rte_seed;  // its hash function has no room for ours

/// Its hashes have 32 bits: the two halves of ours, folded.
std::uint32_t folded_hash(const void* key, std::uint32_t, std::uint32_t) {
  std::uint64_t bits;
  __builtin_memcpy(&bits, key, sizeof bits);
  const std::uint64_t hash = rte_seed(bits).value;
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

/// Both outputs lead nowhere while it lives: what DPDK has to say when it does not start, it says
/// past its log.
class silence {
 public:
  silence() {
    std::fflush(stdout);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (int i = 0; i < 2; ++i) {
      kept_[static_cast<std::size_t>(i)] = dup(i + 1);
      if (nowhere >= 0) dup2(nowhere, i + 1);
    }
    if (nowhere >= 0) close(nowhere);
  }
  ~silence() {
    std::fflush(stdout);
    for (int i = 0; i < 2; ++i) {
      const int kept = kept_[static_cast<std::size_t>(i)];
      if (kept < 0) continue;
      dup2(kept, i + 1);
      close(kept);
    }
  }
  silence(const silence&) = delete;
  silence& operator=(const silence&) = delete;

 private:
  std::array<int, 2> kept_{};
};

/// Starts DPDK once, without huge pages of the system's pool, devices, files and words. It ties the
/// thread to a processor, which is undone: the others run on any. Says why if it cannot.
absence start_dpdk() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return "the processors are not known";
  std::size_t first = 0;
  while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &mine)) ++first;
  std::string lcore = "--lcores=0@" + std::to_string(first);
  // 64 MB for itself; the tables get memory of their own.
  std::array<std::string, 9> words{"oneprobe",    "--no-huge",     "-m",
                                   "64",          "--no-pci",      "--no-telemetry",
                                   "--no-shconf", "--log-level=1", lcore};
  std::array<char*, words.size()> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  const silence quiet;
  const int started = rte_eal_init(static_cast<int>(arguments.size()), arguments.data());
  sched_setaffinity(0, sizeof mine, &mine);
  return started < 0 ? std::string("DPDK does not start: ") + rte_strerror(rte_errno) : absence();
}

/// Memory for one table, on huge pages like ours if the system has some. DPDK's own memory would
/// lie on small pages without its pool of large ones.
class rte_memory {
 public:
  explicit rte_memory(std::uint64_t bytes)
      : bytes_((bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes),
        mapped_(mmap(nullptr, bytes_ + huge_page_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    const auto address = reinterpret_cast<std::uintptr_t>(mapped_);
    const std::uintptr_t lead = (huge_page_bytes - address % huge_page_bytes) % huge_page_bytes;
    memory_ = static_cast<std::byte*>(mapped_) + lead;
    madvise(memory_, bytes_, MADV_HUGEPAGE);
    if (rte_malloc_heap_create(heap_name) != 0 ||
        rte_malloc_heap_memory_add(heap_name, memory_, bytes_, nullptr,
                                   static_cast<unsigned>(bytes_ / huge_page_bytes),
                                   huge_page_bytes) != 0)
      throw std::runtime_error(std::string("rte_hash gets no memory: ") + rte_strerror(rte_errno));
  }
  ~rte_memory() {
    rte_malloc_heap_memory_remove(heap_name, memory_, bytes_);
    rte_malloc_heap_destroy(heap_name);
    munmap(mapped_, bytes_ + huge_page_bytes);
  }
  rte_memory(const rte_memory&) = delete;
  rte_memory& operator=(const rte_memory&) = delete;

  int socket() const { return rte_malloc_heap_get_socket(heap_name); }
  std::uint64_t held() const {
    rte_malloc_socket_stats stats{};
    return rte_malloc_get_socket_stats(socket(), &stats) == 0 ? stats.heap_allocsz_bytes : 0;
  }

 private:
  static constexpr const char* heap_name = "oneprobe";

  std::uint64_t bytes_;
  void* mapped_;
  std::byte* memory_ = nullptr;
};

/// For one thread: no locks, no extendable buckets.
class rte_table {
 public:
  static constexpr std::size_t most_keys_per_call = RTE_HASH_LOOKUP_BULK_MAX;

  explicit rte_table(std::uint64_t entries)
      : entries_(entries), memory_(memory_for(entries)), hash_(make()) {}
  ~rte_table() { rte_hash_free(hash_); }
  rte_table(const rte_table&) = delete;
  rte_table& operator=(const rte_table&) = delete;

  bool insert(std::uint64_t key, std::uint64_t value) {
    return rte_hash_add_key_data(hash_, &key, to_data(value)) == 0;
  }
  bool find(std::uint64_t key, std::uint64_t& value) {
    void* data = nullptr;
    if (rte_hash_lookup_data(hash_, &key, &data) < 0) return false;
    value = from_data(data);
    return true;
  }
  bool erase(std::uint64_t key) { return rte_hash_del_key(hash_, &key) >= 0; }

  /// Calls `count(keys, hits, data)` for groups of keys; adds up what it returns.
  template <class Count>
  std::uint64_t in_calls(table_keys keys, std::size_t at_a_time, Count count) {
    std::array<const void*, most_keys_per_call> asked;
    std::array<void*, most_keys_per_call> data;
    const std::size_t most = std::min(at_a_time, most_keys_per_call);
    std::uint64_t counted = 0;
    while (!keys.empty()) {
      const table_keys some = keys.first(std::min(most, keys.size()));
      for (std::size_t i = 0; i < some.size(); ++i) asked[i] = &some[i];
      std::uint64_t hits = 0;
      rte_hash_lookup_bulk_data(hash_, asked.data(), static_cast<std::uint32_t>(some.size()), &hits,
                                data.data());
      counted += count(some, hits, data);
      keys = keys.subspan(some.size());
    }
    return counted;
  }

  std::uint64_t size() const { return static_cast<std::uint64_t>(rte_hash_count(hash_)); }
  double load_factor() const {
    return static_cast<double>(size()) / static_cast<double>(std::bit_ceil(entries_));
  }
  std::uint64_t memory_bytes() const { return memory_.held(); }

  static void* to_data(std::uint64_t value) { return reinterpret_cast<void*>(value); }
  static std::uint64_t from_data(const void* data) { return reinterpret_cast<std::uint64_t>(data); }

 private:
  /// Keys with values, a line for eight in the buckets, a number for each that is free; and room to
  /// lay them out.
  static std::uint64_t memory_for(std::uint64_t entries) {
    constexpr std::uint64_t reserve = 16 << 20;
    return entries * 16 + std::bit_ceil(entries) * (8 + 2 * 4) + reserve;
  }
  rte_hash* make() const {
    rte_hash_parameters parameters{};
    parameters.name = "oneprobe";
    parameters.entries = static_cast<std::uint32_t>(entries_);
    parameters.key_len = sizeof(std::uint64_t);
    parameters.hash_func = folded_hash;
    parameters.socket_id = memory_.socket();
    rte_hash* const made = rte_hash_create(&parameters);
    if (made == nullptr)
      throw std::runtime_error(std::string("rte_hash_create: ") + rte_strerror(rte_errno));
    return made;
  }

  std::uint64_t entries_;
  rte_memory memory_;
  rte_hash* hash_;
};

class rte_contender final : public looped_table<rte_table> {
 public:
  using looped_table::looped_table;

  std::optional<std::uint64_t> count_right_bulk(table_keys keys, std::size_t at_a_time) override {
    return table().in_calls(
        keys, at_a_time, [](table_keys some, std::uint64_t hits, const auto& data) {
          std::uint64_t right = 0;
          for (std::size_t i = 0; i < some.size(); ++i)
            right += (hits >> i & 1) != 0 && rte_table::from_data(data[i]) == value_of(some[i])
                         ? 1u
                         : 0u;
          return right;
        });
  }
  std::optional<std::uint64_t> count_present_bulk(table_keys keys, std::size_t at_a_time) override {
    return table().in_calls(keys, at_a_time, [](table_keys, std::uint64_t hits, const auto&) {
      return static_cast<std::uint64_t>(std::popcount(hits));
    });
  }
};

}  // namespace

absence add_rte(table_list& list, const table_contest_size& size) {
  static const absence why = start_dpdk();
  if (!why.empty()) return why;
  rte_seed = size.hash;
  const auto add = [&](std::string name, table_role role, std::uint64_t entries) {
    list.push_back(std::make_unique<rte_contender>(
        table_facts{.name = std::move(name),
                    .kind = table_kind::rte,
                    .role = role,
                    .elements = entries,
                    .version = rte_version()},
        [entries] { return std::make_unique<rte_table>(entries); }));
  };
  add("rte_hash", table_role::ordinary, size.elements);
  // As many slots in its buckets as entries: then there is no slack.
  add("rte_hash filled", table_role::full, power_of_two_within(static_cast<double>(size.elements)));
  return {};
}

}  // namespace oneprobe::cli::peers

#else

namespace oneprobe::cli::peers {

absence add_rte(table_list&, const table_contest_size&) { return not_compiled_in; }

}  // namespace oneprobe::cli::peers

#endif
