// The functions of a file by its tables for unwinding (System V ABI: .eh_frame_hdr, .eh_frame), which
// stripped files have, too.
#ifndef CLEW_HOST_MODEL_FUNCTION_TABLE_H_
#define CLEW_HOST_MODEL_FUNCTION_TABLE_H_

#include <cstdint>
#include <vector>

#include "host/elf/elf_file.h"
#include "host/model/code_map.h"

namespace clew {

// Ascending, as linked. Empty: there are no such tables.
[[nodiscard]] std::vector<CodeRange> function_table(const ElfFile& file);
// Stubs by which code calls functions of libraries, ascending, as linked.
[[nodiscard]] std::vector<CodeRange> stub_ranges(const ElfFile& file);
// The one that has the address; null: none.
[[nodiscard]] const CodeRange* range_with(const std::vector<CodeRange>& ranges,
                                          std::uint64_t address);

}  // namespace clew

#endif  // CLEW_HOST_MODEL_FUNCTION_TABLE_H_
