#include "host/explain/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "host/explain/cause_event.h"

namespace clew {
namespace {

// The line of the file that the thread comes to behind the instance, in the same call; 0: it leaves the
// call; nothing: it comes to another file first.
std::optional<std::uint32_t> next_line(TracedPair& pair, WhichRun side, Instance at,
                                       std::string_view file) {
  const RunTrace& run = pair.trace(side);
  const auto& list = run.thread(run.steps()[at.step].thread);
  const FrameIndex frame = run.steps()[at.step].frame;
  for (std::size_t i = run.position(at.step) + 1u; i < list.size(); ++i) {
    const FrameIndex here = run.steps()[list[i]].frame;
    if (here < frame) return 0;
    if (here != frame) continue;
    for (std::uint32_t k = 0; k < run.steps()[list[i]].executed; ++k) {
      const CodePlace& place = pair.place_of_code(run.code(list[i])[k].address);
      if (place.line != 0) return place.file == file ? std::optional(place.line) : std::nullopt;
    }
  }
  return 0;
}

std::string called_name(TracedPair& pair, WhichRun side, Instance at) {
  const RunTrace& run = pair.trace(side);
  const auto& list = run.thread(run.steps()[at.step].thread);
  const std::size_t next = run.position(at.step) + 1u;
  if (next >= list.size()) return "";
  const FrameIndex frame = run.steps()[list[next]].frame;
  if (frame == kNoFrame || run.frames()[frame].call != at.step) return "";
  return pair.place_of_code(run.frames()[frame].entry).function;
}

BranchEnd end_behind(TracedPair& pair, Instance at) {
  constexpr std::size_t kMostSteps = 4;  // what an assertion passes to its report has no branches
  const RunTrace& run = pair.trace(kFailing);
  const auto& list = run.thread(run.steps()[at.step].thread);
  const std::size_t next = run.position(at.step) + 1u;
  for (std::size_t i = next; i < std::min(list.size(), next + kMostSteps); ++i) {
    if (run.steps()[list[i]].frame != run.steps()[at.step].frame) break;
    const Instruction& last = run.code(list[i]).back();
    if (!last.is_call()) continue;
    const std::string_view name = pair.code().called(last);
    if (name.starts_with("__assert")) return BranchEnd::kAssertion;
    if (name.starts_with("__asan_report_")) return BranchEnd::kSanitizer;
    break;
  }
  return BranchEnd::kNone;
}

class Teller {
 public:
  Teller(TracedPair& pair, Naming& naming) : pair_(pair), naming_(naming) {}

  std::vector<ToldStep> tell(const std::vector<PathNode>& path) {
    std::vector<PathNode> group;
    std::tuple<std::string, std::string, std::uint32_t, FrameIndex> current;
    for (const PathNode& node : path) {
      const Instance user = pair_.user_instance(node.side, instance_of(node.node));
      if (!user.valid()) continue;
      const RunTrace& run = pair_.trace(node.side);
      const CodePlace& place = pair_.place_of_code(run.instruction(user).address);
      const auto key =
          std::tuple(thread(node), place.file, place.line, frame_of_failing(node.side, user));
      if (place.line == 0) continue;
      if (!group.empty() && key != current) {
        finish(group);
        group.clear();
      }
      current = key;
      group.push_back(node);
    }
    if (!group.empty()) finish(group);
    tidy();
    return std::move(steps_);
  }

 private:
  static bool tells(const ToldStep& one) { return one.step.branch || !one.step.variable.empty(); }

  // What a line does in several pieces is one step, told by the last that has something to tell. A
  // line that only hands a value on is none.
  void tidy() {
    std::vector<ToldStep> kept;
    for (ToldStep& one : steps_) {
      const bool tells = Teller::tells(one);
      if (!kept.empty()) {
        StoryStep& before = kept.back().step;
        const bool same = before.thread == one.step.thread && before.at.line == one.step.at.line &&
                          before.at.file == one.step.at.file &&
                          before.only_failing == one.step.only_failing &&
                          before.only_passing == one.step.only_passing;
        if (same) {
          if (tells) before = std::move(one.step);
          kept.back().nodes.insert(kept.back().nodes.end(), one.nodes.begin(), one.nodes.end());
          continue;
        }
      }
      if (!tells && one.step.text.size() <= 2) continue;
      kept.push_back(std::move(one));
    }
    // In both runs, and nothing to tell: a value passes through.
    if (std::ranges::any_of(kept, &Teller::tells))
      std::erase_if(kept, [](const ToldStep& one) {
        return !tells(one) && !one.step.only_failing && !one.step.only_passing;
      });
    steps_ = std::move(kept);
  }

  std::string thread(const PathNode& node) const {
    const RunTrace& run = pair_.trace(node.side);
    return pair_.run(node.side).threads()[run.steps()[instance_of(node.node).step].thread];
  }

  // The call that it belongs to, as the failing run numbers it if it is there.
  FrameIndex frame_of_failing(WhichRun side, Instance at) const {
    const Instance there = side == kFailing ? at : pair_.alignment().counterpart(kPassing, at);
    if (there.valid()) return pair_.trace(kFailing).steps()[there.step].frame;
    return ~pair_.trace(side).steps()[at.step].frame;
  }

  std::array<Instance, 2> both(const PathNode& node) {
    std::array<Instance, 2> result;
    result[node.side] = instance_of(node.node);
    result[other(node.side)] = pair_.alignment().counterpart(node.side, instance_of(node.node));
    return result;
  }

  // How the step follows from the one before it.
  std::string reason(const PathNode& before, const PathNode& first) {
    if (before.side != first.side)
      return first.side == kPassing ? "which the passing run continues from"
                                    : "which the failing run continues from";
    for (const NodeDependence& one : pair_.comparison().dependences(first.side, first.node)) {
      if (one.on != before.node) continue;
      if (one.control) return "it runs because of the step before";
      return thread(before) == thread(first) ? "it uses the value of the step before"
                                             : "it reads what " + thread(before) + " has written";
    }
    return "it follows from the step before";
  }

  void finish(const std::vector<PathNode>& group) {
    ToldStep told;
    told.nodes = group;
    StoryStep& step = told.step;
    const PathNode& last = group.back();
    step.thread = thread(last);
    const CodePlace place = told_place(pair_, naming_, last.side, instance_of(last.node)).place;
    step.at = location(place);
    step.text = naming_.text(place);
    step.clock = pair_.trace(last.side).clock(instance_of(last.node).step);
    if (!steps_.empty()) step.because = reason(steps_.back().nodes.back(), group.front());
    const auto at = both(last);
    step.only_failing = !at[kPassing].valid();
    step.only_passing = !at[kFailing].valid();
    bool told_what = false;
    for (std::size_t i = group.size(); i-- > 0 && !told_what;)
      told_what = tell_branch(group[i], step);
    for (const bool writes : {true, false})
      for (std::size_t i = group.size(); i-- > 0 && !told_what;)
        told_what = tell_memory(group[i], writes, step);
    for (std::size_t i = group.size(); i-- > 0 && !told_what;)
      told_what = tell_register(group[i], step);
    steps_.push_back(std::move(told));
  }

  bool tell_branch(const PathNode& node, StoryStep& step) {
    const auto at = both(node);
    if (!at[kFailing].valid() || !pair_.alignment().parts(kFailing, at[kFailing])) return false;
    step.branch = true;
    // What follows from it may be of one run only; the branch itself is not.
    step.only_failing = !at[kPassing].valid();
    step.only_passing = false;
    const std::string& file = pair_.place(node.side, instance_of(node.node)).file;
    step.branch_end = end_behind(pair_, at[kFailing]);
    for (const WhichRun side : {kFailing, kPassing}) {
      std::string& to = side == kFailing ? step.failing : step.passing;
      if (!at[side].valid()) continue;
      if (const std::string function = called_name(pair_, side, at[side]); !function.empty()) {
        to = "calls " + function;
      } else if (const auto line = next_line(pair_, side, at[side], file); line && *line != 0) {
        to = fmt::format("goes to line {}", *line);
        (side == kFailing ? step.failing_line : step.passing_line) = *line;
      } else if (line) {
        to = "returns";
      } else {
        // A line of another file, in a library's template: that it parts here is all there is to tell.
        step.failing = step.passing = "";
        step.failing_line = step.passing_line = 0;
        break;
      }
    }
    return true;
  }

  bool tell_memory(const PathNode& node, bool writes, StoryStep& step) {
    const auto at = both(node);
    const RunTrace& run = pair_.trace(node.side);
    const Instance here = at[node.side];
    const auto [first, end] = run.accesses(here);
    for (std::uint32_t i = first; i < end; ++i) {
      const RecordedAccess& access = run.access(here.step, i);
      if (!access.has_value || (access.kind != AccessKind::kRead) != writes) continue;
      const auto name =
          naming_.memory(node.side, here, run.access_address(here.step, i), access.size);
      // A place in a library's table is nothing to tell.
      if (!name || name->made_up || name->name.empty() || name->name.contains('+')) continue;
      step.variable = name->name;
      // What it leads to in this line may be of one run only; the access itself is not.
      step.only_failing = !at[kPassing].valid();
      step.only_passing = !at[kFailing].valid();
      for (const WhichRun side : {kFailing, kPassing}) {
        if (!at[side].valid()) continue;
        const std::uint32_t index = pair_.trace(side).accesses(at[side]).first + (i - first);
        std::string& text = side == kFailing ? step.failing : step.passing;
        text = naming_.value(side, at[side], pair_.trace(side).access_value(at[side].step, index),
                             access.size, &*name);
      }
      return true;
    }
    return false;
  }

  bool tell_register(const PathNode& node, StoryStep& step) {
    const RunTrace& run = pair_.trace(node.side);
    const Instance at = instance_of(node.node);
    const RegisterSet writes = run.instruction(at).writes;
    for (int reg = 0; reg < kGeneralRegisters; ++reg) {
      if ((writes & bit_of(reg)) == 0) continue;
      if (const auto name = naming_.in_register(node.side, at, reg)) {
        step.variable = name->name;
        return true;
      }
    }
    return false;
  }

  TracedPair& pair_;
  Naming& naming_;
  std::vector<ToldStep> steps_;
};

}  // namespace

std::vector<ToldStep> tell(TracedPair& pair, Naming& naming, const std::vector<PathNode>& path) {
  return Teller(pair, naming).tell(path);
}

void fold(std::vector<ToldStep>& steps, std::size_t most) {
  if (steps.size() <= most) return;
  const auto same_function = [](const StoryStep& a, const StoryStep& b) {
    return a.thread == b.thread && a.at.function == b.at.function && a.at.file == b.at.file;
  };
  // What only one of the runs comes to says the least: a branch that leads there, or a value, tells it.
  const auto says_little = [](const StoryStep& step) {
    return !step.branch && step.sync == SyncEvent::kNone && step.variable.empty();
  };
  std::size_t shown = steps.size();
  for (std::size_t i = 1; i + 1 < steps.size() && shown > most; ++i) {
    if (!says_little(steps[i].step)) continue;
    steps[i].step.main = false;
    --shown;
  }
  for (std::size_t i = 1; i + 1 < steps.size() && shown > most; ++i) {
    if (!steps[i].step.main) continue;
    const bool inner = same_function(steps[i - 1].step, steps[i].step) &&
                       same_function(steps[i].step, steps[i + 1].step);
    if (!inner) continue;
    steps[i].step.main = false;
    --shown;
  }
  // Still too many: what begins in a function, of those that lie in the middle.
  for (std::size_t i = 1; i + 1 < steps.size() && shown > most; ++i) {
    if (!steps[i].step.main || !same_function(steps[i].step, steps[i + 1].step)) continue;
    steps[i].step.main = false;
    --shown;
  }
  for (std::size_t i = 2; i + 2 < steps.size() && shown > most; ++i) {
    if (!steps[i].step.main) continue;
    steps[i].step.main = false;
    --shown;
  }
}

}  // namespace clew
