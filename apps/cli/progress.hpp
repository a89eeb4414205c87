// A progress bar for work that takes longer than two seconds, on a terminal only: when the error
// output is piped or a file, nothing is ever written.
//
//   progress_bar bar;
//   for (...) bar.show(done / all, "OFH-Fig5a");     // as often as you like
//
// The bar is one line and is wiped out at the end. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace oneprobe::cli {

class progress_bar {
 public:
  progress_bar();
  ~progress_bar();
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  /// `done` from 0 to 1 of everything; `what` is being worked on.
  void show(double done, std::string_view what);

 private:
  using clock = std::chrono::steady_clock;

  std::mutex mutex_;
  bool terminal_;
  clock::time_point begin_ = clock::now();
  clock::time_point drawn_ = begin_;
  bool visible_ = false;
};

/// The bar as one line of at most `width` columns: how much is done, of what, and, if it can be
/// told, how long the rest will take.
std::string progress_line(double done, std::string_view what, double seconds_so_far,
                          std::size_t width);

/// "48 s", "3 min 20 s", "2 h 5 min".
std::string duration(double seconds);

}  // namespace oneprobe::cli
