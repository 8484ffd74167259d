// gdb on a replayed run.
#ifndef CLEW_CLI_GDB_H_
#define CLEW_CLI_GDB_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "host/recording/file.h"
#include "host/target/run_target.h"

namespace clew::cli {

// Starts gdb on the program once the runtime is in charge: it waits there, before main, until gdb
// tells it to continue. While this lives, Ctrl-C is gdb's.
class GdbSession : public RunObserver {
 public:
  // Fails if there is no gdb, or clew's own gdb commands are missing.
  [[nodiscard]] static Result<std::unique_ptr<GdbSession>> prepare(
      std::vector<std::string> extra_arguments);
  ~GdbSession() override;
  GdbSession(const GdbSession&) = delete;
  GdbSession& operator=(const GdbSession&) = delete;

  [[nodiscard]] Result<int> attached(pid_t pid) override;
  // Until the user has left gdb.
  void wait();

 private:
  GdbSession() = default;

  std::string gdb_;
  std::string commands_;  // clew_gdb.py
  std::vector<std::string> extra_;
  pid_t pid_ = -1;
  FileDescriptor pidfd_;
};

}  // namespace clew::cli

#endif  // CLEW_CLI_GDB_H_
