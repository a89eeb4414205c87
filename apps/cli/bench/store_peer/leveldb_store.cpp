// LevelDB with its default 10-bit filter, compacted, without a block cache; its reads are counted
// by an Env between it and the files.
#include "bench/store_contender.hpp"

#ifdef ONEPROBE_PEER_LEVELDB

#include <fcntl.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace oneprobe::cli {
namespace {

constexpr std::uint64_t page_bytes = 4096;

struct counters {
  std::atomic<std::uint64_t> reads{0};
  std::atomic<std::uint64_t> pages{0};

  void add(std::uint64_t offset, std::size_t bytes) {
    reads.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t last = (offset + std::max<std::size_t>(bytes, 1) - 1) / page_bytes;
    pages.fetch_add(last - offset / page_bytes + 1, std::memory_order_relaxed);
  }
};

class counting_file final : public leveldb::RandomAccessFile {
 public:
  counting_file(leveldb::RandomAccessFile* file, counters& count) : file_(file), count_(count) {}
  leveldb::Status Read(std::uint64_t offset, std::size_t n, leveldb::Slice* result,
                       char* scratch) const override {
    count_.add(offset, n);
    return file_->Read(offset, n, result, scratch);
  }

 private:
  std::unique_ptr<leveldb::RandomAccessFile> file_;
  counters& count_;
};

/// Reads by pread: what was asked for, or past the page cache the whole pages around it.
class pread_file final : public leveldb::RandomAccessFile {
 public:
  pread_file(int descriptor, page_reading reading, counters& count)
      : descriptor_(descriptor), direct_(reading == page_reading::direct), count_(count) {}
  ~pread_file() override { ::close(descriptor_); }
  leveldb::Status Read(std::uint64_t offset, std::size_t n, leveldb::Slice* result,
                       char* scratch) const override {
    count_.add(offset, n);
    if (direct_) return read_pages(offset, n, result, scratch);
    const ssize_t got = ::pread(descriptor_, scratch, n, static_cast<off_t>(offset));
    if (got < 0) return leveldb::Status::IOError("pread");
    *result = leveldb::Slice(scratch, static_cast<std::size_t>(got));
    return leveldb::Status::OK();
  }

 private:
  leveldb::Status read_pages(std::uint64_t offset, std::size_t n, leveldb::Slice* result,
                             char* scratch) const {
    const std::uint64_t begin = offset / page_bytes * page_bytes;
    const std::uint64_t end = (offset + n + page_bytes - 1) / page_bytes * page_bytes;
    const std::unique_ptr<void, void (*)(void*)> buffer(
        std::aligned_alloc(page_bytes, static_cast<std::size_t>(end - begin)), std::free);
    const ssize_t got = ::pread(descriptor_, buffer.get(), static_cast<std::size_t>(end - begin),
                                static_cast<off_t>(begin));
    const std::uint64_t before = offset - begin;
    if (got < 0 || static_cast<std::uint64_t>(got) < before)
      return leveldb::Status::IOError("direct read");
    const std::size_t there =
        std::min(n, static_cast<std::size_t>(static_cast<std::uint64_t>(got) - before));
    std::memcpy(scratch, static_cast<const char*>(buffer.get()) + before, there);
    *result = leveldb::Slice(scratch, there);
    return leveldb::Status::OK();
  }

  int descriptor_;
  bool direct_;
  counters& count_;
};

class counting_env final : public leveldb::EnvWrapper {
 public:
  counting_env() : EnvWrapper(leveldb::Env::Default()) {}

  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** result) override {
    // Its own way is to map files.
    if (reading != page_reading::mapped) {
      const bool direct = reading == page_reading::direct;
      const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
      if (descriptor < 0) return leveldb::Status::IOError("it cannot be opened so", name);
      *result = new pread_file(descriptor, reading, count);
      return leveldb::Status::OK();
    }
    leveldb::RandomAccessFile* file = nullptr;
    leveldb::Status opened = target()->NewRandomAccessFile(name, &file);
    if (opened.ok()) *result = new counting_file(file, count);
    return opened;
  }

  page_reading reading = page_reading::mapped;
  counters count;
};

leveldb::Slice slice_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class leveldb_store final : public store_contender {
 public:
  explicit leveldb_store(std::string folder) : path_(std::move(folder) + "/leveldb") {
    options_.env = &env_;
    options_.filter_policy = filter_.get();
    options_.block_cache = cache_.get();
  }
  ~leveldb_store() override {
    db_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string name() const override {
    return "LevelDB " + std::to_string(leveldb::kMajorVersion) + "." +
           std::to_string(leveldb::kMinorVersion);
  }
  std::string build(std::uint64_t records, std::uint64_t seed,
                    void (*tell)(void* bar, std::uint64_t done), void* bar) override {
    options_.create_if_missing = true;
    options_.error_if_exists = true;
    if (std::string why = open_database(); !why.empty()) return why;
    constexpr std::uint64_t in_batch = 1000;
    leveldb::WriteBatch batch;
    for (std::uint64_t i = 0; i < records; ++i) {
      const bench_record made = make_record(i, seed);
      batch.Put(slice_of(made.key), slice_of(made.value));
      if (i % in_batch == in_batch - 1 || i + 1 == records) {
        const leveldb::Status written = db_->Write({}, &batch);
        if (!written.ok()) return written.ToString();
        batch.Clear();
        tell(bar, i + 1);
      }
    }
    db_->CompactRange(nullptr, nullptr);
    db_.reset();
    options_.create_if_missing = options_.error_if_exists = false;
    return {};
  }
  std::string open(page_reading reading) override {
    db_.reset();
    env_.reading = reading;
    return open_database();
  }
  bool get(const std::array<std::byte, bench_key_bytes>& key,
           std::array<std::byte, bench_value_bytes>& value) override {
    if (!db_->Get({}, slice_of(key), &found_).ok() || found_.size() != value.size()) return false;
    std::memcpy(value.data(), found_.data(), value.size());
    return true;
  }
  read_counts take_read_counts() override {
    return {env_.count.reads.exchange(0), env_.count.pages.exchange(0)};
  }
  std::uint64_t disk_bytes() const override {
    std::uint64_t sum = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      if (entry.is_regular_file()) sum += entry.file_size();
    return sum;
  }
  std::uint64_t memory_bytes() const override {
    std::string text;
    if (!db_->GetProperty("leveldb.approximate-memory-usage", &text)) return 0;
    return std::strtoull(text.c_str(), nullptr, 10);
  }

 private:
  std::string open_database() {
    leveldb::DB* opened = nullptr;
    const leveldb::Status status = leveldb::DB::Open(options_, path_, &opened);
    db_.reset(opened);
    return status.ok() ? std::string() : status.ToString();
  }

  std::string path_;
  counting_env env_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_{leveldb::NewBloomFilterPolicy(10)};
  std::unique_ptr<leveldb::Cache> cache_{leveldb::NewLRUCache(0)};
  leveldb::Options options_;
  std::unique_ptr<leveldb::DB> db_;
  std::string found_;
};

}  // namespace
}  // namespace oneprobe::cli

extern "C" oneprobe::cli::store_contender* oneprobe_make_leveldb(const std::string& folder) {
  return new oneprobe::cli::leveldb_store(folder);
}

#else

extern "C" oneprobe::cli::store_contender* oneprobe_make_leveldb(const std::string&) {
  return nullptr;
}

#endif
