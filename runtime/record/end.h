// How a run ends.
#ifndef CLEW_RUNTIME_RECORD_END_H_
#define CLEW_RUNTIME_RECORD_END_H_

#include "clew_abi/stream.h"
#include "runtime/rt.h"

namespace clew::rt {

// Reports a failure with the stack of the running thread. `file` is null when only the stack tells
// where.
void report_failure(abi::FailureKind kind, const char* detail, const char* file = nullptr,
                    std::uint32_t line = 0, const char* function = nullptr);
bool failure_reported();

// Something that ends most programs: a failed assertion, std::terminate. What it comes to is known
// when the run ends: a handler of the program's may end it in order, or jump out. If the thread dies
// of it, or ends the program with another status than 0, this is the failure that is reported, with
// the stack of now.
void note_symptom(abi::FailureKind kind, const char* detail, const char* file = nullptr,
                  std::uint32_t line = 0, const char* function = nullptr);
// The running thread leaves the frames below `stack`, by a jump.
void forget_symptom_below(std::uintptr_t stack);

// Sends the closing message, after `clock` events; later calls do nothing. REQUIRES: called on
// every way out.
void report_end(Clock clock);
// report_end() for a program that ends by itself with this status: also says if the schedule was not
// followed.
void report_exit(int status);
inline int g_exit_status = 0;  // that main returned or exit() was given
// Sends the last message of all: what waitpid() is about to tell of this process. A copy of the
// program leaves the locks that its threads hold to the processes that it shares them with.
void report_status(int status);

// The program is about to become the one of this path (exec). Reports all that the host needs if it
// does.
class EndInSight {
 public:
  explicit EndInSight(const char* path);
  // The exec failed.
  void take_back() const;

 private:
  std::uint64_t hash_;
};

// The program ends by itself with this status, at once.
[[noreturn]] void leave_program(int status);

// Reports who waits for what. REQUIRES: the state of the running thread is up to date.
void report_waits();

[[noreturn]] void end_hang(const char* why);
// The recording was interrupted (abi::kFlagBreaksOff) and ends here.
[[noreturn]] void end_broken_off();
[[noreturn]] void end_deadlock();
[[noreturn]] void end_departed(Clock event, std::uint64_t expected_thread,
                               abi::Place expected_place, const char* what);
// The program did something that is certainly an error, and whose effect nobody can foretell.
[[noreturn]] void end_misuse(const char* what);
// A watch has found something that counts as a failure.
[[noreturn]] void end_found(abi::FailureKind kind, const char* what);
// The program called something that is not supported; `what` names it.
[[noreturn]] void end_unsupported(const char* what);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_END_H_
