// Which write each read of a program may see, and a run for each.
#ifndef CLEW_HOST_ENUMERATE_ENUMERATE_H_
#define CLEW_HOST_ENUMERATE_ENUMERATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "host/enumerate/enumerate_result.h"
#include "host/error.h"
#include "host/search/hunt.h"

namespace clew {

struct EnumerateOptions {
  HuntOptions hunt;             // the program, limits, criteria, seed, workers
  std::vector<std::string> at;  // FILE:LINE or FILE:LINE:VARIABLE; empty: all reads
  std::uint32_t together = 1;   // reads that are chosen for at a time: 1, 2 or 3
  std::uint32_t instances = kLaterInstances - 1;  // of a read or write that are told apart
  bool exhaust = false;  // does not end before every schedule was executed, or time is up
};

class EnumerateObserver {
 public:
  virtual ~EnumerateObserver() = default;
  // Several times a second.
  virtual void status(const EnumerateSearch::Coverage& coverage, const HuntStatus& status) = 0;
};

// Errors are faults of the set-up or of the machine, and places at which there is no read.
[[nodiscard]] Result<EnumerateResult> enumerate(const EnumerateOptions& options,
                                                RecordingStore& store, EnumerateObserver& observer);

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_ENUMERATE_H_
