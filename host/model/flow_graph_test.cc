#include "host/model/flow_graph.h"

#include <gtest/gtest.h>

#include <vector>

namespace clew {
namespace {

using Code = std::vector<std::uint8_t>;

FlowGraph graph_of(const Code& code, const std::vector<FlowGraph::Edge>& seen = {}) {
  return FlowGraph({0x1000, 0x1000 + code.size()}, code, seen);
}

// 1000 test edi,edi; 1002 je 1007; 1004 xor eax,eax; 1006 nop; 1007 ret
const Code kIf = {0x85, 0xff, 0x74, 0x03, 0x31, 0xc0, 0x90, 0xc3};

TEST(FlowGraph, WaysOfABranchMeetBehindIt) {
  const FlowGraph graph = graph_of(kIf);
  ASSERT_EQ(graph.blocks().size(), 3u);
  EXPECT_EQ(graph.meets_at(0x1002), 0x1007u);
  EXPECT_TRUE(graph.depends(0x1004, 0x1002));
  EXPECT_FALSE(graph.depends(0x1007, 0x1002));
}

// 1000 xor eax,eax; 1002 inc eax; 1004 cmp eax,edi; 1006 jl 1002; 1008 ret
const Code kLoop = {0x31, 0xc0, 0xff, 0xc0, 0x39, 0xf8, 0x7c, 0xfa, 0xc3};

TEST(FlowGraph, ALoopDependsOnItself) {
  const FlowGraph graph = graph_of(kLoop);
  EXPECT_EQ(graph.meets_at(0x1006), 0x1008u);
  EXPECT_TRUE(graph.depends(0x1002, 0x1006));
  EXPECT_FALSE(graph.depends(0x1008, 0x1006));
}

// 1000 jmp 1000
TEST(FlowGraph, ALoopWithoutAnEndIsNoProblem) {
  const FlowGraph graph = graph_of({0xeb, 0xfe});
  ASSERT_EQ(graph.blocks().size(), 1u);
  EXPECT_EQ(graph.meets_at(0x1000), 0u);
}

// 1000 jmp rax; 1002 nop; 1003 ret; 1004 ret
TEST(FlowGraph, IndirectJumpsLeadWhereTheyWereSeenToLead) {
  const Code code = {0xff, 0xe0, 0x90, 0xc3, 0xc3};
  EXPECT_EQ(graph_of(code).blocks().size(), 1u);
  const FlowGraph graph = graph_of(code, {{0x1000, 0x1002}, {0x1000, 0x1004}});
  EXPECT_EQ(graph.blocks().size(), 3u);
  EXPECT_TRUE(graph.depends(0x1002, 0x1000));
}

TEST(FlowGraph, BytesThatAreNoCodeEndIt) {
  const FlowGraph graph = graph_of({0x90, 0x06, 0x06});
  EXPECT_EQ(graph.blocks().size(), 1u);
  EXPECT_EQ(graph.block_of(0x1001), FlowGraph::kNone);
}

TEST(Instruction, TellsRegistersThatMakeAddresses) {
  Instruction one;
  const Code load = {0x48, 0x8b, 0x43, 0x10};  // mov rax, [rbx+0x10]
  ASSERT_TRUE(decode(0x1000, load, one));
  EXPECT_EQ(one.address_reads, bit_of(3));
  EXPECT_EQ(one.reads, 0u);
  EXPECT_EQ(one.writes, bit_of(kRax));
  EXPECT_EQ(one.base, 3);
  EXPECT_EQ(one.displacement, 0x10);
  EXPECT_TRUE(one.copies);
}

TEST(Instruction, ClearingARegisterDependsOnNothing) {
  Instruction one;
  const Code clear = {0x31, 0xc0};  // xor eax, eax
  ASSERT_TRUE(decode(0x1000, clear, one));
  EXPECT_EQ(one.reads, 0u);
  EXPECT_NE(one.writes & bit_of(kRax), 0u);
}

}  // namespace
}  // namespace clew
