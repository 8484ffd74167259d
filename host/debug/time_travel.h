// A replay in which one can go forward and back.
//
// Going back is replaying to an earlier place. A place is named by the clock and by how many
// instructions of the program were executed since that event was counted; instructions of clew's
// runtime do not count, as it may do more or less work in another execution. The replay of a
// recording is the same each time, so that a place named so is the same place each time.
//
// Nothing that is done to the stopped program changes the replay: if memory or registers were
// written, or the program was made to call a function, the program is replayed to where it stood
// before it continues.
#ifndef CLEW_HOST_DEBUG_TIME_TRAVEL_H_
#define CLEW_HOST_DEBUG_TIME_TRAVEL_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clew_abi/debug.h"
#include "host/debug/incarnation.h"

namespace clew::debug {

struct Place {
  std::uint64_t clock = 0;
  std::uint64_t instructions = 0;
  // Of the runtime's, since the last of the program's. None: as many as lead out of it.
  std::optional<std::uint64_t> inside = std::nullopt;
  auto operator<=>(const Place&) const = default;
};

struct Arrival {
  enum class Kind : std::uint8_t {
    kStep,
    kBreakpoint,
    kWatch,
    kSignal,
    kInterrupted,
    kBeginning,  // there is nothing before
    kEnd,        // nothing behind: the program is about to end
    kLost,       // the program is gone, or could not be brought to the place: see problem()
  };
  Kind kind;
  int signal = 0;
  Watch watch = {};
};

class TimeTravel {
 public:
  explicit TimeTravel(const Replay& replay) : replay_(replay) {}

  // A descriptor that interrupts a run when it becomes readable, and is read then.
  void interrupt_by(int descriptor) { interrupting_ = descriptor; }

  // The program before its first instruction.
  [[nodiscard]] Result<void> begin();
  // Clew's runtime stopped for the last time, or it is gone: what follows is only the past.
  bool at_end() const { return at_end_; }
  // In a function that the debugger calls.
  bool diverted() const { return diverted_; }
  // What the run reported as its failure, if it has come to that.
  std::string failure();
  std::string take_problem() { return std::exchange(problem_, {}); }

  Tracee& tracee() { return run_->tracee(); }
  std::uint64_t clock();
  std::uint64_t last_clock() const { return replay_.recording.meta.summary.clock; }

  std::uint64_t current();  // index of the thread that runs
  std::vector<abi::DebugThread> threads();

  Tracee::Breakpoints breakpoints;
  std::set<Watch> watches;
  std::set<int> quiet_signals;  // delivered without a stop

  // The debugger changes memory or registers of the program.
  void tamper() { tampered_ = true; }

  // `range`: as long as the program counter is in it and nothing else stops the thread. A thread
  // that does not run is waited for.
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  Arrival step(std::uint64_t thread, Range range);
  // A signal that the program was stopped by is delivered, as it was when it was recorded.
  Arrival resume();
  Arrival step_back(std::uint64_t thread);
  Arrival resume_back();
  // Where event `clock` has just been counted.
  Arrival go_to(std::uint64_t clock);

 private:
  // What the place of a stop is recognised by when the program is replayed to it.
  struct Moment {
    std::uint64_t clock;
    user_regs_struct registers;
    std::array<std::uint64_t, 128> stack;  // the innermost words of it
  };
  // Steps from where the runtime stopped for a clock.
  struct Walk {
    Place at;
    bool ended = false;
    std::optional<Watch> watch = std::nullopt;
  };
  using Visit = std::function<bool(const Walk&)>;  // false: go no further

  bool is_runtime(std::uint64_t address) const {
    return address >= runtime_begin_ && address < runtime_end_;
  }
  [[nodiscard]] Result<void> restart(std::uint64_t clock);
  bool seek(std::uint64_t clock);
  void walk(std::uint64_t clock, const Visit& visit);
  Stop raw_step(int signal);
  bool go(const Place& place);
  enum class Likeness : std::uint8_t { kNone, kAlike, kSame };
  Likeness compare(const Moment& moment);
  Moment moment();
  std::optional<Place> here();
  Arrival arrived(Arrival arrival);
  Arrival lost(std::string problem);
  Arrival give_up(const Place& place);
  Arrival arrive_at(const Place& place, Arrival arrival);
  std::optional<Arrival> prepare();
  bool undo();
  std::optional<Arrival> arrival_of(const Stop& stop, int& signal);
  Stop wait_or_interrupt();
  void leave_runtime();
  Arrival to_beginning();
  bool is_later(const Walk& walk, std::uint64_t clock);
  std::optional<std::uint64_t> last_clock_with_hit(std::uint64_t before);

  const Replay& replay_;
  int interrupting_ = -1;
  std::unique_ptr<Incarnation> run_;
  Shown shown_{};
  std::uint64_t table_ = 0;
  std::uint64_t runtime_begin_ = 0, runtime_end_ = 0;
  bool at_end_ = false;
  bool tampered_ = false;
  bool diverted_ = false;
  int pending_signal_ = 0;
  std::optional<Place> place_;    // of the stop, if it is known
  std::optional<Moment> moment_;  // of the stop
  std::string problem_;
};

}  // namespace clew::debug

#endif  // CLEW_HOST_DEBUG_TIME_TRAVEL_H_
