// May another thread reach this memory?
#ifndef CLEW_PASS_SHARING_H_
#define CLEW_PASS_SHARING_H_

#include "llvm/ADT/DenseMap.h"

namespace llvm {
class Instruction;
class LoadInst;
class StoreInst;
class Value;
}  // namespace llvm

namespace clew::pass {

// For one function, before anything is emitted into it: a hook that takes an
// address would make the address look captured. "No" is certain, "yes" is not.
class SharingAnalysis {
 public:
  bool may_be_shared(const llvm::Value* pointer);
  bool may_be_shared(const llvm::LoadInst& load);
  bool may_be_shared(const llvm::StoreInst& store);

 private:
  bool object_may_be_shared(const llvm::Value* object);

  llvm::DenseMap<const llvm::Value*, bool> objects_;
};

// A store of a raw argument into its stack slot, as -O0 code begins.
bool is_parameter_spill(const llvm::Instruction& instruction);

}  // namespace clew::pass

#endif  // CLEW_PASS_SHARING_H_
