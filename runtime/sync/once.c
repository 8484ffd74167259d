/* The part of pthread_once that runs the routine. In C with -fexceptions, so that an exception passing
 * through it (std::call_once) resets the control without the runtime needing C++ unwinding. A thread that
 * is cancelled or ends in a routine without unwind information comes back here by a jump. */
#include <pthread.h>
#include <setjmp.h>

void clew_once_abandoned(int* control);
long clew_call_function(void* function, long a, long b, long c); /* translate/translate.h */
/* <pthread.h> has these for code without exceptions only. */
void __pthread_register_cancel(__pthread_unwind_buf_t* buffer);
void __pthread_unregister_cancel(__pthread_unwind_buf_t* buffer);
__attribute__((noreturn)) void __pthread_unwind_next(__pthread_unwind_buf_t* buffer);

struct Pending {
  int* control; /* null: the routine has returned, or all is done */
  __pthread_unwind_buf_t buffer;
};

static void abandon(struct Pending* pending) {
  if (pending->control == 0) return;
  __pthread_unregister_cancel(&pending->buffer);
  clew_once_abandoned(pending->control);
}

void clew_once_call(int* control, void (*routine)(void)) {
  struct Pending pending __attribute__((cleanup(abandon)));
  pending.control = control;
  if (__sigsetjmp_cancel(pending.buffer.__cancel_jmp_buf, 0) != 0) {
    clew_once_abandoned(pending.control);
    *(int* volatile*)&pending.control = 0;
    __pthread_unwind_next(&pending.buffer);
  }
  __pthread_register_cancel(&pending.buffer);
  clew_call_function((void*)routine, 0, 0, 0);
  __pthread_unregister_cancel(&pending.buffer);
  pending.control = 0;
}
