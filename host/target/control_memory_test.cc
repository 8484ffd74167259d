#include "host/target/control_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace clew {
namespace {

// As the runtime writes: bytes, then the head.
void put(ControlMemory& memory, std::string_view text) {
  abi::Control& control = memory.control();
  const std::uint64_t head = control.inputs_head.load();
  for (std::size_t i = 0; i < text.size(); ++i)
    memory.inputs()[(head + i) % control.inputs.size] = static_cast<std::uint8_t>(text[i]);
  control.inputs_head.store(head + text.size());
}

TEST(ControlMemory, HasARingForInputsOnlyIfTheyAreRecorded) {
  auto without = ControlMemory::create({});
  ASSERT_TRUE(without);
  EXPECT_EQ(without->control().inputs.size, 0u);
  EXPECT_EQ(without->control().flags & abi::kFlagRecordInputs, 0u);
  auto with = ControlMemory::create({}, {.record_inputs = true});
  ASSERT_TRUE(with);
  EXPECT_EQ(with->control().inputs.size, kInputsRingSize);
  EXPECT_NE(with->control().flags & abi::kFlagRecordInputs, 0u);
  EXPECT_EQ(with->control().inputs.offset % 4096, 0u);
}

TEST(ControlMemory, ReservesExactlyWhatAReplayIsGiven) {
  LaunchPlan plan;
  plan.flags = abi::kFlagReplayInputs;
  plan.inputs = RecordedInputs{"nowhere", {.size = 12'345}};
  auto memory = ControlMemory::create(plan);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->inputs().size(), 12'345u);
  EXPECT_EQ(memory->control().inputs.size, 12'345u);
  EXPECT_EQ(memory->control().flags, abi::kFlagReplayInputs);
}

TEST(ControlMemory, DrainsInputsAcrossTheEndOfTheRing) {
  auto memory = ControlMemory::create({}, {.record_inputs = true});
  ASSERT_TRUE(memory);
  std::string all;
  const auto take = [&all](auto bytes) { all.append(bytes.begin(), bytes.end()); };
  EXPECT_EQ(memory->drain_inputs(take), ControlMemory::Drained::kNothing);
  put(*memory, std::string(kInputsRingSize - 3, 'x'));
  EXPECT_EQ(memory->drain_inputs(take), ControlMemory::Drained::kSome);
  all.clear();
  put(*memory, "abcdefg");
  EXPECT_EQ(memory->drain_inputs(take), ControlMemory::Drained::kSome);
  EXPECT_EQ(all, "abcdefg");
  EXPECT_EQ(memory->control().inputs_tail.load(), kInputsRingSize + 4);
  EXPECT_EQ(memory->bytes_drained(), kInputsRingSize + 4);
  EXPECT_EQ(memory->drain(take), ControlMemory::Drained::kNothing);  // the other ring
}

TEST(ControlMemory, NoticesAHeadThatMakesNoSense) {
  auto memory = ControlMemory::create({}, {.record_inputs = true});
  ASSERT_TRUE(memory);
  const auto take = [](auto) {};
  put(*memory, "abc");
  EXPECT_EQ(memory->drain_inputs(take), ControlMemory::Drained::kSome);
  memory->control().inputs_head.store(2);  // backwards
  EXPECT_EQ(memory->drain_inputs(take), ControlMemory::Drained::kCorrupted);
  memory->control().inputs_head.store(3 + kInputsRingSize + 1);
  EXPECT_EQ(memory->drain_inputs(take), ControlMemory::Drained::kCorrupted);
  memory->control().inputs_head.store(3 + kInputsRingSize);
  EXPECT_EQ(memory->drain_inputs(take), ControlMemory::Drained::kSome);
}

}  // namespace
}  // namespace clew
