#include "called.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "support/tool_path.hpp"
#include "tool.hpp"

namespace oneprobe::cli {
namespace {

/// A stream into memory.
class captured {
 public:
  captured() : stream_(open_memstream(&text_, &size_)) {
    if (stream_ == nullptr) throw std::runtime_error("no stream into memory");
  }
  ~captured() {
    std::fclose(stream_);
    std::free(text_);
  }
  captured(const captured&) = delete;
  captured& operator=(const captured&) = delete;

  std::FILE* stream() { return stream_; }
  std::string text() {
    std::fflush(stream_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

double cpu_seconds_so_far() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

/// A file without a name, which a process writes and this one reads: unlike a pipe it is never
/// full.
class written_apart {
 public:
  written_apart() : file_(std::tmpfile()) {
    if (file_ == nullptr) throw std::runtime_error("no temporary file");
  }
  ~written_apart() { std::fclose(file_); }
  written_apart(const written_apart&) = delete;
  written_apart& operator=(const written_apart&) = delete;

  int descriptor() const { return fileno(file_); }
  std::string text() {
    std::rewind(file_);
    std::string all;
    std::array<char, 4096> part{};
    while (const std::size_t got = std::fread(part.data(), 1, part.size(), file_))
      all.append(part.data(), got);
    return all;
  }

 private:
  std::FILE* file_;
};

/// What posix_spawn does between fork and exec.
class before_exec {
 public:
  before_exec() { check(posix_spawn_file_actions_init(&list_), "posix_spawn_file_actions_init"); }
  ~before_exec() { posix_spawn_file_actions_destroy(&list_); }
  before_exec(const before_exec&) = delete;
  before_exec& operator=(const before_exec&) = delete;

  void duplicate(int from, int to) {
    check(posix_spawn_file_actions_adddup2(&list_, from, to), "posix_spawn_file_actions_adddup2");
  }
  void open_to_read(int descriptor, const char* path) {
    check(posix_spawn_file_actions_addopen(&list_, descriptor, path, O_RDONLY, 0),
          "posix_spawn_file_actions_addopen");
  }
  void close(int descriptor) {
    check(posix_spawn_file_actions_addclose(&list_, descriptor),
          "posix_spawn_file_actions_addclose");
  }
  const posix_spawn_file_actions_t* list() const { return &list_; }

 private:
  posix_spawn_file_actions_t list_{};
};

/// As exec wants them; good as long as `texts` is.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

call_outcome called_here(const words& call) {
  captured answers, complaints;
  const double begin = cpu_seconds_so_far();
  const exit_code code = run(call, {answers.stream(), complaints.stream()});
  const double end = cpu_seconds_so_far();
  return {static_cast<int>(code), answers.text(), complaints.text(), end - begin};
}

call_outcome called_apart(const words& call, const surroundings& around) {
  written_apart answers, complaints;
  before_exec actions;
  actions.open_to_read(STDIN_FILENO, "/dev/null");
  actions.duplicate(answers.descriptor(), STDOUT_FILENO);
  actions.duplicate(complaints.descriptor(), STDERR_FILENO);
  for (const int descriptor : around.closed) actions.close(descriptor);

  std::vector<std::string> texts{tool_path()};
  texts.insert(texts.end(), call.begin(), call.end());
  std::vector<std::string> environment = around.environment;
  pid_t process = 0;
  check(posix_spawn(&process, texts.front().c_str(), actions.list(), nullptr,
                    pointers_to(texts).data(), pointers_to(environment).data()),
        "posix_spawn");
  int status = 0;
  rusage used{};
  if (wait4(process, &status, 0, &used) != process) check(errno, "wait4");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, answers.text(), complaints.text(),
          seconds(used.ru_utime) + seconds(used.ru_stime)};
}

}  // namespace oneprobe::cli
