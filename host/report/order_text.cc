#include "host/report/order_text.h"

#include <fmt/format.h>

#include "host/report/event_words.h"
#include "host/report/words.h"

namespace clew {
namespace {

using Swapped = CriticalPair::Swapped;

std::string thread_of(const EventInfo& event) {
  return event.thread.empty() ? "a thread" : printable(event.thread);
}

// The second time an object is named: "it".
std::string second_object(const EventInfo& first, const EventInfo& second) {
  const std::string object = object_of(second);
  const bool same = object == object_of(first) && first.object == second.object;
  return !object.empty() && same ? "it" : object;
}

// What was run with the two swapped.
std::string swapped_text(const CriticalPair& pair) {
  if (pair.swapped == Swapped::kPasses)
    return pair.alone ? " With just these two in the other order the program passes (run once)."
                      : " In a run with these two in the other order the program passes.";
  if (pair.swapped == Swapped::kFails)
    return " In the passing run they come in the other order; but swapped in the failing run, "
           "it fails all the same.";
  return " In the passing run they come in the other order; what the failing run does with just "
         "these two swapped could not be tested.";
}

// "all 12 with this order fail", "3 of 12 with this order fail"
std::string share_text(std::uint64_t failed, std::uint64_t all, const char* order) {
  const std::string number = with_commas(all);
  if (failed == 0 || failed == all) {
    const char* verb = all == 1      ? (failed == 0 ? "passes" : "fails")
                       : failed == 0 ? "pass"
                                     : "fail";
    return fmt::format("{} with {} {}", all == 1 ? "the one" : "all " + number, order, verb);
  }
  return fmt::format("{} of {} with {} {}", with_commas(failed), number, order,
                     failed == 1 ? "fails" : "fail");
}

// What other runs with either order do.
std::string similar_text(const CriticalPair& pair) {
  const CriticalPair::Tally& here = pair.this_order;
  const CriticalPair::Tally& there = pair.other_order;
  const std::uint64_t with_this = here.failed + here.passed;
  const std::uint64_t with_other = there.failed + there.passed;
  if (with_this + with_other == 0) return "";
  std::string text =
      fmt::format(" Of {} of similar schedules, ", counted(with_this + with_other, "run"));
  const bool three = pair.earlier || pair.later;
  const char* other = three ? "another order" : "the other order";
  if (with_this > 0) text += share_text(here.failed, with_this, "this order");
  if (with_this > 0 && with_other > 0) text += ", ";
  if (with_other > 0) text += share_text(there.failed, with_other, other);
  text += '.';
  if (here.passed > 0 && there.failed > 0)
    text += " So this order is neither enough for the failure nor needed for it.";
  else if (here.passed > 0)
    text += " So this order alone is not enough for the failure.";
  else if (there.failed > 0)
    text += " So there are other ways to fail.";
  return text;
}

// What the two critical sections are about.
std::string guarded_text(const CriticalPair& pair) {
  if (!pair.guarded_first || !pair.guarded_second) return "";
  const EventInfo& first = *pair.guarded_first;
  const EventInfo& second = *pair.guarded_second;
  return fmt::format(" With that, {} {} before {} could {}.", thread_of(first),
                     past_text(first, object_of(first)), thread_of(second),
                     infinitive_text(second, second_object(first, second)));
}

}  // namespace

std::string order_text(const CriticalPair& pair) {
  const std::string first =
      fmt::format("{} {}", thread_of(pair.first), past_text(pair.first, object_of(pair.first)));
  const std::string object = second_object(pair.first, pair.second);
  std::string order =
      pair.second.clock == 0
          ? fmt::format("In the failing run, {}, and the run ends before {} gets to {}.", first,
                        thread_of(pair.second), infinitive_text(pair.second, object))
          : fmt::format("In the failing run, {} before {} {}.", first, thread_of(pair.second),
                        past_text(pair.second, object));
  order += swapped_text(pair);
  if (pair.earlier)
    order += fmt::format(" Before both, {} {}: {} comes between.", thread_of(*pair.earlier),
                         past_text(*pair.earlier, second_object(pair.first, *pair.earlier)),
                         thread_of(pair.first));
  if (pair.later)
    order += fmt::format(" After both, {} {}: {} comes between.", thread_of(*pair.later),
                         past_text(*pair.later, second_object(pair.first, *pair.later)),
                         thread_of(pair.second));
  return order + similar_text(pair) + guarded_text(pair);
}

}  // namespace clew
