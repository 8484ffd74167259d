// The same addresses in every run where the kernel does not help: Docker's default seccomp profile
// refuses personality(ADDR_NO_RANDOMIZE), so that the kernel loads each process somewhere else.
//
// A process that was loaded anywhere loads its program once more, before any constructor of the
// program has run: it gives up everything that the kernel and the dynamic linker have mapped so
// far, maps the program and the dynamic linker at fixed addresses, copies arguments, environment
// and auxiliary vector to a stack at a fixed address, reserves what lies above a fixed address so
// that the kernel, which chooses the highest that is free, chooses the same in every run, and
// starts the dynamic linker again. /proc/self/exe stays what it is because there is no exec.
//
//   0x3b00'0000'0000                first mapping, if the kernel goes upwards (no stack limit)
//   0x5555'5555'4000                program, if it can be loaded anywhere, and behind it its heap
//   0x6e00'0000'0000                first mapping, downwards: dynamic linker, libraries, memory
//   0x7ffb'ffff'f000                the end of what is reserved
//   0x7fff'ffff'f000                the end of the stack
//
// The addresses of program, heap and stack are those that the kernel would choose. The others are
// below all that a kernel chooses at random (vm.mmap_rnd_bits is at most 32).
#ifndef CLEW_RUNTIME_LAYOUT_LAYOUT_H_
#define CLEW_RUNTIME_LAYOUT_LAYOUT_H_

#include "runtime/layout/loaded_files.h"
#include "runtime/rt.h"

namespace clew::rt {

// Whether this is the second time.
bool is_loaded_again();

// What the kernel put on the stack. `arguments` and `environment` as pointers to it, `control` the
// value of the variable that names the control memory: the second time it finds `control_text`
// there.
struct StartOfStack {
  long count;
  char** arguments;
  char** environment;
  const char* control;
  const char* control_text;
};

// Does not return if it succeeds. Otherwise nothing has changed, and the answer says why it cannot
// be done.
const char* load_again(const StartOfStack& start);

// Ends what the starter (starter.cc) did on behalf of the dynamic linker, if it began this process.
// To be called before anything else that concerns signals or system calls.
void leave_starter();

// What the dynamic linker gets in such a process; empty in others.
LoadedFiles loaded_files();

// Bytes of address space that are reserved; 0 if it was not loaded again.
std::size_t reserved_size();

// Where the process was loaded again: why addresses differ from run to run nevertheless. Null:
// they do not.
const char* why_addresses_move();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_LAYOUT_LAYOUT_H_
