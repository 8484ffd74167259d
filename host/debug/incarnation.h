// One execution of a recording's replay that a debugger controls. There is one after another: going
// back in time is executing it again.
#ifndef CLEW_HOST_DEBUG_INCARNATION_H_
#define CLEW_HOST_DEBUG_INCARNATION_H_

#include <array>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "host/debug/tracee.h"
#include "host/target/replay.h"

namespace clew::debug {

// Bytes of standard output and error.
using Shown = std::array<std::uint64_t, 2>;

class Incarnation : private RunObserver {
 public:
  // Starts the program; the runtime stops it when event `clock` is about to be counted (0: not at
  // all). Returns once it waits in the runtime, before any code of the program. The first `shown`
  // bytes of output are not shown again.
  [[nodiscard]] static Result<std::unique_ptr<Incarnation>> start(const Replay& replay,
                                                                  std::uint64_t clock,
                                                                  const Shown& shown);
  ~Incarnation() override;
  Incarnation(const Incarnation&) = delete;
  Incarnation& operator=(const Incarnation&) = delete;

  Tracee& tracee() { return *tracee_; }
  // Ends the program, if it has not ended, and returns what it has written.
  Shown end();

 private:
  explicit Incarnation(const Replay& replay) : replay_(replay) {}
  [[nodiscard]] Result<int> attached(pid_t pid) override;
  void run();

  Replay replay_;
  FileDescriptor ending_;  // written to: ends the run
  std::promise<Result<pid_t>> started_;
  bool told_ = false;
  std::optional<Tracee> tracee_;
  std::optional<Result<RunResult>> result_;
  std::thread thread_;
};

}  // namespace clew::debug

#endif  // CLEW_HOST_DEBUG_INCARNATION_H_
