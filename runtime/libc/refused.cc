#include "runtime/libc/refused.h"

#include <dlfcn.h>

#include "runtime/rt.h"

extern "C" {

unsigned char clew_in_charge = 0;

// Called by the stubs.
void* clew_resolve_refused(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  CLEW_CHECK(found != nullptr);
  return found;
}
}
