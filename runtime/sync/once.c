/* The part of pthread_once that runs the routine. In C with -fexceptions, so that an exception passing
 * through it (std::call_once) resets the control without the runtime needing C++ unwinding. */
void clew_once_abandoned(int* control);

static void abandon(int** control) {
  if (*control != 0) clew_once_abandoned(*control);
}

void clew_once_call(int* control, void (*routine)(void)) {
  int* pending __attribute__((cleanup(abandon))) = control;
  routine();
  pending = 0;
}
