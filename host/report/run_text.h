// A run's result for people.
#ifndef CLEW_HOST_REPORT_RUN_TEXT_H_
#define CLEW_HOST_REPORT_RUN_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"

namespace clew {

// "12,345 points, 17 switches, 4 threads"
std::string figures_text(const RunSummary& summary);

// The first line without "clew: ": "pass, 12,345 points, ..." or "fail (assert): ...".
std::string headline(const RunSummary& summary);

// What follows the first line of a run that did not pass, each line indented: thread, source
// line, backtrace, for a deadlock who waits for whom. Empty for a pass.
std::string failure_text(const RunResult& run, Symbolizer& symbols);

// A replay that left its recording: clock, thread, expected and actual place.
std::string departure_text(const RunResult& run, const RunSummary& recorded, Symbolizer& symbols);

// The frames that tell a reader something: those of user code, and of a library between two of them
// the function that the user called. All, if names are not to be shortened.
std::vector<SourceFrame> worth_showing(const std::vector<SourceFrame>& frames);
// What a thread waits for or holds: "mutex forks+40", "the end of worker (T0.1)".
std::string awaited_object(const RunResult& run, Symbolizer& symbols, abi::WaitKind kind,
                           std::uint64_t object);

// One line for each frame worth showing, innermost first, indented.
std::string stack_text(const std::vector<SourceFrame>& frames, std::string_view indent);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_RUN_TEXT_H_
