// Where inlined calls begin: an inlined call's code has several ranges, and debug information says of only one of them that
// the call begins there. Others may begin it as well (a loop that was unrolled, the version of a block for when a yield
// point is due) or continue it. A call that is counted where it continues would be counted twice.
#ifndef CLEW_HOST_CALLS_INLINED_STARTS_H_
#define CLEW_HOST_CALLS_INLINED_STARTS_H_

#include "host/elf/elf_file.h"
#include "host/symbolize/module_code.h"

namespace clew {

// Leaves out those starts that can only be reached by way of others of the same call, and those that lead to the first one
// within the call's code (what is due at its yield points may come before all of it). A call in a loop that was unrolled is
// thereby counted once for each round of what became of the loop: less often than the source has it, never more often.
void leave_out_continuations(ModuleCode& code, const ElfFile& file);

}  // namespace clew

#endif  // CLEW_HOST_CALLS_INLINED_STARTS_H_
