// Times of files and of System V objects, which the kernel keeps by the machine's clock, as the program
// sees them: by its own, virtual one.
//
// What was written before the run began is as many whole days older as puts all of it before the
// program's first instant. Days are whole so that the runs of one day see the same times. What is
// written during the run has the virtual time at which it was written, as closely as the kernel's time
// tells: its clock ticks every few milliseconds, and virtual time jumps where all threads sleep, so
// that the first change of a file after a jump waits for the next tick.
//
// A time that the program sets is read back as it was set. On the disk it is the time of the file that
// the program has it from (cp -p), the machine's time if it is about the program's present, and
// otherwise just that time (what an archive says).
//
// A replay takes all times from the recording.
#ifndef CLEW_RUNTIME_OUTSIDE_FILE_TIMES_H_
#define CLEW_RUNTIME_OUTSIDE_FILE_TIMES_H_

#include "runtime/outside/calls.h"

namespace clew::rt {

// The run begins now, at this virtual time of day. `waits`: whether changes wait for the kernel's clock.
enum class AfterJumps : std::uint8_t { kWait, kDoNotWait };
void begin_file_times(Nanos epoch, AfterJumps after);

// Before a call of the program's that is not replayed, if it may set a time.
void before_change(const Call& call);

// Whether the call tells times, or sets them; then the kernel is asked by the function below.
bool is_about_times(long number);
long call_with_times(const Call& call);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_FILE_TIMES_H_
