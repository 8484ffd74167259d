// The output of processes that live longer than the program and clew: daemons, background jobs.
#ifndef CLEW_HOST_TARGET_COPY_ON_H_
#define CLEW_HOST_TARGET_COPY_ON_H_

namespace clew {

// Leaves a process behind that passes on what comes through these pipes (-1: none) to clew's own
// standard output and error, until their ends: those that write to them are not killed by SIGPIPE,
// and who reads clew's output waits for their end as it would without clew.
void copy_on(int output, int errors);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_COPY_ON_H_
