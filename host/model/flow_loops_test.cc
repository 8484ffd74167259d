#include "host/model/flow_loops.h"

#include <gtest/gtest.h>

namespace clew {
namespace {

using Code = std::vector<std::uint8_t>;

// 1000 nop; 1001 nop; 1002 dec edi; 1004 jne 1002; 1006 dec esi; 1008 jne 1001; 100a ret
const Code kNested = {0x90, 0x90, 0xff, 0xcf, 0x75, 0xfc, 0xff, 0xce, 0x75, 0xf7, 0xc3};

class NestedLoops : public testing::Test {
 protected:
  std::uint32_t block(std::uint64_t address) const { return graph_.block_of(address); }

  FlowGraph graph_{{0x1000, 0x1000 + kNested.size()}, kNested, {}};
  FlowLoops loops_{graph_};
};

TEST_F(NestedLoops, ARoundBeginsWithTheHeaderOfALoopThatHasBoth) {
  EXPECT_TRUE(loops_.begins_round(block(0x1001), block(0x1002), block(0x1006)));
  EXPECT_TRUE(loops_.begins_round(block(0x1002), block(0x1002), block(0x1002)));
}

TEST_F(NestedLoops, AnInnerLoopEndsNoRoundOfTheOuterOne) {
  EXPECT_FALSE(loops_.begins_round(block(0x1002), block(0x1001), block(0x1006)));
}

TEST_F(NestedLoops, WhatIsBehindALoopIsNotInIt) {
  EXPECT_FALSE(loops_.begins_round(block(0x1001), block(0x1002), block(0x100a)));
  EXPECT_FALSE(loops_.begins_round(block(0x1000), block(0x1000), block(0x100a)));
}

TEST_F(NestedLoops, ALoopHasWhatIsInItWithoutWhatIsBehindIt) {
  EXPECT_TRUE(loops_.has_without(block(0x1002), block(0x1006)));
  EXPECT_TRUE(loops_.has_without(block(0x1006), block(0x100a)));
  EXPECT_TRUE(loops_.has_without(block(0x1006), FlowGraph::kNone));
  EXPECT_FALSE(loops_.has_without(block(0x1006), block(0x1002)));
  EXPECT_FALSE(loops_.has_without(block(0x100a), FlowGraph::kNone));
}

// 1000 jmp 1000
TEST(FlowLoops, ABlockMayLeadToItself) {
  const Code code = {0xeb, 0xfe};
  const FlowGraph graph({0x1000, 0x1002}, code, {});
  EXPECT_TRUE(FlowLoops(graph).begins_round(0, 0, 0));
}

TEST(FlowLoops, WhatIsNoCodeHasNone) {
  const FlowGraph graph({0x1000, 0x1001}, Code{0x06}, {});
  EXPECT_FALSE(FlowLoops(graph).begins_round(0, 0, 0));
}

}  // namespace
}  // namespace clew
