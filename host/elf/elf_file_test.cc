#include "host/elf/elf_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <vector>

namespace clew {
namespace {

TEST(ElfFile, ReadsThisProgram) {
  const auto self = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(self) << self.error().message;
  EXPECT_TRUE(self->is_executable());
  EXPECT_TRUE(self->interpreter().ends_with("/ld-linux-x86-64.so.2")) << self->interpreter();
  EXPECT_TRUE(self->defines_symbol("main"));
  EXPECT_FALSE(self->defines_symbol("mai"));
  EXPECT_FALSE(self->defines_symbol("mainly"));
  EXPECT_FALSE(self->defines_symbol("memfd_create"));  // it is used here, but defined in libc
  const auto needed = self->needed_libraries();
  EXPECT_NE(std::ranges::find(needed, "libc.so.6"), needed.end());
}

std::vector<char> some_program() {
  std::ifstream file("/bin/true", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ElfFile, KnowsHalfAProgram) {
  const std::vector<char> bytes = some_program();
  const auto part = [&](std::size_t size) { return std::as_bytes(std::span(bytes).first(size)); };
  EXPECT_TRUE(ElfFile::from_bytes(part(bytes.size()), "whole").value().is_whole());
  EXPECT_FALSE(ElfFile::from_bytes(part(bytes.size() / 2), "half").value().is_whole());
}

TEST(ElfFile, SurvivesDamage) {
  const std::vector<char> whole = some_program();
  std::mt19937_64 random(5);
  for (int i = 0; i < 500; ++i) {
    std::vector<char> bytes = whole;
    // Mostly in the headers, at the beginning and at the end, which describe everything else.
    for (int n = 0; n < 8; ++n) {
      const std::size_t at = random() % 2048;
      bytes[i % 2 == 0 ? at : bytes.size() - 1 - at] = static_cast<char>(random());
    }
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    const auto damaged = ElfFile::from_bytes(std::as_bytes(std::span(bytes)), "damaged");
    if (!damaged) continue;
    (void)damaged->defines_symbol("main");
    (void)damaged->needed_libraries();
    (void)damaged->interpreter();
  }
}

}  // namespace
}  // namespace clew
