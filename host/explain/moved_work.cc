#include "host/explain/moved_work.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace clew {
namespace {

// Where an object that is handed over on the stack keeps what it holds: as large as a std::function's.
constexpr std::uint64_t kHeldBytes = 16;
// Instructions of the call in which that is read.
constexpr std::uint32_t kLookedAt = 40;

// What is done: the function, and what it is given.
using Content = std::vector<std::uint64_t>;

struct Activation {
  FrameIndex frame = kNoFrame;
  std::uint64_t site = 0;  // the call's address
};

class Contents {
 public:
  Contents(const RunTrace& run, const SameAllocation* in_failing)
      : run_(run), in_failing_(in_failing) {}

  // Empty: it is given nothing that tells it from others.
  [[nodiscard]] Content of(const Activation& one) const {
    const TraceFrame& frame = run_.frames()[one.frame];
    const auto registers = run_.call_registers(frame.call);
    if (!registers) return {};
    const std::uint64_t given = registers->arguments[0];
    Content content{frame.entry};
    if (const Allocation* object = run_.allocation(given, frame.call))
      return add_object(content, *object, given) ? content : Content{};
    const Instruction& call = run_.code(frame.call).back();
    if (call.flow != Flow::kIndirectCall || !on_stack(given, frame)) return {};
    return add_held(content, one.frame, given) ? content : Content{};
  }

 private:
  [[nodiscard]] bool on_stack(std::uint64_t address, const TraceFrame& frame) const {
    const std::uint64_t top = run_.stack_top(frame.thread);
    return top != 0 && frame.cfa != 0 && address >= frame.cfa && address < top;
  }

  // As the failing run knows it. False: it does not.
  bool add_object(Content& content, const Allocation& object, std::uint64_t address) const {
    Instance made{object.made, run_.steps()[object.made].executed - 1u};
    if (in_failing_ != nullptr) made = (*in_failing_)(made);
    if (!made.valid()) return false;
    content.push_back(made.step);
    content.push_back(address - object.address);
    return true;
  }

  // What the call reads there first. False: it reads nothing.
  bool add_held(Content& content, FrameIndex frame, std::uint64_t address) const {
    const auto& list = run_.thread(run_.frames()[frame].thread);
    std::set<std::uint64_t> seen;
    std::uint32_t looked = 0;
    for (std::size_t i = run_.position(run_.frames()[frame].first); i < list.size(); ++i) {
      const StepIndex step = list[i];
      if (run_.steps()[step].frame < frame || looked > kLookedAt) break;
      looked += run_.steps()[step].executed;
      const auto& accesses = run_.block_of(step).accesses;
      for (std::uint32_t k = 0; k < accesses.size(); ++k) {
        const std::uint64_t at = run_.access_address(step, k);
        if (accesses[k].kind != AccessKind::kRead || !accesses[k].has_value ||
            accesses[k].size > 8 || accesses[k].instruction >= run_.steps()[step].executed ||
            at < address || at >= address + kHeldBytes || !seen.insert(at).second)
          continue;
        const std::uint64_t value = run_.access_value(step, k);
        content.push_back(at - address);
        const Allocation* object = accesses[k].size == 8 ? run_.allocation(value, step) : nullptr;
        if (object == nullptr)
          content.push_back(value);
        else if (!add_object(content, *object, value))
          return false;
      }
    }
    return !seen.empty();
  }

  const RunTrace& run_;
  const SameAllocation* in_failing_;
};

std::vector<Activation> activations(const RunTrace& run) {
  std::vector<Activation> result;
  for (FrameIndex i = 0; i < run.frames().size(); ++i) {
    const TraceFrame& frame = run.frames()[i];
    if (frame.hidden || frame.call == kNoStep || frame.first == kNoStep ||
        frame.entered != frame.call || run.steps()[frame.call].hidden)
      continue;
    const Instruction& call = run.code(frame.call).back();
    if (call.is_call()) result.push_back({i, call.address});
  }
  return result;
}

StepIndex end_of(const RunTrace& run, FrameIndex frame) {
  const auto& list = run.thread(run.frames()[frame].thread);
  std::size_t i = run.position(run.frames()[frame].first);
  while (i < list.size() && run.steps()[list[i]].frame >= frame) ++i;
  return i < list.size() ? list[i] : kNoStep;
}

// A place from which threads of the run call one task after the other.
struct Site {
  std::unordered_map<std::uint16_t, FrameIndex> callers;  // of each thread, the last
  bool repeats = false;                                   // one caller comes here more than once
  bool moved = false;

  void add(const TraceFrame& called) {
    FrameIndex& caller = callers.try_emplace(called.thread, kNoFrame).first->second;
    repeats |= caller == called.parent;
    caller = called.parent;
  }
  [[nodiscard]] bool may_be_of_pool() const { return repeats && callers.size() > 1; }
  [[nodiscard]] bool is_of_pool() const { return moved && may_be_of_pool(); }
};

}  // namespace

MovedWork find_moved_work(const RunTrace& failing, const RunTrace& passing,
                          const std::vector<std::pair<std::uint16_t, std::uint16_t>>& threads,
                          const SameAllocation& in_failing) {
  MovedWork result;
  if (threads.size() < 3) return result;  // main and at least two that share the work
  const std::array<const RunTrace*, 2> runs = {&failing, &passing};
  std::array<std::vector<Activation>, 2> all;
  for (int side = 0; side < 2; ++side) all[side] = activations(*runs[side]);
  // Content is looked at only where several threads of the passing run, and one call several times, do something.
  std::unordered_map<std::uint64_t, Site> sites;
  for (const Activation& one : all[1]) sites[one.site].add(passing.frames()[one.frame]);
  struct Found {
    std::array<std::vector<FrameIndex>, 2> frames;
  };
  std::map<std::pair<std::uint64_t, Content>, Found> contents;
  for (int side = 0; side < 2; ++side) {
    const Contents known(*runs[side], side == 0 ? nullptr : &in_failing);
    for (const Activation& one : all[side]) {
      if (!sites[one.site].may_be_of_pool()) continue;
      if (Content content = known.of(one); !content.empty())
        contents[{one.site, std::move(content)}].frames[side].push_back(one.frame);
    }
  }
  const auto same_thread = [&](std::uint16_t a, std::uint16_t b) {
    return std::ranges::find(threads, std::pair(a, b)) != threads.end();
  };
  for (const auto& [key, found] : contents)
    if (found.frames[0].size() == 1 && found.frames[1].size() == 1 &&
        !same_thread(failing.frames()[found.frames[0].front()].thread,
                     passing.frames()[found.frames[1].front()].thread))
      sites[key.first].moved = true;
  std::array<std::vector<FrameIndex>, 2> roots;  // outermost tasks
  std::array<std::set<FrameIndex>, 2> paired;
  const auto is_inside = [&](int side, FrameIndex frame) {
    for (frame = runs[side]->frames()[frame].parent; frame != kNoFrame;
         frame = runs[side]->frames()[frame].parent)
      if (std::ranges::binary_search(roots[side], frame)) return true;
    return false;
  };
  for (int side = 0; side < 2; ++side)
    for (const Activation& one : all[side])
      if (sites[one.site].is_of_pool() && !is_inside(side, one.frame))
        roots[side].push_back(one.frame);
  for (const auto& [key, found] : contents) {
    if (!sites[key.first].is_of_pool() || found.frames[0].size() != 1 ||
        found.frames[1].size() != 1 ||
        !std::ranges::binary_search(roots[0], found.frames[0].front()) ||
        !std::ranges::binary_search(roots[1], found.frames[1].front()))
      continue;
    std::array<WorkItem, 2> pair;
    for (int side = 0; side < 2; ++side) {
      const FrameIndex frame = found.frames[side].front();
      pair[side] = {frame, end_of(*runs[side], frame)};
      paired[side].insert(frame);
    }
    result.pairs.push_back(pair);
  }
  if (result.pairs.empty()) return {};
  for (int side = 0; side < 2; ++side)
    for (const FrameIndex frame : roots[side])
      if (!paired[side].contains(frame))
        result.alone[side].push_back({frame, end_of(*runs[side], frame)});
  return result;
}

}  // namespace clew
