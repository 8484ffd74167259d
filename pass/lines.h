// Line granularity: a point for each source line that is executed.
//
// A run of a line begins where the line changes in execution order. If the first effect in the run
// that other threads could observe is itself a yield point, that point counts for the line;
// otherwise the line gets a point of its own at its beginning.
#ifndef CLEW_PASS_LINES_H_
#define CLEW_PASS_LINES_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "pass/locations.h"
#include "pass/site.h"

namespace llvm {
class BasicBlock;
}  // namespace llvm

namespace clew::pass {

class Lines {
 public:
  // `blocks` are the reachable ones in reverse post-order.
  Lines(Locations& locations, llvm::ArrayRef<llvm::BasicBlock*> blocks);

  // Inserts the line points of `block` into its sites, which are in order.
  void add(llvm::BasicBlock& block, Sites& sites);

 private:
  // The line a block begins or ends with: a key of Locations::line_of, kNone (not known
  // yet) or kMixed (depends on the way taken).
  using Line = const void*;

  bool starts_line(const llvm::Instruction& instruction) const;
  Line line_of(const llvm::Instruction& instruction);
  void note_variables(llvm::BasicBlock& block);
  Line line_before(const llvm::BasicBlock& block) const;

  Locations& locations_;
  llvm::DenseSet<const llvm::Value*> variables_;  // stack slots that the user has a name for
  llvm::DenseMap<const llvm::BasicBlock*, Line> last_;
};

}  // namespace clew::pass

#endif  // CLEW_PASS_LINES_H_
