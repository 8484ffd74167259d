#include "host/calls/interruptions.h"

#include <algorithm>
#include <utility>

namespace clew {
namespace {

// So many of the last calls are known. Chosen: functions that wait for long, like a main that joins its
// threads, are interrupted by everything, which says nothing.
constexpr std::size_t kKnown = 1024;

}  // namespace

std::vector<Interruptions::Frame>& Interruptions::frames_of(std::uint32_t thread,
                                                            std::uint64_t stack) {
  if (thread >= frames_.size()) frames_.resize(thread + 1);
  std::vector<Frame>& frames = frames_[thread];
  while (!frames.empty() && frames.back().stack <= stack) frames.pop_back();
  return frames;
}

void Interruptions::add(std::uint32_t thread, FunctionNumber callee) {
  if (!calls_.empty() && calls_.back().thread != thread) behind_other_ = forgotten_ + calls_.size();
  if (calls_.size() == 2 * kKnown) {
    calls_.erase(calls_.begin(), calls_.begin() + kKnown);
    forgotten_ += kKnown;
  }
  calls_.push_back({thread, callee});
}

void Interruptions::count_others(std::uint32_t thread, const Frame& frame, FunctionNumber callee,
                                 CallCounts& counts) {
  if (calls_.empty()) return;
  const std::uint64_t end =
      calls_.back().thread != thread ? forgotten_ + calls_.size() : behind_other_;
  const std::uint64_t begin = std::max(frame.since, forgotten_);
  ++look_;
  for (std::uint64_t i = end; i > begin; --i) {
    const Call& call = calls_[i - 1 - forgotten_];
    if (call.thread == thread) continue;
    if (call.callee >= seen_.size()) seen_.resize(call.callee + 1);
    if (std::exchange(seen_[call.callee], look_) == look_) continue;
    const auto count = [&](FunctionNumber from, FunctionNumber to) {
      const CallEdge edge{0, frame.function, to, EdgeKind::kInterruption, from, call.callee};
      if (thread == 0)
        pending_edges_.push_back(edge);
      else
        ++counts[edge];
    };
    count(frame.last, callee);
    if (frame.last != kNoFunction) count(kNoFunction, kNoFunction);
  }
}

// What the first thread does after all others is known only when nobody else comes any more. What came between its calls by then
// says nothing: whether it makes another call depends on how the run ended.
void Interruptions::happened(std::uint32_t thread, FunctionNumber function, CallCounts& counts) {
  if (thread == 0) {
    pending_.insert(function);
    return;
  }
  others_ran_ = true;
  early_.insert(function);
  early_.merge(pending_);
  pending_.clear();
  for (const CallEdge& edge : pending_edges_) ++counts[edge];
  pending_edges_.clear();
  last_address_ = std::max(last_address_, std::exchange(pending_address_, 0));
}

void Interruptions::first_thread_calls_at(FunctionNumber body, std::uint64_t address) {
  if (body == first_function_) pending_address_ = std::max(pending_address_, address);
}

bool Interruptions::is_at_the_end(FunctionNumber function, FunctionNumber body,
                                  std::uint64_t address) const {
  if (!others_ran_) return false;
  if (body == first_function_) return address > last_address_;
  return !early_.contains(function) && !early_.contains(body);
}

void Interruptions::called(std::uint32_t thread, FunctionNumber caller, FunctionNumber callee,
                           std::uint64_t stack, CallCounts& counts) {
  happened(thread, caller, counts);
  std::vector<Frame>& frames = frames_of(thread, stack);
  if (frames.empty() || frames.back().function != caller)
    frames.push_back({stack + 1, caller, kNoFunction, forgotten_ + calls_.size()});
  Frame& frame = frames.back();
  if (!std::exchange(frame.started_thread, false)) count_others(thread, frame, callee, counts);
  frame.last = callee;
  frame.since = forgotten_ + calls_.size();
  add(thread, callee);
  happened(thread, callee, counts);
  frames.push_back({stack, callee, kNoFunction, forgotten_ + calls_.size()});
}

void Interruptions::entered(std::uint32_t thread, FunctionNumber function, std::uint64_t stack,
                            CallCounts& counts) {
  if (thread == 0 && first_function_ == kNoFunction) first_function_ = function;
  std::vector<Frame>& frames = frames_of(thread, stack);
  add(thread, function);
  happened(thread, function, counts);
  frames.push_back({stack, function, kNoFunction, forgotten_ + calls_.size()});
}

void Interruptions::resumed(std::uint32_t thread, CallCounts& counts) {
  if (thread >= frames_.size() || frames_[thread].empty()) return;
  const FunctionNumber last = frames_[thread].back().function;
  add(thread, last);
  happened(thread, last, counts);
}

void Interruptions::starts_thread(std::uint32_t thread) {
  if (thread < frames_.size() && !frames_[thread].empty())
    frames_[thread].back().started_thread = true;
}

void Interruptions::left(std::uint32_t thread, std::uint64_t stack) {
  (void)frames_of(thread, stack);
}

void Interruptions::entered_inlined(std::uint32_t thread, FunctionNumber function,
                                    CallCounts& counts) {
  happened(thread, function, counts);
}

void Interruptions::called_out(std::uint32_t thread, FunctionNumber caller, CallCounts& counts) {
  happened(thread, caller, counts);
}

void Interruptions::clear() {
  frames_.clear();
  calls_.clear();
  forgotten_ = behind_other_ = 0;
  others_ran_ = false;
  first_function_ = kNoFunction;
  last_address_ = pending_address_ = 0;
  early_.clear();
  pending_.clear();
  pending_edges_.clear();
}

}  // namespace clew
