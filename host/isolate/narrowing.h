// Narrowing the difference between a passing and a failing schedule until what remains is the cause
// (Choi and Zeller 2002, section 4), and following it to where it takes effect.
#ifndef CLEW_HOST_ISOLATE_NARROWING_H_
#define CLEW_HOST_ISOLATE_NARROWING_H_

#include <span>
#include <vector>

#include "clew_abi/job.h"
#include "host/error.h"
#include "host/isolate/dd.h"
#include "host/isolate/difference.h"
#include "host/isolate/experiment.h"

namespace clew {

struct Narrowed {
  Side passing;
  Side failing;
  // Their difference is that of the counts in `isolated`, by group.
  std::vector<ScheduleDifference::Group> groups;
  DdResult isolated;
};
// REQUIRES: the one passes, the other fails.
[[nodiscard]] Result<Narrowed> narrow(Experiment& experiment, const Side& passing,
                                      const Side& failing);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_NARROWING_H_
