// The story: one path through a dual slice, from the root cause to the failure, in source lines.
#ifndef CLEW_HOST_EXPLAIN_STORY_H_
#define CLEW_HOST_EXPLAIN_STORY_H_

#include <vector>

#include "host/explain/dual_slice.h"
#include "host/explain/explanation.h"
#include "host/explain/naming.h"
#include "host/explain/root_cause.h"
#include "host/explain/story_paths.h"
#include "host/explain/traced_pair.h"

namespace clew {

// A step with what it was made of: what an experiment can change.
struct ToldStep {
  StoryStep step;
  std::vector<PathNode> nodes;
};

[[nodiscard]] std::vector<ToldStep> tell(TracedPair& pair, Naming& naming,
                                         const std::vector<PathNode>& path);

// Leaves the main steps: of each function's activation how it begins and how it ends.
void fold(std::vector<ToldStep>& steps, std::size_t most);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_STORY_H_
