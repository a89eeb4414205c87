// What is wrong with a file that a call names, with the exit code that fits.
//
//   refuse_path(errno, "'keys' cannot be read: No such file or directory");
//   if (!filter) refuse_file(filter.failure(), path);
//
// A usage_error where another file is needed: this one is not there, not allowed, of another kind
// or malformed. A system_failure where the same call may do another time: the disk is full, a read
// went wrong, there is no memory, or another process has the file.
#pragma once

#include <string>

#include "exit_code.hpp"
#include "oneprobe/detail/io/input_file.hpp"
#include "oneprobe/files.hpp"

namespace oneprobe::cli {

/// For what the system said, by errno, when it was to open or to make the path.
[[noreturn]] void refuse_path(int error, const std::string& sentence);

/// For what the library said of the file. It keeps no errno: what there is to say about the path is
/// looked up again.
[[noreturn]] void refuse_file(const load_failure& failure, const std::string& path,
                              file_access access = file_access::read);
/// For a file that is open: its path is in order.
[[noreturn]] void refuse_file(const load_failure& failure);

}  // namespace oneprobe::cli
