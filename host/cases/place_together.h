// Places the events of a case with regard to each other: a statement that is the best match by itself may be one that the thread
// does not execute any more together with the others.
#ifndef CLEW_HOST_CASES_PLACE_TOGETHER_H_
#define CLEW_HOST_CASES_PLACE_TOGETHER_H_

#include <vector>

#include "host/cases/case_file.h"
#include "host/cases/placing.h"
#include "host/cases/trial.h"

namespace clew {

// REQUIRES: `placed` is place_events(). Changed are the first and the third event of orders of which one has moved or has only its
// nearest match, if no run of the survey has all events of the order.
void place_together(const Case& one, const Survey& survey, std::vector<Placed>& placed);

}  // namespace clew

#endif  // CLEW_HOST_CASES_PLACE_TOGETHER_H_
