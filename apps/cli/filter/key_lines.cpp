#include "key_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <system_error>

#include "named_file.hpp"

namespace oneprobe::cli {
namespace {

// How long a thread that is no longer needed may still wait for input.
constexpr int wait_milliseconds = 100;

/// Ten times as fast as std::count: bytes are counted in bytes, side by side, which compilers turn
/// into vector instructions; before such a counter can overflow, all are added up.
std::uint64_t count_of(char wanted, std::string_view text) {
  constexpr std::size_t lanes = 64;
  constexpr std::size_t most_rounds = std::numeric_limits<std::uint8_t>::max();
  std::uint64_t count = 0;
  while (text.size() >= lanes) {
    std::array<std::uint8_t, lanes> counters{};
    const std::size_t rounds = std::min(text.size() / lanes, most_rounds);
    const char* at = text.data();
    for (std::size_t round = 0; round < rounds; ++round, at += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane)
        counters[lane] = static_cast<std::uint8_t>(counters[lane] + (at[lane] == wanted ? 1 : 0));
    count = std::accumulate(counters.begin(), counters.end(), count);
    text.remove_prefix(rounds * lanes);
  }
  return count + static_cast<std::uint64_t>(std::count(text.begin(), text.end(), wanted));
}

}  // namespace

std::string path_in_quotes(std::string_view path) {
  std::string shown(path);
  std::replace_if(
      shown.begin(), shown.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return fmt::format("'{}'", shown);
}

key_file::key_file(const std::string& path)
    : name_(path == "-" ? "standard input" : path_in_quotes(path)), standard_input_(path == "-") {
  descriptor_ = standard_input_ ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat what {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &what) != 0) refuse(errno);
  if (S_ISDIR(what.st_mode)) refuse(EISDIR);
  regular_ = S_ISREG(what.st_mode);
  if (!regular_) return;
  bytes_ = static_cast<std::uint64_t>(what.st_size);
  // Only a wish: the answer does not matter.
  static_cast<void>(::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL));
}

key_file::~key_file() {
  if (!standard_input_ && descriptor_ >= 0) ::close(descriptor_);
}

void key_file::refuse(int error) const {
  refuse_path(error, fmt::format("{} cannot be read: {}", name_, std::strerror(error)));
}

bool key_file::is_same_file(const std::string& path) const {
  struct stat mine {
  }, other{};
  return ::fstat(descriptor_, &mine) == 0 && ::stat(path.c_str(), &other) == 0 &&
         mine.st_dev == other.st_dev && mine.st_ino == other.st_ino;
}

void key_file::rewind() {
  if (::lseek(descriptor_, 0, SEEK_SET) != 0) refuse(errno);
}

bool key_file::wait_until_readable() const {
  while (!stopped_) {
    pollfd waiting{.fd = descriptor_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, wait_milliseconds);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) refuse(errno);
  }
  return false;
}

std::size_t key_file::read(char* into, std::size_t most) {
  while (true) {
    if (!regular_ && !wait_until_readable()) return 0;
    const ssize_t got = ::read(descriptor_, into, most);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR && errno != EAGAIN) refuse(errno);
  }
}

void check_output(const std::string& path, const key_file& keys) {
  const auto sentence = [&](std::string_view why) {
    return fmt::format("{} cannot be written: {}", path_in_quotes(path), why);
  };
  const auto refuse = [&](int error) { refuse_path(error, sentence(std::strerror(error))); };
  if (keys.is_same_file(path)) throw usage_error(sentence("it is the file of keys"));
  struct stat there {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (!exists && errno != ENOENT) refuse(errno);
  if (exists && S_ISDIR(there.st_mode)) refuse(EISDIR);
  if (exists && !S_ISREG(there.st_mode)) throw usage_error(sentence("it is not a regular file"));
  std::error_code ignored;
  const std::filesystem::path target =
      exists ? std::filesystem::canonical(path, ignored) : std::filesystem::path(path);
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  if (::access(folder.c_str(), W_OK | X_OK) != 0) refuse(errno);
}

bool key_lines::next(key_text& into) {
  if (at_end_) return false;
  char* const bytes = into.bytes_.get();
  const char end_of_key = static_cast<char>(separator_);
  std::copy(rest_.begin(), rest_.end(), bytes);
  std::size_t used = rest_.size();
  while (used < key_text::room) {
    const std::size_t got = file_.read(bytes + used, key_text::room - used);
    if (got == 0) {
      at_end_ = true;
      if (used == 0) return false;
      hand_out(into, used, 1);
      return true;
    }
    // What was there before has no separator.
    const std::string_view fresh(bytes + used, got);
    used += got;
    if (const std::size_t last = fresh.rfind(end_of_key); last != fresh.npos) {
      const std::size_t size = used - (got - last - 1);
      rest_.assign(bytes + size, bytes + used);
      hand_out(into, size, count_of(end_of_key, fresh));
      return true;
    }
  }
  refuse_long_key();
}

void key_lines::hand_out(key_text& text, std::size_t size, std::uint64_t keys) {
  text.size_ = size;
  keys_ += keys;
  bytes_ += size;
}

void key_lines::refuse_long_key() const {
  throw usage_error(fmt::format("{} {} of {} is too long: a key may have at most {} bytes",
                                separator_ == key_separator::newline ? "line" : "key", keys_ + 1,
                                file_.name(), longest_key));
}

}  // namespace oneprobe::cli
