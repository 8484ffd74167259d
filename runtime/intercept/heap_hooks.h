// The program's allocator, for those who listen to what becomes of memory (kTopicMemory). It is not
// interposed: that would cost every program something, and get in the way of an allocator of its own.
// Instead, when a job begins that somebody listens to, what modules have bound malloc and its relatives
// to is replaced, and stays so. Calls within a module that do not go through its table of bindings are
// not seen.
#ifndef CLEW_RUNTIME_INTERCEPT_HEAP_HOOKS_H_
#define CLEW_RUNTIME_INTERCEPT_HEAP_HOOKS_H_

namespace clew::rt {

// Of all modules that are loaded; again when others have been.
void hook_heap();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_INTERCEPT_HEAP_HOOKS_H_
