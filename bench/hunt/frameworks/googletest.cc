#include <gtest/gtest.h>

#include "program.h"

TEST(Bench, Program) { EXPECT_EQ(call_main(bench_main), 0); }

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
