#include "host/toolchain/installation.h"

#include <gtest/gtest.h>

namespace clew::toolchain {
namespace {

TEST(Installation, IsFoundFromTheExecutable) {
  const Installation installation = installation_of("/opt/my tools/bin/clew");
  EXPECT_EQ(installation.include_dir, "/opt/my tools/include");
  EXPECT_EQ(installation.library_dir, "/opt/my tools/lib/clew");
  EXPECT_EQ(installation.pass, "/opt/my tools/lib/clew/libclew_pass.so");
  EXPECT_EQ(installation.runtime, "/opt/my tools/lib/clew/libclew_rt.so");
  EXPECT_EQ(installation_of("/bin/clew").pass, "/lib/clew/libclew_pass.so");
}

}  // namespace
}  // namespace clew::toolchain
