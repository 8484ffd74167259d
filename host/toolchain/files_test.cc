#include "host/toolchain/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace clew::toolchain {
namespace {

TEST(FilesOnDisk, ReadRegularFilesOnly) {
  const Files files = files_on_disk();
  const std::string path = testing::TempDir() + "clew_files_test." + std::to_string(getpid());
  const std::string content("a\0b\r\n", 5);
  std::ofstream(path, std::ios::binary) << content;
  EXPECT_TRUE(files.exists(path));
  EXPECT_EQ(files.read(path), content);
  unlink(path.c_str());
  EXPECT_FALSE(files.exists(path));
  EXPECT_EQ(files.read(path), std::nullopt);
  EXPECT_TRUE(files.exists("/"));
  EXPECT_EQ(files.read("/"), std::nullopt);
  EXPECT_EQ(files.read("/dev/null"), std::nullopt);
}

}  // namespace
}  // namespace clew::toolchain
