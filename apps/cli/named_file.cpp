#include "named_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace oneprobe::cli {
namespace {

/// Whether it is the path that is wrong, so that no other time would help.
bool is_about_the_path(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EEXIST:
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case ENAMETOOLONG:
    case ENXIO:
    case EINVAL:
      return true;
    default:
      return false;
  }
}

/// What the system has against opening it; 0 if nothing.
int path_error(const std::string& path, file_access access) {
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0) return errno;
  if (S_ISDIR(there.st_mode)) return EISDIR;
  if (!S_ISREG(there.st_mode)) return EINVAL;
  const int wanted = access == file_access::update ? R_OK | W_OK : R_OK;
  return ::access(path.c_str(), wanted) == 0 ? 0 : errno;
}

}  // namespace

void refuse_path(int error, const std::string& sentence) {
  if (is_about_the_path(error)) throw usage_error(sentence);
  throw system_failure(sentence);
}

void refuse_file(const load_failure& failure, const std::string& path, file_access access) {
  if (failure.error == load_error::io)
    if (const int error = path_error(path, access)) refuse_path(error, failure.sentence);
  refuse_file(failure);
}

void refuse_file(const load_failure& failure) {
  switch (failure.error) {
    case load_error::io:
    case load_error::not_closed:  // open elsewhere
      throw system_failure(failure.sentence);
    default:
      throw usage_error(failure.sentence);
  }
}

}  // namespace oneprobe::cli
