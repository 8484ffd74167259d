#include "host/translate/counting_code.h"

#include "host/translate/slots.h"

namespace clew {

using abi::TargetTable;
using namespace slots;

namespace {

constexpr std::uint32_t kNumberFromSlot = UINT32_MAX;

constexpr std::int32_t kSiteAt = offsetof(abi::CallMark, site);
constexpr std::int32_t kStackAt = offsetof(abi::CallMark, stack);
constexpr std::int32_t kTargetAt = offsetof(abi::CallMark, target);

}  // namespace

std::uint32_t CountingCode::site(std::uint64_t address, std::uint64_t target) {
  const auto [entry, added] =
      site_of_.try_emplace({address, target}, static_cast<std::uint32_t>(sites_.size()));
  if (added) sites_.push_back({address, target});
  return entry->second;
}

// Flags are free where a function begins.
void CountingCode::emit_count(const CallSite& what, Flags flags) {
  const auto [entry, added] = counter_of_.try_emplace({what.address, what.target},
                                                      static_cast<std::uint32_t>(counters_.size()));
  if (added) {
    if (counters_.size() == abi::kMostCounters) {
      counter_of_.erase(entry);
      return;
    }
    counters_.push_back(what);
  }
  const std::uint64_t counter = slot(abi::kCountersOffset + 8 * entry->second);
  if (flags == Flags::kFree) return e_.increment(counter);
  e_.store(kSaved0, Reg::kRax);
  e_.load(Reg::kRax, counter);
  e_.lea(Reg::kRax, {.base = 0, .displacement = 1});
  e_.store(counter, Reg::kRax);
  e_.load(Reg::kRax, kSaved0);
}

// Saves rax and rcx, and changes rcx. If the buffer is full the host takes it, and the code begins anew at `start`.
void CountingCode::emit_room(std::uint64_t start) {
  e_.store(kSaved0, Reg::kRax);
  e_.store(kSaved1, Reg::kRcx);
  e_.load_byte(Reg::kRcx, kBuffer + 4);
  e_.skip_if_rcx_is_0(5);
  const Gap room = e_.jump();
  e_.load(Reg::kRcx, kSaved1);
  e_.store_u32(kRequest, static_cast<std::uint32_t>(abi::TranslationRequest::kDrain));
  e_.store_u32(kJump, static_cast<std::uint32_t>(start));
  e_.store_u32(kJump + 4, static_cast<std::uint32_t>(start >> 32));
  e_.jump_by(kAsk);
  e_.fill(room, e_.here());
}

// REQUIRES: rax and rcx are saved. They are changed, and have to be loaded again.
void CountingCode::emit_mark(std::uint32_t mark, std::uint32_t site) {
  e_.load(Reg::kRax, kBuffer);
  e_.store_u32_to({.base = 0}, mark);
  if (site == kNumberFromSlot) {
    e_.load(Reg::kRcx, kSite);  // and what comes behind it, which the stack pointer overwrites
    e_.store_to({.base = 0, .displacement = kSiteAt}, Reg::kRcx);
  } else {
    e_.store_u32_to({.base = 0, .displacement = kSiteAt}, site);
  }
  e_.store_to({.base = 0, .displacement = kStackAt}, Reg::kRsp);
  e_.lea(Reg::kRcx, {.base = 0, .displacement = sizeof(abi::CallMark)});
  e_.store(kBuffer, Reg::kRcx);
}

// In front of the mark of an entry: who had called out, if that is not written down yet.
void CountingCode::emit_out_mark() {
  e_.load(Reg::kRax, kBuffer);
  e_.store_u32_to({.base = 0}, abi::kOutMark);
  e_.load(Reg::kRcx, kOutSite);
  e_.store_to({.base = 0, .displacement = kSiteAt}, Reg::kRcx);
  e_.load(Reg::kRcx, kOutStack);
  e_.store_to({.base = 0, .displacement = kStackAt}, Reg::kRcx);
  e_.lea(Reg::kRcx, {.base = 0, .displacement = sizeof(abi::CallMark)});
  e_.store(kBuffer, Reg::kRcx);
  emit_no_out();
}

void CountingCode::emit_no_out() {
  e_.store_u32(kOutStack, 0);
  e_.store_u32(kOutStack + 4, 0);
}

void CountingCode::emit_entry(std::uint32_t number) {
  emit_room(e_.here());
  emit_out_mark();
  emit_mark(abi::kEntryMark, number);
  e_.load(Reg::kRax, kSaved0);
  e_.load(Reg::kRcx, kSaved1);
}

// Most calls out come back without a call of the program's own functions in between: a counter
// and a note, which the next call out overwrites, are all that they leave.
void CountingCode::emit_out(std::uint64_t from, std::uint64_t target, Flags flags) {
  emit_count({from, target}, flags);
  e_.store_u32(kOutSite, site(from, target));
  e_.store(kOutStack, Reg::kRsp);
}

// From the program's own code to other code, as its source has it.
bool CountingCode::leaves(std::uint64_t from, std::uint64_t target) const {
  return map_.is_own(from) && !map_.is_own(target) && !map_.is_silent(target);
}

// The runtime is called as the host is asked: all registers are kept, and so are the flags.
void CountingCode::emit_tell(std::uint64_t function) {
  constexpr std::uint64_t kSize = 5 * 10 + 6;  // of what follows
  const std::uint64_t next = e_.here() + kSize;
  e_.store_u32(kRequest, static_cast<std::uint32_t>(abi::TranslationRequest::kFunction));
  e_.store_u32(kTarget, static_cast<std::uint32_t>(function));
  e_.store_u32(kTarget + 4, static_cast<std::uint32_t>(function >> 32));
  e_.store_u32(kJump, static_cast<std::uint32_t>(next));
  e_.store_u32(kJump + 4, static_cast<std::uint32_t>(next >> 32));
  e_.jump_by(kAsk);
}

void CountingCode::before_instruction(std::uint64_t address) {
  if (detail_ == CallDetail::kFunctions) {
    if (map_.is_own_entry(address)) emit_tell(address);
    return;
  }
  if (map_.is_inlined_entry(address)) emit_entry(site(address, 1));
  if (map_.is_counted(address)) emit_count({address, 0}, Flags::kKeep);
}

void CountingCode::before_return(std::uint64_t from) {
  if (detail_ == CallDetail::kFunctions && map_.is_own(from)) emit_tell(0);
}

void CountingCode::direct_call(std::uint64_t from, std::uint64_t target) {
  if (detail_ == CallDetail::kFunctions) return;
  const bool own = map_.is_own(from) && map_.is_own_entry(target);
  if (own && detail_ != CallDetail::kEveryCall) emit_count({from, target}, Flags::kFree);
  if (own && detail_ == CallDetail::kCounters) return;
  if (!own && !leaves(from, target)) return;
  if (!own && detail_ != CallDetail::kEveryCall) return emit_out(from, target, Flags::kFree);
  emit_room(e_.here());
  emit_mark(abi::kCallMark, site(from, target));
  e_.load(Reg::kRax, kSaved0);
  e_.load(Reg::kRcx, kSaved1);
}

void CountingCode::after_return_address(std::uint64_t from, std::uint64_t target) {
  if (detail_ == CallDetail::kFunctions || map_.is_own(from) || !map_.is_own_entry(target)) return;
  emit_entry(site(target, 0));
}

bool CountingCode::counts_jump(std::uint64_t from, std::uint64_t target) const {
  if (detail_ == CallDetail::kFunctions)
    return map_.is_own(from) && !map_.is_same_function(from, target);
  if (!map_.is_own(from)) return map_.is_own_entry(target);
  if (map_.is_own_entry(target)) return !map_.is_same_function(from, target);
  return leaves(from, target);
}

void CountingCode::direct_jump(std::uint64_t from, std::uint64_t target) {
  if (!counts_jump(from, target)) return;
  if (detail_ == CallDetail::kFunctions) return emit_tell(0);
  if (!map_.is_own(from)) return after_return_address(from, target);
  if (detail_ != CallDetail::kEveryCall)
    return map_.is_own_entry(target) ? emit_count({from, target}, Flags::kKeep)
                                     : emit_out(from, target, Flags::kKeep);
  emit_room(e_.here());
  emit_mark(abi::kCallMark, site(from, target));
  e_.load(Reg::kRax, kSaved0);
  e_.load(Reg::kRcx, kSaved1);
}

void CountingCode::before_indirect_call(std::uint64_t from, std::uint64_t slot) {
  if (!writes_call(from, slot)) return;
  if (is_counted_out(slot)) return emit_out(from, slot, Flags::kFree);
  emit_room(e_.here());
  e_.load(Reg::kRcx, kSaved1);
}

void CountingCode::indirect_call(std::uint64_t from, std::uint64_t slot) {
  if (!writes_call(from, slot) || is_counted_out(slot)) return;
  const bool known = map_.slot(slot) == OwnCode::Slot::kLibrary;
  e_.store(kTarget, Reg::kRax);
  emit_mark(abi::kCallMark, site(from, known ? slot : 0));
  e_.load(Reg::kRcx, kTarget);
  e_.store_to({.base = 0, .displacement = kTargetAt}, Reg::kRcx);
  emit_no_out();
  e_.move(Reg::kRax, Reg::kRcx);
}

void CountingCode::indirect_jump(std::uint64_t from) {
  if (detail_ != CallDetail::kFunctions && map_.is_own(from)) e_.store_u32(kSite, site(from, 0));
}

TargetTable CountingCode::table_of_return(std::uint64_t from) const {
  if (detail_ == CallDetail::kFunctions) return TargetTable::kPlain;
  return map_.is_own(from) ? TargetTable::kOfOwnReturns : TargetTable::kPlain;
}
TargetTable CountingCode::table_of_call(std::uint64_t from) const {
  if (detail_ == CallDetail::kFunctions) return TargetTable::kPlain;
  return map_.is_own(from) ? TargetTable::kPlain : TargetTable::kFromLibrary;
}
TargetTable CountingCode::table_of_jump(std::uint64_t from) const {
  if (detail_ == CallDetail::kFunctions) return TargetTable::kPlain;
  return map_.is_own(from) ? TargetTable::kOfOwnJumps : TargetTable::kFromLibrary;
}

std::uint64_t CountingCode::found_in(TargetTable table, std::uint64_t address, std::uint64_t code) {
  const bool own = map_.is_own(address);
  const bool entry = map_.is_own_entry(address);
  if (detail_ == CallDetail::kFunctions || table == TargetTable::kPlain ||
      (table == TargetTable::kFromLibrary && !entry) ||
      (table == TargetTable::kOfOwnReturns && own) ||
      (table == TargetTable::kOfOwnJumps && own && !entry))
    return code;
  const auto [stub, added] = stubs_.try_emplace({table, address}, e_.here());
  if (!added) return stub->second;
  if (table == TargetTable::kFromLibrary) {
    emit_entry(site(address, 0));
    e_.jump(code);
    return stub->second;
  }
  emit_room(e_.here());
  switch (table) {
    case TargetTable::kOfOwnReturns:
      emit_mark(abi::kBackMark, site(address, 0));
      emit_no_out();  // what called out meanwhile has returned as well
      break;
    case TargetTable::kOfOwnJumps:
      emit_mark(abi::kCallMark, kNumberFromSlot);
      e_.set(Reg::kRcx, address);
      e_.store_to({.base = 0, .displacement = kTargetAt}, Reg::kRcx);
      emit_no_out();
      break;
    default:
      break;
  }
  e_.load(Reg::kRax, kSaved0);
  e_.load(Reg::kRcx, kSaved1);
  e_.jump(code);
  return stub->second;
}

}  // namespace clew
