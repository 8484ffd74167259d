// Script: a schedule whose positions are local to the threads, so that an item continues to mean the
// same when others are left out or added. By the clock; what isolating failure-inducing switches
// runs (abi::TraceDecision: the items of a run).
//
// An item applies when its thread stands before event n of those that it executes itself, counted
// from 1 and from the start of the program.
//   preemption   the target runs instead; 0: the next in the run queue. If it cannot run, there is
//                no effect, and a note. Of several at one place, in order of their ordinals, each
//                is taken when the thread comes to stand there again; gaps do not matter.
//   choice       the answer to question `ordinal`, from 0, of those that the thread asks after its
//                event n - 1 and before its event n, if it is of that kind. kCas: the event n
//                itself is the compare-exchange that fails; it has no ordinal.
// What lies before where a thread stands when the job begins (at a checkpoint) is left out: lower
// events, and at the same event preemptions with a lower ordinal than it has had there already.
// Events and questions that do not come about, and threads that are not created, are no failure.
//
// A thread that passes a whole fair slice is still preempted, unless an item does so there.
//
// Guide: abi::ScriptItem for each item, in any order. With a bad guide, or none: no items.
#ifndef CLEW_RUNTIME_STRATEGY_SCRIPT_H_
#define CLEW_RUNTIME_STRATEGY_SCRIPT_H_

#include "runtime/strategy/run.h"
#include "runtime/strategy/script_items.h"

namespace clew::rt {

class Script final : public Strategy {
 public:
  Script(const abi::Job& job, Run& run) : Strategy(kFollows), run_(run), items_(job) {}

  Clock next_decision(Clock now) override;
  Decision preempt(Clock event) override;
  Choice choose(const Question& question) override;
  void learn(const Occurrence& occurrence) override;

 private:
  Decision preempt_by(const ScriptItem& item);
  void note_no_effect(const char* what, const ScriptItem& item, const char* why);

  Run& run_;
  ScriptItems items_;
  ScriptThread* running_ = nullptr;  // the items of the thread that runs; null: none
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_SCRIPT_H_
