// clew show --trace: the lines that ran in a part of a recording or of a trace file.
#ifndef CLEW_CLI_SHOW_TRACE_H_
#define CLEW_CLI_SHOW_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "host/error.h"

namespace clew::cli {

struct TracePart {
  std::optional<std::uint64_t> from;  // nothing: so that there is something to see
  std::optional<std::uint64_t> to;    // nothing: the end
  std::size_t most = 200;             // lines
};

// `what`: a recording or a file. Returns the exit status.
[[nodiscard]] Result<int> show_trace(const std::string& what, const TracePart& part,
                                     const std::string& json);

}  // namespace clew::cli

#endif  // CLEW_CLI_SHOW_TRACE_H_
