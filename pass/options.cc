#include "pass/options.h"

#include "llvm/Support/CommandLine.h"

namespace clew::pass {
namespace {

// Static, so that it exists as soon as -load has mapped the plugin: clang parses
// -mllvm after that. -fpass-plugin maps the same file again, which changes nothing.
llvm::cl::opt<Granularity> clew_yield(
    "clew-yield", llvm::cl::desc("Where clew inserts yield points"),
    llvm::cl::init(Granularity::kShared),
    llvm::cl::values(
        clEnumValN(Granularity::kSync, "sync", "atomics, fences, pause, synchronisation calls"),
        clEnumValN(Granularity::kShared, "shared", "also accesses to shared memory and loops"),
        clEnumValN(Granularity::kLine, "line", "also each function entry and source line")));

llvm::cl::opt<bool> clew_batch(
    "clew-batch", llvm::cl::desc("Whether clew counts neighbouring yield points together"),
    llvm::cl::init(true));

}  // namespace

Granularity granularity_option() { return clew_yield; }

bool batch_option() { return clew_batch; }

}  // namespace clew::pass
