// The searches by name.
#ifndef CLEW_HOST_SEARCH_MAKE_SEARCH_H_
#define CLEW_HOST_SEARCH_MAKE_SEARCH_H_

#include <memory>

#include "host/error.h"
#include "host/schedule/schedule.h"
#include "host/search/hunt.h"
#include "host/search/search.h"

namespace clew {

// What fuzz starts from, and looks for: a run that comes out otherwise.
struct FuzzStart {
  Schedule schedule;
  Verdict looking_for = Verdict::kFail;
  std::uint64_t run_length = 1000;
};
// `options.from`: a recording, by number or folder, or a schedule, by text or file, which is taken
// to pass. Nothing: the schedule without switches.
[[nodiscard]] Result<FuzzStart> fuzz_start(const HuntOptions& options, RecordingStore& store);

[[nodiscard]] Result<std::unique_ptr<Search>> make_search(const HuntOptions& options,
                                                          RecordingStore& store);

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_MAKE_SEARCH_H_
