// Temporary files. Their names depend on the seed alone in every run under clew.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/intercept/file_watch.h"
#include "runtime/outside/randomness.h"
#include "runtime/random.h"

using namespace clew::rt;

namespace {

// Fills in the six X that stand before the suffix, until `make` finds a name that is free. One
// random number for each call, however many names it tries: the program's other randomness stays
// the same.
template <class Make>
int make_temporary(char* name, int suffix, Make make) {
  constexpr int kXs = 6;
  constexpr int kAttempts = 62 * 62 * 62;
  static constexpr char kLetters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const std::size_t size = strlen(name);
  if (suffix < 0 || size < static_cast<std::size_t>(suffix) + kXs ||
      memcmp(name + size - static_cast<std::size_t>(suffix) - kXs, "XXXXXX", kXs) != 0) {
    errno = EINVAL;
    return -1;
  }
  char* const xs = name + size - static_cast<std::size_t>(suffix) - kXs;
  std::uint64_t state = 0;
  random_bytes(&state, sizeof state);
  const int error = errno;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::uint64_t bits = split_mix(state);
    for (int i = 0; i < kXs; ++i, bits /= 62) xs[i] = kLetters[bits % 62];
    const int result = make(name);
    if (result >= 0) {
      errno = error;
      return result;
    }
    if (errno != EEXIST) return -1;
  }
  errno = EEXIST;
  return -1;
}

int make_temporary_file(char* name, int suffix, int flags) {
  return make_temporary(name, suffix, [flags](const char* path) {
    const int making = (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL;
    return watch_open(AT_FDCWD, path, making,
                      [&] { return CLEW_NEXT(open)(path, making, S_IRUSR | S_IWUSR); });
  });
}

}  // namespace

#define CLEW_TEMPORARY(name, parameters, call, suffix, flags) \
  CLEW_INTERPOSE int name parameters {                        \
    if (!g_sched.active) return CLEW_NEXT(name) call;         \
    CLEW_STEP(name);                                          \
    return make_temporary_file(pattern, suffix, flags);       \
  }
CLEW_TEMPORARY(mkstemp, (char* pattern), (pattern), 0, 0)
CLEW_TEMPORARY(mkstemp64, (char* pattern), (pattern), 0, 0)
CLEW_TEMPORARY(mkostemp, (char* pattern, int flags), (pattern, flags), 0, flags)
CLEW_TEMPORARY(mkostemp64, (char* pattern, int flags), (pattern, flags), 0, flags)
CLEW_TEMPORARY(mkstemps, (char* pattern, int suffix), (pattern, suffix), suffix, 0)
CLEW_TEMPORARY(mkstemps64, (char* pattern, int suffix), (pattern, suffix), suffix, 0)
CLEW_TEMPORARY(mkostemps, (char* pattern, int suffix, int flags), (pattern, suffix, flags), suffix,
               flags)
CLEW_TEMPORARY(mkostemps64, (char* pattern, int suffix, int flags), (pattern, suffix, flags),
               suffix, flags)

CLEW_INTERPOSE char* mkdtemp(char* pattern) noexcept {
  if (!g_sched.active) return CLEW_NEXT(mkdtemp)(pattern);
  CLEW_STEP(mkdtemp);
  const int made = make_temporary(pattern, 0, [](const char* path) {
    return note_made(CLEW_NEXT(mkdir)(path, S_IRWXU), CreatedKind::kFolder, AT_FDCWD, path);
  });
  return made == 0 ? pattern : nullptr;
}
