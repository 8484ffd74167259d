#include "host/explain/alignment.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace clew {
namespace {

std::uint64_t key(Instance at) { return std::uint64_t{at.step} << 8 | at.instruction; }

}  // namespace

void see_flow(const RunTrace& run, FlowGraphs& graphs) {
  for (std::size_t thread = 0; thread < run.thread_count(); ++thread) {
    std::unordered_map<FrameIndex, StepIndex> last;  // step of each frame
    for (const StepIndex at : run.thread(thread)) {
      const FrameIndex frame = run.steps()[at].frame;
      const auto [before, first] = last.try_emplace(frame, at);
      if (!first) {
        const StepIndex from = before->second;
        const Instruction& end = run.code(from)[run.steps()[from].executed - 1u];
        const std::uint64_t to = run.address(at);
        if (end.flow == Flow::kIndirectJump || (end.is_call() && to != end.next()))
          graphs.see(end.address, to);
        before->second = at;
      }
    }
  }
}

// Two cursors, one in each run of a thread.
struct Alignment::Walk {
  const Alignment& of;
  std::array<const std::vector<StepIndex>*, 2> lists;
  std::array<Cursor, 2> at;
  std::array<Instance, 2> last;  // the last aligned instances

  [[nodiscard]] bool ended(int side) const { return at[side].position >= lists[side]->size(); }
  [[nodiscard]] StepIndex step(int side) const { return (*lists[side])[at[side].position]; }
  [[nodiscard]] const BlockStep& info(int side) const {
    return of.runs_[side]->steps()[step(side)];
  }
  [[nodiscard]] std::uint64_t address(int side) const {
    return of.runs_[side]->code(step(side))[at[side].instruction].address;
  }
  void advance(int side, std::uint32_t count) {
    at[side].instruction += count;
    if (at[side].instruction < info(side).executed) return;
    ++at[side].position;
    at[side].instruction = 0;
  }
  // The next place of the frame that has the address (0: any), while the frame is there. Nothing: the
  // frame or the run ends first; then the cursor is behind that.
  bool seek(int side, FrameIndex frame, std::uint64_t address) {
    for (; !ended(side); at[side] = {at[side].position + 1, 0}) {
      const FrameIndex here = info(side).frame;
      if (here < frame) return false;
      if (here != frame) continue;
      if (address == 0) return true;
      const auto& code = of.runs_[side]->code(step(side));
      for (std::uint32_t i = at[side].instruction; i < info(side).executed; ++i)
        if (code[i].address == address) {
          at[side].instruction = i;
          return true;
        }
    }
    return false;
  }
};

Alignment::Alignment(const RunTrace& failing, const RunTrace& passing,
                     const Parties& failing_parties, const Parties& passing_parties,
                     const std::vector<ThreadPair>& threads, FlowGraphs& graphs)
    : runs_{&failing, &passing}, parties_{&failing_parties, &passing_parties}, graphs_(graphs) {
  align_threads(threads);
  align_by_content(threads);
}

void Alignment::align_threads(const std::vector<ThreadPair>& threads) {
  segments_.clear();
  for (const WhichRun side : {kFailing, kPassing}) {
    first_segment_[side].assign(run(side).steps().size(), kNoSegment);
    parts_[side].clear();
    cut_from_[side].clear();
  }
  for (const ThreadPair& pair : threads) align(pair);
}

// What was allocated where is known when threads are aligned by their creation: that tells tasks apart.
void Alignment::align_by_content(const std::vector<ThreadPair>& threads) {
  moved_ = find_moved_work(run(kFailing), run(kPassing), threads,
                           [&](Instance made) { return counterpart(kPassing, made); });
  if (moved_.empty()) return;
  set_tasks();
  align_threads(threads);
  for (const auto& pair : moved_.pairs)
    align(steps_of(kFailing, pair[kFailing]), steps_of(kPassing, pair[kPassing]));
}

void Alignment::set_tasks() {
  for (const WhichRun side : {kFailing, kPassing}) {
    auto& tasks = tasks_[side];
    tasks.assign(run(side).frames().size(), 0);
    const auto pairs = static_cast<std::uint32_t>(moved_.pairs.size());
    for (std::uint32_t i = 0; i < pairs; ++i) tasks[moved_.pairs[i][side].frame] = i + 1;
    for (std::uint32_t i = 0; i < moved_.alone[side].size(); ++i)
      tasks[moved_.alone[side][i].frame] = pairs + i + 1;
    for (FrameIndex i = 0; i < tasks.size(); ++i)
      if (const FrameIndex parent = run(side).frames()[i].parent;
          tasks[i] == 0 && parent != kNoFrame)
        tasks[i] = tasks[parent];
  }
}

std::uint32_t Alignment::task_number(WhichRun side, StepIndex step) const {
  const FrameIndex frame = run(side).steps()[step].frame;
  return tasks_[side].empty() || frame == kNoFrame ? 0 : tasks_[side][frame];
}

const WorkItem* Alignment::task(WhichRun side, StepIndex step) const {
  const std::uint32_t number = task_number(side, step);
  return number == 0 || number > moved_.pairs.size() ? nullptr : &moved_.pairs[number - 1][side];
}

Alignment::StepList Alignment::without_tasks(WhichRun side, StepList steps) const {
  std::erase_if(steps, [&](StepIndex step) { return task_number(side, step) != 0; });
  return steps;
}

Alignment::StepList Alignment::steps_of(WhichRun side, const WorkItem& item) const {
  StepList steps;
  const TraceFrame& frame = run(side).frames()[item.frame];
  const auto& list = run(side).thread(frame.thread);
  const PartyId party = parties_[side]->of(frame.first);
  for (std::size_t i = run(side).position(frame.first); i < list.size() && list[i] < item.end; ++i)
    if (parties_[side]->of(list[i]) == party) steps.push_back(list[i]);
  return steps;
}

std::uint64_t Alignment::unit(WhichRun side, StepIndex step) const {
  constexpr std::uint64_t kTasks = std::uint64_t{1} << 32;
  const std::uint32_t number = task_number(side, step);
  // What only one run does is cut off with the thread that does it.
  return number == 0 || number > moved_.pairs.size() ? parties_[side]->of(step) : kTasks + number;
}

void Alignment::align(const ThreadPair& pair) {
  const std::array<std::uint16_t, 2> threads = {pair.first, pair.second};
  if (!parties_[kFailing]->has_handlers() && !parties_[kPassing]->has_handlers()) {
    const StepList& failing = run(kFailing).thread(threads[kFailing]);
    const StepList& passing = run(kPassing).thread(threads[kPassing]);
    if (moved_.empty()) return align(failing, passing);
    return align(without_tasks(kFailing, failing), without_tasks(kPassing, passing));
  }
  std::array<std::vector<StepList>, 2> lists;  // the thread's own, then those of its handlers
  for (const WhichRun side : {kFailing, kPassing}) {
    lists[side] = parties_[side]->split(threads[side]);
    if (!moved_.empty()) lists[side][0] = without_tasks(side, std::move(lists[side][0]));
  }
  for (std::size_t i = 0; i < std::min(lists[kFailing].size(), lists[kPassing].size()); ++i)
    align(lists[kFailing][i], lists[kPassing][i]);
}

void Alignment::align(const StepList& failing, const StepList& passing) {
  Walk walk{*this, {&failing, &passing}, {}, {}};
  while (!walk.ended(kFailing) && !walk.ended(kPassing)) {
    if (walk.address(kFailing) != walk.address(kPassing)) {
      if (!walk.last[kFailing].valid() || !meet(walk)) return;
      continue;
    }
    Segment segment{};
    const auto left = [&](int side) {
      return walk.info(side).executed - walk.at[side].instruction;
    };
    const std::uint32_t count = std::min(left(kFailing), left(kPassing));
    segment.count = static_cast<std::uint8_t>(count);
    for (const WhichRun side : {kFailing, kPassing}) {
      const StepIndex step = walk.step(side);
      segment.step[side] = step;
      segment.instruction[side] = static_cast<std::uint8_t>(walk.at[side].instruction);
      auto& first = first_segment_[side][step];
      if (first == kNoSegment) first = static_cast<std::uint32_t>(segments_.size());
      walk.last[side] = {step, walk.at[side].instruction + count - 1};
      walk.advance(side, count);
    }
    segments_.push_back(segment);
  }
  // In step up to where one of them ends.
  for (const WhichRun side : {kFailing, kPassing})
    if (!walk.ended(side)) cut(side, walk.step(side));
}

void Alignment::cut(WhichRun side, StepIndex from) {
  cut_from_[side].try_emplace(unit(side, from), from);
}

// The runs have parted behind walk.last: moves both to where they meet again. False: they do not.
bool Alignment::meet(Walk& walk) {
  std::array<FrameIndex, 2> frame;
  std::uint64_t branch = 0;
  for (const WhichRun side : {kFailing, kPassing}) {
    frame[side] = run(side).steps()[walk.last[side].step].frame;
    branch = run(side).instruction(walk.last[side]).address;
    parts_[side][key(walk.last[side])] = true;
  }
  // What was called is another function in each run: both come back to the caller.
  const Instruction& last = run(kFailing).instruction(walk.last[kFailing]);
  if (last.is_call()) {
    const bool a = walk.seek(kFailing, frame[kFailing], 0);
    const bool b = walk.seek(kPassing, frame[kPassing], 0);
    if (a && b && walk.address(kFailing) == walk.address(kPassing)) return true;
  }
  while (true) {
    const FlowGraph* graph = graphs_.at(branch);
    const std::uint64_t meeting = graph == nullptr ? 0 : graph->meets_at(branch);
    std::array<bool, 2> met{};
    if (meeting != 0)
      for (const WhichRun side : {kFailing, kPassing})
        met[side] = walk.seek(side, frame[side], meeting);
    if (met[kFailing] && met[kPassing]) return true;
    // The end of the function, or the run's.
    for (const WhichRun side : {kFailing, kPassing}) {
      const FrameIndex parent = run(side).frames()[frame[side]].parent;
      const StepIndex call = run(side).frames()[frame[side]].call;
      if (!met[side] && walk.ended(side)) {
        // The other continues: up to the meeting place by another way, behind it because it could.
        const WhichRun rest = other(side);
        if (!met[rest] && !walk.ended(rest)) {
          const FrameIndex outer = run(rest).frames()[frame[rest]].parent;
          if (outer != kNoFrame) walk.seek(rest, outer, 0);
        }
        if (!walk.ended(rest)) cut(rest, walk.step(rest));
        return false;
      }
      if (parent == kNoFrame || call == kNoStep) return false;
    }
    for (const WhichRun side : {kFailing, kPassing}) {
      const StepIndex call = run(side).frames()[frame[side]].call;
      branch = run(side).code(call)[run(side).steps()[call].executed - 1u].address;
      frame[side] = run(side).frames()[frame[side]].parent;
      met[side] = walk.seek(side, frame[side], 0);
    }
    if (met[kFailing] && met[kPassing] && walk.address(kFailing) == walk.address(kPassing))
      return true;
  }
}

Instance Alignment::counterpart(WhichRun side, Instance at) const {
  std::uint32_t index = first_segment_[side][at.step];
  for (; index < segments_.size() && segments_[index].step[side] == at.step; ++index) {
    const Segment& segment = segments_[index];
    if (at.instruction < segment.instruction[side] ||
        at.instruction >= segment.instruction[side] + segment.count)
      continue;
    const WhichRun there = other(side);
    return {segment.step[there],
            at.instruction - segment.instruction[side] + segment.instruction[there]};
  }
  return {};
}

bool Alignment::parts(WhichRun side, Instance at) const { return parts_[side].contains(key(at)); }

bool Alignment::cut_off(WhichRun side, StepIndex step) const {
  const auto from = cut_from_[side].find(unit(side, step));
  return from != cut_from_[side].end() && step >= from->second;
}

Alignment::Share Alignment::share(WhichRun side, std::size_t thread) const {
  Share share;
  for (const StepIndex step : run(side).thread(thread)) {
    share.all += run(side).steps()[step].executed;
    std::uint32_t index = first_segment_[side][step];
    for (; index < segments_.size() && segments_[index].step[side] == step; ++index)
      share.aligned += segments_[index].count;
  }
  return share;
}

}  // namespace clew
