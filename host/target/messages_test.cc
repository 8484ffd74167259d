#include "host/target/messages.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <utility>

namespace clew {
namespace {

using abi::MessageType;

class Bytes {
 public:
  Bytes& number(std::uint64_t value) {
    std::uint8_t buffer[abi::kMaxVarint];
    const std::size_t size = abi::put_varint(buffer, value);
    bytes_.insert(bytes_.end(), buffer, buffer + size);
    return *this;
  }
  Bytes& text(std::string_view text) {
    number(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  MessageStatus read(MessageType type, Reports& reports) const {
    return read_message(static_cast<std::uint64_t>(type), bytes_, reports);
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

Bytes thread(std::uint64_t index, std::uint64_t parent, std::uint64_t ordinal) {
  return Bytes().number(index).number(parent).number(ordinal).number(0x1000);
}

TEST(Messages, ThreadsAreNamedByTheirPath) {
  Reports reports;
  EXPECT_EQ(thread(1, 0, 1).read(MessageType::kThread, reports), MessageStatus::kGood);
  EXPECT_EQ(thread(2, 0, 2).read(MessageType::kThread, reports), MessageStatus::kGood);
  EXPECT_EQ(thread(3, 2, 1).read(MessageType::kThread, reports), MessageStatus::kGood);
  EXPECT_EQ(Bytes().number(3).text("worker").read(MessageType::kName, reports),
            MessageStatus::kGood);
  ASSERT_EQ(reports.threads.size(), 4u);
  EXPECT_EQ(reports.threads[2].id, "T0.2");
  EXPECT_EQ(reports.threads[3].id, "T0.2.1");
  EXPECT_EQ(reports.threads[3].name, "worker");
}

TEST(Messages, NotesAreKeptOnceEach) {
  Reports reports;
  for (const char* note : {"not recorded: ioctl 0x5413 on fd 3", "another",
                           "not recorded: ioctl 0x5413 on fd 3", "another"})
    EXPECT_EQ(Bytes().text(note).read(MessageType::kNote, reports), MessageStatus::kGood);
  EXPECT_EQ(reports.notes,
            (std::vector<std::string>{"not recorded: ioctl 0x5413 on fd 3", "another"}));
}

TEST(Messages, ImpossibleThreadsAreRefused) {
  Reports reports;
  EXPECT_EQ(thread(UINT64_MAX, 0, 1).read(MessageType::kThread, reports),
            MessageStatus::kMalformed);
  EXPECT_EQ(thread(1, 1, 1).read(MessageType::kThread, reports), MessageStatus::kMalformed);
  EXPECT_EQ(Bytes().number(9).text("x").read(MessageType::kName, reports),
            MessageStatus::kMalformed);
  EXPECT_EQ(reports.threads.size(), 1u);
}

TEST(Messages, FailureKeepsTheFirst) {
  Reports reports;
  const auto failure = [](std::uint64_t kind, std::string_view detail) {
    return Bytes()
        .number(kind)
        .number(1)
        .text(detail)
        .text("a.cc")
        .number(7)
        .text("f")
        .number(2)
        .number(0x10)
        .number(0x20);
  };
  EXPECT_EQ(failure(2, "first").read(MessageType::kFailure, reports), MessageStatus::kGood);
  EXPECT_EQ(failure(1, "second").read(MessageType::kFailure, reports), MessageStatus::kGood);
  ASSERT_TRUE(reports.failure);
  EXPECT_EQ(reports.failure->kind, abi::FailureKind::kAssert);
  EXPECT_EQ(reports.failure->detail, "first");
  EXPECT_EQ(reports.failure->frames, (FrameList{0x10, 0x20}));
  EXPECT_EQ(failure(99, "third").read(MessageType::kFailure, reports), MessageStatus::kMalformed);
}

TEST(Messages, FramesCannotClaimMoreThanThereIs) {
  Reports reports;
  const auto stack = Bytes().number(5).number(0).number(1).number(4).number(UINT64_MAX);
  EXPECT_EQ(stack.read(MessageType::kStack, reports), MessageStatus::kMalformed);
  EXPECT_TRUE(reports.stacks.empty());
}

TEST(Messages, SliceAndEnd) {
  Reports reports;
  EXPECT_EQ(Bytes()
                .number(1)
                .number(10)
                .number(20)
                .number(2)
                .number(4)
                .number(1)
                .number(1)
                .number(0xbeef)
                .read(MessageType::kSlice, reports),
            MessageStatus::kGood);
  ASSERT_EQ(reports.slices.size(), 1u);
  EXPECT_EQ(reports.slices[0].end, abi::SliceEnd::kBlocked);
  EXPECT_EQ(reports.slices[0].wait, abi::WaitKind::kMutex);
  EXPECT_EQ(reports.slices[0].object, 0xbeefu);
  EXPECT_EQ(Bytes().number(100).number(9).number(4).number(3).number(0xabc).read(MessageType::kEnd,
                                                                                 reports),
            MessageStatus::kGood);
  EXPECT_EQ(reports.end->hash, 0xabcu);
}

TEST(Messages, WhatWasCreatedMayGetANewNameOrStay) {
  const auto created = [](std::uint64_t number, std::uint64_t kind, std::string_view path) {
    return Bytes().number(number).number(kind).number(8).number(100 + number).text(path);
  };
  Reports reports;
  EXPECT_EQ(created(0, 0, "/tmp/a").read(MessageType::kCreated, reports), MessageStatus::kGood);
  EXPECT_EQ(created(1, 1, "/tmp/b").read(MessageType::kCreated, reports), MessageStatus::kGood);
  EXPECT_EQ(created(0, 0, "/tmp/c").read(MessageType::kCreated, reports), MessageStatus::kGood);
  EXPECT_EQ(created(1, 1, "").read(MessageType::kCreated, reports), MessageStatus::kGood);
  ASSERT_EQ(reports.created.size(), 2u);
  EXPECT_EQ(reports.created[0].path, "/tmp/c");
  EXPECT_EQ(reports.created[0].inode, 100u);
  EXPECT_EQ(reports.created[1].kind, abi::CreatedKind::kFolder);
  EXPECT_EQ(reports.created[1].path, "");
  for (const auto& [number, kind] : {std::pair{3u, 0u}, std::pair{2u, 3u}})
    EXPECT_EQ(created(number, kind, "/tmp/d").read(MessageType::kCreated, reports),
              MessageStatus::kMalformed);
  EXPECT_EQ(reports.created.size(), 2u);
}

TEST(Messages, GarbageNeverCrashes) {
  std::mt19937 random(1);
  Reports reports;
  for (int i = 0; i < 30'000; ++i) {
    std::vector<std::uint8_t> bytes(random() % 40);
    for (auto& byte : bytes)
      byte = static_cast<std::uint8_t>(random() % 3 ? random() % 8 : random());
    (void)read_message(random() % 17, bytes, reports);
    if (reports.threads.size() > 1000) reports = {};
  }
}

}  // namespace
}  // namespace clew
