// The module with memory that fails once, when a test says so.
//
//   loadmodule scarce.so [n]      as TEST.FAIL n, for what is loaded from the server's files
//   TEST.FAIL n                   n allocations of the module succeed, the next one does not;
//   replies
//                                 with how many there were since it was called before
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

#include "../module/commands.hpp"
#include "../module/redis_api.hpp"

namespace {

constexpr long long never = std::numeric_limits<long long>::max();
long long left = never;
long long seen = 0;
decltype(oneprobe::redis::TryAlloc) usual_alloc = nullptr;

bool fails() {
  ++seen;
  if (left != 0) {
    if (left != never) --left;
    return false;
  }
  left = never;
  return true;
}

void* scarce_alloc(std::size_t bytes) { return fails() ? nullptr : usual_alloc(bytes); }

int fail(oneprobe::redis::context* ctx, oneprobe::redis::string** argv, int argc) {
  if (argc != 2) return oneprobe::redis::WrongArity(ctx);
  long long count = 0;
  if (oneprobe::redis::StringToLongLong(argv[1], &count) != oneprobe::redis::ok)
    return oneprobe::redis::ReplyWithError(ctx, "ERR a number is needed");
  left = count < 0 ? never : count;
  const long long before = seen;
  seen = 0;
  return oneprobe::redis::ReplyWithLongLong(ctx, before);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* const given = fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (given == nullptr) throw std::bad_alloc();
  return given;
}
void operator delete(void* given) noexcept { std::free(given); }
void operator delete(void* given, std::size_t) noexcept { std::free(given); }

extern "C" __attribute__((visibility("default"))) int RedisModule_OnLoad(
    oneprobe::redis::context* ctx, oneprobe::redis::string** argv, int argc) {
  using namespace oneprobe::redis;
  if (on_load(ctx, {}) != ok) return failed;
  usual_alloc = TryAlloc;
  TryAlloc = scarce_alloc;
  if (argc == 1 && StringToLongLong(argv[0], &left) != ok) return failed;
  return CreateCommand(ctx, "TEST.FAIL", fail, "fast", 0, 0, 0);
}
