// Schedules as values, and their text form (docs/schedules.md).
#ifndef CLEW_HOST_SCHEDULE_SCHEDULE_H_
#define CLEW_HOST_SCHEDULE_SCHEDULE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"
#include "host/types.h"

namespace clew {

// Event number `clock` belongs to another thread than the event before it.
struct Switch {
  Clock clock;
  std::optional<ThreadId> to;  // nothing: the next in the run queue
  bool operator==(const Switch&) const = default;
};

// Paper 1, definition 4: a list of switches, ordered by clock; several at one clock
// are taken one after the other. Between them nothing is preempted.
//
// Invariant: clocks ascend (equal ones allowed) and lie in 1..kMaxClock.
struct Schedule {
  std::vector<Switch> switches;
  bool operator==(const Schedule&) const = default;
};

// Items `clock` or `clock:thread`, separated by commas and/or white space; `#` begins
// a comment that goes to the end of the line. The empty text is the empty schedule.
[[nodiscard]] Result<Schedule> parse_schedule(std::string_view text);

// One line that parse_schedule reads back: "6:T0.1, 9, 12:T0".
[[nodiscard]] std::string format_schedule(const Schedule& schedule);

inline constexpr std::size_t kMaxScheduleText = std::size_t{64} << 20;

// What `--schedule` takes: the file of this name if there is one, otherwise the text itself.
[[nodiscard]] Result<Schedule> load_schedule(std::string_view text_or_path);

}  // namespace clew

#endif  // CLEW_HOST_SCHEDULE_SCHEDULE_H_
