// Which other threads ran between two calls of the same function: each by the last function that it called.
//
// Where only schedules differ, whatever makes a run fail begins with a thread that runs at another time: a
// function that looks at something and then acts on it, and between its two calls another thread is within what
// changes it. No number of calls shows that; the order of calls does.
#ifndef CLEW_HOST_CALLS_INTERRUPTIONS_H_
#define CLEW_HOST_CALLS_INTERRUPTIONS_H_

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "host/calls/call_edge.h"

namespace clew {

// Told of the calls of a run in their order. Functions are the program's own.
class Interruptions {
 public:
  // `stack`: the stack pointer at the call.
  void called(std::uint32_t thread, FunctionNumber caller, FunctionNumber callee,
              std::uint64_t stack, CallCounts& counts);
  // By other code, for example as a thread's first function.
  void entered(std::uint32_t thread, FunctionNumber function, std::uint64_t stack,
               CallCounts& counts);
  // The thread runs again after another one. It may be within the last function that it called, or behind it.
  void resumed(std::uint32_t thread, CallCounts& counts);
  void left(std::uint32_t thread, std::uint64_t stack);
  // The caller has called a library, and may have created a thread.
  void called_out(std::uint32_t thread, FunctionNumber caller, CallCounts& counts);
  // The function that the thread is in starts another thread: until its next call it does not expect to be alone.
  void starts_thread(std::uint32_t thread);
  // The first thread makes a call there. `body`: whose machine code it is.
  void first_thread_calls_at(FunctionNumber body, std::uint64_t address);

  // A function that was inlined into a library's begins.
  void entered_inlined(std::uint32_t thread, FunctionNumber function, CallCounts& counts);

  // Whether code of the function at this address ran only after all threads but the first made their last call.
  // `body`: into which it was inlined, or the same. Of the first thread's first function it is told by where its last
  // call before that was: code behind it.
  [[nodiscard]] bool is_at_the_end(FunctionNumber function, FunctionNumber body,
                                   std::uint64_t address) const;

  void clear();  // the next run begins

 private:
  struct Frame {
    std::uint64_t stack = 0;
    FunctionNumber function = kNoFunction;
    FunctionNumber last = kNoFunction;  // that it called; kNoFunction: none yet
    std::uint64_t since = 0;            // the number of that call
    bool started_thread = false;        // since then
  };
  struct Call {
    std::uint32_t thread = 0;
    FunctionNumber callee = kNoFunction;
  };

  std::vector<Frame>& frames_of(std::uint32_t thread, std::uint64_t stack);
  void add(std::uint32_t thread, FunctionNumber callee);
  void count_others(std::uint32_t thread, const Frame& frame, FunctionNumber callee,
                    CallCounts& counts);
  void happened(std::uint32_t thread, FunctionNumber function, CallCounts& counts);

  std::vector<std::vector<Frame>> frames_;  // of each thread
  std::vector<Call> calls_;                 // the last ones
  std::uint64_t forgotten_ = 0;             // those before them
  // The number after the last call by a thread that is not the last call's.
  std::uint64_t behind_other_ = 0;
  std::vector<std::uint32_t> seen_;  // by function: in which look
  std::uint32_t look_ = 0;

  bool others_ran_ = false;
  FunctionNumber first_function_ = kNoFunction;
  std::uint64_t last_address_ = 0;     // of a call by it, before another thread's last
  std::uint64_t pending_address_ = 0;  // since then
  std::unordered_set<FunctionNumber> early_;
  // By the first thread, since another's last call.
  std::unordered_set<FunctionNumber> pending_;
  std::vector<CallEdge> pending_edges_;
};

}  // namespace clew

#endif  // CLEW_HOST_CALLS_INTERRUPTIONS_H_
