// clew rank: which functions behave differently when the program fails (Eichinger et al. 2010).
#ifndef CLEW_HOST_CALLS_RANK_H_
#define CLEW_HOST_CALLS_RANK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/calls/call_log.h"
#include "host/calls/ranking.h"
#include "host/error.h"
#include "host/search/hunt.h"

namespace clew {

// How calls are scored. The paper's: calls among the program's own functions alone, discretised columns,
// classes as they are.
enum class RankMethod : std::uint8_t { kDefault, kPaper };

// What is looked at besides the numbers of calls.
struct RankEvidence {
  bool branches = true;       // how often functions take their own branches
  bool interruptions = true;  // which other threads run between a function's calls
  // What happens after all other threads have made their last call is discounted: it rather tells of the failure.
  bool phases = true;
};

// One of the inputs that a program is run with.
struct ProgramInput {
  std::vector<std::string> arguments;                         // added to the program's
  std::vector<std::string> environment;                       // "NAME=value", added or instead
  std::vector<std::pair<std::string, std::string>> replaced;  // in the program's arguments
};
void apply(const ProgramInput& input, LaunchPlan& plan);
// The input with this number, from 0. Nothing: there are no more.
using ProgramInputs = std::function<Result<std::optional<ProgramInput>>(std::uint64_t number)>;

struct RankOptions {
  HuntOptions hunt;  // what to run, by which schedules, what is a failure, and the limits
  bool budget_is_given = false;
  RankMethod method = RankMethod::kDefault;
  GraphKind graph = GraphKind::kReduced;
  CountLevel level = CountLevel::kCalls;
  std::optional<ScoreOptions> score;  // instead of the method's
  std::optional<bool> leaves;         // calls of library functions count, instead of the method's
  std::optional<bool> kinds;          // each kind of failure by itself, instead of the method's
  std::optional<RankEvidence> evidence;  // instead of the method's
  std::uint32_t permutations = 199;
  ProgramInputs inputs;  // empty: the program's arguments as they are
  std::uint64_t runs_per_input = 1;
  bool until_stable = true;
};

// In which way runs failed: those of different kinds may come about in different ways, whose calls
// differ from passing runs' in different ways.
struct RunFailure {
  FailureKind kind = FailureKind::kExit;
  int status = 0;  // of kExit its status, of kSignal the signal
  auto operator<=>(const RunFailure&) const = default;
};

struct RankResult {
  std::vector<ProgramFunction> functions;
  std::vector<CallEdge> edges;       // of the table's features
  std::vector<std::string> callees;  // the name of each edge's
  FeatureTable table;                // the passing runs, and the failing ones that are ranked here
  std::vector<RankedFunction> ranking;
  std::optional<RunFailure> failure;  // what these have in common; nothing: there may be several
  // The failing runs were of several kinds, and this is of the most frequent one: the same of the
  // others, as far as there are enough runs, and all runs in one table.
  std::vector<RankResult> others;
  std::optional<FeatureTable> all_runs;
  // Of the kinds that have too few runs.
  std::uint64_t left_out = 0;
  bool stable = false;
  int interrupted_by = 0;
  std::uint64_t runs = 0;        // made
  std::uint64_t unresolved = 0;  // neither passed nor failed
  std::uint64_t inputs = 0;      // tried; 0: there was one
  double seconds = 0;
  std::vector<std::string> notes;

  // Up to the rank, in percent of all functions and of all lines of code (section 5.3).
  [[nodiscard]] double functions_to_review(std::size_t rank) const;
  [[nodiscard]] double lines_to_review(std::size_t rank) const;
  [[nodiscard]] std::uint64_t lines() const;
};

struct RankStatus {
  std::size_t passing = 0;
  std::size_t failing = 0;
  double seconds = 0;
  double seconds_left = 0;  // 0: no limit
};

class RankObserver {
 public:
  virtual ~RankObserver() = default;
  virtual void status(const RankStatus& status) = 0;
};

[[nodiscard]] Result<RankResult> rank(const RankOptions& options, RecordingStore& store,
                                      RankObserver& observer);

// The same runs, ranked in another way. Fills in ranking and p.
void rank_again(const RankOptions& options, RankResult& result);

}  // namespace clew

#endif  // CLEW_HOST_CALLS_RANK_H_
