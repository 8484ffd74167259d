// What init.cc, where the runtime takes over, needs of the families.
#ifndef CLEW_RUNTIME_INTERCEPT_INIT_H_
#define CLEW_RUNTIME_INTERCEPT_INIT_H_

#include "runtime/sched/fiber.h"

namespace clew::rt {

void seed_random(std::uint64_t seed);
void random_bytes(void* buffer, std::size_t size);

// So that an exception that nobody catches is reported with its type and where it was thrown.
void install_terminate_handler();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_INTERCEPT_INIT_H_
