// Sessions on a disk, one page read each: builds a page store, asks for keys that are there and for
// keys that are not, counts the pages it read, changes some records and opens the file again.
//
//   one_read_store [FOLDER]
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <oneprobe/page_store/builder.hpp>
#include <span>
#include <stdexcept>
#include <string>

namespace {

using namespace oneprobe;

constexpr std::uint64_t sessions = 100'000;
constexpr std::uint64_t questions = 50'000;

// Keys and values are bytes of a fixed size; what they mean is yours.
struct session_value {
  std::uint64_t user = 0;
  std::array<char, 40> page{};
};

std::span<const std::byte> bytes_of(const auto& plain) {
  return std::as_bytes(std::span(&plain, 1));
}

session_value value_of(std::uint64_t id) {
  session_value value{.user = id / 3};
  std::snprintf(value.page.data(), value.page.size(), "/articles/%u",
                static_cast<unsigned>(id % 977));
  return value;
}

// Failures carry a sentence that says what went wrong with which file.
void must(const auto& outcome) {
  if (outcome) throw std::runtime_error(outcome->sentence);
}

page_store open(const std::string& path, file_access access) {
  auto store = page_store::open(path, {.access = access});
  if (!store) throw std::runtime_error(store.failure().sentence);
  return std::move(*store);
}

void build(const std::string& path) {
  const page_store_plan plan =
      default_page_store_plan(sessions, sizeof(std::uint64_t), sizeof(session_value));
  // A fixed seed, so that this program prints the same every time. Leave it out in yours.
  auto builder = page_store_builder::create(path, plan, 20081);
  if (!builder) throw std::runtime_error(builder.failure().sentence);
  for (std::uint64_t id = 0; id < sessions; ++id) {
    const session_value value = value_of(id);
    builder->put(bytes_of(id), bytes_of(value));
  }
  std::printf("%.1f MiB on disk, %.2f MiB in memory for %d sessions\n",
              static_cast<double>(plan.file_bytes()) / (1u << 20),
              static_cast<double>(builder->memory_bytes()) / (1u << 20),
              static_cast<int>(builder->counts().size));
  must(builder->finish());
}

// Asks for sessions from `first` on, and says how many were found and how many pages were read.
void ask(const page_store& store, const char* what, std::uint64_t first) {
  const std::uint64_t before = store.page_reads();
  std::uint64_t found = 0;
  session_value value;
  for (std::uint64_t id = first; id < first + questions; ++id)
    if (store.get(bytes_of(id), std::as_writable_bytes(std::span(&value, 1))) ==
        get_outcome::found) {
      if (value.user != id / 3) throw std::runtime_error("a session has another's value");
      ++found;
    }
  std::printf("%s: %5d of %d found, %.4f pages read for each\n", what, static_cast<int>(found),
              static_cast<int>(questions),
              static_cast<double>(store.page_reads() - before) / static_cast<double>(questions));
}

void show(const std::string& path) {
  build(path);
  {
    page_store store = open(path, file_access::update);
    ask(store, "present", 0);
    ask(store, "absent ", 1'000'000);
    // On the disk when the call returns; many at once are cheaper with one commit after them.
    for (std::uint64_t id = 0; id < 1'000; ++id) {
      session_value value = value_of(id);
      std::strcpy(value.page.data(), "/goodbye");
      store.put(bytes_of(id), bytes_of(value), acknowledge::at_commit);
      store.erase(bytes_of(id + 1'000), acknowledge::at_commit);
    }
    must(store.commit());
    // No close(): as if the program had been killed here.
  }
  const page_store again = open(path, file_access::read);
  session_value value;
  again.get(bytes_of(std::uint64_t{7}), std::as_writable_bytes(std::span(&value, 1)));
  std::printf("after the restart: %d sessions, session 7 at %s\n", static_cast<int>(again.size()),
              value.page.data());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = std::string(argc > 1 ? argv[1] : ".") + "/one_read_store.store";
  try {
    show(path);
    std::remove(path.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "one_read_store: %s\n", error.what());
    std::remove(path.c_str());
    return 1;
  }
}
