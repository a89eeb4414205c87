// A LevelDB database whose reads are counted: what the tests and the benchmark ask for absent keys.
//
//   counted_database database(folder, policy, {.records = 100'000});
//   absent_gets seen = database.ask_absent(1'000'000);
//
// Keys are 16 bytes in random order; absent ones are drawn like them and lie between them. The
// database is written, compacted into one level and opened again without a block cache, so that an
// absent key asks exactly one filter, and every read after the tables are open is of a data block.
#pragma once

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <oneprobe/detail/hash/derive.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace oneprobe::leveldb_integration {

struct database_shape {
  std::uint64_t records = 100'000;
  std::uint32_t value_bytes = 100;
  std::uint32_t block_bytes = 4096;

  static constexpr std::uint32_t key_bytes = 16;
};

struct absent_gets {
  std::uint64_t gets = 0;
  std::uint64_t wasted_reads = 0;  // of data blocks, for keys that are not there
  double cpu_seconds = 0;          // of the thread that asks, the system's work for it included
};

/// Counts what is read from tables at random places.
class counting_env final : public leveldb::EnvWrapper {
 public:
  counting_env() : leveldb::EnvWrapper(leveldb::Env::Default()) {}

  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** file) override {
    leveldb::RandomAccessFile* opened = nullptr;
    const leveldb::Status status = target()->NewRandomAccessFile(name, &opened);
    if (status.ok()) *file = new counted_file(opened, reads_);
    return status;
  }
  std::uint64_t reads() const noexcept { return reads_.load(); }

 private:
  class counted_file final : public leveldb::RandomAccessFile {
   public:
    counted_file(leveldb::RandomAccessFile* file, std::atomic<std::uint64_t>& reads)
        : file_(file), reads_(reads) {}
    leveldb::Status Read(std::uint64_t offset, std::size_t bytes, leveldb::Slice* result,
                         char* scratch) const override {
      ++reads_;
      return file_->Read(offset, bytes, result, scratch);
    }

   private:
    std::unique_ptr<leveldb::RandomAccessFile> file_;
    std::atomic<std::uint64_t>& reads_;
  };

  std::atomic<std::uint64_t> reads_{0};
};

class counted_database {
 public:
  /// Makes a new database in `folder`, which must not exist. The policy outlives it.
  counted_database(const std::filesystem::path& folder, const leveldb::FilterPolicy* policy,
                   database_shape shape)
      : folder_(folder), shape_(shape), no_cache_(leveldb::NewLRUCache(0)) {
    options_.create_if_missing = true;
    options_.filter_policy = policy;
    options_.compression = leveldb::kNoCompression;
    options_.block_size = shape.block_bytes;
    options_.block_cache = no_cache_.get();
    options_.max_open_files = 10'000;
    options_.env = &env_;
    open();
    fill();
    // The first call writes what is in memory, perhaps to a level that it then does not compact.
    for (int i = 0; i < 2; ++i) database_->CompactRange(nullptr, nullptr);
    reopen();
  }
  ~counted_database() {
    database_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  counted_database(const counted_database&) = delete;
  counted_database& operator=(const counted_database&) = delete;

  /// With another policy, if one is given: it is asked from now on.
  void reopen(const leveldb::FilterPolicy* policy = nullptr) {
    if (policy != nullptr) options_.filter_policy = policy;
    database_.reset();
    open();
    open_tables();
  }

  /// REQUIRES: number < records.
  bool holds(std::uint64_t number) {
    std::string value;
    const leveldb::Status status = database_->Get({}, key(number), &value);
    return status.ok() && value == value_of(number);
  }

  /// Throws if one is found: none is there.
  absent_gets ask_absent(std::uint64_t gets) {
    const std::uint64_t before = env_.reads();
    const double start = cpu_seconds();
    std::string value;
    for (std::uint64_t i = 0; i < gets; ++i) {
      const leveldb::Status status = database_->Get({}, key(shape_.records + asked_ + i), &value);
      if (!status.IsNotFound()) throw std::runtime_error("an absent key was found");
    }
    asked_ += gets;
    return {
        .gets = gets, .wasted_reads = env_.reads() - before, .cpu_seconds = cpu_seconds() - start};
  }

  /// Of the tables that are in use: records, filters and indexes. The folder may hold others for a
  /// while, which LevelDB has still to remove.
  std::uint64_t table_bytes() const {
    std::string tables;  // lines like " 17:2128['first' .. 'last']": a file's number and its bytes
    if (!database_->GetProperty("leveldb.sstables", &tables))
      throw std::runtime_error("LevelDB does not list its tables");
    std::istringstream lines(tables);
    std::uint64_t bytes = 0;
    for (std::string line; std::getline(lines, line);) {
      unsigned long long number = 0, size = 0;
      if (std::sscanf(line.c_str(), " %llu:%llu[", &number, &size) == 2) bytes += size;
    }
    return bytes;
  }

 private:
  /// A bijection of the numbers: no key comes twice, and they come in no order.
  static std::string key(std::uint64_t number) {
    char text[database_shape::key_bytes + 1];
    std::snprintf(text, sizeof text, "%016llx",
                  static_cast<unsigned long long>(mix_bits(number + golden_ratio_64)));
    return text;
  }
  std::string value_of(std::uint64_t number) const {
    std::string value = key(number);
    value.resize(shape_.value_bytes, 'v');
    return value;
  }

  static double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  static void require(const leveldb::Status& status) {
    if (!status.ok()) throw std::runtime_error(status.ToString());
  }
  void open() {
    leveldb::DB* opened = nullptr;
    require(leveldb::DB::Open(options_, folder_.string(), &opened));
    database_.reset(opened);
  }
  void fill() {
    leveldb::WriteBatch batch;
    for (std::uint64_t i = 0; i < shape_.records; ++i) {
      batch.Put(key(i), value_of(i));
      if (i % 1000 != 999 && i + 1 != shape_.records) continue;
      require(database_->Write({}, &batch));
      batch.Clear();
    }
  }
  /// Reads one record in 64, so that every table has its index and filters in memory.
  void open_tables() {
    std::string value;
    for (std::uint64_t i = 0; i < shape_.records; i += 64)
      require(database_->Get({}, key(i), &value));
  }

  std::filesystem::path folder_;
  database_shape shape_;
  counting_env env_;
  std::unique_ptr<leveldb::Cache> no_cache_;
  leveldb::Options options_;
  std::unique_ptr<leveldb::DB> database_;
  std::uint64_t asked_ = 0;
};

}  // namespace oneprobe::leveldb_integration
