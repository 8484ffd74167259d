// What an instance of a run does, in the terms of a cause.
#ifndef CLEW_HOST_EXPLAIN_CAUSE_EVENT_H_
#define CLEW_HOST_EXPLAIN_CAUSE_EVENT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/explain/explanation.h"
#include "host/explain/naming.h"
#include "host/explain/traced_pair.h"

namespace clew {

[[nodiscard]] Location location(const CodePlace& place);

// Where an instance is told to be: in the user's code that it belongs to, or that called what it belongs to; of a function that the compiler has
// made, where that is called.
struct ToldPlace {
  CodePlace place;
  Instance at;  // there, or in what is inlined there
};
[[nodiscard]] ToldPlace told_place(TracedPair& pair, Naming& naming, WhichRun side, Instance at);

// "T0.2", or "T0.2's signal handler"
[[nodiscard]] std::string party_name(TracedPair& pair, WhichRun side, StepIndex step);

// What it does to [address, address + size), or which call it is.
[[nodiscard]] CauseEvent event_of(TracedPair& pair, Naming& naming, WhichRun side, Instance at,
                                  std::uint64_t address, std::uint32_t size);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_CAUSE_EVENT_H_
