#include "host/target/watchdog.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>

#include "host/target/syscall_names.h"

namespace clew {
namespace {

TEST(Watchdog, ReadsProcStat) {
  const auto pulse = parse_proc_stat(
      "1234 (a b) c) S 1 1234 1234 0 -1 4194304 100 0 0 0 7 5 0 0 20 0 1 0 100 1000 10");
  ASSERT_TRUE(pulse);
  EXPECT_EQ(pulse->state, 'S');
  EXPECT_EQ(pulse->cpu_ticks, 12u);
  EXPECT_FALSE(parse_proc_stat(""));
  EXPECT_FALSE(parse_proc_stat("1 (x) S 1 2"));
}

TEST(Watchdog, ReadsProcSyscall) {
  const auto call = parse_proc_syscall("0 0x3 0x7ffd 0x400 0x0 0x0 0x0 0x7ffe 0x7f00\n");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->number, SYS_read);
  EXPECT_EQ(call->arguments[0], 3u);
  EXPECT_FALSE(parse_proc_syscall("running\n"));
  EXPECT_FALSE(parse_proc_syscall("-1 0x7ffe 0x7f00\n"));
}

TEST(Watchdog, CountsOnlySleepWithoutSignsOfLife) {
  StallCounter stall;
  Pulse pulse{'S', 1, 10, 100};
  stall.look(pulse, 0.2);
  EXPECT_DOUBLE_EQ(stall.look(pulse, 0.2), 0.2);
  EXPECT_DOUBLE_EQ(stall.look(pulse, 100), 0.45);  // clew itself was stopped
  pulse.clock = 11;
  EXPECT_DOUBLE_EQ(stall.look(pulse, 0.2), 0);
  EXPECT_DOUBLE_EQ(stall.look(pulse, 0.2), 0.2);
  pulse.state = 'R';
  EXPECT_DOUBLE_EQ(stall.look(pulse, 0.2), 0);
}

TEST(Watchdog, NamesCallsAndSignals) {
  EXPECT_EQ(syscall_name(SYS_accept), "accept");
  EXPECT_EQ(syscall_name(99'999), "system call 99999");
  EXPECT_TRUE(syscall_takes_descriptor(SYS_read));
  EXPECT_FALSE(syscall_takes_descriptor(SYS_poll));
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(200), "signal 200");
}

TEST(Watchdog, NamesCallsThatWaitForWhatIsOutside) {
  const auto object = [](long call, std::int32_t number) {
    return static_cast<std::uint64_t>(call) << 32 | static_cast<std::uint32_t>(number);
  };
  using Kind = abi::WaitKind;
  EXPECT_EQ(waiting_call(Kind::kDescriptor, object(SYS_read, 5)), "read of descriptor 5");
  EXPECT_EQ(waiting_call(Kind::kDescriptor, object(SYS_poll, 0)), "poll");
  EXPECT_EQ(waiting_call(Kind::kChild, object(SYS_wait4, 12)), "wait4 for child process 12");
  EXPECT_EQ(waiting_call(Kind::kChild, object(SYS_waitid, -1)), "waitid for a child process");
  EXPECT_EQ(waiting_call(Kind::kFileLock, object(SYS_flock, 3)),
            "flock of descriptor 3 (a file lock)");
  EXPECT_EQ(waiting_call(Kind::kSignal, 0), "");
  EXPECT_EQ(waiting_call(Kind::kMutex, 0x1234), "");

  Reports reports;
  const std::string nothing =
      "every thread is blocked, and what they wait for has not come from outside";
  EXPECT_EQ(describe_outside(reports), nothing);
  reports.threads.push_back({"T0.1", "", 0});
  reports.waits.push_back({1, Kind::kDescriptor, object(SYS_read, 5), {}, 0, {}});
  reports.waits.push_back({0, Kind::kJoin, 1, {}, 0, {}});
  reports.waits.push_back({2, Kind::kSignal, 0, {}, 0, {}});
  EXPECT_EQ(describe_outside(reports),
            nothing + ": T0.1 in read of descriptor 5, thread 2 for a signal");
  for (int i = 0; i < 9; ++i) reports.waits.push_back(reports.waits.front());
  EXPECT_TRUE(describe_outside(reports).ends_with("T0.1 in read of descriptor 5, …"));
}

}  // namespace
}  // namespace clew
