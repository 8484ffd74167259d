// May another thread reach this memory?
#ifndef CLEW_PASS_SHARING_H_
#define CLEW_PASS_SHARING_H_

#include "llvm/ADT/DenseMap.h"

namespace llvm {
class GlobalVariable;
class Instruction;
class LoadInst;
class StoreInst;
class Value;
}  // namespace llvm

namespace clew::pass {

// The thread_local variables of a module. A thread has its own, but another can reach it through a
// pointer: one that other files can name counts as shared, and so does one whose address is used
// for anything but accesses.
class ThreadLocals {
 public:
  bool may_be_shared(const llvm::GlobalVariable& variable);

 private:
  llvm::DenseMap<const llvm::GlobalVariable*, bool> variables_;
};

// For one function, before anything is emitted into it: a hook that takes an
// address would make the address look captured. "No" is certain, "yes" is not.
class SharingAnalysis {
 public:
  explicit SharingAnalysis(ThreadLocals& thread_locals) : thread_locals_(thread_locals) {}

  bool may_be_shared(const llvm::Value* pointer);
  bool may_be_shared(const llvm::LoadInst& load);
  bool may_be_shared(const llvm::StoreInst& store);

 private:
  bool object_may_be_shared(const llvm::Value* object);

  ThreadLocals& thread_locals_;
  llvm::DenseMap<const llvm::Value*, bool> objects_;
};

// A store of a raw argument into its stack slot, as -O0 code begins.
bool is_parameter_spill(const llvm::Instruction& instruction);

}  // namespace clew::pass

#endif  // CLEW_PASS_SHARING_H_
