// Ground rules of the runtime. It lives in somebody else's process, under
// interposed functions, mostly on stacks of its own (fiber/own_stack.h).
//
//  1. No exceptions, no RTTI, no static constructors, no function-local statics with guards, no
//     iostream, no libstdc++ at run time (the build links with -nostdlib++ and fails otherwise).
//  2. No malloc: the program's heap must look the same whether clew is there or not. Memory comes
//     from arena_alloc (arena.h), at a fixed address.
//  3. libc originals of intercepted functions only through CLEW_REAL (libc/real.h).
//  4. Everything is hidden but the hooks and the interposed functions (CLEW_EXPORT, and the stubs
//     of libc/interposed.def).
//  5. No thread-local variables of its own but the two of clew_abi/hooks.def, and those only through the
//     pointers in Fiber: the compiler may keep a TLS address across a context switch.
//  6. One kernel thread: no atomics and no locks are needed, except in the control memory.
//  7. Internal checks stay on: a CLEW_CHECK that fails ends the run with a message.
#ifndef CLEW_RUNTIME_RT_H_
#define CLEW_RUNTIME_RT_H_

#include <cstddef>
#include <cstdint>

#define CLEW_EXPORT extern "C" __attribute__((visibility("default")))
#define CLEW_NOINLINE __attribute__((noinline))
#define CLEW_LIKELY(x) __builtin_expect(!!(x), 1)
#define CLEW_UNLIKELY(x) __builtin_expect(!!(x), 0)

namespace clew::rt {

using Nanos = std::int64_t;
inline constexpr Nanos kForever = INT64_MAX;

// The number of an event: yield points passed since the start, over all threads.
using Clock = std::uint64_t;
inline constexpr Clock kNever = UINT64_MAX;

[[noreturn]] void check_failed(const char* what, const char* file, int line);

#define CLEW_CHECK(condition) \
  (CLEW_LIKELY(condition) ? (void)0 : ::clew::rt::check_failed(#condition, __FILE__, __LINE__))

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RT_H_
