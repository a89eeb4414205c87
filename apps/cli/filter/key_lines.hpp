// Keys from a file or from standard input: one per line, or one before each NUL.
//
//   key_file file("keys.txt");                                  // "-" is standard input
//   key_lines lines(file, key_separator::newline);
//   for (key_text text; lines.next(text);)
//     for_each_key(text.view(), lines.separator(), [](std::string_view key) { ... });
//
// What a key is: all bytes between two separators, whatever they are. An empty line is a key, the
// empty one. A carriage return before the end of a line belongs to the key. The last line counts
// whether or not a separator follows it; after a last separator there is no further key.
//
// However long the input, one text is in memory, of at most `longest_key` bytes and a separator. A
// longer key is a usage_error that names the file and the line; an input that cannot be read is one
// or a system_failure, as named_file.hpp has it. Not thread-safe, except for
// key_file::stop_waiting().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace oneprobe::cli {

enum class key_separator : char { newline = '\n', nul = '\0' };

/// One more byte in a key is an error.
inline constexpr std::size_t longest_key = std::size_t{1} << 20;

/// A path for one line of a message: in quotes, in full, control characters replaced.
std::string path_in_quotes(std::string_view path);

/// An open input. A regular file can be read again from the beginning, anything else only once.
class key_file {
 public:
  /// Throws if it cannot be opened.
  explicit key_file(const std::string& path);
  ~key_file();
  key_file(const key_file&) = delete;
  key_file& operator=(const key_file&) = delete;

  /// For messages: the path in quotes, or "standard input".
  const std::string& name() const noexcept { return name_; }
  /// True for a regular file that was named; standard input is read once whatever it is.
  bool can_be_read_again() const noexcept { return regular_ && !standard_input_; }
  /// Length of a regular file when it was opened, else 0.
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Whether `path` is this very file, under this or another name.
  bool is_same_file(const std::string& path) const;

  void rewind();
  /// Waits until there is something to read. Returns how many bytes came; 0 at the end and after
  /// stop_waiting().
  std::size_t read(char* into, std::size_t most);
  /// Lets another thread end a read that waits for a slow input.
  void stop_waiting() noexcept { stopped_ = true; }

 private:
  bool wait_until_readable() const;
  [[noreturn]] void refuse(int error) const;

  std::string name_;
  int descriptor_ = -1;
  bool standard_input_ = false;
  bool regular_ = false;
  std::uint64_t bytes_ = 0;
  std::atomic<bool> stopped_ = false;
};

/// Refuses now what would make writing `path` fail after minutes of work.
void check_output(const std::string& path, const key_file& keys);

/// Some whole lines of the input, separators included. Memory is kept for the next ones.
class key_text {
 public:
  std::string_view view() const noexcept { return {bytes_.get(), size_}; }

 private:
  friend class key_lines;
  static constexpr std::size_t room = longest_key + 1;

  std::unique_ptr<char[]> bytes_ = std::make_unique_for_overwrite<char[]>(room);
  std::size_t size_ = 0;
};

class key_lines {
 public:
  key_lines(key_file& file, key_separator separator) : file_(file), separator_(separator) {}

  /// The next whole lines: as many as one read brings, so that a slow input is answered at once.
  /// False at the end.
  bool next(key_text& into);

  key_separator separator() const noexcept { return separator_; }
  /// Keys and bytes in all texts so far.
  std::uint64_t keys() const noexcept { return keys_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  [[noreturn]] void refuse_long_key() const;
  void hand_out(key_text& text, std::size_t size, std::uint64_t keys);

  key_file& file_;
  key_separator separator_;
  std::vector<char> rest_{};  // the beginning of a line whose end has not been read
  bool at_end_ = false;
  std::uint64_t keys_ = 0;
  std::uint64_t bytes_ = 0;
};

/// How many keys the input has. Reads all that is left of it; `seen` gets the bytes so far.
template <class Seen>
std::uint64_t count_keys(key_file& file, key_separator separator, Seen seen) {
  key_lines lines(file, separator);
  for (key_text text; lines.next(text);) seen(lines.bytes());
  return lines.keys();
}

/// Calls each(key) for all keys of a text, without their separators.
template <class Each>
void for_each_key(std::string_view text, key_separator separator, Each each) {
  while (!text.empty()) {
    const std::size_t end = text.find(static_cast<char>(separator));
    each(text.substr(0, end));
    if (end == text.npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace oneprobe::cli
