// The course of a run as a table with one column for each thread.
#ifndef CLEW_HOST_REPORT_COURSE_H_
#define CLEW_HOST_REPORT_COURSE_H_

#include <string>
#include <vector>

#include "host/isolate/isolate_result.h"

namespace clew {

// All threads of the courses, T0.2 before T0.10.
std::vector<std::string> threads_of(const std::vector<CourseLine>& one,
                                    const std::vector<CourseLine>& other);

// At most fourteen lines, those around the marked events, or around switches if none is marked; "*"
// stands before the marked ones. `threads` are the columns; too many for a line's width become one.
std::string course_text(const std::vector<CourseLine>& course,
                        const std::vector<std::string>& threads);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_COURSE_H_
