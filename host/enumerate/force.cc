#include "host/enumerate/force.h"

#include <utility>

#include "host/enumerate/force_search.h"

namespace clew {

Result<ForceResult> force(const ForceOptions& options, RecordingStore& store,
                          HuntObserver& observer, HuntInput input) {
  ForceSearch search(options.constraints, options.hunt.seed, options.for_both);
  HuntOptions hunt = options.hunt;
  hunt.keep_going = true;
  hunt.keep_failing = false;
  hunt.keep_passing = false;
  CLEW_TRY(auto hunted, hunt_with(search.search(), hunt, store, observer, std::move(input)));
  ForceResult result = search.result();
  result.seconds = hunted.seconds;
  result.interrupted_by = hunted.interrupted_by;
  result.notes.insert(result.notes.begin(), hunted.notes.begin(), hunted.notes.end());
  return result;
}

}  // namespace clew
