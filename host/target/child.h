// Starting the program under test.
#ifndef CLEW_HOST_TARGET_CHILD_H_
#define CLEW_HOST_TARGET_CHILD_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "host/error.h"
#include "host/recording/file.h"
#include "host/target/launch_plan.h"

namespace clew {

// A running child. It is killed when this value is destroyed and when clew ends, however that
// happens.
class Child {
 public:
  // Descriptors that become the program's standard input, output and error, and the
  // one of the control memory.
  struct Wiring {
    int input, output, errors, control;
  };
  // Returns once the program has been loaded. A program that cannot be loaded is an error.
  [[nodiscard]] static Result<Child> start(const LaunchPlan& plan, const Wiring& wiring);

  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  // readable once the child has ended
  const std::vector<std::string>& notes() const { return notes_; }

  void kill_now() const;
  // Waits for its end; the status as waitpid gives it.
  int wait();
  // Resources that the program used until wait().
  double cpu_seconds() const { return cpu_seconds_; }

 private:
  Child(pid_t pid, FileDescriptor pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid_;  // -1: waited for
  double cpu_seconds_ = 0;
  FileDescriptor pidfd_;
  std::vector<std::string> notes_;
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_CHILD_H_
