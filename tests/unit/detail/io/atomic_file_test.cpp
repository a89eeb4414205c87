// A file is whole at every moment: the old one or the new one, whatever fails and whoever is
// killed.
#include "oneprobe/detail/io/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "formats/temporary_folder.hpp"
#include "support/shared_with_child.hpp"

using namespace oneprobe;

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::vector<std::byte> content(std::size_t bytes, unsigned value) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

/// Whether all bytes are one value and there are as many as that value stands for.
bool is_whole(const std::vector<std::byte>& bytes, std::size_t size_per_value) {
  if (bytes.empty()) return false;
  for (const std::byte b : bytes)
    if (b != bytes[0]) return false;
  return bytes.size() == std::to_integer<std::size_t>(bytes[0]) * size_per_value;
}

/// Runs `body` in a process of its own, where limits and signals hurt nobody else.
template <class Body>
int exit_code_of(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(atomic_file, writes_the_parts_one_after_the_other) {
  const temporary_folder folder;
  const auto a = bytes_of("one "), b = bytes_of("two "), c = bytes_of("three");
  ASSERT_FALSE(write_atomically(folder.file("f"), {a, b, {}, c}));
  EXPECT_EQ(bytes_of_file(folder.file("f")), bytes_of("one two three"));
  EXPECT_EQ(folder.entries(), 1U) << "a temporary file was left behind";
}

TEST(atomic_file, replaces_a_file_and_keeps_its_permission_bits) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  write_file(path, bytes_of("a longer old content"));
  fs::permissions(path, fs::perms(0640));
  ASSERT_FALSE(write_atomically(path, {bytes_of("new")}));
  EXPECT_EQ(bytes_of_file(path), bytes_of("new"));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
}

TEST(atomic_file, writes_what_a_symbolic_link_points_to) {
  const temporary_folder folder;
  write_file(folder.file("target"), bytes_of("old"));
  fs::create_symlink("target", folder.file("link"));
  ASSERT_FALSE(write_atomically(folder.file("link"), {bytes_of("new")}));
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(bytes_of_file(folder.file("target")), bytes_of("new"));
}

TEST(atomic_file, writes_where_symbolic_links_lead_also_if_nothing_is_there_yet) {
  const temporary_folder folder;
  fs::create_directory(folder.file("far"));
  fs::create_symlink("far/second", folder.file("first"));
  fs::create_symlink("target", folder.file("far/second"));
  ASSERT_FALSE(write_atomically(folder.file("first"), {bytes_of("new")}));
  EXPECT_TRUE(fs::is_symlink(folder.file("first")));
  EXPECT_TRUE(fs::is_symlink(folder.file("far/second")));
  EXPECT_EQ(bytes_of_file(folder.file("far/target")), bytes_of("new"));
}

TEST(atomic_file, refuses_what_is_not_a_regular_file) {
  const temporary_folder folder;
  fs::create_directory(folder.file("folder"));
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  // Devices are of the same sort as pipes; a test that is wrong should not replace one.
  for (const char* const name : {"folder", "pipe"}) {
    const auto failure = write_atomically(folder.file(name), {bytes_of("new")});
    ASSERT_TRUE(failure) << name;
    EXPECT_NE(failure->sentence.find(name), std::string::npos) << failure->sentence;
  }
  EXPECT_TRUE(fs::is_fifo(folder.file("pipe")));
  EXPECT_EQ(folder.entries(), 2U);
}

TEST(atomic_file, says_what_the_system_said) {
  const temporary_folder folder;
  const auto failure = write_atomically(folder.file("nowhere/f"), {bytes_of("new")});
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->sentence.find("No such file or directory"), std::string::npos)
      << failure->sentence;
}

// A limit on the size of files fails a write in the middle, as a full disk does.
TEST(atomic_file, that_finds_no_room_leaves_the_old_file_whole) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  write_file(path, bytes_of("old"));
  const int code = exit_code_of([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 100'000, .rlim_max = 100'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const auto failure = write_atomically(path, {content(64, 1), content(1'000'000, 2)});
    return failure && failure->sentence.find("File too large") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(bytes_of_file(path), bytes_of("old"));
  EXPECT_EQ(folder.entries(), 1U) << "a temporary file was left behind";
}

TEST(atomic_file, is_whole_whenever_the_writer_is_killed) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  constexpr std::size_t size_per_value = 40'000;
  constexpr unsigned values = 5;
  write_file(path, content(size_per_value, 1));
  std::mt19937_64 random(20081);
  std::vector<int> seen(values + 1);
  for (int round = 0; round < 150; ++round) {
    shared_with_child<std::atomic<std::uint64_t>> written;
    const pid_t child = fork();
    if (child == 0) {
      for (unsigned value = static_cast<unsigned>(round);; ++value, ++*written)
        if (write_atomically(path, {content(value % values * size_per_value + size_per_value,
                                            value % values + 1)}))
          _exit(1);
    }
    int status = 0;
    // At times not before it has written, however busy the machine is.
    while (round % 8 == 0 && *written == 0 && waitpid(child, &status, WNOHANG) == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself";
    const auto bytes = bytes_of_file(path);
    ASSERT_TRUE(is_whole(bytes, size_per_value)) << "round " << round;
    ++seen[std::to_integer<std::size_t>(bytes[0])];
  }
  for (unsigned value = 1; value <= values; ++value) EXPECT_GT(seen[value], 0) << value;

  // What killed writers left has another name than any file that is asked for, and does not hinder
  // the next one.
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path()))
    EXPECT_TRUE(entry.path() == path || entry.path().extension() == ".tmp") << entry.path();
  EXPECT_FALSE(write_atomically(path, {bytes_of("new")}));
}

TEST(atomic_file, is_one_of_those_that_were_written_at_a_time) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  constexpr std::size_t size_per_value = 10'000;
  std::vector<std::thread> writers;
  for (unsigned value = 1; value <= 4; ++value)
    writers.emplace_back([&, value] {
      for (int i = 0; i < 20; ++i)
        EXPECT_FALSE(write_atomically(path, {content(value * size_per_value, value)}));
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_TRUE(is_whole(bytes_of_file(path), size_per_value));
  EXPECT_EQ(folder.entries(), 1U);
}

}  // namespace
