// Commands of the user's that help a hunt: a judge of the output, a test binary that lists its
// tests. They run natively, in a process group of their own, with a time limit.
#ifndef CLEW_HOST_SEARCH_CRITERIA_COMMAND_H_
#define CLEW_HOST_SEARCH_CRITERIA_COMMAND_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"

namespace clew {

struct Command {
  std::string program;                   // path, not looked for in PATH
  std::vector<std::string> arguments;    // argv, argv[0] first
  std::vector<std::string> environment;  // "NAME=value"
  std::string working_folder;            // empty: this one
  std::string_view input;                // its standard input
  double seconds = 60;                   // after which it is killed
  std::size_t most_output = 1 << 20;     // bytes kept of each stream; the rest is dropped
};

struct CommandEnd {
  enum class How {
    kExited,
    kKilled,       // by a signal that was not ours
    kTimeLimit,    // killed by us
    kInterrupted,  // likewise, because clew itself is to end
    kNotStarted,   // `status` is the errno
  };
  How how = How::kExited;
  int status = 0;  // exit status, signal or errno
  std::string output;
  std::string errors;
};

// Returns when the command has ended; what it left running in its group is killed. Errors are the
// machine's. While SIGINT, SIGTERM or SIGHUP wait to be taken (target/interrupts.h) it is cut
// short.
[[nodiscard]] Result<CommandEnd> run_command(const Command& command);

// Text as a file that only this process holds. Other processes of the same user can open path()
// while it lives; nothing is left behind however clew ends.
class MemoryFile {
 public:
  [[nodiscard]] static Result<MemoryFile> create(std::string_view text);
  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&&) = delete;
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  [[nodiscard]] int descriptor() const { return fd_; }  // stands at the beginning
  [[nodiscard]] std::string path() const;

 private:
  explicit MemoryFile(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_CRITERIA_COMMAND_H_
