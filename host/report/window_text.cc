#include "host/report/window_text.h"

#include <fmt/format.h>

#include "host/report/event_words.h"
#include "host/report/words.h"

namespace clew {
namespace {

std::string before_text(const EventInfo& event) {
  if (event.kind == abi::StepKind::kOther) return "before " + spot_text(event.at);
  return "before it " + present_text(event);
}

// ", the first before it reads `head` at queue.cc:28 (in enqueue), the last before it ..."
std::string ends_text(const std::optional<EventInfo>& first, const std::optional<EventInfo>& last) {
  if (!first || !last) return "";
  const std::string begin = before_text(*first);
  const std::string end = before_text(*last);
  return begin == end ? ", " + begin : fmt::format(", the first {}, the last {}", begin, end);
}

// The calls between which, or within which, it happens: the code that should be atomic.
std::string callers_text(const SwitchWindow& window) {
  if (!window.caller_first || !window.caller_last) return "";
  const std::string first = spot_text(window.caller_first);
  const std::string last = spot_text(window.caller_last);
  if (first == last)
    return fmt::format(
        " From the first of these places to the one in this run, it is within the call at {}.",
        first);
  return fmt::format(
      " The first of these places is within the call at {}, the one in this run within that at {}.",
      first, last);
}

// What is next to a single place.
std::string neighbours_text(const SwitchWindow& window) {
  if (window.ends_before && window.ends_after) return "one step earlier or later it does not";
  if (window.ends_before) return "one step earlier it does not";
  if (window.ends_after) return "one step later it does not";
  return "";
}

std::string others_text(const SwitchWindow& window) {
  if (window.others == 0) return "";
  const std::string others =
      window.others == 1 ? "other place" : counted(window.others, "other place");
  const std::string tried = window.whole_course ? fmt::format("the {} in its course", others)
                                                : fmt::format("{} in its course that {} tried",
                                                              counted(window.others, "other place"),
                                                              window.others == 1 ? "was" : "were");
  if (window.others_failing == 0)
    return fmt::format(" At {}, it does not{}.", tried,
                       !window.whole_course ? ""
                       : window.others == 1 ? " (it was tried)"
                                            : " (all were tried)");
  if (window.others == 1) return fmt::format(" At {} it does so, too.", tried);
  return fmt::format(" At {} of {} it does so, too{}.", with_commas(window.others_failing), tried,
                     ends_text(window.others_first, window.others_last));
}

}  // namespace

std::string window_text(const SwitchWindow& window, const std::string& label) {
  if (window.places == 0) return "";
  if (window.places == 1) {
    const std::string next = neighbours_text(window);
    if (next.empty() && window.others == 0) return "";
    return fmt::format("A preemption of {} at just this place leads to the failure{}.{}", label,
                       next.empty() ? "" : "; " + next, others_text(window));
  }
  const std::string where = ends_text(window.first, window.last);
  const std::string places =
      window.gapless
          ? fmt::format("each of {} in a row", counted(window.places, "place"))
          : fmt::format("all {} that were tried in one stretch", counted(window.places, "place"));
  return fmt::format("A preemption of {} leads to the failure at {}{}.{}{}", label, places, where,
                     callers_text(window), others_text(window));
}

}  // namespace clew
