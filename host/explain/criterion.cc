#include "host/explain/criterion.h"

#include <algorithm>
#include <ranges>

namespace clew {
namespace {

bool ends_process(std::string_view name) {
  return name == "exit" || name == "_exit" || name == "_Exit" || name == "quick_exit";
}

Instance last_of(const RunTrace& run, StepIndex step) {
  return {step, run.steps()[step].executed - 1u};
}

std::uint16_t thread_of(const TracedPair& pair, const std::string& id) {
  const auto& threads = pair.run(kFailing).threads();
  const auto found = std::ranges::find(threads, id);
  return found == threads.end() ? 0 : static_cast<std::uint16_t>(found - threads.begin());
}

// The last step of the thread, hidden or not; kNoStep: none.
StepIndex last_step(const RunTrace& run, std::uint16_t thread) {
  for (StepIndex at = static_cast<StepIndex>(run.steps().size()); at-- > 0;)
    if (run.steps()[at].thread == thread) return at;
  return kNoStep;
}

// What the instruction that faulted made its address of.
void add_crash(TracedPair& pair, StepIndex step, std::vector<NodeId>& points) {
  const RunTrace& run = pair.trace(kFailing);
  const BlockStep& info = run.steps()[step];
  if (info.executed >= run.code(step).size()) return;
  const Instruction& code = run.code(step)[info.executed];
  Instance at{step, info.executed};
  if (info.executed == 0) {
    // The first of its block: what the thread did before is in another step.
    const auto& list = run.thread(info.thread);
    if (list.empty()) return;
    at = {list.back(), run.steps()[list.back()].executed};
  }
  for (int reg = 0; reg < kGeneralRegisters; ++reg)
    if ((code.address_reads & bit_of(reg)) != 0)
      points.push_back(node_of(pair.run(kFailing).definition(at, reg)));
}

// The exit status: what main returned, or what exit() was given.
void add_status(TracedPair& pair, std::vector<NodeId>& points) {
  const RunTrace& run = pair.trace(kFailing);
  constexpr int kRdi = 7;
  for (const OutsideCall& call : run.outside_calls()) {
    if (!ends_process(call.name) || call.back != kNoStep) continue;
    const Instance at = last_of(run, call.step);
    points.push_back(node_of(pair.run(kFailing).definition(at, kRdi)));
    points.push_back(node_of(at));
  }
  if (!points.empty() || run.thread_count() == 0 || run.thread(0).empty()) return;
  // Before main come constructors, behind it exit handlers.
  FrameIndex main = run.steps()[run.thread(0).front()].frame;
  for (FrameIndex i = 0; i < run.frames().size(); ++i)
    if (run.frames()[i].thread == 0 && pair.code().symbol(run.frames()[i].entry) == "main") {
      main = i;
      break;
    }
  for (const StepIndex step : std::views::reverse(run.thread(0))) {
    const Instance end = last_of(run, step);
    if (run.steps()[step].frame != main || run.instruction(end).flow != Flow::kReturn) continue;
    points.push_back(node_of(pair.run(kFailing).definition(end, kRax)));
    return;
  }
}

// A call of the runtime that the thread did not come back from: what it was given.
void add_argument(TracedPair& pair, std::uint16_t thread, std::vector<NodeId>& points) {
  constexpr int kRdi = 7;
  const RunTrace& run = pair.trace(kFailing);
  if (thread >= run.thread_count() || run.thread(thread).empty()) return;
  const StepIndex step = run.thread(thread).back();
  const OutsideCall* call = run.outside_call(step);
  if (call == nullptr || call->back != kNoStep) return;
  points.push_back(node_of(pair.run(kFailing).definition(last_of(run, step), kRdi)));
}

// A function of a library's that has crashed: what the user's code has given it. In its first four arguments pointers are passed mostly.
void add_arguments(TracedPair& pair, Instance call, std::vector<NodeId>& points) {
  constexpr int kArguments[] = {7, 6, 2, 1};  // rdi, rsi, rdx, rcx
  const RunTrace& run = pair.trace(kFailing);
  if (!run.instruction(call).is_call()) return;
  for (const int reg : kArguments) {
    const Instance made = pair.run(kFailing).definition(call, reg);
    // Of this function's call, and not left there by an earlier one.
    if (made.valid() && made.step < RunTrace::kFromOutside &&
        run.steps()[made.step].frame == run.steps()[call.step].frame)
      points.push_back(node_of(made));
  }
}

}  // namespace

std::vector<NodeId> failure_points(TracedPair& pair, const Failure& failure) {
  std::vector<NodeId> points;
  const RunTrace& run = pair.trace(kFailing);
  if (failure.kind == FailureKind::kExit) add_status(pair, points);
  const std::uint16_t thread = thread_of(pair, failure.thread);
  const StepIndex last = last_step(run, thread);
  if (run.fault().valid())
    points.push_back(node_of(run.fault()));
  else if (last != kNoStep && failure.kind == FailureKind::kSignal)
    add_crash(pair, last, points);
  if (failure.kind == FailureKind::kSignal) add_argument(pair, thread, points);
  // The last that the thread did in the user's own code.
  if (thread < run.thread_count() && !run.thread(thread).empty()) {
    const Instance user = pair.user_instance(kFailing, last_of(run, run.thread(thread).back()));
    if (user.valid() && failure.kind == FailureKind::kSignal) add_arguments(pair, user, points);
    if (user.valid()) points.push_back(node_of(user));
    // What throws, or ends the program, may be a library's.
    points.push_back(node_of(last_of(run, run.thread(thread).back())));
  }
  std::erase_if(points, is_unseen);
  return points;
}

}  // namespace clew
