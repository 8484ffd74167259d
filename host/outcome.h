// The outcome of a run, in the words of docs and JSON.
#ifndef CLEW_HOST_OUTCOME_H_
#define CLEW_HOST_OUTCOME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clew_abi/stream.h"

namespace clew {

// How a run ended.
enum class Outcome : std::uint8_t { kPass, kFail, kHang, kUnresolved };

// "pass", "fail", "hang", "unresolved"
const char* to_word(Outcome outcome);
std::optional<Outcome> outcome_from_word(const std::string& word);

// The answer of a test (Choi and Zeller 2002, section 4): in a hunt, what the user's criteria say
// about a run; in an isolation, whether a run shows the failure under study. A hang is a failure
// here.
enum class Verdict : std::uint8_t { kPass, kFail, kUnresolved };

const char* to_word(Verdict verdict);  // "pass", "fail", "unresolved"

// The runtime's kinds (clew_abi/stream.h), then those of runs that clew itself ended, then those
// that only the criteria of a hunt find.
#define CLEW_HOST_FAILURE_KINDS(X)                                               \
  CLEW_FAILURE_KINDS(X)                                                          \
  X(kInterrupted, "interrupted") /* by a signal, or its time was up */           \
  X(kBlocked, "blocked")         /* in a call that clew does not model */        \
  X(kOverwritten, "overwritten") /* the memory that it shares with clew */       \
  X(kDebugger, "debugger")       /* gdb has ended */                             \
  X(kDeparture, "departure")     /* of a replay from its recording */            \
  X(kUnfinished, "unfinished")   /* no end was reported */                       \
  X(kOutput, "output")           /* an expression or comparison on the output */ \
  X(kJudge, "judge")             /* the user's command */

enum class FailureKind : std::uint8_t {
#define CLEW_KIND(name, text) name,
  CLEW_HOST_FAILURE_KINDS(CLEW_KIND)
#undef CLEW_KIND
};

// The words of docs, JSON and recordings: "exit", "deadlock", ...
const char* to_word(FailureKind kind);
std::optional<FailureKind> failure_kind_from_word(std::string_view word);

FailureKind from_abi(abi::FailureKind kind);
// Nothing for the kinds that the runtime does not know.
std::optional<abi::FailureKind> to_abi(FailureKind kind);

struct Location {
  std::string file;
  std::uint32_t line = 0;
  std::string function;  // demangled
  bool operator==(const Location&) const = default;
};

struct Failure {
  FailureKind kind = FailureKind::kExit;
  std::string detail;  // one line for people: "assertion `x == 1' failed", "SIGSEGV at address 0x0"
  std::string thread;  // "T0.1"; empty: unknown
  std::optional<Location> at;
};

// A remark of one line about a run. Those that clew itself goes by have a kind of their own.
struct Note {
  enum class Kind : std::uint8_t {
    kOther,
    kOtherProcesses,  // it started some: a replay starts none
    kBecame,          // it ended with an exec()
    kNotRecorded,     // it used something that is not recorded: `subject`
  };
  Kind kind = Kind::kOther;
  std::string text;
  std::string subject = {};

  bool operator==(const Note&) const = default;
};
// By the words that the runtime and recordings have.
Note note_from_text(std::string text);

// What a watch has found in a run (docs/watch.md), in words and source lines.
struct Finding {
  struct Site {
    std::string action;       // "reads", "writes", "frees", "takes", ...
    std::string thread;       // "T0.1"
    std::uint64_t clock = 0;  // 0: not known
    std::optional<Location> at;
    std::vector<std::string> locks;  // that the thread holds there
    bool operator==(const Site&) const = default;
  };
  std::string kind;           // "race", "lock-order", "memory", or what a listener calls it
  std::string severity;       // "note", "warning", "error"
  std::string text;           // one line
  std::uint64_t address = 0;  // 0: none
  std::uint64_t size = 0;
  std::vector<Site> sites;
  bool operator==(const Finding&) const = default;
};

// The figures every command that runs something reports.
struct RunSummary {
  Outcome outcome = Outcome::kUnresolved;
  std::optional<Failure> failure;
  std::uint64_t clock = 0;        // yield points passed
  std::uint64_t switches = 0;     // of all kinds
  std::uint64_t preemptions = 0;  // those that the schedule asked for
  std::uint64_t threads = 0;
  std::uint64_t hash = 0;  // of what happened; 0: stopped before it was known
  int exit_status = 0;     // the program's own: exit status, or 128 + signal
  std::vector<Note> notes;
  std::vector<Finding> findings;
};

}  // namespace clew

#endif  // CLEW_HOST_OUTCOME_H_
