#include "runtime/libc/real.h"

#include "runtime/rt.h"

namespace clew::rt::real {

#define CLEW_REAL_FUNCTION(name) decltype(&::name) name = nullptr;
#include "runtime/libc/real.def"

bool g_resolved = false;

void resolve() {
  // RTLD_NEXT gives the default version of a symbol, also where there are several
  // (pthread_cond_wait@@GLIBC_2.3.2).
#define CLEW_REAL_FUNCTION(name) \
  name = reinterpret_cast<decltype(&::name)>(dlsym(RTLD_NEXT, #name));
#include "runtime/libc/real.def"
  g_resolved = true;
}

}  // namespace clew::rt::real
