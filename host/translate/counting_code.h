// The code that a counting translation puts between the program's instructions (counting.h).
#ifndef CLEW_HOST_TRANSLATE_COUNTING_CODE_H_
#define CLEW_HOST_TRANSLATE_COUNTING_CODE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "clew_abi/translation.h"
#include "host/translate/counting.h"
#include "host/translate/emitter.h"

namespace clew {

class CountingCode {
 public:
  // REQUIRES: all of them outlive this.
  CountingCode(Emitter& emitter, OwnCode& map, CallDetail detail)
      : e_(emitter), map_(map), detail_(detail) {}

  [[nodiscard]] OwnCode& map() { return map_; }

  // Each is called where its code is to be; all registers are the program's.
  void before_instruction(std::uint64_t address);
  void direct_call(std::uint64_t from, std::uint64_t target);  // before the return address ...
  void after_return_address(std::uint64_t from,
                            std::uint64_t target);  // ... is pushed, and behind it
  void direct_jump(std::uint64_t from, std::uint64_t target);
  [[nodiscard]] bool counts_jump(std::uint64_t from, std::uint64_t target) const;
  // Before the target is known; and then, in rax, rax and rcx being saved.
  // `slot`: where the target comes from; 0: not known.
  void before_indirect_call(std::uint64_t from, std::uint64_t slot);
  void indirect_call(std::uint64_t from, std::uint64_t slot);
  void indirect_jump(std::uint64_t from);
  void before_return(std::uint64_t from);

  [[nodiscard]] abi::TargetTable table_of_return(std::uint64_t from) const;
  [[nodiscard]] abi::TargetTable table_of_call(std::uint64_t from) const;
  [[nodiscard]] abi::TargetTable table_of_jump(std::uint64_t from) const;
  // What branches that look in the table find for `address`, whose code is `code`.
  std::uint64_t found_in(abi::TargetTable table, std::uint64_t address, std::uint64_t code);

  // By their numbers.
  [[nodiscard]] const std::deque<CallSite>& sites() const { return sites_; }
  [[nodiscard]] const std::deque<CallSite>& counters() const { return counters_; }

 private:
  enum class Flags : std::uint8_t { kKeep, kFree };

  void emit_count(const CallSite& what, Flags flags);
  void emit_room(std::uint64_t start);
  void emit_mark(std::uint32_t mark, std::uint32_t site);
  void emit_out_mark();
  void emit_no_out();
  void emit_entry(std::uint32_t site);
  void emit_tell(std::uint64_t function);
  void emit_out(std::uint64_t from, std::uint64_t target, Flags flags);
  std::uint32_t site(std::uint64_t address, std::uint64_t target);
  [[nodiscard]] bool writes_call(std::uint64_t from, std::uint64_t slot) const {
    return detail_ != CallDetail::kFunctions && map_.is_own(from) &&
           map_.slot(slot) != OwnCode::Slot::kSilent;
  }
  // A call by a slot of which it is known where it leads.
  [[nodiscard]] bool is_counted_out(std::uint64_t slot) const {
    return detail_ != CallDetail::kEveryCall && map_.slot(slot) == OwnCode::Slot::kLibrary;
  }
  [[nodiscard]] bool leaves(std::uint64_t from, std::uint64_t target) const;

  Emitter& e_;
  OwnCode& map_;
  CallDetail detail_;
  std::deque<CallSite> sites_;
  std::deque<CallSite> counters_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> site_of_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> counter_of_;
  std::map<std::pair<abi::TargetTable, std::uint64_t>, std::uint64_t> stubs_;
};

}  // namespace clew

#endif  // CLEW_HOST_TRANSLATE_COUNTING_CODE_H_
