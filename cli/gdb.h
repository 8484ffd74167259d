// gdb on a replayed run.
#ifndef CLEW_CLI_GDB_H_
#define CLEW_CLI_GDB_H_

#include <string>
#include <vector>

#include "host/error.h"
#include "host/target/replay.h"

namespace clew::cli {

// Starts gdb, with these arguments more, on a replay of the recording, stopped at main. Returns when
// the user has left gdb. Until then Ctrl-C is gdb's.
[[nodiscard]] Result<void> replay_in_gdb(const Replay& replay,
                                         const std::vector<std::string>& extra_arguments);

}  // namespace clew::cli

#endif  // CLEW_CLI_GDB_H_
