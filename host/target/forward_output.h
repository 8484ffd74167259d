// The output of processes that outlive the program and clew: daemons, background jobs.
#ifndef CLEW_HOST_TARGET_FORWARD_OUTPUT_H_
#define CLEW_HOST_TARGET_FORWARD_OUTPUT_H_

namespace clew {

// Leaves a process behind that passes on what comes through these pipes (-1: none) to clew's own
// standard output and error, until they are closed: processes that write to them are not killed by
// SIGPIPE, and whoever reads clew's output waits for these processes as without clew.
void forward_output(int output, int errors);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_FORWARD_OUTPUT_H_
