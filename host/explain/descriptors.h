// Descriptors as a resource: what opens and closes a number is to the calls that use it what writes of memory are to its reads.
#ifndef CLEW_HOST_EXPLAIN_DESCRIPTORS_H_
#define CLEW_HOST_EXPLAIN_DESCRIPTORS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "host/explain/traced_pair.h"

namespace clew {

// A call of the failing run with a descriptor that another thread has closed before. In the passing run it is open at the same call.
struct UseAfterClose {
  Instance use;
  std::int32_t number = 0;
  Instance closed;
  bool other_end = false;        // it is the other end of the same pipe that is closed
  Instance reopened;             // the number means something else since; not valid: it is closed
  std::string_view reopened_by;  // ... by this call
  Instance got;  // where the user has read the number, from memory of others; not valid: not seen
  std::uint64_t got_address = 0;
};

// Why the call gives another result than in the passing run: its own descriptor, or that of a call that has put data into the pipe it reads.
// Nothing: it is no call with a descriptor, or means the same in both runs.
[[nodiscard]] std::optional<UseAfterClose> use_after_close(TracedPair& pair, Instance call);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_DESCRIPTORS_H_
