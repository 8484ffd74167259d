// What init.cc, where the runtime takes over, needs of the families.
#ifndef CLEW_RUNTIME_INTERCEPT_INIT_H_
#define CLEW_RUNTIME_INTERCEPT_INIT_H_

namespace clew::rt {

// Makes an uncaught exception be reported with its type and where it was thrown.
void install_terminate_handler();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_INTERCEPT_INIT_H_
