#include "host/symbolize/maps.h"

#include <gtest/gtest.h>

namespace clew {
namespace {

constexpr char kText[] =
    "555555554000-555555556000 r--p 00000000 08:01 131 /home/me/a b\n"
    "555555556000-555555559000 r-xp 00001000 08:01 131 /home/me/a b\n"
    "555555559000-55555555a000 rw-p 00000000 00:00 0 \n"
    "7ffff7dd0000-7ffff7df0000 r-xp 00002000 08:01 7   /usr/lib/libc.so.6\n"
    "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0   [stack]\n";

TEST(Maps, FindsTheFileOfAnAddress) {
  const Maps maps(kText);
  EXPECT_EQ(maps.all().size(), 3u);
  const Mapping* code = maps.find(0x555555556010);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->path, "/home/me/a b");
  EXPECT_EQ(code->offset, 0x1000u);
  EXPECT_EQ(maps.find(0x7ffff7def'fff)->path, "/usr/lib/libc.so.6");
  EXPECT_EQ(maps.find(0x7ffff7df0000), nullptr);
  EXPECT_EQ(maps.find(0x555555559010), nullptr);
  EXPECT_EQ(maps.find(0), nullptr);
}

TEST(Maps, UninitialisedDataBelongToTheModuleBefore) {
  const Maps maps(kText);
  const Mapping* module = maps.module_before(0x555555559010);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->start, 0x555555554000u);
  EXPECT_EQ(maps.module_before(0x1000), nullptr);
}

TEST(Maps, NonsenseIsLeftOut) {
  EXPECT_TRUE(Maps("").all().empty());
  EXPECT_TRUE(Maps("zz-yy r-xp 0 0 0 /a\n2000-1000 r-xp 0 0 0 /a\n\n-\n1000-2000").all().empty());
}

}  // namespace
}  // namespace clew
