// What counts as a failure.
#ifndef CLEW_HOST_SEARCH_CRITERIA_H_
#define CLEW_HOST_SEARCH_CRITERIA_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clew_abi/job.h"
#include "host/error.h"
#include "host/recording/criteria.h"
#include "host/search/search.h"

namespace clew {

// What `only` takes, and the words for it.
[[nodiscard]] std::vector<FailureKind> admissible_kinds();
[[nodiscard]] Result<FailureKind> admissible_kind(const std::string& word);

// What is known about a run that has ended.
struct RunFacts {
  abi::JobEnd end = abi::JobEnd::kNotRun;
  int status = 0;              // exit status or signal
  abi::FailureKind failure{};  // for kFailed and kSignalled
  std::string_view output;     // standard output and error, if they were asked for
  std::string_view errors;
};

struct Judgement {
  Verdict verdict = Verdict::kPass;
  std::optional<FailureKind> kind = {};  // nothing for kPass
  std::string detail = {};               // one line for people
};

// Applies criteria to runs, one after the other. Keeps the first run's output if it is needed.
//
// A run fails in the first of these ways that `only` admits: a report of a sanitizer, the way it
// ended, an expression found, one missing, output unlike the first run's, the judge's word. The
// last three are asked only of runs that ended by themselves. With a judge, an exit status other
// than 0 is no failure by itself: the judge is told. A run that failed in a way not admitted is
// unresolved.
class Judge {
 public:
  // Errors: a bad expression.
  [[nodiscard]] static Result<Judge> create(Criteria criteria);

  [[nodiscard]] const Criteria& criteria() const;

  // Errors: the judge's command cannot be run, was killed or takes longer than 60 seconds.
  [[nodiscard]] Result<Judgement> judge(const RunFacts& facts);

 private:
  explicit Judge(Criteria criteria);
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_CRITERIA_H_
