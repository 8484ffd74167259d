// The code of a yield point.
//
// The fast path is `decq %fs:(countdown); js cold`. The cold block, at the function's
// end, calls a hook that preserves the general registers, so that the hot path need not spill. Where
// points are counted together, the slow side passes them one after the other, by hooks that count: a
// countdown, a branch and a block of its own for each would be a quarter of the code. In code that runs
// seldom (pass/rare.h) the hooks count as well, each time, and nothing is there twice.
//
// A weak compare-exchange fails spuriously when its hook says so: the cold block then gives it an
// expected value that the memory does not hold. The hot path stays that of any other point.
#ifndef CLEW_PASS_EMIT_H_
#define CLEW_PASS_EMIT_H_

#include <utility>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "pass/batch.h"
#include "pass/carry.h"
#include "pass/hooks.h"
#include "pass/point_table.h"
#include "pass/site.h"

namespace clew::pass {

class Emitter {
 public:
  // REQUIRES: `table` is finished, or empty.
  Emitter(llvm::Module& module, const PointTable& table, bool batch)
      : module_(module), table_(table), batch_(batch), hooks_(module) {}

  // Emits `sites` of `function`, which are in order within each block.
  void emit(llvm::Function& function, const Sites& sites);
  // Stores kNoPointSite before each of `calls`.
  void emit_silent(const Sites& calls);

 private:
  std::vector<Count> emit(llvm::ArrayRef<Site> sites, bool batch);
  // Of the slow side of a batch: the hooks count.
  void emit_slow(llvm::ArrayRef<Site> sites);
  Count emit_batch(const Batch& batch);
  Count emit_gated(const Site& site, llvm::Instruction* before);
  Count emit_countdown(llvm::BasicBlock* at, std::size_t points, llvm::BasicBlock* cold,
                       llvm::BasicBlock* hot, const llvm::DebugLoc& location);
  // Each returns the first instruction it made.
  llvm::Instruction* emit_counted(const Site& site, llvm::Instruction* before);
  llvm::Instruction* emit_spin(const Site& site, llvm::Instruction* before);
  llvm::Instruction* emit_call_site(llvm::Constant* point, llvm::Instruction* before);
  enum class Counted : std::uint8_t { kBefore, kByHook };
  llvm::CallInst* emit_hook_call(const Site& site, Counted counted, llvm::IRBuilder<>& builder);
  llvm::FunctionCallee sized_hook(Counted counted, const llvm::Value* size) const;
  llvm::Value* emit_size(const Site& site, llvm::IRBuilder<>& builder);
  std::pair<llvm::Value*, llvm::Value*> emit_frame(llvm::ArrayRef<llvm::AllocaInst*> variables,
                                                   llvm::IRBuilder<>& builder);
  void emit_failure(llvm::AtomicCmpXchgInst& cas, llvm::CallInst* fails, llvm::BasicBlock* hot,
                    llvm::IRBuilder<>& builder);

  llvm::Module& module_;
  const PointTable& table_;
  const bool batch_;
  Hooks hooks_;
};

}  // namespace clew::pass

#endif  // CLEW_PASS_EMIT_H_
