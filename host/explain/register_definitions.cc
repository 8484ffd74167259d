#include "host/explain/register_definitions.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace clew {
namespace {

// Steps between what is written down: about 8 bytes for each step of a run.
constexpr std::uint32_t kApart = 64;

// The code of a yield point: it gives all registers back.
bool is_point(std::string_view name) { return name.starts_with("__clew_"); }

}  // namespace

// Where a thread is in the pass over the run.
struct RegisterDefinitions::ThreadWalk {
  struct Frame {
    FrameIndex frame = kNoFrame;
    std::uint32_t since = 0;  // steps that a walk back looks at before it comes to something noted
    Preserved preserved;
  };
  std::vector<Frame> frames;  // the calls that the thread is in
  All all;
  std::uint32_t position = 0;
};

int RegisterDefinitions::preserved_number(int reg) {
  return std::popcount(kPreserved & (bit_of(reg) - 1));
}

RegisterDefinitions::RegisterDefinitions(const RunTrace& run) : run_(run) {
  static_assert(std::popcount(kPreserved) == kPreservedCount);
  has_preserved_.resize(run.steps().size());
  calls_outside_.resize(run.steps().size());
  for (const OutsideCall& call : run.outside_calls())
    calls_outside_[call.step] = !is_point(call.name);
  std::vector<ThreadWalk> threads(run.thread_count());
  all_.resize(run.thread_count());
  for (StepIndex at = 0; at < run.steps().size(); ++at) {
    const BlockStep& step = run.steps()[at];
    if (step.block >= writes_.size()) writes_.resize(step.block + 1u);
    if (writes_[step.block] == 0)
      for (const Instruction& one : run.code(at)) writes_[step.block] |= one.writes;
    if (step.hidden) continue;
    ThreadWalk& thread = threads[step.thread];
    if (thread.position++ % kApart == 0) all_[step.thread].push_back(thread.all);
    walk(thread, at, calls_outside_[at]);
  }
}

void RegisterDefinitions::note_preserved(ThreadWalk& thread, StepIndex at) {
  ThreadWalk::Frame& frame = thread.frames.back();
  if (frame.since++ < kApart) return;
  frame.since = 0;
  has_preserved_[at] = true;
  preserved_.push_back({at, frame.preserved});
}

void RegisterDefinitions::walk(ThreadWalk& thread, StepIndex at, bool calls_outside) {
  const BlockStep& step = run_.steps()[at];
  auto& frames = thread.frames;
  // Frames have ascending numbers: one that is left never runs again.
  while (!frames.empty() && frames.back().frame > step.frame) frames.pop_back();
  if (frames.empty()) {
    frames.push_back({step.frame, 0, {}});
  } else if (frames.back().frame < step.frame) {
    ThreadWalk::Frame called = frames.back();
    called.frame = step.frame;
    frames.push_back(called);
  }
  note_preserved(thread, at);
  const auto& code = run_.code(at);
  Preserved& preserved = frames.back().preserved;
  for (std::uint32_t i = 0; i < step.executed; ++i)
    for (RegisterSet left = code[i].writes; left != 0; left &= left - 1) {
      const int reg = std::countr_zero(left);
      if ((kPreserved & bit_of(reg)) != 0)
        preserved[static_cast<std::size_t>(preserved_number(reg))] = {at, i};
      else
        thread.all[static_cast<std::size_t>(reg)] = {at, i};
    }
  if (calls_outside) thread.all.fill({at, step.executed - 1u});
}

Instance RegisterDefinitions::before(Instance at, int reg) const {
  return (kPreserved & bit_of(reg)) != 0 ? find_preserved(at, reg) : find_other(at, reg);
}

Instance RegisterDefinitions::in_step(StepIndex step, std::uint32_t end, RegisterSet wanted) const {
  if ((writes_[run_.steps()[step].block] & wanted) == 0) return {};
  const auto& code = run_.code(step);
  for (std::uint32_t i = end; i-- > 0;)
    if ((code[i].writes & wanted) != 0) return {step, i};
  return {};
}

Instance RegisterDefinitions::find_other(Instance at, int reg) const {
  const std::uint16_t thread = run_.steps()[at.step].thread;
  const auto& list = run_.thread(thread);
  std::uint32_t position = run_.position(at.step);
  std::uint32_t end = at.instruction;
  while (true) {
    const StepIndex step = list[position];
    if (const Instance found = in_step(step, end, bit_of(reg)); found.valid()) return found;
    if (position % kApart == 0)
      return all_[thread][position / kApart][static_cast<std::size_t>(reg)];
    const StepIndex before = list[--position];
    end = run_.steps()[before].executed;
    if (calls_outside_[before]) return {before, end - 1};
  }
}

Instance RegisterDefinitions::find_preserved(Instance at, int reg) const {
  const auto& list = run_.thread(run_.steps()[at.step].thread);
  StepIndex step = at.step;
  std::uint32_t end = at.instruction;
  FrameIndex frame = run_.steps()[at.step].frame;
  while (true) {
    if (const Instance found = in_step(step, end, bit_of(reg)); found.valid()) return found;
    if (has_preserved_[step]) {
      const auto noted = std::ranges::lower_bound(preserved_, step, {}, &PreservedAt::step);
      return noted->before[static_cast<std::size_t>(preserved_number(reg))];
    }
    const std::uint32_t position = run_.position(step);
    if (position == 0) return {};
    step = list[position - 1];
    if (run_.steps()[step].frame > frame) {
      // A function that was called gives it back as it was.
      FrameIndex called = run_.steps()[step].frame;
      while (called != kNoFrame && run_.frames()[called].parent != frame)
        called = run_.frames()[called].parent;
      if (called == kNoFrame || run_.frames()[called].call == kNoStep) return {};
      step = run_.frames()[called].call;
    }
    frame = std::min(frame, run_.steps()[step].frame);
    end = run_.steps()[step].executed;
  }
}

}  // namespace clew
