// A hunt for people: the status line while it runs, and its result.
#ifndef CLEW_HOST_REPORT_HUNT_TEXT_H_
#define CLEW_HOST_REPORT_HUNT_TEXT_H_

#include <string>

#include "host/outcome.h"
#include "host/report/symptom.h"
#include "host/search/hunt_result.h"

namespace clew {

// "12,345 schedules (1,234/s), 56 interleavings, 2 failures (exit 17, deadlock 3), pos, 43 s left"
std::string status_text(const HuntStatus& status);

// "assertion `x' failed, at queue.cc:31 in f, thread T0.2"
std::string failure_line(const Failure& failure);

// "37 of 41 pairs of write and read seen, 3 impossible, 1 open"
std::string coverage_text(const PairCoverage& coverage);

// "12,345 schedules, 56 distinct interleavings, 10.0 s (1,234/s), strategy pos, seed 7"
std::string figures_text(const HuntResult& result);

// REQUIRES: result.always_fails != 0
std::string always_fails_text(const HuntResult& result);

// "only 4 schedules", "12 of 40 schedules could not be judged"; empty: nothing to add to a pass.
std::string confidence_text(const HuntResult& result);

// The first line without "clew: ".
std::string headline(const HuntResult& result);

// What follows the first line, each line indented: the failure with the last words of its run, or the table of failures, the
// figures, the next commands; or what was tried, and a hint.
std::string hunt_text(const HuntResult& result, const LastWords& words = {});

}  // namespace clew

#endif  // CLEW_HOST_REPORT_HUNT_TEXT_H_
