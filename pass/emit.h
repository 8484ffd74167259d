// The code of a yield point.
//
// The fast path is `decq %fs:(countdown); js cold`. The cold block, at the function's
// end, calls a hook that preserves the general registers, so that the hot path need not spill.
#ifndef CLEW_PASS_EMIT_H_
#define CLEW_PASS_EMIT_H_

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "pass/hooks.h"
#include "pass/point_table.h"
#include "pass/site.h"

namespace clew::pass {

class Emitter {
 public:
  // REQUIRES: `table` is finished, or empty.
  Emitter(llvm::Module& module, const PointTable& table) : module_(module), table_(table), hooks_(module) {}

  // `sites` of one function, in order within each block.
  void emit(const Sites& sites);
  // kNoPointSite for each of `calls`.
  void emit_silent(const Sites& calls);

 private:
  // Each returns the first instruction it made.
  llvm::Instruction* emit_gated(const Site& site, llvm::Instruction* before);
  llvm::Instruction* emit_spin(const Site& site, llvm::Instruction* before);
  llvm::Instruction* emit_call_site(llvm::Constant* point, llvm::Instruction* before);
  void emit_hook_call(const Site& site, llvm::IRBuilder<>& builder);

  llvm::Module& module_;
  const PointTable& table_;
  Hooks hooks_;
};

}  // namespace clew::pass

#endif  // CLEW_PASS_EMIT_H_
