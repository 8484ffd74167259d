// Where things are in a process whose addresses the kernel does not fix, and the steps that bring
// them there: for a process that loads its program again (layout.h), and for one that is begun by
// the starter (starter.cc). No function of it needs a library.
#ifndef CLEW_RUNTIME_LAYOUT_PLACES_H_
#define CLEW_RUNTIME_LAYOUT_PLACES_H_

#include "runtime/layout/first_stack.h"
#include "runtime/layout/image.h"
#include "runtime/layout/steps.h"
#include "runtime/rt.h"

namespace clew::rt {

// See the table in layout.h.
inline constexpr std::uintptr_t kUpwards = 0x3b00'0000'0000;
inline constexpr std::uintptr_t kLowestUpwards = 0x2aaa'aaaa'a000;  // that a kernel chooses
inline constexpr std::uintptr_t kProgram = 0x5555'5555'4000;
inline constexpr std::uintptr_t kDownwards = 0x6e00'0000'0000;
inline constexpr std::uintptr_t kReservedEnd = 0x7ffb'ffff'f000;
inline constexpr std::uintptr_t kStackEnd = 0x7fff'ffff'f000;
inline constexpr std::uintptr_t kLowest = 0x1'0000;  // that anything is mapped at

// Of what is reserved, the starter's: its code (CMakeLists.txt says it to the linker), and the stack
// that it writes. Between them is the start file (abi/clew_abi/start_file.h).
inline constexpr std::uintptr_t kStarter = 0x6f00'0000'0000;
inline constexpr std::uintptr_t kStarterStack = 0x6f02'0000'0000;

// An entry of the auxiliary vector of which kernels know nothing, and the bits of its value.
inline constexpr std::uint64_t kMarkType = 0x636c'6577;
enum Mark : std::uint64_t { kMarked = 1, kMarkedWithoutHeap = 2, kMarkedByStarter = 4 };

inline long to_long(const void* pointer) { return reinterpret_cast<long>(pointer); }
inline long to_long(std::uintptr_t address) { return static_cast<long>(address); }

// Where the kernel maps what may be anywhere; 0: nowhere.
std::uintptr_t probe();
inline bool goes_upwards(std::uintptr_t probed) { return probed < kProgram; }

// Decides where they are loaded.
void place(Image& program, Image& loader);

// Tells the kernel where the heap, the stack and the arguments are. Fails on kernels without
// CONFIG_CHECKPOINT_RESTORE.
bool tell_kernel(const Image& program, const FirstStack& stack, const char* vector);

void reserve(Steps& steps, std::uintptr_t begin, std::uintptr_t end);
// The stack, with a copy of [image, image + size) at its end.
void add_stack(Steps& steps, const Image& program, const char* image, std::size_t size);
// Maps it and closes its file.
void add_image(Steps& steps, const Image& image);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_LAYOUT_PLACES_H_
