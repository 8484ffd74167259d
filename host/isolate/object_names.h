// Names for what the events of an isolation are about, besides global variables, which have theirs
// from the start.
#ifndef CLEW_HOST_ISOLATE_OBJECT_NAMES_H_
#define CLEW_HOST_ISOLATE_OBJECT_NAMES_H_

#include "host/isolate/isolate_result.h"

namespace clew {

// Fills in EventInfo::name and WaitInfo::name. Local variables and memory of the heap are known by
// running the two recordings once more, traced; that is done only if there is something without a
// name. A run that is too long, or departs, names nothing.
void name_objects(IsolateResult& result);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_OBJECT_NAMES_H_
