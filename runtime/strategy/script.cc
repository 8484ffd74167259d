#include "runtime/strategy/script.h"

#include <cstdio>

#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

void note_no_effect(const char* what, const ScriptItem& item, const char* why) {
  char id[64];
  g_sched.format_id(g_sched.current->index, id, sizeof id);
  char note[192];
  snprintf(note, sizeof note, "the %s of %s before its event %llu had no effect: %s", what, id,
           static_cast<unsigned long long>(item.own), why);
  g_log.note(note);
}

}  // namespace

// A thread stands where it stood when the job began until it runs.
void Script::on_switch(Clock event) {
  const Fiber& fiber = *g_sched.current;
  running_ = items_.of(fiber.key);
  if (running_ == nullptr || running_->begun) return;
  running_->begun = true;
  const std::uint64_t own = g_sched.own_number(event);
  ScriptLane& lane = running_->preemptions;
  lane.skip_before(own);
  if (fiber.standing.own_event != own) return;
  while (!lane.empty() && lane.next->own == own && lane.next->ordinal < fiber.standing.preemptions)
    ++lane.next;
}

Clock Script::next_decision(Clock now) {
  if (running_ == nullptr) return kNever;
  const std::uint64_t own = g_sched.own_number(now + 1);
  std::uint64_t nearest = kNever;
  for (ScriptLane* lane : {&running_->preemptions, &running_->cas_due}) {
    lane->skip_before(own);
    if (!lane->empty() && lane->next->own < nearest) nearest = lane->next->own;
  }
  const std::uint64_t distance = nearest - own;
  return distance < kNever - now - 1 ? now + 1 + distance : kNever;
}

Decision Script::decide(Clock event) {
  if (running_ == nullptr) return {};
  const std::uint64_t own = g_sched.own_number(event);
  ScriptLane& lane = running_->preemptions;
  lane.skip_before(own);
  while (!lane.empty() && lane.next->own == own) {
    const ScriptItem& item = *lane.next++;
    std::uint32_t& number = g_sched.standing().preemptions;
    if (number < item.ordinal) number = item.ordinal;
    const Decision decision = preempt(item);
    if (decision.kind != Decision::Kind::kStay) return decision;
    ++number;  // it counts as taken
  }
  return {};
}

Decision Script::preempt(const ScriptItem& item) {
  if (item.to == 0 && g_sched.others_can_run()) return {Decision::Kind::kNext, nullptr};
  Fiber* fiber = item.to != 0 ? g_sched.find_by_key(item.to) : nullptr;
  if (fiber == g_sched.current) return {};
  const bool runnable = fiber != nullptr && (fiber->state == FiberState::kRunnable ||
                                             fiber->state == FiberState::kNotStarted);
  if (runnable) return {Decision::Kind::kTo, fiber};
  note_no_effect("preemption", item,
                 item.to == 0       ? "no other thread can run"
                 : fiber == nullptr ? "the other thread is not there"
                                    : "the other thread is waiting");
  return {};
}

const Fiber* Script::follow(abi::ChoiceKind kind, const Question& question) {
  if (running_ == nullptr) return nullptr;
  const bool by_event = kind == abi::ChoiceKind::kCas;
  ScriptLane& lane = by_event ? running_->cas : running_->choices;
  lane.skip_before(question.own_event);
  const auto stands_here = [&] { return !lane.empty() && lane.next->own == question.own_event; };
  while (!by_event && stands_here() && lane.next->ordinal < question.own_ordinal) ++lane.next;
  if (!stands_here() || (!by_event && lane.next->ordinal != question.own_ordinal)) return nullptr;
  const ScriptItem& item = *lane.next++;
  if (item.kind != 1 + static_cast<unsigned>(kind)) {
    note_no_effect("choice", item, "the question was another");
    return nullptr;
  }
  return abi::names_thread(kind) ? g_sched.find_by_key(item.to) : g_sched.current;
}

}  // namespace clew::rt
