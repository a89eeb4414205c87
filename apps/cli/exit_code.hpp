// How a call of the tool ends, for scripts, and what is thrown to end it.
//
//   throw usage_error("--elements must be at least 1; found 0");                     // 2
//   throw system_failure("cannot write to standard output: No space left on device");  // 3
//
// 2 means that the call is wrong: another call, another file or another value is needed, and the
// same call will fail again. 3 means that the surroundings failed: the same call may succeed with
// more memory, more room on the disk or a server that answers.
#pragma once

#include <stdexcept>
#include <string>

namespace oneprobe::cli {

enum class exit_code : int {
  answered = 0,
  negative = 1,  // an answer: no plan, no key, a check that failed
  usage = 2,     // the call or its input is wrong, missing or malformed
  failure = 3,   // a read or write error, a full disk, no memory, no server, an internal error
};

/// Ends a call that has no answer: one line for stderr, and the exit code.
class complaint : public std::runtime_error {
 public:
  complaint(exit_code code, const std::string& sentence)
      : std::runtime_error(sentence), code_(code) {}

  exit_code code() const noexcept { return code_; }

 private:
  exit_code code_;
};

/// The user asked for something that cannot be.
struct usage_error : complaint {
  explicit usage_error(const std::string& sentence) : complaint(exit_code::usage, sentence) {}
};

/// The user asked for something that can be, and it went wrong.
struct system_failure : complaint {
  explicit system_failure(const std::string& sentence) : complaint(exit_code::failure, sentence) {}
};

}  // namespace oneprobe::cli
