// The two sides of the comparison: a failing schedule, simplified if that is wanted, and a passing
// one, given or found (Choi and Zeller 2002, section 5).
#ifndef CLEW_HOST_ISOLATE_SIDES_H_
#define CLEW_HOST_ISOLATE_SIDES_H_

#include <optional>

#include "host/error.h"
#include "host/isolate/experiment.h"

namespace clew {

struct Sides {
  Side failing;
  std::optional<Side> passing;  // nothing: none was found, or stopped
};
// Makes the failing run first. REQUIRES: nothing was run before.
[[nodiscard]] Result<Sides> find_sides(Experiment& experiment);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_SIDES_H_
