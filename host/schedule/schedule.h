// Schedules as values, and their text form (docs/schedules.md).
#ifndef CLEW_HOST_SCHEDULE_SCHEDULE_H_
#define CLEW_HOST_SCHEDULE_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clew_abi/stream.h"
#include "host/error.h"
#include "host/types.h"

namespace clew {

static_assert(kMaxClock.value == (std::uint64_t{1} << (64 - abi::kKindBits)) - 1);

// Event number `clock` belongs to another thread than the event before it.
struct Switch {
  Clock clock;
  std::optional<ThreadId> to;  // nothing: the next in the run queue
  bool operator==(const Switch&) const = default;
};

// Question number `ordinal` (from 0) of those that arise before event `clock` and after
// the event before it gets an answer other than the default (abi::ChoiceKind).
struct Choice {
  Clock clock;
  std::uint64_t ordinal = 0;
  abi::ChoiceKind kind{};
  std::optional<ThreadId> thread = {};  // if and only if abi::names_thread(kind)
  bool operator==(const Choice&) const = default;
};

// "pick", "wake", ...: the words of CLEW_CHOICE_KINDS.
[[nodiscard]] const char* to_word(abi::ChoiceKind kind);
[[nodiscard]] std::optional<abi::ChoiceKind> choice_kind_from_word(std::string_view word);

// Choi and Zeller 2002, definition 4: a list of switches, ordered by clock; several at one clock
// are taken one after the other. Between them nothing is preempted. Deviation: programs contain
// decisions other than switches, hence the choices. A run matches the two lists independently of
// each other; where neither has an item, the default applies.
//
// Invariant: clocks lie in 1..kMaxClock. Those of switches ascend (equal ones
// allowed); choices ascend strictly by (clock, ordinal).
struct Schedule {
  std::vector<Switch> switches;
  std::vector<Choice> choices = {};
  bool operator==(const Schedule&) const = default;
};

// Calls `visit` with every choice and every switch in the order of their clocks; at equal
// clocks with the choices first.
template <class Visit>
void for_each_item(const Schedule& schedule, Visit&& visit) {
  auto choice = schedule.choices.begin();
  for (const Switch& item : schedule.switches) {
    for (; choice != schedule.choices.end() && choice->clock <= item.clock; ++choice)
      visit(*choice);
    visit(item);
  }
  for (; choice != schedule.choices.end(); ++choice) visit(*choice);
}

// Items `clock[:thread]` (a switch) or `clock/[ordinal/]kind[:thread]` (a choice),
// separated by commas and/or white space; `#` begins a comment that extends to the end of the line.
// The empty text is the empty schedule.
[[nodiscard]] Result<Schedule> parse_schedule(std::string_view text);

// One line that parse_schedule reads back: "6:T0.1, 9, 12/pick:T0.3, 12/1/wake:T0, 15". In
// the order of for_each_item.
[[nodiscard]] std::string format_schedule(const Schedule& schedule);

inline constexpr std::size_t kMaxScheduleText = std::size_t{64} << 20;

// What `--schedule` takes: the file of this name if there is one, otherwise the text itself.
[[nodiscard]] Result<Schedule> load_schedule(std::string_view text_or_path);

}  // namespace clew

#endif  // CLEW_HOST_SCHEDULE_SCHEDULE_H_
