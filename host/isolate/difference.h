// The difference between a schedule that passes and one that fails, as atomic changes in groups of
// interchangeable ones (Choi and Zeller 2002, definitions 8 to 12).
//
// The schedules are made of equal length: the shorter list of switches is padded with switches one
// past the end of its own run (section 4.3). Deviations: our schedules name targets, and have
// choices beside the switches. A switch that moves gets its target of the failing side with the
// first of its moves; so their number is that of corollary 12. Only one that stays where it is
// has a change of its own for the target, and so has each choice.
#ifndef CLEW_HOST_ISOLATE_DIFFERENCE_H_
#define CLEW_HOST_ISOLATE_DIFFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/isolate/dd.h"
#include "host/schedule/schedule.h"

namespace clew {

class ScheduleDifference {
 public:
  enum class Kind : std::uint8_t {
    kMove,    // each change moves a switch by one clock unit (definition 10)
    kTarget,  // one change: a switch at the same clock in both schedules goes to another thread
    kChoice,  // one change: a choice comes, goes or gets another answer
  };
  // Which of the schedules have the item. Where a switch is not, there is the padding.
  enum class In : std::uint8_t { kBoth, kPassing, kFailing };

  struct Group {
    Kind kind{};
    In in{};
    std::uint64_t size = 0;
    // The number of the switch, or of the choice among those of both schedules. From 0.
    std::size_t index = 0;
    // kMove and kTarget: the switch on both sides. Padding has the target of the other side.
    Switch passing = {}, failing = {};
    // kChoice: on the sides that have it.
    std::optional<Choice> passing_choice = {}, failing_choice = {};
  };

  // The ends: the clocks at which the runs of the two schedules ended.
  ScheduleDifference(const Schedule& passing, Clock passing_end, const Schedule& failing,
                     Clock failing_end);

  // In the order of their clocks on the failing side, choices before switches as in
  // for_each_item. So schedules that differ in the later groups only tend to begin alike.
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  [[nodiscard]] Counts sizes() const;

  // The number of atomic changes (corollary 12), which may exceed 64 bits.
  [[nodiscard]] DeltaCount total() const;

  // The padded passing schedule with so many changes of each group applied: with none the padded
  // passing one, with sizes() the padded failing one. Nothing if that is invalid (definition 4).
  // REQUIRES: applied <= sizes() everywhere.
  [[nodiscard]] std::optional<Schedule> apply(const Counts& applied) const;

 private:
  void compare_choices(const std::vector<Choice>& passing, const std::vector<Choice>& failing);

  // What the schedules say to one question; at least one says something.
  struct ChoicePair {
    std::optional<Choice> passing, failing;
  };

  std::vector<Group> groups_;
  std::vector<Switch> switches_;     // the passing ones, padded
  std::vector<ChoicePair> choices_;  // ascending
};

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_DIFFERENCE_H_
