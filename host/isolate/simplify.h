// A failing schedule, or a passing one, with as little in it as possible.
//
// Items are taken away by experiment (ddmin: Zeller and Hildebrandt, "Simplifying and Isolating
// Failure-Inducing Input", TSE 2002, figure 5), starting with all of them. What remains is
// 1-minimal: without any one of its items the program does not fail. Items are by thread, so that
// taking one away leaves the others in place (script.h).
#ifndef CLEW_HOST_ISOLATE_SIMPLIFY_H_
#define CLEW_HOST_ISOLATE_SIMPLIFY_H_

#include <functional>
#include <optional>
#include <vector>

#include "host/error.h"
#include "host/isolate/script.h"
#include "host/isolate/trials.h"

namespace clew {

// A list of which a part will do. `fails` answers for several parts at once, in their order; an
// empty answer: stop. The result still fails; `minimal` is false if it was stopped.
struct Reduced {
  std::vector<std::size_t> kept;  // ascending
  bool minimal = false;
};
using FailsTogether =
    std::function<Result<std::vector<bool>>(const std::vector<std::vector<std::size_t>>& parts)>;
// REQUIRES: all `size` items together fail.
[[nodiscard]] Result<Reduced> reduce(std::size_t size, const FailsTogether& fails);

struct Simplified {
  ThreadScript script;
  bool minimal = false;
};
// REQUIRES: the verdict of the script is `verdict`, which is kept.
[[nodiscard]] Result<Simplified> simplify(Trials& trials, ThreadScript script,
                                          Verdict verdict = Verdict::kFail);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_SIMPLIFY_H_
