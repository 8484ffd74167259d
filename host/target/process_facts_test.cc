#include "host/target/process_facts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

namespace clew {
namespace {

TEST(ProcessFacts, ReadsTheStackLimit) {
  const std::string limits =
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max data size             unlimited            unlimited            bytes     \n"
      "Max stack size            8388608              unlimited            bytes     \n"
      "Max core file size        0                    0                    bytes     \n";
  EXPECT_EQ(parse_stack_limit(limits), 8'388'608u);
  EXPECT_EQ(parse_stack_limit("Max stack size            unlimited            unlimited   bytes\n"),
            UINT64_MAX);
  EXPECT_FALSE(parse_stack_limit(""));
  EXPECT_FALSE(parse_stack_limit("Max stack size            lots\n"));
  EXPECT_FALSE(parse_stack_limit("no Max stack size         100\n"));
}

TEST(ProcessFacts, ReadsSignalSets) {
  const std::string status =
      "Name:\tSigBlk:\nSigPnd:\t00ff\nSigBlk:\t0000000000000200\nSigIgn:\t1\n";
  EXPECT_EQ(parse_signal_set(status, "SigBlk"), 0x200u);
  EXPECT_EQ(parse_signal_set(status, "SigIgn"), 1u);
  EXPECT_FALSE(parse_signal_set(status, "SigCgt"));
  EXPECT_FALSE(parse_signal_set("SigBlk:\t\n", "SigBlk"));
}

// A shell that waits for its standard input, as a child of this test with addresses that are fixed
// or not.
class WaitingShell {
 public:
  explicit WaitingShell(bool fixed) {
    int loaded[2];  // closed by the exec
    if (pipe(ends_) != 0 || pipe2(loaded, O_CLOEXEC) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      const int persona = personality(0xffffffff) & ~ADDR_NO_RANDOMIZE;
      personality(static_cast<unsigned>(persona) | (fixed ? ADDR_NO_RANDOMIZE : 0u));
      signal(SIGUSR1, SIG_IGN);
      dup2(ends_[0], 0);
      close(ends_[1]);
      char* const environment[] = {const_cast<char*>("A=1"), const_cast<char*>("B="), nullptr};
      execle("/bin/sh", "a shell", "-c", "read x", nullptr, environment);
      _exit(1);
    }
    close(ends_[0]);
    close(loaded[1]);
    char nothing;
    EXPECT_EQ(read(loaded[0], &nothing, 1), 0);
    close(loaded[0]);
  }
  ~WaitingShell() {
    close(ends_[1]);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  int ends_[2] = {-1, -1};
  pid_t pid_ = -1;
};

TEST(ProcessFacts, TellWhatAProcessWasStartedWith) {
  const WaitingShell shell(true);
  const auto plan = plan_of_process(shell.pid(), "/bin/sh", 0);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->started_as, "/bin/sh");
  EXPECT_TRUE(plan->program.starts_with('/'));
  EXPECT_EQ(plan->arguments, (std::vector<std::string>{"a shell", "-c", "read x"}));
  EXPECT_EQ(plan->environment, (std::vector<std::string>{"A=1", "B="}));
  EXPECT_NE(plan->ignored_signals & (1u << (SIGUSR1 - 1)), 0u);
  EXPECT_FALSE(plan_of_process(shell.pid(), "/dev/fd/7", 0));
}

TEST(ProcessFacts, WantNoProcessWithRandomAddresses) {
  const WaitingShell shell(false);
  EXPECT_FALSE(plan_of_process(shell.pid(), "/bin/sh", 0));
}

TEST(ProcessFacts, WantNoProcessThatIsGone) {
  EXPECT_FALSE(plan_of_process(0x7ffffff0, "/bin/sh", 0));
}

}  // namespace
}  // namespace clew
