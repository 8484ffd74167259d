// Who acts in a run: a thread, or a signal handler that has interrupted it. A handler comes between two
// accesses of its own thread as another thread does.
#ifndef CLEW_HOST_EXPLAIN_PARTIES_H_
#define CLEW_HOST_EXPLAIN_PARTIES_H_

#include <cstdint>
#include <vector>

#include "host/model/code_map.h"
#include "host/observe/run_trace.h"

namespace clew {

using PartyId = std::uint32_t;

class Parties {
 public:
  Parties(const RunTrace& run, CodeMap& code);

  // Of a thread's own code: the thread's number.
  [[nodiscard]] PartyId of(StepIndex step) const;
  [[nodiscard]] bool is_handler(PartyId party) const { return party >= run_.thread_count(); }
  [[nodiscard]] bool has_handlers() const { return has_handlers_; }
  // The visible steps of a thread's own code, then of each handler that has interrupted it, in their order.
  [[nodiscard]] std::vector<std::vector<StepIndex>> split(std::size_t thread) const;

 private:
  const RunTrace& run_;
  bool has_handlers_ = false;
  std::vector<FrameIndex> handlers_;  // of each frame: that of the handler it belongs to, or none
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_PARTIES_H_
