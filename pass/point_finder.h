// Which instructions are yield points by themselves: accesses, atomics, fences,
// pause, listed synchronisation calls.
#ifndef CLEW_PASS_POINT_FINDER_H_
#define CLEW_PASS_POINT_FINDER_H_

#include "llvm/ADT/StringRef.h"
#include "pass/options.h"
#include "pass/sharing.h"
#include "pass/site.h"

namespace llvm {
class CallBase;
class DataLayout;
class Type;
class IntrinsicInst;
}  // namespace llvm

namespace clew::pass {

// For one function, before anything is emitted into it.
class PointFinder {
 public:
  PointFinder(Granularity granularity, const llvm::DataLayout& layout, ThreadLocals& thread_locals)
      : granularity_(granularity), layout_(layout), sharing_(thread_locals) {}

  // Appends the points of `instruction` to `sites`, in execution order.
  void collect(llvm::Instruction& instruction, Sites& sites);

 private:
  void collect_call(llvm::CallBase& call, Sites& sites);
  void collect_intrinsic(llvm::IntrinsicInst& call, Sites& sites);
  void collect_library_call(llvm::CallBase& call, llvm::StringRef callee, Sites& sites);
  void add(llvm::Instruction& at, abi::PointKind kind, Sites& sites);
  void add_access(llvm::Instruction& at, abi::PointKind kind, llvm::Value* address,
                  llvm::Value* size, Sites& sites);
  void add_shared(llvm::Instruction& at, abi::PointKind kind, llvm::Value* address,
                  llvm::Value* size, Sites& sites);
  llvm::Value* size_of(const llvm::Instruction& at, llvm::Type* type) const;

  Granularity granularity_;
  const llvm::DataLayout& layout_;
  SharingAnalysis sharing_;
};

// A call of a function of sync_calls.def that the module does not define.
bool is_sync_call(const llvm::Instruction& instruction);

// A call that runs unknown code, which may call this function again.
bool is_plain_call(const llvm::Instruction& instruction);

}  // namespace clew::pass

#endif  // CLEW_PASS_POINT_FINDER_H_
