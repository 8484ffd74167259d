// What a run is asked to do, in terms of the program: which write a read sees, which of two events
// comes first. Met by scheduling alone, and judged from the trace of a run that was executed.
#ifndef CLEW_HOST_ENUMERATE_CONSTRAINT_H_
#define CLEW_HOST_ENUMERATE_CONSTRAINT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "clew_abi/job.h"
#include "host/trace/trace.h"

namespace clew {

// An event of a run: the n-th time that a thread executes one of these places.
struct EventSpec {
  std::vector<abi::Place> places;  // any of them: one line of source may be several
  abi::ThreadKey thread = 0;       // 0: any
  std::uint64_t occurrence = 0;    // among the steps of its thread at these places, from 1; 0: any
};

struct Constraint {
  enum class Kind : std::uint8_t {
    kSees,         // `second`, a read, sees what `first` wrote
    kSeesInitial,  // `second`, a read, sees what nobody wrote in the run
    kBefore,       // `first` comes before `second`; both happen
  };
  Kind kind = Kind::kSees;
  EventSpec first;
  EventSpec second;
};

// For each step whether it is the event.
[[nodiscard]] std::vector<bool> matches(std::span<const TraceStep> trace, const EventSpec& event);

// For each step the position of the event in its thread, at this place, from 1.
[[nodiscard]] std::vector<std::uint64_t> occurrences(std::span<const TraceStep> trace);

// Whether the run that left this trace meets all of them. A read of several bytes sees each write
// that one of them comes from.
[[nodiscard]] bool meets(const Trace& trace, std::span<const Constraint> constraints);

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_CONSTRAINT_H_
