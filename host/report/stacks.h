// Query mode (paper 1, section 3): where every thread stands at a clock.
#ifndef CLEW_HOST_REPORT_STACKS_H_
#define CLEW_HOST_REPORT_STACKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/report/run_json.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"

namespace clew {

struct Standing {
  ThreadIndex thread = 0;
  std::optional<Location> at;  // nothing: the thread has not started, or there are no symbols
  std::vector<SourceFrame> stack;
};

struct Moment {
  std::uint64_t clock = 0;
  std::optional<Standing> running;
  std::vector<Standing> others;
};

// One for each clock asked for, in this order. A clock that the run never reached has no running
// thread.
std::vector<Moment> moments(const RunResult& run, const std::vector<std::uint64_t>& clocks,
                            Symbolizer& symbols);

std::string moment_text(const RunResult& run, const Moment& moment);
// An element of the list `at` of docs/json.md.
Json moment_json(const RunResult& run, const Moment& moment);

// The lines around one of a source file, the line itself marked; empty if the file cannot be read.
std::string excerpt(const Location& location);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_STACKS_H_
