#include "filter/key_lines.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "filter/hashed_keys.hpp"
#include "filter/read_ahead.hpp"
#include "options.hpp"

namespace oneprobe::cli {
namespace {

using strings = std::vector<std::string>;

/// A file of its own for each test, gone afterwards.
class temporary_file {
 public:
  explicit temporary_file(std::string_view bytes) {
    path_ = testing::TempDir() + "key_lines_test_XXXXXX";
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) throw std::runtime_error("no temporary file");
    ::close(descriptor);
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~temporary_file() { std::filesystem::remove(path_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Both ends of a pipe, as a path that a key_file can open.
class pipe_ends {
 public:
  pipe_ends() {
    if (::pipe(ends_) != 0) throw std::runtime_error("no pipe");
  }
  ~pipe_ends() {
    close_writer();
    ::close(ends_[0]);
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;

  std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }
  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t done = ::write(ends_[1], bytes.data(), bytes.size());
      if (done <= 0) throw std::runtime_error("the pipe is broken");
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
  }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

strings keys_of(key_file& file, key_separator separator) {
  strings keys;
  key_lines lines(file, separator);
  for (key_text text; lines.next(text);)
    for_each_key(text.view(), separator, [&](std::string_view key) { keys.emplace_back(key); });
  EXPECT_EQ(lines.keys(), keys.size());
  return keys;
}

strings keys_in(std::string_view bytes, key_separator separator = key_separator::newline) {
  const temporary_file on_disk(bytes);
  key_file file(on_disk.path());
  return keys_of(file, separator);
}

/// What a key is, byte by byte.
strings plainly_split(std::string_view bytes, char separator) {
  strings keys;
  std::string key;
  bool open = false;
  for (const char c : bytes) {
    if (c == separator) {
      keys.push_back(key);
      key.clear();
      open = false;
    } else {
      key += c;
      open = true;
    }
  }
  if (open) keys.push_back(key);
  return keys;
}

std::string refusal_of(std::string_view bytes, key_separator separator) {
  try {
    keys_in(bytes, separator);
  } catch (const usage_error& error) {
    return error.what();
  }
  return {};
}

TEST(KeyLines, a_key_is_what_stands_between_two_separators) {
  EXPECT_EQ(keys_in("a\nbc\n"), (strings{"a", "bc"}));
  EXPECT_EQ(keys_in("a\nbc"), (strings{"a", "bc"}));
  EXPECT_EQ(keys_in(""), strings{});
  EXPECT_EQ(keys_in("\n"), strings{""});
  EXPECT_EQ(keys_in("a\n\nb\n\n"), (strings{"a", "", "b", ""}));
  EXPECT_EQ(keys_in("a\r\nb\r\n"), (strings{"a\r", "b\r"}));
  const std::string with_nul("a\0b\n", 4);
  EXPECT_EQ(keys_in(with_nul), strings{with_nul.substr(0, 3)});
  EXPECT_EQ(keys_in(with_nul, key_separator::nul), (strings{"a", "b\n"}));
}

TEST(KeyLines, the_longest_key_is_taken_and_one_byte_more_is_refused_with_its_line) {
  const std::string longest(longest_key, 'x');
  for (const char* const end : {"\n", ""}) {
    const strings keys = keys_in("first\n" + longest + end);
    ASSERT_EQ(keys.size(), 2U);
    EXPECT_EQ(keys[1], longest);
    const std::string refused =
        refusal_of("first\nsecond\n" + longest + "x" + end, key_separator::newline);
    EXPECT_NE(refused.find("line 3 of '"), refused.npos) << refused;
    EXPECT_NE(refused.find("at most 1048576 bytes"), refused.npos) << refused;
  }
  EXPECT_NE(refusal_of(longest + longest, key_separator::nul).find("key 1 of"), std::string::npos);
}

TEST(KeyLines, long_and_short_keys_that_straddle_the_reads_come_out_whole) {
  // About 5 MiB of lengths that share no factor with the size of a read.
  std::string bytes;
  for (std::size_t i = 0; i < 60; ++i)
    bytes += std::string(i % 7 == 0 ? 500'009 + i : i * 97, static_cast<char>('a' + i % 26)) + '\n';
  EXPECT_EQ(keys_in(bytes), plainly_split(bytes, '\n'));
}

TEST(KeyLines, empty_lines_without_end_are_counted_and_split_alike) {
  constexpr std::size_t some = 3'000'017;
  const temporary_file on_disk(std::string(some, '\n'));
  key_file file(on_disk.path());
  EXPECT_EQ(count_keys(file, key_separator::newline, [](std::uint64_t) {}), some);
  file.rewind();
  EXPECT_EQ(keys_of(file, key_separator::newline).size(), some);
}

TEST(KeyLines, a_file_can_be_read_again_and_a_pipe_cannot) {
  const temporary_file on_disk("a\nb\nc");
  key_file file(on_disk.path());
  EXPECT_TRUE(file.can_be_read_again());
  EXPECT_EQ(file.bytes(), 5U);
  std::uint64_t seen = 0;
  EXPECT_EQ(count_keys(file, key_separator::newline, [&](std::uint64_t bytes) { seen = bytes; }),
            3U);
  EXPECT_EQ(seen, 5U);
  file.rewind();
  EXPECT_EQ(keys_of(file, key_separator::newline), (strings{"a", "b", "c"}));
  const pipe_ends pipe;
  EXPECT_FALSE(key_file(pipe.path()).can_be_read_again());
  EXPECT_FALSE(key_file("-").can_be_read_again());
}

TEST(KeyLines, one_file_under_two_names_is_recognised) {
  const temporary_file one("a\n"), other("a\n");
  const std::string link = one.path() + ".link";
  std::filesystem::create_symlink(one.path(), link);
  const key_file file(one.path());
  EXPECT_TRUE(file.is_same_file(one.path()));
  EXPECT_TRUE(file.is_same_file(link));
  EXPECT_FALSE(file.is_same_file(other.path()));
  EXPECT_FALSE(file.is_same_file(one.path() + ".missing"));
  std::filesystem::remove(link);
}

TEST(KeyLines, what_cannot_be_read_is_named) {
  const auto refusal = [](const std::string& path) -> std::string {
    try {
      key_file file(path);
    } catch (const usage_error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refusal("no such\nfile"), "'no such?file' cannot be read: No such file or directory");
  EXPECT_EQ(refusal("/"), "'/' cannot be read: Is a directory");
}

TEST(KeyLines, a_line_of_a_slow_input_is_handed_out_before_the_next_one_comes) {
  pipe_ends pipe;
  key_file file(pipe.path());
  key_lines lines(file, key_separator::newline);
  key_text text;
  pipe.write("first\nsec");
  ASSERT_TRUE(lines.next(text));
  EXPECT_EQ(text.view(), "first\n");
  pipe.write("ond\nthird");
  ASSERT_TRUE(lines.next(text));
  EXPECT_EQ(text.view(), "second\n");
  pipe.close_writer();
  ASSERT_TRUE(lines.next(text));
  EXPECT_EQ(text.view(), "third");
  EXPECT_FALSE(lines.next(text));
  EXPECT_FALSE(lines.next(text));
  EXPECT_EQ(lines.keys(), 3U);
}

RC_GTEST_PROP(KeyLines, any_bytes_in_any_pieces_are_split_as_a_plain_loop_does, ()) {
  const auto separator = *rc::gen::element(key_separator::newline, key_separator::nul);
  const auto pieces =
      *rc::gen::container<strings>(rc::gen::container<std::string>(rc::gen::weightedOneOf<char>(
          {{4, rc::gen::element('\n', '\0', '\r', 'a')}, {1, rc::gen::arbitrary<char>()}})));
  std::string bytes;
  for (const std::string& piece : pieces) bytes += piece;
  const strings expected = plainly_split(bytes, static_cast<char>(separator));
  RC_ASSERT(keys_in(bytes, separator) == expected);
  pipe_ends pipe;
  std::thread writer([&] {
    for (const std::string& piece : pieces) pipe.write(piece);
    pipe.close_writer();
  });
  key_file file(pipe.path());
  const strings found = keys_of(file, separator);
  writer.join();
  RC_ASSERT(found == expected);
}

TEST(HashedKeys, hashes_and_lines_belong_together) {
  const std::string bytes = "a\r\n\nlong key\nlast";
  const temporary_file on_disk(bytes);
  key_file file(on_disk.path());
  key_lines lines(file, key_separator::newline);
  const seeded_hash hash(7);
  hashed_keys keys;
  // A file that ends inside a line comes in two texts.
  ASSERT_TRUE(keys.read(lines, hash));
  ASSERT_EQ(keys.hashes().size(), 3U);
  EXPECT_EQ(keys.hashes()[0], hash("a\r"));
  EXPECT_EQ(keys.hashes()[1], hash(""));
  EXPECT_EQ(keys.hashes()[2], hash("long key"));
  EXPECT_EQ(keys.lines(0, 1), "a\r\n");
  EXPECT_EQ(keys.lines(1, 3), "\nlong key\n");
  EXPECT_EQ(keys.lines(2, 2), "");
  EXPECT_EQ(keys.empty_keys(), 1U);
  EXPECT_EQ(keys.keys_with_carriage_return(), 1U);
  ASSERT_TRUE(keys.read(lines, hash));
  ASSERT_EQ(keys.hashes().size(), 1U);
  EXPECT_EQ(keys.hashes()[0], hash("last"));
  EXPECT_EQ(keys.lines(0, 1), "last");
  EXPECT_EQ(keys.empty_keys(), 0U);
  EXPECT_EQ(keys.bytes_read(), bytes.size());
  EXPECT_FALSE(keys.read(lines, hash));
}

TEST(ReadAhead, blocks_come_in_order_and_then_none) {
  int next = 0;
  read_ahead<int> blocks([&](int& block) {
    block = next;
    return next++ < 1000;
  });
  for (int i = 0; i < 1000; ++i) {
    const int* const block = blocks.wait();
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(*block, i);
  }
  EXPECT_EQ(blocks.wait(), nullptr);
  EXPECT_EQ(blocks.wait(), nullptr);
}

TEST(ReadAhead, a_failure_comes_after_the_blocks_before_it) {
  int next = 0;
  read_ahead<int> blocks([&](int& block) {
    block = next;
    if (next++ == 2) throw usage_error("broken");
    return true;
  });
  EXPECT_EQ(*blocks.wait(), 0);
  EXPECT_EQ(*blocks.wait(), 1);
  EXPECT_THROW(blocks.wait(), usage_error);
}

TEST(ReadAhead, the_reader_stays_a_few_blocks_ahead_and_no_more) {
  std::atomic<int> made = 0;
  read_ahead<int> blocks([&](int&) {
    ++made;
    return true;
  });
  for (int i = 0; i < 100; ++i) {
    ASSERT_NE(blocks.wait(), nullptr);
    // Those before, the one we hold, and two that wait.
    EXPECT_LE(made, i + 3);
  }
}

TEST(ReadAhead, whoever_turns_away_does_not_wait_for_a_silent_input) {
  pipe_ends pipe;
  key_file file(pipe.path());
  key_lines lines(file, key_separator::newline);
  // Who waits is helped in the end: so late that no other program on the machine is the reason.
  std::promise<void> ended;
  std::atomic<bool> helped = false;
  std::thread helper([&] {
    if (ended.get_future().wait_for(std::chrono::minutes(1)) == std::future_status::ready) return;
    helped = true;
    pipe.close_writer();
  });
  {
    read_ahead<hashed_keys> blocks([&](hashed_keys& keys) { return keys.read(lines, {}); },
                                   [&] { file.stop_waiting(); });
  }
  ended.set_value();
  helper.join();
  EXPECT_FALSE(helped);
}

}  // namespace
}  // namespace oneprobe::cli
