// Where a yield point is, in the user's terms.
#ifndef CLEW_PASS_LOCATIONS_H_
#define CLEW_PASS_LOCATIONS_H_

#include <string>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/StringSaver.h"

namespace clew::pass {

struct SourcePosition {
  llvm::StringRef file;      // absolute; equal paths have equal data pointers
  llvm::StringRef function;  // linkage name
  unsigned line = 0;
  unsigned column = 0;
};

// The strings live as long as this object.
class Locations {
 public:
  // The innermost frame of the inlined-at chain that is user code; if none is, the innermost.
  SourcePosition of(const llvm::Instruction& instruction);
  SourcePosition of_entry(const llvm::Function& function);

  // The user's source line that `instruction` executes, null if it has none (no
  // location, line 0, or system code that is not inlined into user code). Equal lines have equal
  // pointers.
  const void* line_of(const llvm::Instruction& instruction);

  // No debug info counts as user code.
  bool is_system(const llvm::Function& function);

 private:
  struct File {
    llvm::StringRef path;
    bool system;
  };
  struct Frame {
    SourcePosition location;
    const void* line;
  };

  const File& file_of(const llvm::DIFile* file);
  const Frame& frame_of(const llvm::DILocation* location);
  const void* line_key(llvm::StringRef path, unsigned line);
  llvm::StringRef source_path(const llvm::Module& module);

  llvm::BumpPtrAllocator allocator_;
  llvm::UniqueStringSaver strings_{allocator_};
  llvm::DenseMap<const llvm::DIFile*, File> files_;
  llvm::DenseMap<const llvm::DILocation*, Frame> frames_;
  llvm::StringRef source_path_;
};

}  // namespace clew::pass

#endif  // CLEW_PASS_LOCATIONS_H_
