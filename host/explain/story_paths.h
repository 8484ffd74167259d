// The ways through a slice by which the failure follows from its causes.
#ifndef CLEW_HOST_EXPLAIN_STORY_PATHS_H_
#define CLEW_HOST_EXPLAIN_STORY_PATHS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "host/explain/dual_slice.h"
#include "host/explain/root_cause.h"
#include "host/explain/traced_pair.h"

namespace clew {

struct PathNode {
  WhichRun side = kFailing;
  NodeId node = kNoNode;
};

// The shortest ways from the failure to all that it depends on, found once for all causes.
class StoryPaths {
 public:
  StoryPaths(TracedPair& pair, const DualSlice& slice, const PathNode& failure);

  // From the root to the failure. Where the failing run does nothing that could be followed, because it
  // should have done something, the path goes through the passing run. Empty: there is no path.
  [[nodiscard]] std::vector<PathNode> to(const Root& root) const;

 private:
  struct State {
    WhichRun side = kFailing;
    std::uint32_t index = 0;  // in the slice
  };
  struct Reached {
    std::uint32_t cost = UINT32_MAX;
    std::uint32_t before : 31 = 0;  // the state before it: its index ...
    std::uint32_t crosses : 1 = 0;  // ... in the other run
  };

  const DualSlice& slice_;
  State start_;
  std::array<std::vector<Reached>, 2> reached_;
};

// Of a path of more source lines than a story could have, its beginning and its end.
[[nodiscard]] std::vector<PathNode> shortened(TracedPair& pair, std::vector<PathNode> path);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_STORY_PATHS_H_
