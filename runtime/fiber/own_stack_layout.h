// The layout of the runtime's own stacks (own_stack.h), for C++ and for the assembler.
#ifndef CLEW_RUNTIME_FIBER_OWN_STACK_LAYOUT_H_
#define CLEW_RUNTIME_FIBER_OWN_STACK_LAYOUT_H_

#define CLEW_OWN_STACK_SIZE 131072
// With less than this left, what the program does in a handler stays on the program's stack.
#define CLEW_OWN_STACK_RESERVE 49152

#endif  // CLEW_RUNTIME_FIBER_OWN_STACK_LAYOUT_H_
