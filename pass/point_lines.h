// Where the points are in the source, as clew_abi/point_lines.h describes it.
#ifndef CLEW_PASS_POINT_LINES_H_
#define CLEW_PASS_POINT_LINES_H_

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/GlobalVariable.h"
#include "pass/locations.h"

namespace clew::pass {

// What follows the abi::PointLines.
std::string encode_lines(llvm::ArrayRef<SourcePosition> points);

// Writes the section for `count` points that begin with `first`. As assembly: LLVM has no other way
// to make a section that is not loaded.
// REQUIRES: no other global of the program has the name of `first`, so that link-time optimisation
// does not rename it.
void emit_lines(llvm::Module& module, const llvm::GlobalVariable& first, std::size_t count,
                llvm::StringRef lines);

}  // namespace clew::pass

#endif  // CLEW_PASS_POINT_LINES_H_
