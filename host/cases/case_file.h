// A case: a failure of a program as the order of events that leads to it (docs/cases.md), and the
// file that keeps it beside the tests. The file is untrusted: it is parsed strictly, with limits.
#ifndef CLEW_HOST_CASES_CASE_FILE_H_
#define CLEW_HOST_CASES_CASE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/cases/anchor.h"
#include "host/error.h"
#include "host/recording/criteria.h"

namespace clew {

inline constexpr char kCaseSuffix[] = ".clewcase";
// Version 1, which is read as well, had no section of orders where there is no order: a file that was cut off could be taken for one.
inline constexpr std::uint32_t kCaseVersion = 3;
inline constexpr std::size_t kMostCaseBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostCaseEvents = 32;
inline constexpr std::size_t kMostCaseOrders = 32;
inline constexpr std::size_t kMostCaseThreads = 8;

struct CaseEvent {
  std::string name;  // "a": a word
  std::uint32_t thread =
      1;  // events with the same number are of one thread, others of others; from 1
  std::uint64_t time = 0;  // the thread comes here for the n-th time; 0: any time
  Anchor at;
  bool operator==(const CaseEvent&) const = default;
};

struct CaseOrder {
  enum class Kind : std::uint8_t {
    kSees,     // the first, a read, sees what the second wrote; in a run the second comes first
    kBefore,   // the first comes before the second, which may never come
    kBetween,  // the second comes between the first and the third, which are of one thread
    kHolds,    // the thread of the first, which is that of the second, holds the lock that it takes
               // at the second
  };
  Kind kind = Kind::kBefore;
  std::vector<std::size_t> events;  // positions in Case::events: 2; kBetween: 3
  bool same_data = true;            // they are about the same memory or synchronisation object
  bool operator==(const CaseOrder&) const = default;
};

struct Case {
  std::string program;                 // relative to the folder of the file, or absolute
  std::vector<std::string> arguments;  // without the program
  std::string input;                   // file for its standard input, likewise; empty: none
  FailureKind failure = FailureKind::kExit;
  bool expects_failure = true;   // false: a case that was written down passing
  std::string detail;            // one line for people
  std::string found;             // how it was found, one line for people
  std::uint64_t with_order = 0;  // runs that had the order when it was made; 0: not known
  std::uint64_t failed = 0;      // of these
  Criteria criteria;             // what counts as a failure
  // What the functions of the events accessed besides, when it was made: not the variables of the events
  // under another name.
  std::vector<std::string> beside;
  std::vector<CaseEvent> events;
  std::vector<CaseOrder> orders;  // all of them together; none: the program fails in any order
  bool operator==(const Case&) const = default;
};

[[nodiscard]] std::string format_case(const Case& one);
// `name` is what errors call the file; they have the number of the line.
[[nodiscard]] Result<Case> parse_case(std::string_view text, std::string_view name);
[[nodiscard]] Result<Case> read_case(const std::string& path);

// One constraint as a sentence without a full stop: "the read of `n` in `divide` (main.cpp, `return
// 21 / n;`) sees the write in `reset` (main.cpp, `n = 0;`)".
[[nodiscard]] std::string sentence_of(const Case& one, const CaseOrder& order);
// "the read of `n` in `divide` (main.cpp, `return 21 / n;`)"
[[nodiscard]] std::string phrase_of(const Anchor& anchor);
// The same with the time, and the number of the thread if it is named: "... by thread 2, for the 2nd time,".
enum class Threads : std::uint8_t { kUnnamed, kNamed };
[[nodiscard]] std::string phrase_of(const CaseEvent& event, Threads threads = Threads::kUnnamed);

}  // namespace clew

#endif  // CLEW_HOST_CASES_CASE_FILE_H_
