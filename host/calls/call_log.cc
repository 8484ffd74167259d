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

std::uint64_t address_of(std::uint32_t site, const CountingCode& counting) {
  return site < counting.sites().size() ? counting.sites()[site].address : 0;
}

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
  of.body = code_.body(place.address);
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
  const bool counted = own && !indirect && detail_ != CallDetail::kEveryCall;  // by a counter
  if (!counted && (own || of.in_own_source)) count(from, callee);
  if (detail_ == CallDetail::kOwnCalls && own && of.owner != kNoFunction) {
    if (now_ == 0) interruptions_.first_thread_calls_at(of.body, address_of(mark.site, counting));
    interruptions_.called(now_, of.owner, callee, mark.stack, counts_);
  }
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
  const Site& of = site(mark.site, counting);
  thread().frames.push_back({mark.stack, of.owner, 0});
  if (now_ == 0) interruptions_.first_thread_calls_at(of.body, address_of(mark.site, counting));
  if (of.owner != kNoFunction) interruptions_.called_out(now_, of.owner, counts_);
}

void CallLog::entered(const abi::CallMark& mark, const CountingCode& counting) {
  if (mark.site >= counting.sites().size()) return;
  const CallSite& place = counting.sites()[mark.site];
  pop_up_to(mark.stack);
  const Frame from = caller();
  if (place.target == 1) {  // inlined in a library's function
    for (const ProgramCode::Edge& edge : code_.inlined_at(place.address))
      if (edge.caller == kNoFunction) {
        count(from, edge.callee);
        if (detail_ == CallDetail::kOwnCalls)
          interruptions_.entered_inlined(now_, edge.callee, counts_);
      }
    return;
  }
  // What begins there may be inlined: it is not what was entered.
  const Site& of = site(mark.site, counting);
  const FunctionNumber entered = of.body != kNoFunction ? of.body : of.owner;
  Thread& running = thread();
  if (running.role == kNoFunction) running.role = entered;
  if (detail_ == CallDetail::kOwnCalls && entered != kNoFunction)
    interruptions_.entered(now_, entered, mark.stack, counts_);
  count(from, entered);
  running.frames.push_back(
      {mark.stack, entered, kind_ == GraphKind::kTree ? chains_.longer(from.chain, entered) : 0});
}

// The creator has called out, and its topmost frame says who.
void CallLog::created(const abi::CreateMark& mark) {
  if (mark.creator > kMostThreads || mark.created > kMostThreads) return;
  const std::uint32_t running = std::exchange(now_, mark.creator);
  const Frame creator = caller();
  now_ = running;
  interruptions_.starts_thread(mark.creator);
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
      if (mark.thread <= kMostThreads && std::exchange(now_, mark.thread) != mark.thread &&
          detail_ == CallDetail::kOwnCalls)
        interruptions_.resumed(now_, counts_);
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
        returned(mark.stack - 8);
    } else {
      return false;
    }
    marks = marks.subspan(size);
  }
  return true;
}

void CallLog::returned(std::uint64_t stack) {
  pop_up_to(stack);
  interruptions_.left(now_, stack);
}

CallLog::Counter CallLog::what_counts(const CallSite& place) {
  Counter what;
  what.body = code_.body(place.address);
  if (place.target != 0) {
    // What code of libraries calls that was inlined is no call of the function's own.
    const FunctionNumber callee = code_.callee(place.target);
    if (callee < kFirstLeaf || code_.is_in_own_source(place.address))
      what.calls.push_back({code_.owner(place.address), callee});
    return what;
  }
  what.line = code_.line_at(place.address);
  if (code_.level() != CountLevel::kLines) what.calls = code_.inlined_at(place.address);
  return what;
}

// How much more often the line runs than those before and behind it.
void CallLog::add_branches(const Counter& counter, std::uint64_t times,
                           std::span<const std::uint64_t> counters, std::uint32_t context) {
  const ProgramCode::OwnLine& line = *counter.line;
  for (const auto& beside : {line.before, line.behind}) {
    if (!beside) continue;
    const auto found = line_counters_.find(beside->address);
    const std::uint64_t less = found == line_counters_.end() ? 0 : counters[found->second];
    if (times > less)
      counts_[{context, line.function, line.line, EdgeKind::kBranch, beside->line,
               static_cast<std::uint32_t>(beside->address)}] += times - less;
  }
}

CallCounts CallLog::finish(std::span<std::uint64_t> counters, const CountingCode& counting) {
  for (std::size_t i = counters_.size(); i < counters.size(); ++i) {
    counters_.push_back(what_counts(counting.counters()[i]));
    if (counters_[i].line) line_counters_.emplace(counting.counters()[i].address, i);
  }
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (counters[i] == 0) continue;
    const std::uint64_t address = counting.counters()[i].address;
    const auto context = [&](FunctionNumber function) {
      return detail_ == CallDetail::kOwnCalls &&
                     interruptions_.is_at_the_end(function, counters_[i].body, address)
                 ? kAtTheEnd
                 : 0;
    };
    for (const ProgramCode::Edge& edge : counters_[i].calls)
      if (edge.caller != kNoFunction && edge.callee != kNoFunction)
        counts_[{context(edge.caller), edge.caller, edge.callee}] += counters[i];
    const auto& line = counters_[i].line;
    if (!line || line->function == kNoFunction) continue;
    if (code_.level() == CountLevel::kLines)
      counts_[{0, line->function, line->line, EdgeKind::kLine}] += counters[i];
    else
      add_branches(counters_[i], counters[i], counters, context(line->function));
  }
  std::ranges::fill(counters, 0);
  interruptions_.clear();
  threads_.clear();
  now_ = 0;
  return std::exchange(counts_, {});
}

}  // namespace clew
