// Which functions are instrumented, and how.
#ifndef CLEW_PASS_FUNCTIONS_H_
#define CLEW_PASS_FUNCTIONS_H_

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Module.h"

namespace clew::pass {

enum class Instrumentation {
  kNone,    // left as it is
  kSilent,  // CLEW_NO_YIELD: no points, its synchronisation calls do not count
  kFull,
};

class Functions {
 public:
  explicit Functions(llvm::Module& module);

  Instrumentation instrumentation_of(const llvm::Function& function) const;

 private:
  llvm::StringSet<> silent_;
  llvm::DenseSet<const llvm::Value*> resolvers_;
};

// Marks the function, so that a second run of the pass (a plugin given twice, or link time) leaves
// it alone.
void mark_done(llvm::Function& function);

// Removes what the optimiser has concluded about memory and synchronisation: an instrumented
// function writes the countdown and may switch threads. Matters when LTO optimises once more.
void drop_stale_attributes(llvm::Module& module);

}  // namespace clew::pass

#endif  // CLEW_PASS_FUNCTIONS_H_
