// Explanation: from the switch to the failure, step by step (Weeratunge et al. 2010).
#ifndef CLEW_HOST_EXPLAIN_EXPLAIN_H_
#define CLEW_HOST_EXPLAIN_EXPLAIN_H_

#include <cstdint>
#include <optional>

#include "host/error.h"
#include "host/explain/experiments.h"
#include "host/explain/explanation.h"
#include "host/target/replay.h"

namespace clew {

enum class SliceShown : std::uint8_t { kDynamic, kDual, kPruned };

struct ExplainOptions {
  std::optional<Question> question;  // nothing: why it fails
  SliceShown shown = SliceShown::kPruned;
  ExperimentLimits limits;
};

[[nodiscard]] Result<Explanation> explain(const Replay& failing, const Replay& passing,
                                          const ExplainOptions& options, RunObserver& observer);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_EXPLAIN_H_
