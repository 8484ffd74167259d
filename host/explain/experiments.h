// Each step of a story tested by running (beyond the paper; Zeller 2002 swapped values between runs):
// at the step, the value of the other run is put in, nothing else is changed, and the run continues.
#ifndef CLEW_HOST_EXPLAIN_EXPERIMENTS_H_
#define CLEW_HOST_EXPLAIN_EXPERIMENTS_H_

#include <cstdint>
#include <vector>

#include "host/explain/story.h"
#include "host/explain/traced_pair.h"
#include "host/target/replay.h"

namespace clew {

struct ExperimentLimits {
  std::uint64_t tests = 40;
  double seconds = 30;
};

// Sets `confirmed` of the steps; returns how many runs it took.
std::uint64_t test_steps(TracedPair& pair, const Replay& failing, const Replay& passing,
                         const ExperimentLimits& limits, std::vector<ToldStep>& steps);

// Whether the failing run passes if the access, a read, gives this value once, and nothing else is changed.
[[nodiscard]] bool passes_with(TracedPair& pair, const Replay& failing, const Replay& passing,
                               Instance at, std::uint32_t access, std::uint64_t value);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_EXPERIMENTS_H_
