// The source lines that the threads of a traced run executed in a part of it, in order, with what they
// read and wrote.
#ifndef CLEW_HOST_OBSERVE_EXECUTED_LINES_H_
#define CLEW_HOST_OBSERVE_EXECUTED_LINES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/names/object_name.h"
#include "host/observe/run_trace.h"
#include "host/observe/trace_file.h"
#include "host/observe/trace_names.h"
#include "host/outcome.h"
#include "host/symbolize/symbolizer.h"

namespace clew {

// Who wrote what is read.
struct ExecutedWriter {
  std::uint16_t thread = 0;
  Location at;  // in the user's code
};

struct ExecutedAccess {
  AccessKind kind = AccessKind::kRead;
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  bool has_value = false;   // of an update the new one
  std::uint64_t value = 0;  // the first eight bytes
  ObjectName name;
  std::optional<ExecutedWriter> written_by;  // nothing: nobody since main began, or not known
};

// What a thread does of a line without another line or thread in between. Functions of libraries that
// a line calls are part of it.
struct ExecutedLine {
  std::uint64_t clock = 0;  // points passed before it
  std::uint16_t thread = 0;
  Location at;
  std::vector<ExecutedAccess> accesses;  // each with another object, kind or value
  std::size_t more = 0;                  // accesses that are not among them
};

struct ExecutedLines {
  std::vector<ExecutedLine> lines;  // the first of them
  std::size_t total = 0;
};

// Of a line's accesses. More are no longer read by anybody.
inline constexpr std::size_t kMostLineAccesses = 12;

// REQUIRES: the trace is finished. Lines of the user's code alone.
[[nodiscard]] ExecutedLines executed_lines(const RunTrace& trace, ClockWindow window,
                                           std::size_t most, Symbolizer& symbols,
                                           TraceNames& names);

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_EXECUTED_LINES_H_
