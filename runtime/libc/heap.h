// How much memory a call is about to access or to free: asked of the allocator, and of the memory
// itself. Nothing here faults, whatever the address.
#ifndef CLEW_RUNTIME_LIBC_HEAP_H_
#define CLEW_RUNTIME_LIBC_HEAP_H_

#include <cstddef>
#include <cstdint>

namespace clew::rt {

// Finds out whose allocator the program uses. Once, at the start.
void find_allocator();
// Whether it is libc's.
bool knows_allocator();
// Of memory that was allocated and is about to be freed; 0: not known.
std::size_t size_of_allocation(const void* memory);
// Whether it could be read. REQUIRES: it lies in one page.
bool read_if_there(std::uintptr_t address, void* into, std::size_t size);
// Of a string with its end, or `most` if that is less; 0: it cannot be read.
std::uint64_t size_of_string(const char* string, std::uint64_t most);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_LIBC_HEAP_H_
