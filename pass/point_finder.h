// Which instructions are yield points by themselves: accesses, atomics, fences,
// pause, listed synchronisation calls.
#ifndef CLEW_PASS_POINT_FINDER_H_
#define CLEW_PASS_POINT_FINDER_H_

#include "llvm/ADT/StringRef.h"
#include "pass/block_calls.h"
#include "pass/options.h"
#include "pass/sharing.h"
#include "pass/site.h"

namespace llvm {
class CallBase;
class DataLayout;
class Function;
class Type;
class IntrinsicInst;
}  // namespace llvm

namespace clew::pass {

// libstdc++'s and libc++'s functions around the initialiser of a static variable. They access the
// guard's first byte, which compiled code reads atomically before it calls them.
struct GuardCall {
  abi::PointKind kind;
  abi::MemoryOrder order;
  bool waits;  // for another thread that initialises the variable
};

// For one function, before anything is emitted into it.
class PointFinder {
 public:
  PointFinder(Granularity granularity, llvm::Function& function, ThreadLocals& thread_locals);

  // Appends the points of `instruction` to `sites`, in execution order.
  void collect(llvm::Instruction& instruction, Sites& sites);

 private:
  void collect_call(llvm::CallBase& call, Sites& sites);
  void collect_intrinsic(llvm::IntrinsicInst& call, Sites& sites);
  void collect_library_call(llvm::CallBase& call, llvm::StringRef callee, Sites& sites);
  void add(llvm::Instruction& at, abi::PointKind kind, Sites& sites);
  void add_access(llvm::Instruction& at, abi::PointKind kind, llvm::Value* address,
                  llvm::Value* size, Sites& sites,
                  abi::MemoryOrder order = abi::MemoryOrder::kNotKnown);
  void add_guard_access(llvm::CallBase& call, const GuardCall& guard, llvm::Value* address,
                        Sites& sites);
  void add_block(llvm::CallBase& call, abi::PointKind kind, const BlockOperand& operand,
                 Sites& sites);
  void add_lanes(llvm::Instruction& at, abi::PointKind kind, llvm::Value* addresses,
                 llvm::Type* accessed, Sites& sites);
  void add_scope_end(llvm::IntrinsicInst& end, Sites& sites);
  void add_scope_ends(llvm::Instruction& exit, Sites& sites);
  void add_shared(llvm::Instruction& at, abi::PointKind kind, llvm::Value* address,
                  llvm::Value* size, Sites& sites);
  llvm::Value* size_of(const llvm::Instruction& at, llvm::Type* type) const;

  Granularity granularity_;
  const llvm::DataLayout& layout_;
  SharingAnalysis sharing_;
  // The variables that others may reach and that live as long as the function does.
  llvm::SmallVector<llvm::AllocaInst*, 0> variables_;
};

// A call of a function of sync_calls.def that the module does not define.
bool is_sync_call(const llvm::Instruction& instruction);

// A call that runs unknown code, which may call this function again.
bool is_plain_call(const llvm::Instruction& instruction);

}  // namespace clew::pass

#endif  // CLEW_PASS_POINT_FINDER_H_
