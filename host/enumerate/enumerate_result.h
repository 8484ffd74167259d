// What `clew enumerate` found, as plain values.
#ifndef CLEW_HOST_ENUMERATE_ENUMERATE_RESULT_H_
#define CLEW_HOST_ENUMERATE_ENUMERATE_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/enumerate/enumerate_search.h"
#include "host/outcome.h"
#include "host/search/hunt_result.h"

namespace clew {

// Where an event is, by source.
struct EventPlace {
  Location at;
  std::string thread;
  std::uint32_t instance = 0;  // EnumerateResult::later_instances: that one and all later ones
  abi::Place place = 0;
};

struct ReasonPlace {
  OrderReason::Kind kind = OrderReason::Kind::kNone;
  Location at;
  std::optional<Location> overwritten;
  std::optional<Location> lock;
  std::optional<Location> source;  // kSawFirst: the write; kWaitedFirst: the signal
  // Not 0: it is the order of that many runs, which is not the same as that of all.
  std::uint64_t runs = 0;
  bool one_reason = true;  // false: some of these runs have another
};

struct TermInfo {
  std::optional<EventPlace> write;  // nothing: the initial value
  bool frees = false;               // what is seen is memory that was freed, or left its scope
  bool local = false;
  TermStatus status = TermStatus::kOpen;
  ReasonPlace reason;  // kImpossible
  std::uint64_t passing_runs = 0;
  std::uint64_t failing_runs = 0;
  std::uint64_t attempts = 0;
  std::optional<std::uint64_t> passing;  // recordings
  std::optional<std::uint64_t> failing;
};

struct ReadInfo {
  EventPlace read;
  std::string variable;  // empty: no global variable
  std::vector<TermInfo> terms;
};

// Terms of two or three reads that one run shows together.
struct CombinationInfo {
  std::vector<std::pair<std::size_t, std::size_t>> terms;  // numbers of reads and of their terms
  std::uint64_t failing_runs = 0;
  std::optional<std::uint64_t> failing;  // recordings: one of these runs, ...
  std::optional<std::uint64_t> passing;  // ... and one in which a single read sees something else
};

struct EnumerateResult {
  std::vector<ReadInfo> reads;       // those with more than one term
  std::uint64_t without_choice = 0;  // reads that have one term alone
  std::uint32_t later_instances = kLaterInstances;
  EnumerateSearch::Coverage coverage;
  bool exhausted = false;  // every schedule was executed
  std::string untried;     // but for this
  // Pairs that were seen, but by no run of those that execute every schedule. None of them, if
  // `exhausted` and nothing is untried: otherwise one of the two searches is wrong.
  std::uint64_t seen_otherwise = 0;
  std::uint64_t runs = 0;
  std::uint64_t last_new_run = 0;   // the last one that showed a pair for the first time
  std::uint64_t not_looked_at = 0;  // runs whose traces are too long
  std::uint64_t too_late = 0;       // runs that were not looked at because the time was up
  bool is_cut = false;              // there are more pairs than were noted
  // Lines of source that write to one of the variables, and that no run executed.
  struct Unexecuted {
    std::string variable;  // "Account::balance": of some object of the class
    Location at;
    bool by_text = false;  // the code does not say what it writes to: its line has the name
  };
  std::vector<Unexecuted> unexecuted;
  std::uint32_t together = 1;
  EnumerateSearch::Coverage combined;  // combinations, if `together` is 2 or 3
  std::vector<CombinationInfo>
      failing_combinations;  // that fail, though no term of them always does
  bool combinations_cut = false;
  HuntResult hunt;
};

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_ENUMERATE_RESULT_H_
