// From what a counting run wrote down and counted to who called whom how often.
//
// Each thread has a stack of what is known about its callers: of functions of the program's own that
// called out, or were called by a library. A function that a library calls was called by the topmost of
// them; the first function of a thread by the one that created the thread. Frames that were left without
// a return (exceptions, longjmp) are known by the stack pointer.
#ifndef CLEW_HOST_CALLS_CALL_LOG_H_
#define CLEW_HOST_CALLS_CALL_LOG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/calls/call_edge.h"
#include "host/calls/interruptions.h"
#include "host/calls/program_code.h"
#include "host/translate/counting_code.h"

namespace clew {

// Which graph a run becomes (Eichinger et al. 2010, sections 3.1 and 3.2).
enum class GraphKind : std::uint8_t {
  kReduced,    // a node for each function
  kPerThread,  // ... of each thread, in order of creation
  kRoles,      // ... of each thread's first function
  kTree,       // a node for each chain of calls
};

// How chains of calls are numbered: a chain is a chain and one function more. 0 is the empty one.
class Chains {
 public:
  std::uint32_t longer(std::uint32_t chain, FunctionNumber function);

 private:
  std::map<std::pair<std::uint32_t, FunctionNumber>, std::uint32_t> numbers_;
};

// Reads the marks of one run after the other. Not thread-safe.
class CallLog {
 public:
  // REQUIRES: all of them outlive this.
  CallLog(ProgramCode& code, GraphKind kind, CallDetail detail)
      : code_(code), kind_(kind), detail_(detail) {}

  // Marks, as they were written. False: there is something else among them.
  [[nodiscard]] bool read(std::span<const std::uint8_t> marks, const CountingCode& counting);
  // The run has ended: all counts, with those of the counters, which become 0. The next run begins.
  [[nodiscard]] CallCounts finish(std::span<std::uint64_t> counters, const CountingCode& counting);

 private:
  struct Frame {
    std::uint64_t stack = 0;
    FunctionNumber function = kNoFunction;
    std::uint32_t chain = 0;
  };
  struct Thread {
    std::vector<Frame> frames;
    FunctionNumber creator = kNoFunction;  // who created it
    std::uint32_t creator_chain = 0;
    FunctionNumber role = kNoFunction;  // its first function
  };
  // What a site is, once looked up.
  struct Site {
    bool known = false;
    FunctionNumber owner = kNoFunction;
    FunctionNumber body = kNoFunction;
    bool in_own_source = false;
    FunctionNumber callee = kNoFunction;
  };

  Thread& thread() {
    if (now_ >= threads_.size()) threads_.resize(now_ + 1);
    return threads_[now_];
  }
  const Site& site(std::uint32_t number, const CountingCode& counting);
  Frame caller();
  std::uint32_t context(const Thread& of, const Frame& caller) const;
  void count(const Frame& caller, FunctionNumber callee);
  void called(const abi::CallMark& mark, const CountingCode& counting);
  void called_out(const abi::CallMark& mark, const CountingCode& counting);
  void entered(const abi::CallMark& mark, const CountingCode& counting);
  void created(const abi::CreateMark& mark);
  void returned(std::uint64_t stack);
  void pop_up_to(std::uint64_t stack);

  // What a counter counts.
  struct Counter {
    FunctionNumber body = kNoFunction;
    std::vector<ProgramCode::Edge> calls;
    std::optional<ProgramCode::OwnLine> line;
  };
  [[nodiscard]] Counter what_counts(const CallSite& place);
  void add_branches(const Counter& counter, std::uint64_t times,
                    std::span<const std::uint64_t> counters, std::uint32_t context);

  ProgramCode& code_;
  GraphKind kind_;
  CallDetail detail_;
  std::vector<Site> sites_;
  std::unordered_map<std::uint64_t, FunctionNumber> callees_;
  std::vector<Counter> counters_;
  std::unordered_map<std::uint64_t, std::size_t> line_counters_;  // by address
  Chains chains_;
  std::vector<Thread> threads_;
  std::uint32_t now_ = 0;
  Interruptions interruptions_;
  CallCounts counts_;
};

}  // namespace clew

#endif  // CLEW_HOST_CALLS_CALL_LOG_H_
