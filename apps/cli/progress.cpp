#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace oneprobe::cli {
namespace {

constexpr auto patience = std::chrono::seconds(2);
constexpr auto between_drawings = std::chrono::milliseconds(100);
constexpr std::size_t line_width = 78;
constexpr std::size_t bar_width = 24;
// Before this share is done, the rest cannot be estimated.
constexpr double enough_to_guess = 0.02;

// Back to the first column, and everything right of it erased.
constexpr std::string_view wipe = "\r\x1b[K";

void write_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

progress_bar::progress_bar() : terminal_(isatty(STDERR_FILENO) == 1) {}

progress_bar::~progress_bar() {
  if (visible_) write_error(wipe);
}

void progress_bar::show(double done, std::string_view what) {
  if (!terminal_) return;
  const std::lock_guard lock(mutex_);
  const auto now = clock::now();
  if (now - begin_ < patience || now - drawn_ < between_drawings) return;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  write_error(std::string(wipe) + progress_line(done, what, seconds, line_width));
  drawn_ = now;
  visible_ = true;
}

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string progress_line(double done, std::string_view what, double seconds_so_far,
                          std::size_t width) {
  const double share = std::isfinite(done) ? std::clamp(done, 0.0, 1.0) : 0.0;
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(bar_width));
  std::string line = fmt::format("[{}{}] {:3.0f} %  {}", std::string(filled, '#'),
                                 std::string(bar_width - filled, '.'), 100 * share, what);
  if (share >= enough_to_guess)
    line += fmt::format("  {} left", duration(seconds_so_far * (1 - share) / share));
  if (line.size() > width) line.resize(width);
  return line;
}

}  // namespace oneprobe::cli
