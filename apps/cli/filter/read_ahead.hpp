// Reading on one thread, working on another.
//
//   read_ahead<block> blocks([&](block& next) { return read(next); });   // false: no more
//   while (block* next = blocks.wait()) work(*next);
//
// A few blocks go round between the two, so that memory stays the same however long the input is.
// What the reading throws, wait() throws. The object is used by one thread.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace oneprobe::cli {

template <class Block>
class read_ahead {
 public:
  /// `stop` is called when no caller will wait any more, to end a reading that takes long.
  explicit read_ahead(
      std::function<bool(Block&)> read, std::function<void()> stop = [] {})
      : read_(std::move(read)), stop_(std::move(stop)), thread_([this] { read_all(); }) {}

  ~read_ahead() {
    {
      const std::lock_guard lock(mutex_);
      unwanted_ = true;
    }
    changed_.notify_all();
    stop_();
    thread_.join();
  }
  read_ahead(const read_ahead&) = delete;
  read_ahead& operator=(const read_ahead&) = delete;

  /// The next block, valid until the next call; none at the end.
  Block* wait() {
    std::unique_lock lock(mutex_);
    if (holding_) ++worked_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return read_count_ > worked_ || finished_; });
    holding_ = read_count_ > worked_;
    if (holding_) return &ring_[worked_ % blocks];
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return nullptr;
  }

 private:
  // One being read, one being worked on, and one between them for when the two take turns in being
  // slower.
  static constexpr std::size_t blocks = 3;

  void read_all() {
    try {
      while (Block* free = wait_for_room()) {
        if (!read_(*free)) break;
        const std::lock_guard lock(mutex_);
        ++read_count_;
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

  Block* wait_for_room() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return read_count_ - worked_ < blocks || unwanted_; });
    return unwanted_ ? nullptr : &ring_[read_count_ % blocks];
  }

  std::array<Block, blocks> ring_{};
  std::function<bool(Block&)> read_;
  std::function<void()> stop_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::size_t read_count_ = 0;
  std::size_t worked_ = 0;
  bool holding_ = false;
  bool finished_ = false;
  bool unwanted_ = false;
  std::exception_ptr failure_{};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace oneprobe::cli
