// A slice as a picture: both runs in columns, as figure 7 of Weeratunge et al. 2010 has it. What only
// the failing run does is on the left, what only the passing one does on the right, what both do
// between them; causes are above what they lead to.
#ifndef CLEW_HOST_REPORT_EXPLAIN_GRAPH_H_
#define CLEW_HOST_REPORT_EXPLAIN_GRAPH_H_

#include <string>

#include "host/explain/explanation.h"

namespace clew {

std::string slice_dot(const Explanation& explanation);
std::string slice_svg(const Explanation& explanation);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_EXPLAIN_GRAPH_H_
