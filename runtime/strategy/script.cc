#include "runtime/strategy/script.h"

#include <cstdio>
#include <initializer_list>

namespace clew::rt {

void Script::note_no_effect(const char* what, const ScriptItem& item, const char* why) {
  char id[64];
  run_.name(run_.running().index, id, sizeof id);
  char note[192];
  snprintf(note, sizeof note, "the %s of %s before its event %llu had no effect: %s", what, id,
           static_cast<unsigned long long>(item.own), why);
  run_.note(note);
}

// A thread stands where it stood when the job began until it runs.
void Script::learn(const Occurrence& occurrence) {
  if (occurrence.kind != Occurrence::Kind::kSwitched) return;
  running_ = items_.of(occurrence.thread.key);
  if (running_ == nullptr || running_->begun) return;
  running_->begun = true;
  const std::uint64_t own = run_.own_number(occurrence.event);
  ScriptLane& lane = running_->preemptions;
  lane.skip_before(own);
  const std::uint32_t had = run_.preemptions_here();
  while (!lane.empty() && lane.next->own == own && lane.next->ordinal < had) ++lane.next;
}

Clock Script::next_decision(Clock now) {
  if (running_ == nullptr) return kNever;
  const std::uint64_t own = run_.own_number(now + 1);
  std::uint64_t nearest = kNever;
  for (ScriptLane* lane : {&running_->preemptions, &running_->cas_due}) {
    lane->skip_before(own);
    if (!lane->empty() && lane->next->own < nearest) nearest = lane->next->own;
  }
  const std::uint64_t distance = nearest - own;
  return distance < kNever - now - 1 ? now + 1 + distance : kNever;
}

Decision Script::preempt(Clock event) {
  if (running_ == nullptr) return {};
  const std::uint64_t own = run_.own_number(event);
  ScriptLane& lane = running_->preemptions;
  lane.skip_before(own);
  while (!lane.empty() && lane.next->own == own) {
    const ScriptItem& item = *lane.next++;
    std::uint32_t& number = run_.preemptions_here();
    if (number < item.ordinal) number = item.ordinal;
    const Decision decision = preempt_by(item);
    if (decision.kind != Decision::Kind::kStay) return decision;
    ++number;  // it counts as taken
  }
  return {};
}

Decision Script::preempt_by(const ScriptItem& item) {
  if (item.to == 0 && run_.others_can_run()) return {Decision::Kind::kNext};
  const ThreadIndex thread = item.to != 0 ? run_.find(item.to) : Run::kNoThread;
  const ThreadStatus status =
      thread != Run::kNoThread ? run_.status(thread) : ThreadStatus::kUnknown;
  if (status == ThreadStatus::kRunning) return {};
  if (status == ThreadStatus::kRunnable) return {Decision::Kind::kTo, thread};
  note_no_effect("preemption", item,
                 item.to == 0                       ? "no other thread can run"
                 : status == ThreadStatus::kUnknown ? "the other thread is not there"
                                                    : "the other thread is waiting");
  return {};
}

Choice Script::choose(const Question& question) {
  if (running_ == nullptr) return {};
  const bool by_event = question.kind == abi::ChoiceKind::kCas;
  ScriptLane& lane = by_event ? running_->cas : running_->choices;
  lane.skip_before(question.own_event);
  const auto stands_here = [&] { return !lane.empty() && lane.next->own == question.own_event; };
  while (!by_event && stands_here() && lane.next->ordinal < question.own_ordinal) ++lane.next;
  if (!stands_here() || (!by_event && lane.next->ordinal != question.own_ordinal)) return {};
  const ScriptItem& item = *lane.next++;
  if (item.kind != abi::script_kind(question.kind)) {
    note_no_effect("choice", item, "the question was another");
    return {};
  }
  if (!abi::names_thread(question.kind)) return Choice::position(1);
  const ThreadIndex thread = run_.find(item.to);
  return thread != Run::kNoThread ? Choice::thread(thread) : Choice{};
}

}  // namespace clew::rt
