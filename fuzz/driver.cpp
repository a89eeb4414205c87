// Runs a fuzz body without libFuzzer: replays a corpus, then mutates it at random for a given time.
//
//   some_fuzzer [--seconds N] [--seed N] FILE_OR_FOLDER...
//
// The mutations are a fixed function of the seed and the corpus, so a run can be repeated. An input
// that crashes, or that takes longer than `longest_run_seconds`, is written to ./crash-input before
// the process dies; put it into the corpus and it is replayed for ever.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using input = std::vector<std::uint8_t>;

constexpr std::size_t largest_input_bytes = 4096;
constexpr unsigned longest_run_seconds = 20;

struct options {
  double seconds = 10;
  std::uint64_t seed = 1;
  std::vector<std::filesystem::path> paths;
};

// What the body is looking at now; global because a signal handler must find it.
const std::uint8_t* current_data = nullptr;
std::size_t current_size = 0;

// Only calls that are safe in a signal handler.
extern "C" void save_current_input(int signal_number) {
  const int file = open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0) {
    for (std::size_t done = 0; done < current_size;) {
      const ssize_t written = write(file, current_data + done, current_size - done);
      if (written <= 0) break;
      done += static_cast<std::size_t>(written);
    }
    close(file);
  }
  constexpr std::string_view message = "fuzz driver: the input is in ./crash-input\n";
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, message.data(), message.size());
  std::signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void save_input_on_crash() {
  for (const int signal_number : {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) {
    // A sanitizer that already watches a signal reports better than we do, and then aborts.
    struct sigaction present {};
    sigaction(signal_number, nullptr, &present);
    if (present.sa_handler == SIG_DFL) std::signal(signal_number, save_current_input);
  }
}

void run(const input& bytes) {
  // A copy of exactly this size, so that AddressSanitizer sees a read past the end.
  const input exact(bytes.begin(), bytes.end());
  current_data = exact.data();
  current_size = exact.size();
  alarm(longest_run_seconds);
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  alarm(0);
}

input read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return input(text.begin(), text.end());
}

// All inputs under the given paths, in an order that does not depend on the file system.
std::vector<input> read_corpus(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    if (std::filesystem::is_directory(path)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
        if (entry.is_regular_file()) files.push_back(entry.path());
    } else {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<input> corpus;
  for (const auto& file : files) corpus.push_back(read_file(file));
  return corpus;
}

class mutator {
 public:
  explicit mutator(std::uint64_t seed) : random_(seed) {}

  input mutated(const std::vector<input>& corpus) {
    input bytes = corpus[below(corpus.size())];
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(bytes, corpus);
    if (bytes.size() > largest_input_bytes) bytes.resize(largest_input_bytes);
    return bytes;
  }

 private:
  // Not std::uniform_int_distribution: its values differ between standard libraries.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(below(256)); }
  std::ptrdiff_t offset(std::size_t bound) { return static_cast<std::ptrdiff_t>(below(bound)); }

  void change(input& bytes, const std::vector<input>& corpus) {
    // Edges of integers, and what the top bytes of infinities, NaNs and ones look like in doubles.
    static constexpr std::array<std::uint8_t, 10> edges = {0x00, 0x01, 0x3f, 0x40, 0x7f,
                                                           0x80, 0xbf, 0xf0, 0xf8, 0xff};
    const std::size_t kind = bytes.empty() ? 0 : below(6);
    switch (kind) {
      case 0: {  // insert
        const std::ptrdiff_t at = offset(bytes.size() + 1);
        const std::size_t count = 1 + below(16);
        for (std::size_t i = 0; i < count; ++i) bytes.insert(bytes.begin() + at, byte());
        break;
      }
      case 1: {  // erase
        const std::size_t at = below(bytes.size());
        const std::size_t count = 1 + below(std::min<std::size_t>(16, bytes.size() - at));
        const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        bytes.erase(first, first + static_cast<std::ptrdiff_t>(count));
        break;
      }
      case 2:  // flip one bit
        bytes[below(bytes.size())] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 3:  // any byte
        bytes[below(bytes.size())] = byte();
        break;
      case 4:  // an edge
        bytes[below(bytes.size())] = edges[below(edges.size())];
        break;
      default: {  // go on with the tail of another input
        const input& other = corpus[below(corpus.size())];
        if (other.empty()) break;
        bytes.resize(below(bytes.size() + 1));
        bytes.insert(bytes.end(), other.begin() + offset(other.size()), other.end());
      }
    }
  }

  std::mt19937_64 random_;
};

options parse(const std::vector<std::string>& arguments) {
  options result;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--seconds" || argument == "--seed") {
      if (++i == arguments.size()) throw std::invalid_argument(argument + " needs a value");
      if (argument == "--seconds")
        result.seconds = std::stod(arguments[i]);
      else
        result.seed = std::stoull(arguments[i]);
    } else if (argument.starts_with("--")) {
      throw std::invalid_argument("unknown option " + argument);
    } else {
      result.paths.emplace_back(argument);
    }
  }
  return result;
}

void replay_and_mutate(const options& wanted) {
  std::vector<input> corpus = read_corpus(wanted.paths);
  for (const input& bytes : corpus) run(bytes);
  std::printf("replayed %zu inputs\n", corpus.size());

  corpus.emplace_back();  // even an empty corpus leaves something to start from
  mutator mutate(wanted.seed);
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::duration<double>(wanted.seconds);
  std::uint64_t runs = 0;
  for (; clock::now() < end; ++runs) run(mutate.mutated(corpus));
  std::printf("ran %llu mutations\n", static_cast<unsigned long long>(runs));
}

}  // namespace

int main(int argc, char** argv) {
  options wanted;
  try {
    wanted = parse(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz driver: %s\n", error.what());
    return 2;
  }
  save_input_on_crash();
  replay_and_mutate(wanted);  // whatever the body throws must end in the handler above
}
