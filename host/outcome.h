// The outcome of a run, in the words of docs and JSON.
#ifndef CLEW_HOST_OUTCOME_H_
#define CLEW_HOST_OUTCOME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clew {

enum class Outcome : std::uint8_t { kPass, kFail, kHang, kUnresolved };

// "pass", "fail", "hang", "unresolved"
const char* to_word(Outcome outcome);
std::optional<Outcome> outcome_from_word(const std::string& word);

struct Location {
  std::string file;
  std::uint32_t line = 0;
  std::string function;  // demangled
};

struct Failure {
  std::string
      kind;  // exit, signal, assert, exception, deadlock, hang, unsupported, infeasible, ...
  std::string detail;  // one line for people: "assertion `x == 1' failed", "SIGSEGV at address 0x0"
  std::string thread;  // "T0.1"; empty: unknown
  std::optional<Location> at;
};

// The figures every command that runs something reports.
struct RunSummary {
  Outcome outcome = Outcome::kUnresolved;
  std::optional<Failure> failure;
  std::uint64_t clock = 0;        // yield points passed
  std::uint64_t switches = 0;     // of all kinds
  std::uint64_t preemptions = 0;  // those that the schedule asked for
  std::uint64_t threads = 0;
  std::uint64_t hash = 0;          // of what happened; 0: stopped before it was known
  int exit_status = 0;             // the program's own: exit status, or 128 + signal
  std::vector<std::string> notes;  // one line each
};

}  // namespace clew

#endif  // CLEW_HOST_OUTCOME_H_
