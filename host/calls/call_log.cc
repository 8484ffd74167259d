#include "host/calls/call_log.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace clew {
namespace {

// Programs that recur without an end have no more chains than this. Chosen: about 100 MB.
constexpr std::uint32_t kMostChains = 1'000'000;
// The memory is the program's to overwrite: numbers beyond this are not threads.
constexpr std::uint32_t kMostThreads = 1'000'000;

}  // namespace

std::uint32_t Chains::longer(std::uint32_t chain, FunctionNumber function) {
  if (numbers_.size() >= kMostChains) {
    const auto known = numbers_.find({chain, function});
    return known != numbers_.end() ? known->second : chain;
  }
  return numbers_.try_emplace({chain, function}, static_cast<std::uint32_t>(numbers_.size() + 1))
      .first->second;
}

const CallLog::Site& CallLog::site(std::uint32_t number, const CountingCode& counting) {
  if (number >= sites_.size()) sites_.resize(number + 1);
  Site& of = sites_[number];
  if (of.known || number >= counting.sites().size()) return of;
  const CallSite& place = counting.sites()[number];
  of.known = true;
  of.owner = code_.owner(place.address);
  of.in_own_source = code_.is_in_own_source(place.address);
  if (place.target > 1) of.callee = code_.callee(place.target);
  return of;
}

void CallLog::pop_up_to(std::uint64_t stack) {
  auto& frames = thread().frames;
  while (!frames.empty() && frames.back().stack <= stack) frames.pop_back();
}

// Of what is entered now.
CallLog::Frame CallLog::caller() {
  const Thread& of = thread();
  if (!of.frames.empty()) return of.frames.back();
  return {0, of.creator, of.creator_chain};
}

std::uint32_t CallLog::context(const Thread& of, const Frame& caller) const {
  switch (kind_) {
    case GraphKind::kReduced:
      return 0;
    case GraphKind::kPerThread:
      return now_;
    case GraphKind::kRoles:
      return of.role;
    case GraphKind::kTree:
      return caller.chain;
  }
  return 0;
}

void CallLog::count(const Frame& caller, FunctionNumber callee) {
  if (caller.function == kNoFunction || callee == kNoFunction) return;
  ++counts_[{context(thread(), caller), caller.function, callee}];
}

void CallLog::called(const abi::CallMark& mark, const CountingCode& counting) {
  const Site& of = site(mark.site, counting);
  pop_up_to(mark.stack);
  // The nearest frame tells the chain; without calls written down there is none.
  Frame from{mark.stack, of.owner, 0};
  Thread& running = thread();
  if (kind_ == GraphKind::kTree)
    from.chain = !running.frames.empty() && running.frames.back().function == of.owner
                     ? running.frames.back().chain
                     : chains_.longer(caller().chain, of.owner);
  FunctionNumber callee = of.callee;
  const bool indirect =
      mark.site < counting.sites().size() && counting.sites()[mark.site].target == 0;
  if (indirect) {
    const auto [known, added] = callees_.try_emplace(mark.target);
    if (added) known->second = code_.callee(mark.target);
    callee = known->second;
  }
  const bool own = callee < kFirstLeaf;
  if (own || of.in_own_source) count(from, callee);
  // A function of the program's own is on the stack from now on, or this one, which has called out.
  if (own && kind_ == GraphKind::kTree)
    running.frames.push_back({mark.stack, callee, chains_.longer(from.chain, callee)});
  else if (!own)
    running.frames.push_back(from);
}

// Counted already: only who it was.
void CallLog::called_out(const abi::CallMark& mark, const CountingCode& counting) {
  if (mark.stack == 0) return;
  pop_up_to(mark.stack);
  thread().frames.push_back({mark.stack, site(mark.site, counting).owner, 0});
}

void CallLog::entered(const abi::CallMark& mark, const CountingCode& counting) {
  if (mark.site >= counting.sites().size()) return;
  const CallSite& place = counting.sites()[mark.site];
  pop_up_to(mark.stack);
  const Frame from = caller();
  if (place.target == 1) {  // inlined in a library's function
    for (const ProgramCode::Edge& edge : code_.inlined_at(place.address))
      if (edge.caller == kNoFunction) count(from, edge.callee);
    return;
  }
  const Site& of = site(mark.site, counting);
  Thread& running = thread();
  if (running.role == kNoFunction) running.role = of.owner;
  count(from, of.owner);
  running.frames.push_back(
      {mark.stack, of.owner, kind_ == GraphKind::kTree ? chains_.longer(from.chain, of.owner) : 0});
}

// The creator has called out, and its topmost frame says who.
void CallLog::created(const abi::CreateMark& mark) {
  if (mark.creator > kMostThreads || mark.created > kMostThreads) return;
  const std::uint32_t running = std::exchange(now_, mark.creator);
  const Frame creator = caller();
  now_ = running;
  if (threads_.size() <= mark.created) threads_.resize(mark.created + 1);
  threads_[mark.created].creator = creator.function;
  threads_[mark.created].creator_chain = creator.chain;
}

bool CallLog::read(std::span<const std::uint8_t> marks, const CountingCode& counting) {
  while (!marks.empty()) {
    std::uint32_t kind = 0;
    if (marks.size() < sizeof kind) return false;
    std::memcpy(&kind, marks.data(), sizeof kind);
    std::size_t size = 0;
    if (kind == abi::kReturnMark) {
      abi::ReturnMark mark;
      if (marks.size() < (size = sizeof mark)) return false;
      std::memcpy(&mark, marks.data(), sizeof mark);
      if (mark.thread <= kMostThreads) now_ = mark.thread;
    } else if (kind == abi::kCreateMark) {
      abi::CreateMark mark;
      if (marks.size() < (size = sizeof mark)) return false;
      std::memcpy(&mark, marks.data(), sizeof mark);
      created(mark);
    } else if (kind == abi::kCutMark) {
      if (marks.size() < (size = sizeof(abi::CutMark))) return false;
    } else if (kind == abi::kCallMark || kind == abi::kEntryMark || kind == abi::kBackMark ||
               kind == abi::kOutMark) {
      abi::CallMark mark;
      if (marks.size() < (size = sizeof mark)) return false;
      std::memcpy(&mark, marks.data(), sizeof mark);
      if (kind == abi::kCallMark)
        called(mark, counting);
      else if (kind == abi::kEntryMark)
        entered(mark, counting);
      else if (kind == abi::kOutMark)
        called_out(mark, counting);
      else
        pop_up_to(mark.stack - 8);
    } else {
      return false;
    }
    marks = marks.subspan(size);
  }
  return true;
}

CallCounts CallLog::finish(std::span<std::uint64_t> counters, const CountingCode& counting) {
  for (std::size_t i = counters_.size(); i < counters.size(); ++i) {
    const CallSite& what = counting.counters()[i];
    auto& edges = counters_.emplace_back();
    if (what.target != 0) {
      // What code of libraries calls that was inlined is no call of the function's own.
      const FunctionNumber callee = code_.callee(what.target);
      if (callee < kFirstLeaf || code_.is_in_own_source(what.address))
        edges.push_back({code_.owner(what.address), callee});
    } else if (code_.level() == CountLevel::kLines) {
      if (const auto line = code_.line_at(what.address))
        edges.push_back({line->function, line->line});
    } else {
      edges = code_.inlined_at(what.address);
    }
  }
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (counters[i] == 0) continue;
    const bool line = code_.level() == CountLevel::kLines && counting.counters()[i].target == 0;
    for (const ProgramCode::Edge& edge : counters_[i])
      if (edge.caller != kNoFunction && edge.callee != kNoFunction)
        counts_[{line ? kLineContext : 0, edge.caller, edge.callee}] += counters[i];
    counters[i] = 0;
  }
  threads_.clear();
  now_ = 0;
  return std::exchange(counts_, {});
}

}  // namespace clew
