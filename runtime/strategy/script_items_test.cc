// How a script is read. How it is followed: script_test.cc, and with a program
// host/target/served_program_script_test.cc.
#include "runtime/strategy/script_items.h"

#include <gtest/gtest.h>

#include "host/search/guides.h"
#include "runtime/random.h"
#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

constexpr abi::ScriptKind kWake = abi::script_kind(abi::ChoiceKind::kWake);
constexpr abi::ScriptKind kTimeout = abi::script_kind(abi::ChoiceKind::kTimeout);
constexpr abi::ScriptKind kCas = abi::script_kind(abi::ChoiceKind::kCas);

ScriptItems read(const std::vector<std::uint8_t>& guide) {
  forget_arena();
  return ScriptItems(make_job(1, &guide));
}

std::vector<abi::ThreadKey> targets(const ScriptLane& lane) {
  std::vector<abi::ThreadKey> all;
  for (const rt::ScriptItem* item = lane.next; item != lane.end; ++item) all.push_back(item->to);
  return all;
}
using Targets = std::vector<abi::ThreadKey>;

TEST(ScriptItems, AreByThreadAndInOrder) {
  const clew::ScriptItem items[] = {
      {7, 20, 0, 0, 1}, {5, 9, kCas, 0, 2},   {7, 10, 0, 0, 3},        {7, 20, 0, 0, 4},
      {5, 9, 0, 0, 5},  {7, 10, kWake, 1, 6}, {7, 10, kTimeout, 0, 7}, {7, 3, kCas, 0, 8},
      {5, 2, 0, 1, 9},  {5, 2, 0, 0, 10},     {0, 1, 0, 0, 11}};
  const auto guide = script_guide(items);
  ScriptItems script = read(guide);
  EXPECT_EQ(script.count(), std::size(items));
  EXPECT_EQ(script.of(6), nullptr);
  EXPECT_EQ(script.of(0), nullptr);
  ScriptThread* seven = script.of(7);
  ASSERT_NE(seven, nullptr);
  EXPECT_EQ(targets(seven->preemptions), (Targets{3, 1, 4}));
  EXPECT_EQ(targets(seven->choices), (Targets{7, 6}));
  EXPECT_EQ(targets(seven->cas), (Targets{8}));
  EXPECT_EQ(targets(seven->cas_due), (Targets{8}));
  ScriptThread* five = script.of(5);
  ASSERT_NE(five, nullptr);
  EXPECT_EQ(targets(five->preemptions), (Targets{10, 9, 5}));
  EXPECT_TRUE(five->choices.empty());
  five->preemptions.skip_before(3);
  EXPECT_EQ(targets(five->preemptions), (Targets{5}));
  five->preemptions.skip_before(UINT64_MAX);
  EXPECT_TRUE(five->preemptions.empty());
}

TEST(ScriptItems, BadGuidesHaveNone) {
  const clew::ScriptItem item{7, 20, 0, 0, 1};
  const auto good = script_guide({&item, 1});
  EXPECT_EQ(read(good).count(), 1u);
  EXPECT_EQ(read({}).count(), 0u);
  EXPECT_EQ(read({0}).count(), 0u);
  auto more = good;
  more.push_back(0);
  EXPECT_EQ(read(more).count(), 0u);
  auto less = good;
  less.pop_back();
  EXPECT_EQ(read(less).count(), 0u);
  const clew::ScriptItem unknown{7, 20, abi::kScriptKinds, 0, 1};
  EXPECT_EQ(read(script_guide({&unknown, 1})).count(), 0u);
  const clew::ScriptItem far{7, 20, 0, UINT32_MAX, 1};
  EXPECT_EQ(read(script_guide({&far, 1})).count(), 0u);
  EXPECT_EQ(read({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}).count(), 0u);
}

}  // namespace
}  // namespace clew::rt::simulation
