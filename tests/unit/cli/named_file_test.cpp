#include "named_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <string>

namespace oneprobe::cli {
namespace {

exit_code code_of(const std::function<void()>& refuse) {
  try {
    refuse();
  } catch (const complaint& why) {
    EXPECT_STREQ(why.what(), "why");
    return why.code();
  }
  return exit_code::answered;
}

TEST(NamedFile, another_path_is_usage_and_another_time_is_a_failure) {
  for (const int error :
       {ENOENT, ENOTDIR, EISDIR, EEXIST, EACCES, EPERM, EROFS, ELOOP, ENAMETOOLONG, ENXIO, EINVAL})
    EXPECT_EQ(code_of([&] { refuse_path(error, "why"); }), exit_code::usage) << error;
  for (const int error : {EIO, ENOSPC, EDQUOT, EFBIG, ENOMEM, EMFILE, ENFILE, EBADF, EBUSY, EINTR})
    EXPECT_EQ(code_of([&] { refuse_path(error, "why"); }), exit_code::failure) << error;
}

TEST(NamedFile, malformed_bytes_are_usage_and_what_the_system_refused_is_a_failure) {
  for (const load_error error :
       {load_error::not_oneprobe_file, load_error::newer_format, load_error::truncated,
        load_error::trailing_bytes, load_error::checksum_mismatch,
        load_error::inconsistent_parameters, load_error::wrong_kind})
    EXPECT_EQ(code_of([&] { refuse_file({error, "why"}); }), exit_code::usage) << name_of(error);
  for (const load_error error : {load_error::io, load_error::not_closed})
    EXPECT_EQ(code_of([&] { refuse_file({error, "why"}); }), exit_code::failure) << name_of(error);
}

TEST(NamedFile, what_the_system_refused_is_usage_if_no_such_file_can_be_opened) {
  const auto code = [](const std::string& path, load_error error) {
    return code_of([&] { refuse_file({error, "why"}, path); });
  };
  EXPECT_EQ(code("/dev/null", load_error::io), exit_code::usage);  // no regular file
  EXPECT_EQ(code("/", load_error::io), exit_code::usage);
  EXPECT_EQ(code("/no such file", load_error::io), exit_code::usage);
  EXPECT_EQ(code("/proc/self/exe", load_error::io), exit_code::failure);
  EXPECT_EQ(code("/proc/self/exe", load_error::truncated), exit_code::usage);
}

}  // namespace
}  // namespace oneprobe::cli
