// Calling a function that looks at where it is called from (dlopen).
#ifndef CLEW_RUNTIME_FIBER_CALL_FROM_H_
#define CLEW_RUNTIME_FIBER_CALL_FROM_H_

namespace clew::rt {

extern "C" {
// Calls function(a, b), which finds the address `ret` where it would find that of the code that calls it.
// REQUIRES: there is a return instruction at `ret`.
void* clew_call_from(const void* ret, void* function, long a, long b);
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_FIBER_CALL_FROM_H_
