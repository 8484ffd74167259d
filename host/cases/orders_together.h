// Whether all orders of a case can hold in one run, where each of them could.
#ifndef CLEW_HOST_CASES_ORDERS_TOGETHER_H_
#define CLEW_HOST_CASES_ORDERS_TOGETHER_H_

#include <optional>
#include <utility>
#include <vector>

#include "host/cases/case_file.h"
#include "host/cases/held_locks.h"
#include "host/cases/lab.h"
#include "host/cases/matching.h"
#include "host/enumerate/must_order.h"

namespace clew {

// Critical sections are exclusive: if one thing within the first has to come before one thing within
// the second, then all of the first does. With the order of each thread and of what creation, joins and
// barriers order, the orders of a case may then need something to come before itself: a reader, say,
// that is to read one field before and another after an update, under the lock of the writer.
// Two locks as they were taken, of sections that lead to that; nothing: the orders are possible, as
// far as this goes. `match`: the steps that are the events.
[[nodiscard]] std::optional<std::pair<Held, Held>> exclude_each_other(
    const Case& one, const Match& match, const LabRun& run,
    const std::vector<std::vector<Held>>& held, const MustOrder& order);

}  // namespace clew

#endif  // CLEW_HOST_CASES_ORDERS_TOGETHER_H_
