// How a run ends, other than by the program's own hand.
#ifndef CLEW_RUNTIME_RECORD_END_H_
#define CLEW_RUNTIME_RECORD_END_H_

#include "clew_abi/stream.h"
#include "runtime/rt.h"

namespace clew::rt {

// A failure with the stack of the running thread. `file` may be null when only the
// stack tells where.
void report_failure(abi::FailureKind kind, const char* detail, const char* file = nullptr,
                    std::uint32_t line = 0, const char* function = nullptr);
bool failure_reported();

// The closing message, after `clock` events; later calls do nothing. To be called on every way out.
void report_end(Clock clock);
// The same for a program that ends by itself with this status: also says if the schedule was not
// followed.
void report_exit();
// The last message of all: what waitpid() is about to tell of this process. In a copy of the
// program, what its threads hold is left to the processes that it shares it with.
void report_status(int status);

// The program is about to become the one of this path: all that the host needs if it does.
class EndInSight {
 public:
  explicit EndInSight(const char* path);
  // It has not.
  void take_back() const;

 private:
  std::uint64_t hash_;
};

// The program ends by itself with this status, at once.
[[noreturn]] void leave_program(int status);

// Who waits for what. REQUIRES: the running thread is in no other state than its record says.
void report_waits();

[[noreturn]] void end_hang(const char* why);
// The recording was interrupted (abi::kFlagBreaksOff) and ends here.
[[noreturn]] void end_broken_off();
[[noreturn]] void end_deadlock();
[[noreturn]] void end_departed(Clock event, std::uint64_t expected_thread,
                               abi::Place expected_place, const char* what);
// The program called something that is not supported; `what` names it.
[[noreturn]] void end_unsupported(const char* what);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_END_H_
