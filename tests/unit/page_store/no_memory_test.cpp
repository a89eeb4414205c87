// Memory runs out at every allocation of a change: what was acknowledged before stays, and the file
// can be opened.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "unit/page_store/failing_file.hpp"
#include "unit/page_store/store_files.hpp"

using namespace oneprobe;
using namespace store_files;

namespace {

/// Allocations of this thread that go well; then one does not. None: all go well.
thread_local std::optional<std::uint64_t> allocations_left{};

void* allocated(std::size_t bytes) {
  if (allocations_left && (*allocations_left)-- == 0) {
    allocations_left.reset();
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocated(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

enum class change { insert, assign, erase };

/// Makes a change with so many allocations. Whether they were enough. Its commit is not among it,
/// since the disk is in memory, too.
bool change_with(page_store& store, change what, std::uint64_t allocations) {
  allocations_left = allocations;
  bool enough = true;
  try {
    if (what == change::erase)
      erase(store, 1, acknowledge::at_commit);
    else
      put(store, what == change::assign ? 1 : 1000, 7, acknowledge::at_commit);
  } catch (const std::bad_alloc&) {
    enough = false;
  }
  allocations_left.reset();
  return enough;
}

void run_out_of_memory(change what) {
  const auto disk = std::make_shared<failing::disk>(empty_store(crowded_plan()));
  contents before;
  {
    auto store = page_store::open(std::make_unique<failing::file>(disk), file_access::update);
    ASSERT_TRUE(store) << store.failure().sentence;
    for (std::uint64_t key = 0; key < 60; ++key) {
      ASSERT_NE(put(*store, key, key, acknowledge::at_commit), put_outcome::failed);
      before[key] = key;
    }
    // The log begins anew: the next change of a page has the whole page.
    ASSERT_EQ(store->checkpoint(), std::nullopt);
  }
  contents after = before;
  if (what == change::insert) after[1000] = 7;
  if (what == change::assign) after[1] = 7;
  if (what == change::erase) after.erase(1);
  bool enough = false;
  std::uint64_t thrown = 0;
  for (std::uint64_t allocations = 0; !enough; ++allocations) {
    SCOPED_TRACE(std::to_string(allocations) + " allocations");
    ASSERT_LT(allocations, 100u);
    const auto copy = std::make_shared<failing::disk>(*disk);
    contents expected = before;
    {
      auto store = page_store::open(std::make_unique<failing::file>(copy), file_access::update);
      ASSERT_TRUE(store) << store.failure().sentence;
      enough = change_with(*store, what, allocations);
      thrown += enough ? 0u : 1u;
      if (enough) expected = after;
      // Whatever it says is acknowledged is there, of the same page as well.
      for (std::uint64_t key = 0; key < 60; ++key)
        if (key != 1 && put(*store, key, 8) == put_outcome::assigned) expected[key] = 8;
    }
    const auto store = page_store::open(std::make_unique<failing::file>(copy), file_access::update);
    ASSERT_TRUE(store) << store.failure().sentence;
    ASSERT_EQ(contents_of(*store), expected);
    ASSERT_EQ(store->verify(), std::nullopt);
  }
  EXPECT_GE(thrown, 2u);
}

}  // namespace

TEST(page_store_no_memory, an_insertion_without_memory_leaves_a_store_that_opens) {
  ASSERT_NO_FATAL_FAILURE(run_out_of_memory(change::insert));
}
TEST(page_store_no_memory, an_assignment_without_memory_leaves_a_store_that_opens) {
  ASSERT_NO_FATAL_FAILURE(run_out_of_memory(change::assign));
}
TEST(page_store_no_memory, an_erasure_without_memory_leaves_a_store_that_opens) {
  ASSERT_NO_FATAL_FAILURE(run_out_of_memory(change::erase));
}
