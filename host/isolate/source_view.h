// From clocks, keys and places to threads, lines and variables.
#ifndef CLEW_HOST_ISOLATE_SOURCE_VIEW_H_
#define CLEW_HOST_ISOLATE_SOURCE_VIEW_H_

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/isolate/each_event.h"
#include "host/isolate/isolate_result.h"
#include "host/isolate/pair.h"
#include "host/names/run_names.h"
#include "host/symbolize/moments.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"

namespace clew {

// The key of the thread with this path of creation ("T0.2").
[[nodiscard]] abi::ThreadKey key_of_thread(std::string_view id);

// A line of the user's own code, not of a library's header.
[[nodiscard]] bool is_user_location(const Location& at);

// The lines at which two stacks of a thread are in the innermost function call that they share, in
// user code. Nothing: there is none, or it is where both stand themselves.
struct SharedCall {
  Location first;
  Location second;
};
[[nodiscard]] std::optional<SharedCall> shared_call(const std::vector<SourceFrame>& first,
                                                    const std::vector<SourceFrame>& second);

// A run as its source shows it. Its places and addresses are those of every run of the program.
class SourceView {
 public:
  explicit SourceView(const RunResult& run);

  [[nodiscard]] std::string thread(abi::ThreadKey key) const;  // "T0.2"; "?" if it is not known
  [[nodiscard]] std::optional<Location> location(abi::Place place);
  // What it tells about attempts to lock is what know_locks() has learned.
  [[nodiscard]] EventInfo event(const TraceStep& event);
  void know_locks(const Trace& trace);

  // Where a thread, or the one that runs, stands at one of the clocks that the run was asked about.
  [[nodiscard]] std::optional<Standpoint> standing(std::uint64_t clock, const std::string& thread);
  [[nodiscard]] std::optional<Standpoint> running(std::uint64_t clock);

  // Who waits for what at the end of a run that came to a deadlock.
  [[nodiscard]] std::vector<WaitInfo> waits();

  // What happened around the pair, or from the beginning of the trace if there is none.
  [[nodiscard]] std::vector<CourseLine> course(std::span<const TraceStep> trace,
                                               const std::optional<EventPair>& pair,
                                               EventSide side);

 private:
  [[nodiscard]] Standpoint standpoint(const ThreadPosition& position) const;
  [[nodiscard]] const Moment& moment(std::uint64_t clock);

  const RunResult& run_;
  Symbolizer symbols_;
  RunNames names_{symbols_};
  std::unordered_map<abi::ThreadKey, std::string> threads_;
  std::unordered_map<std::uint64_t, Moment> moments_;
  std::unordered_map<std::uint64_t, LockStep> locks_;  // by clock
};

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_SOURCE_VIEW_H_
