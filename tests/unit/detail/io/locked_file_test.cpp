// Files under a lock: which process has it, and which are kept away.
#include "oneprobe/detail/io/locked_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>

#include "formats/temporary_folder.hpp"
#include "oneprobe/detail/io/atomic_file.hpp"

using namespace oneprobe;

namespace {

TEST(a_locked_file, is_the_one_that_its_path_names) {
  const temporary_folder folder;
  const std::string path = folder.file("t");
  for (const file_access access : {file_access::read, file_access::update}) {
    write_file(path, bytes_of("old"));
    input_file old = input_file::open(path, access).value();
    ASSERT_FALSE(write_atomically(path, {bytes_of("new, longer")}));
    EXPECT_FALSE(detail::lock_named(std::move(old), path, access));
    EXPECT_EQ(locked_file::open(path, access)->bytes().size(), 11u);
  }
}

TEST(a_locked_file, has_many_readers_or_one_writer) {
  const temporary_folder folder;
  const std::string path = folder.file("t");
  write_file(path, bytes_of("bytes"));
  const auto open = [&](file_access access) { return locked_file::open(path, access); };
  {
    const auto one = open(file_access::read);
    const auto other = open(file_access::read);
    EXPECT_TRUE(one && other);
    EXPECT_EQ(open(file_access::update).failure().error, load_error::io);
  }
  const auto writer = open(file_access::update);
  ASSERT_TRUE(writer);
  EXPECT_EQ(open(file_access::read).failure().error, load_error::not_closed);
  EXPECT_EQ(open(file_access::update).failure().error, load_error::not_closed);
}

TEST(a_locked_file, is_tried_again_if_whoever_had_it_is_gone) {
  const temporary_folder folder;
  const std::string path = folder.file("t");
  write_file(path, bytes_of("bytes"));
  const auto refused = [&](file_access access) {
    return detail::after_locking(input_file::open(path, access).value(), access, EAGAIN);
  };
  EXPECT_FALSE(refused(file_access::read));
  EXPECT_FALSE(refused(file_access::update));
  {
    const auto reader = locked_file::open(path, file_access::read).value();
    EXPECT_FALSE(refused(file_access::read)) << "readers keep no reader away";
    EXPECT_EQ(refused(file_access::update).value().failure().error, load_error::io);
  }
  const auto writer = locked_file::open(path, file_access::update).value();
  for (const file_access access : {file_access::read, file_access::update})
    EXPECT_EQ(refused(access).value().failure().error, load_error::not_closed);
}

TEST(a_locked_file, keeps_its_name_and_bytes_when_it_is_moved) {
  const temporary_folder folder;
  const std::string path = folder.file("t");
  write_file(path, bytes_of("bytes"));
  locked_file file = locked_file::open(path, file_access::read).value();
  write_file(folder.file("other"), {});
  locked_file other = locked_file::open(folder.file("other"), file_access::read).value();
  EXPECT_TRUE(other.bytes().empty());
  other = std::move(file);
  const locked_file last = std::move(other);
  EXPECT_EQ(last.bytes().size(), 5u);
  EXPECT_EQ(last.name(), detail::quoted(path));
}

}  // namespace
