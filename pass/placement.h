// Where the yield points of a function go.
#ifndef CLEW_PASS_PLACEMENT_H_
#define CLEW_PASS_PLACEMENT_H_

#include "llvm/IR/Function.h"
#include "pass/locations.h"
#include "pass/options.h"
#include "pass/sharing.h"
#include "pass/site.h"

namespace clew::pass {

// All points of `function`, block by block, in order within a block. Moves static
// allocas to the top of the entry block, changes nothing else.
//
// Guarantees, from kShared up: every cycle of the control flow passes a point, and so does every
// path from the entry to a call, so that neither a loop nor a recursion can run without passing
// one.
Sites place_points(llvm::Function& function, Granularity granularity, Locations& locations,
                   ThreadLocals& thread_locals);

// The listed synchronisation calls of a function that is to have no points.
Sites place_silent_calls(llvm::Function& function);

}  // namespace clew::pass

#endif  // CLEW_PASS_PLACEMENT_H_
