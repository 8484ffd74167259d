// What a program finds on its stack when it starts: arguments, environment, auxiliary vector.
#ifndef CLEW_RUNTIME_LAYOUT_FIRST_STACK_H_
#define CLEW_RUNTIME_LAYOUT_FIRST_STACK_H_

#include <elf.h>

#include "runtime/layout/layout.h"
#include "runtime/rt.h"

namespace clew::rt {

// The entries of the auxiliary vector that depend on where things are.
struct NewPlaces {
  std::uintptr_t segments;  // the program's
  std::uint64_t segment_count;
  std::uintptr_t entry;
  std::uintptr_t loader;
  std::uint64_t mark_type;  // one that the kernel does not have
  std::uint64_t mark;
  const char* started_as = nullptr;  // AT_EXECFN; null: as it was
};

// Where parts of it lie.
struct FirstStack {
  std::uintptr_t pointer;
  std::uintptr_t arguments, arguments_end, environment_end;
  std::uintptr_t vector;
  std::size_t vector_size;  // bytes; what fills it up and what ends it are not in it
};

// The entries of the auxiliary vector, with the one that ends it, are at least as many, so that the
// stack begins at the same address whatever the kernel has to say: Linux 6.12 has 23.
inline constexpr std::size_t kLeastVector = 32;

// The most bytes that write_first_stack() needs: a multiple of the page size.
std::size_t size_of_first_stack(const StartOfStack& start, const char* started_as = nullptr);

// Writes a copy of `start` to the memory [image, image + size), which will be moved so that it
// ends at `top`. The vDSO is left out: the kernel's has gone.
FirstStack write_first_stack(const StartOfStack& start, const NewPlaces& places, char* image,
                             std::size_t size, std::uintptr_t top);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_LAYOUT_FIRST_STACK_H_
