#include "host/model/flow_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
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

// Functions of blocks of three bytes each that lead anywhere: loops with several entries, ends that are
// never reached, jumps whose targets were seen.
FlowGraph random_graph(std::mt19937& random) {
  constexpr unsigned kBlocks = 12;
  constexpr std::uint64_t kBegin = 0x1000;
  const auto any = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  Code code;
  std::vector<FlowGraph::Edge> seen;
  for (unsigned i = 0; i < kBlocks; ++i) {
    const std::uint64_t next = kBegin + 3 * (i + 1);
    const auto distance = [&] {
      return static_cast<std::uint8_t>(kBegin + 3 * any(kBlocks) - next);
    };
    code.push_back(0x90);
    switch (i + 1 == kBlocks ? 9 : any(10)) {
      case 0:
      case 1:
        code.insert(code.end(), {0xeb, distance()});  // jmp
        break;
      case 2:
        code.insert(code.end(), {0xff, 0xe0});  // jmp rax
        for (int k = 0; k < 3; ++k) seen.emplace_back(next - 2, kBegin + 3 * any(kBlocks));
        break;
      case 9:
        code.insert(code.end(), {0x90, 0xc3});  // ret
        break;
      default:
        code.insert(code.end(), {0x74, distance()});  // je
    }
  }
  return graph_of(code, seen);
}

// Whether every way from `from` to the end leads through `through`: it does not get there without.
bool is_on_every_way(const FlowGraph& graph, std::uint32_t from, std::uint32_t through) {
  const auto& blocks = graph.blocks();
  std::vector<bool> reached(blocks.size());
  std::vector<std::uint32_t> left;
  const auto reach = [&](std::uint32_t to) {
    if (to == through || reached[to]) return;
    reached[to] = true;
    left.push_back(to);
  };
  reach(from);
  while (!left.empty()) {
    const FlowGraph::Block& at = blocks[left.back()];
    left.pop_back();
    if (at.leaves) return false;
    for (const std::uint32_t to : at.successors) reach(to);
  }
  return true;
}

TEST(FlowGraph, DependencesAreThoseOfTheDefinition) {
  std::mt19937 random(17);
  std::size_t dependences = 0;
  for (int round = 0; round < 1'000; ++round) {
    const FlowGraph graph = random_graph(random);
    const auto& blocks = graph.blocks();
    for (std::uint32_t branch = 0; branch < blocks.size(); ++branch) {
      const FlowGraph::Block& of = blocks[branch];
      const bool decides = of.successors.size() + (of.leaves ? 1 : 0) >= 2;
      for (std::uint32_t block = 0; block < blocks.size(); ++block) {
        const bool by_some_way = std::ranges::any_of(of.successors, [&](std::uint32_t next) {
          return next == block || is_on_every_way(graph, next, block);
        });
        const bool in_any_case = block != branch && is_on_every_way(graph, branch, block);
        const bool expected = decides && by_some_way && !in_any_case;
        dependences += expected;
        ASSERT_EQ(graph.depends(blocks[block].begin, of.last), expected)
            << "round " << round << ", block " << block << ", branch " << branch;
      }
    }
  }
  EXPECT_GT(dependences, 10'000u);
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
