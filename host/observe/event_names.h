// Names for what events of a recording are about, from running it once more, traced.
#ifndef CLEW_HOST_OBSERVE_EVENT_NAMES_H_
#define CLEW_HOST_OBSERVE_EVENT_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "host/names/object_name.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/replay.h"

namespace clew {

struct EventObject {
  std::uint64_t clock = 0;  // of the event; 0: at the end
  std::string thread;       // whose it is
  std::uint64_t object = 0;
  enum class Sort : std::uint8_t { kMemory, kSync };  // kSync: a lock, a condition variable, ...
  Sort sort = Sort::kMemory;
  ObjectName name = {};  // without a type
};

// What a report waits for names, in seconds. Chosen, not measured.
inline constexpr double kLongestNaming = 10;

// Fills in the names that are known. A run that is too long, or departs, names nothing.
void name_events(const Replay& replay, std::vector<EventObject>& objects,
                 double most_seconds = kLongestNaming);

// Fills in Reports::names for the locks and the like that threads of the run wait for or hold: global
// variables.
void name_waited(RunResult& run, Symbolizer& symbols);
// ... and all else, by running the recording once more, if there is something without a name.
void name_waited(const Replay& replay, RunResult& run, Symbolizer& symbols);

// The same for the memory and the locks that findings of watches and listeners are about, and tells the
// findings with these names.
void name_findings(const Replay& replay, RunResult& run, Symbolizer& symbols);

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_EVENT_NAMES_H_
