// What a recording needs to be replayed on another machine: found by a replay as it will be made
// there, and checked by it.
#ifndef CLEW_HOST_TARGET_PORTABLE_H_
#define CLEW_HOST_TARGET_PORTABLE_H_

#include "host/error.h"
#include "host/recording/meta.h"
#include "host/recording/start_file.h"
#include "host/target/replay.h"

namespace clew {

struct Portable {
  Meta meta;      // as it was before an import
  Bundle bundle;  // what its program consists of
};

// Fails if the replay is not the recorded run: then it would not be elsewhere either.
[[nodiscard]] Result<Portable> make_portable(const Replay& replay, RunObserver& observer);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_PORTABLE_H_
