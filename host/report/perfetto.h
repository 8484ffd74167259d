// A traced run as a file of Perfetto's, in its protobuf format, which ui.perfetto.dev and
// trace_processor open: threads, when each runs, its calls, the locks that it holds and waits for.
//
// One nanosecond there is one machine instruction, of all threads together, that was seen.
#ifndef CLEW_HOST_REPORT_PERFETTO_H_
#define CLEW_HOST_REPORT_PERFETTO_H_

#include <cstdint>
#include <filesystem>

#include "host/error.h"
#include "host/model/code_map.h"
#include "host/observe/run_trace.h"
#include "host/observe/trace_file.h"
#include "host/observe/trace_names.h"

namespace clew {

struct PerfettoFigures {
  std::uint64_t threads = 0;
  std::uint64_t calls = 0;  // of functions that were seen inside, and of the runtime
  std::uint64_t locks = 0;  // how often one was taken
  std::uint64_t instructions = 0;
};

// REQUIRES: the trace is finished.
[[nodiscard]] Result<PerfettoFigures> write_perfetto(const std::filesystem::path& path,
                                                     const RunTrace& trace, const RunResult& run,
                                                     ClockWindow window, CodeMap& code,
                                                     Symbolizer& symbols, TraceNames& names);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_PERFETTO_H_
