// What sent a thread the wrong way before the access that is told of it: a branch that goes another way in the passing run, or a flag that it has
// found set before what the flag stands for was done. Of the failing run.
#ifndef CLEW_HOST_EXPLAIN_WRONG_TURN_H_
#define CLEW_HOST_EXPLAIN_WRONG_TURN_H_

#include <vector>

#include "host/explain/traced_pair.h"

namespace clew {

// Whether `at` is reached only by a branch that goes another way in the passing run, and that depends on what `read`, of the same
// thread, has read. Calls that lead to it count.
[[nodiscard]] bool is_turned_by(TracedPair& pair, Instance at, Instance read);

// Two accesses of one thread, the later of which decides a branch that leads to `at`, and a write of another thread between them: the thread
// goes by what it has found only then. The nearest branch first.
struct SplitCheck {
  Instance earlier;
  Instance remote;
  Instance later;
  std::uint64_t address = 0;
  std::uint32_t size = 0;
};
[[nodiscard]] std::vector<SplitCheck> split_checks(TracedPair& pair, Instance at);

// What the thread has read before `use`, of what the one has written whose write it misses, and by which it went a way: not whether it comes to
// `use`, but by which way, and thereby when. `missed`: the write that is missed, of the run `side`. The nearest first.
struct EarlyFlag {
  Instance read;
  Instance write;
  std::uint64_t address = 0;
  std::uint32_t size = 0;
};
[[nodiscard]] std::vector<EarlyFlag> early_flags(TracedPair& pair, Instance use, WhichRun side,
                                                 Instance missed);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_WRONG_TURN_H_
