#include "host/debug/remote_protocol.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "host/debug/gdb_registers.h"

namespace clew::debug {
namespace {

TEST(RemoteProtocol, FramesWithAChecksum) {
  EXPECT_EQ(frame("OK"), "$OK#9a");
  EXPECT_EQ(frame(""), "$#00");
}

TEST(RemoteProtocol, EscapesWhatMayNotBeInAPacket) {
  EXPECT_EQ(frame("a#b").substr(0, 5),
            "$a}\x03"
            "b");
  EXPECT_EQ(unescape("a}\x03"
                     "b}]"),
            "a#b}");
}

TEST(RemoteProtocol, ReadsPacketsInPieces) {
  PacketReader reader;
  reader.add("+$qC#b");
  EXPECT_EQ(reader.next(), std::nullopt);
  reader.add("4\x03$?#3f");
  EXPECT_EQ(reader.next(), "qC");
  EXPECT_EQ(reader.next(), "\x03");
  EXPECT_EQ(reader.next(), "?");
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST(RemoteProtocol, DropsWhatIsDamaged) {
  PacketReader reader;
  reader.add("$qC#00$?#3f");
  EXPECT_EQ(reader.next(), "?");
}

TEST(RemoteProtocol, Numbers) {
  std::string_view text = "1f,2:";
  EXPECT_EQ(take_number(text), 0x1fu);
  EXPECT_TRUE(take(text, ','));
  EXPECT_EQ(take_number(text), 2u);
  EXPECT_EQ(text, ":");
  EXPECT_EQ(take_number(text), 0u);
  EXPECT_EQ(to_hex("az"), "617a");
  EXPECT_EQ(from_hex("617a"), (std::vector<std::uint8_t>{'a', 'z'}));
  EXPECT_EQ(from_hex("6"), std::nullopt);
  EXPECT_EQ(from_hex("xy"), std::nullopt);
}

TEST(RemoteProtocol, SignalsThereAndBack) {
  EXPECT_EQ(signal_for_gdb(SIGSEGV), 11);
  EXPECT_EQ(signal_for_gdb(SIGUSR1), 30);
  for (int signal = 1; signal <= 64; ++signal)
    EXPECT_EQ(signal_from_gdb(signal_for_gdb(signal)), signal) << signal;
}

TEST(GdbRegisters, PackAndUnpack) {
  Registers registers{};
  registers.general.rip = 0x1122334455667788;
  registers.general.fs_base = 42;
  const std::string text = pack(registers);
  const Slice rip = slice_of(16);
  EXPECT_EQ(text.substr(2 * rip.begin, 2 * rip.size), "8877665544332211");
  Registers again{};
  ASSERT_TRUE(unpack(*from_hex(text), again));
  EXPECT_EQ(again.general.rip, registers.general.rip);
  EXPECT_EQ(again.general.fs_base, 42u);
  EXPECT_FALSE(unpack(from_hex("00").value(), again));
}

TEST(GdbRegisters, OfAParkedThreadMostAreNotKnown) {
  abi::DebugThread thread{};
  thread.instruction = 0x1234;
  const std::string text = pack(thread);
  EXPECT_EQ(text.size(), pack(Registers{}).size());
  EXPECT_EQ(text.substr(0, 16), "xxxxxxxxxxxxxxxx");  // rax
  const Slice rip = slice_of(16);
  EXPECT_EQ(text.substr(2 * rip.begin, 2 * rip.size), "3412000000000000");
}

}  // namespace
}  // namespace clew::debug
