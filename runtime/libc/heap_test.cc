// How much memory a call is about to free, or to read as a string.
#include "runtime/libc/heap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace clew::rt {
namespace {

TEST(Heap, TheAllocatorKnowsTheSize) {
  find_allocator();
  for (const std::size_t size : {1u, 24u, 25u, 1000u, 100'000u, 10'000'000u}) {
    void* memory = std::malloc(size);
    const std::size_t found = size_of_allocation(memory);
    EXPECT_GE(found, size);
    EXPECT_LE(found, size + 8192) << "a page at most is added";
    std::free(memory);
  }
}

TEST(Heap, AnythingMayBeFreed) {
  find_allocator();
  EXPECT_EQ(size_of_allocation(nullptr), 0u);
  EXPECT_EQ(size_of_allocation(reinterpret_cast<void*>(0x10)), 0u);
  EXPECT_EQ(size_of_allocation(reinterpret_cast<void*>(0x7777'0000'0000)), 0u);
}

TEST(Heap, AStringReachesToItsEnd) {
  EXPECT_EQ(size_of_string("clew", UINT64_MAX), 5u);
  EXPECT_EQ(size_of_string("", UINT64_MAX), 1u);
  EXPECT_EQ(size_of_string("clew", 5), 5u);
  EXPECT_EQ(size_of_string("clew", 3), 3u);
  EXPECT_EQ(size_of_string("clew", 0), 0u);
  char text[1000];
  std::memset(text, 'x', sizeof text);
  text[999] = 0;
  EXPECT_EQ(size_of_string(text, UINT64_MAX), 1000u);
  EXPECT_EQ(size_of_string(nullptr, UINT64_MAX), 0u);
}

TEST(Heap, AStringWithoutAnEndReachesToTheEndOfTheMemory) {
  auto* pages = static_cast<char*>(
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  std::memset(pages, 'x', 4096);
  ASSERT_EQ(munmap(pages + 4096, 4096), 0);
  EXPECT_EQ(size_of_string(pages + 4000, UINT64_MAX), 96u);
  EXPECT_EQ(size_of_string(pages + 4000, 10), 10u);
  munmap(pages, 4096);
}

}  // namespace
}  // namespace clew::rt
