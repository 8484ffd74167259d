// Follows a given stream of switches: schedule replay and full replay (Choi and Zeller 2002,
// sections 3.2 to 3.4).
//
// Full replay (kFlagReplay) compares every check in the stream and ends the run at the first
// departure. Schedule replay takes any schedule: a switch to a thread that cannot run at that
// clock has no effect and is noted, as in the paper, where a switch is only a clock and always
// possible.
#ifndef CLEW_RUNTIME_STRATEGY_SCHEDULE_H_
#define CLEW_RUNTIME_STRATEGY_SCHEDULE_H_

#include "clew_abi/stream.h"
#include "runtime/strategy/run.h"

namespace clew::rt {

class ScheduleStrategy final : public Strategy {
 public:
  enum class Replay : std::uint8_t { kSchedule, kFull };

  ScheduleStrategy(const abi::Job& job, Run& run, Replay replay);

  Clock next_decision(Clock now) override;
  Decision preempt(Clock event) override;
  Choice choose(const Question& question) override;
  bool left_over(Clock clock, char* reason, std::size_t size) override;

 private:
  void read_next();
  void read_next_choice();
  void read_next_cas();
  void note_choice_without_effect(const char* why);
  void compare(Clock event);
  Decision switch_to(Clock event);
  std::uint32_t resolve(std::uint64_t name);

  Run& run_;
  const std::uint32_t names_count_;
  // Switches and choices lie in one stream and are read independently: each by its clock.
  abi::Reader reader_;
  abi::Reader choice_reader_;
  abi::Reader cas_reader_;
  const char** names_ = nullptr;
  std::uint32_t* resolved_ = nullptr;  // name -> thread index + 1
  bool full_replay_;
  bool loose_;  // abi::kJobLoose

  // The entry to come; kind is meaningless when clock_ is kNever.
  Clock clock_ = 0;
  Clock last_clock_ = 0;
  abi::EntryKind kind_ = abi::EntryKind::kSwitchNext;
  std::uint64_t thread_ = 0;
  abi::Place place_ = 0;
  std::uint16_t hash_ = 0;

  // The choice to come, likewise.
  Clock choice_clock_ = 0;
  Clock last_choice_clock_ = 0;
  std::uint64_t choice_ordinal_ = 0;
  std::uint64_t choice_kind_ = 0;
  std::uint64_t choice_value_ = 0;

  // The event that is the next weak compare-exchange to fail. The other questions arise in calls;
  // this one at a point, which has to be told to ask.
  Clock cas_clock_ = 0;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_SCHEDULE_H_
