#include "host/explain/traced_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "clew_abi/control.h"
#include "host/observe/traced_replay.h"
#include "host/schedule/stream.h"
#include "host/seconds.h"
#include "host/time_limit.h"

namespace clew {
namespace {

// Of each run: about 100 million instructions.
constexpr std::uint64_t kMostTraceBytes = std::uint64_t{1} << 30;

Result<RunResult> trace_one(const Replay& replay, RunObserver& observer, RunTrace& trace,
                            std::unique_ptr<CodeMap>& code) {
  Replay quiet = replay;
  quiet.plan.output = OutputMode::kCaptureOnly;
  // With a query comes where code lies.
  quiet.plan.queries = {replay.recording.meta.summary.clock};
  // Every point takes the same side in both runs, the one that calls the runtime.
  quiet.plan.flags |= abi::kFlagEveryPoint;
  CLEW_TRY(auto traced, run_traced_replay(quiet, TraceDetail::kCalls, observer, trace));
  const std::string name = fmt::format("recording {}", replay.recording.number);
  if (traced.run.interrupted_by != 0) return std::move(traced.run);
  if (!traced.differences.empty())
    return fail(ErrorCode::kBadInput, fmt::format("the traced run departs from {}: {}", name,
                                                  traced.differences.front()));
  if (!traced.whole)
    return fail(ErrorCode::kBadInput,
                fmt::format("the program has overwritten the trace of {}", name));
  if (trace.too_long()) return std::move(traced.run);
  if (code == nullptr) code = std::make_unique<CodeMap>(traced.run.reports.maps);
  if (traced.run.summary.exit_status == 128 + SIGFPE) trace.ended_by_computing();
  trace.finish(std::move(traced.blocks), *code);
  return std::move(traced.run);
}

// The event up to which both schedules are the same; 0: not known, or none.
std::uint64_t shared_prefix(const Replay& failing, const Replay& passing) {
  const auto one = to_schedule(failing.plan.follow);
  const auto two = to_schedule(passing.plan.follow);
  if (!one || !two) return 0;
  std::uint64_t first = UINT64_MAX;
  const auto compare = [&](const auto& a, const auto& b) {
    const auto [x, y] = std::ranges::mismatch(a, b);
    if (x != a.end()) first = std::min(first, x->clock.value);
    if (y != b.end()) first = std::min(first, y->clock.value);
  };
  compare(one->switches, two->switches);
  compare(one->choices, two->choices);
  return first == UINT64_MAX ? 0 : first - 1;
}

Error too_long(const Replay& replay, std::uint64_t from) {
  const std::string what =
      from == 0 ? "its trace"
                : fmt::format("its trace from clock {} on, where both runs part,", from);
  return {ErrorCode::kBadInput,
          fmt::format("recording {} is too long to be explained: {} needs more than {} MB",
                      replay.recording.number, what, kMostTraceBytes >> 20),
          "a shorter run of the same program may fail in the same way"};
}

Result<void> check_time() {
  if (!TimeLimit::is_over()) return {};
  return fail(ErrorCode::kBadInput, "the time was up before the two runs were compared",
              "give it more time: --time");
}

}  // namespace

std::vector<std::string> thread_ids(const RunResult& run, const RunTrace& trace) {
  std::vector<std::string> ids;
  for (ThreadIndex i = 0; i < std::max(run.reports.threads.size(), trace.thread_count()); ++i)
    ids.push_back(run.thread_id(i));
  return ids;
}

std::vector<Alignment::ThreadPair> same_threads(const std::vector<std::string>& failing_ids,
                                                const RunTrace& failing,
                                                const std::vector<std::string>& passing_ids,
                                                const RunTrace& passing) {
  std::vector<Alignment::ThreadPair> threads;
  for (std::size_t i = 0; i < failing.thread_count(); ++i) {
    const auto same = std::ranges::find(passing_ids, failing_ids[i]);
    const auto there = static_cast<std::size_t>(same - passing_ids.begin());
    if (there < passing.thread_count())
      threads.emplace_back(static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(there));
  }
  return threads;
}

Result<std::unique_ptr<TracedPair>> TracedPair::trace(const Replay& failing, const Replay& passing,
                                                      RunObserver& observer) {
  std::unique_ptr<TracedPair> pair(new TracedPair);
  // What both runs share is left out only if there is not room for all of it.
  for (std::uint64_t from : {std::uint64_t{0}, shared_prefix(failing, passing)}) {
    const bool last = from != 0 || shared_prefix(failing, passing) == 0;
    bool whole = true;
    for (const WhichRun side : {kFailing, kPassing}) {
      const Replay& replay = side == kFailing ? failing : passing;
      pair->traces_[side] = std::make_unique<RunTrace>(kMostTraceBytes);
      pair->traces_[side]->begin_at(from);
      const double started = seconds_now();
      CLEW_TRY(pair->results_[side],
               trace_one(replay, observer, *pair->traces_[side], pair->code_));
      pair->seconds_[side] = seconds_now() - started;
      if (pair->results_[side].interrupted_by != 0) return pair;
      CLEW_CHECK_OK(check_time());
      whole = !pair->traces_[side]->too_long();
      if (!whole && last) return std::unexpected(too_long(replay, from));
      if (!whole) break;
      pair->symbols_[side] = std::make_unique<Symbolizer>(pair->results_[side].reports);
    }
    if (whole) break;
  }
  pair->graphs_ = std::make_unique<FlowGraphs>(*pair->code_);
  std::array<std::vector<std::string>, 2> ids;
  for (const WhichRun side : {kFailing, kPassing}) {
    CLEW_CHECK_OK(check_time());
    see_flow(*pair->traces_[side], *pair->graphs_);
    ids[side] = thread_ids(pair->results_[side], *pair->traces_[side]);
  }
  for (const WhichRun side : {kFailing, kPassing})
    pair->parties_[side] = std::make_unique<Parties>(*pair->traces_[side], *pair->code_);
  CLEW_CHECK_OK(check_time());
  pair->alignment_ =
      std::make_unique<Alignment>(*pair->traces_[kFailing], *pair->traces_[kPassing],
                                  *pair->parties_[kFailing], *pair->parties_[kPassing],
                                  same_threads(ids[kFailing], *pair->traces_[kFailing],
                                               ids[kPassing], *pair->traces_[kPassing]),
                                  *pair->graphs_);
  for (const WhichRun side : {kFailing, kPassing}) {
    CLEW_CHECK_OK(check_time());
    pair->dependences_[side] =
        std::make_unique<Dependences>(*pair->traces_[side], ids[side], *pair->graphs_);
  }
  CLEW_CHECK_OK(check_time());
  pair->comparison_ = std::make_unique<Comparison>(
      *pair->dependences_[kFailing], *pair->dependences_[kPassing], *pair->alignment_);
  return pair;
}

const SyncOrder& TracedPair::order(WhichRun side, OrderedBy by) {
  auto& order = orders_[static_cast<std::size_t>(by)][side];
  if (order == nullptr) order = std::make_unique<SyncOrder>(*dependences_[side], *code_, by);
  return *order;
}

const CodePlace& TracedPair::place_of_code(std::uint64_t address) {
  const auto [known, added] = places_.try_emplace(address);
  if (!added) return known->second;
  const auto frames = symbols_[kFailing]->frames({address});
  const SourceFrame* frame = Symbolizer::user_frame(frames);
  if (frame == nullptr) return known->second;
  const bool user = is_user_code(*frame);
  known->second = {frame->file, frame->line, frame->function, user, user && frame == frames.data()};
  for (const SourceFrame* outer = frame + 1; outer < frames.data() + frames.size(); ++outer)
    if (is_user_code(*outer) && outer->line != 0) {
      known->second.outer_file = outer->file;
      known->second.outer_line = outer->line;
      known->second.outer_function = outer->function;
      break;
    }
  return known->second;
}

Instance TracedPair::user_instance(WhichRun side, Instance at) {
  const RunTrace& of = trace(side);
  while (at.valid() && at.step < RunTrace::kFromOutside) {
    if (place_of_code(of.instruction(at).address).user) return with_line(side, at);
    const FrameIndex frame = of.steps()[at.step].frame;
    const StepIndex call = frame == kNoFrame ? kNoStep : of.frames()[frame].call;
    if (call == kNoStep) return {};
    at = {call, of.steps()[call].executed - 1u};
  }
  return {};
}

// Code that compilers add has no line: the one before it in the block, or behind it, is as good.
Instance TracedPair::with_line(WhichRun side, Instance at) {
  const auto& code = trace(side).code(at.step);
  const auto has_line = [&](std::uint32_t i) {
    const CodePlace& place = place_of_code(code[i].address);
    return place.user && place.line != 0;
  };
  for (std::uint32_t i = at.instruction + 1; i-- > 0;)
    if (has_line(i)) return {at.step, i};
  for (std::uint32_t i = at.instruction; i < code.size(); ++i)
    if (has_line(i)) return {at.step, i};
  return at;
}

const CodePlace& TracedPair::place(WhichRun side, Instance at) {
  static const CodePlace kNone;
  const Instance user = user_instance(side, at);
  return user.valid() ? place_of_code(trace(side).instruction(user).address) : kNone;
}

}  // namespace clew
