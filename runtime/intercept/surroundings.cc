#include "runtime/intercept/surroundings.h"

#include <sys/syscall.h>

#include "runtime/detect/plug_in.h"
#include "runtime/detect/watches.h"
#include "runtime/event/sharing.h"
#include "runtime/event/watch.h"
#include "runtime/intercept/heap_hooks.h"
#include "runtime/outside/foreign.h"
#include "runtime/outside/inputs.h"
#include "runtime/outside/perform.h"
#include "runtime/outside/poller.h"
#include "runtime/record/debug_table.h"
#include "runtime/record/end.h"
#include "runtime/record/generation.h"
#include "runtime/record/log.h"
#include "runtime/record/stacks.h"
#include "runtime/record/trace.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/attend.h"
#include "runtime/snapshot/checkpoint.h"
#include "runtime/snapshot/server.h"
#include "runtime/thread/thread_block.h"

namespace clew::rt {
namespace {

abi::Control& control() { return *reinterpret_cast<abi::Control*>(abi::kControlAddress); }

class Rest final : public Surroundings {
 public:
  // One line for each who listens.
  void tune_in(const abi::Job& job, const Manner& manner) override {
    g_listeners.add(g_log, g_log.hearing());
    if (manner.at_every_point) {
      g_sharing.begin(control(), job);
      // Noise at given points comes after runs that have shown what is shared: looking at every
      // access again would take most of the time.
      const bool is_settled = job.strategy == abi::StrategyKind::kNoise && job.guide.size != 0;
      if (!is_settled)
        g_listeners.add(g_sharing, {.topics = kTopicEvents, .window = Window::all()});
    } else {
      g_sharing.stay_away();
    }
    g_trace.begin(control(), job,
                  manner.follows ? Trace::Decisions::kTraced : Trace::Decisions::kLeftOut,
                  manner.may_coast ? Coasting::kTracedInFull : UINT64_MAX);
    g_listeners.add(g_trace, g_trace.hearing());
    g_watch.begin(job.watch);
    g_listeners.add(g_watch, g_watch.hearing());
    add_watches(control());
    add_plug_ins();
    if (g_listeners.hears_of(kTopicMemory)) hook_heap();
  }
  void before_choice() override { reach_choice(); }
  void stop_at_checkpoint() override { rt::stop_at_checkpoint(); }
  void report_stacks(Clock event) override { rt::report_stacks(event); }

  void poll(Clock event) override { g_poller.poll_at(event); }
  void poll_if_expected() override {
    if (g_poller.expecting()) g_poller.poll();
  }
  void poll_while_stuck() override { g_poller.poll_while_stuck(); }
  Came wait_for_something(Nanos due) override {
    if (!g_poller.expecting() && !g_other_processes) return Came::kNothing;
    return g_poller.wait_for_something(due);
  }
  void forget(Wait& wait) override { g_poller.forget(reinterpret_cast<OutsideWait&>(wait)); }
  bool is_copy() const override { return generation() != 0; }
  // Recorded under the number of restart_syscall, which no program makes.
  Clock clock_of_jump(Clock clock) override {
    return static_cast<Clock>(
        answered(Call{SYS_restart_syscall, {}}, [&] { return static_cast<long>(clock); }));
  }

  Attended attend(Fiber& self, unsigned ended_by) override { return rt::attend(self, ended_by); }
  void give_back(Fiber& fiber) override { give_back_block(fiber); }
  void parked(const Fiber& fiber) override { debug_table_update(fiber); }

  void note(const char* line) override { g_log.note(line); }
  [[noreturn]] void end_at_budget() override {
    if (control().flags & abi::kFlagBreaksOff) end_broken_off();
    end_hang("the clock budget is spent");
  }
  [[noreturn]] void end_stuck() override {
    if (control().flags & abi::kFlagBreaksOff) end_broken_off();
    end_deadlock();
  }
  [[noreturn]] void end_spinning() override {
    end_hang("every thread only spins, none makes progress");
  }
  [[noreturn]] void end_departed(Clock event, std::uint64_t thread, abi::Place place,
                                 const char* what) override {
    rt::end_departed(event, thread, place, what);
  }
};

constinit Rest g_rest;

}  // namespace

Surroundings& surroundings() { return g_rest; }

}  // namespace clew::rt
