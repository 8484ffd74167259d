// The window of a preemption: the places in its thread's course at which it still leads to the
// failure. Places beyond the first at which it does not are tried as well: what fails need not lie
// in one piece.
#ifndef CLEW_HOST_ISOLATE_WINDOW_H_
#define CLEW_HOST_ISOLATE_WINDOW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "host/error.h"
#include "host/isolate/script.h"
#include "host/isolate/trials.h"

namespace clew {

// What comes of the preemption at a position.
enum class Moved : std::uint8_t {
  kFails,
  kDoesNot,
  kNoPlace,  // it took no effect: the thread does not come so far, or the other cannot run then
};

struct Window {
  // Around the known position: every place from first to last that was tried fails.
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t places = 0;  // that were tried from first to last, all failing
  bool gapless = false;      // all positions from first to last were tried
  bool ends_before = false;  // the position before the first was tried, and does not fail
  bool ends_after = false;   // likewise of the one behind the last
  // Outside of it.
  std::uint64_t others = 0;  // places that were tried
  std::uint64_t others_failing = 0;
  std::uint64_t others_first = 0;  // the first and the last of those that fail
  std::uint64_t others_last = 0;
  bool whole_course = false;  // every position of the course was tried
};

// What comes of each of these positions; empty: stop.
using MovedTo = std::function<Result<std::vector<Moved>>(const std::vector<std::uint64_t>& at)>;

// Tries all positions of the course if they are at most `most`. Otherwise so many: those near the
// known one, and others evenly over the course; then both ends are found by halving. Nothing:
// stopped. REQUIRES: it fails at `known`; positions are 1..end.
[[nodiscard]] Result<std::optional<Window>> find_window(std::uint64_t known, std::uint64_t end,
                                                        std::uint64_t most, const MovedTo& moved);

// The window of a script's item, which is a preemption, and what the thread does at its ends.
struct ScriptWindow {
  Window window;
  // What the thread has just done, or is about to do, there; `thread` 0: not known.
  TraceStep before;
  TraceStep first;
  TraceStep last;
  TraceStep others_first;
  TraceStep others_last;
};
// Nothing, too, if the failure comes without it. `course`: the number of events in the thread's course, as far as it is known.
[[nodiscard]] Result<std::optional<ScriptWindow>> window_of(Trials& trials,
                                                            const ThreadScript& script,
                                                            std::size_t item, std::uint64_t course,
                                                            std::uint64_t most);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_WINDOW_H_
