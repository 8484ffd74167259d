#include "host/target/addresses.h"

#include <sys/personality.h>

#include <cstdlib>

namespace clew {

bool kernel_fixes_addresses() {
  static const bool fixes = [] {
    const int before = personality(0xffffffff);
    if (before < 0) return false;
    const auto own = static_cast<unsigned>(before);
    const bool accepted = personality(own | ADDR_NO_RANDOMIZE) >= 0;
    if (accepted) personality(own);
    return accepted;
  }();
  return fixes && std::getenv(kLoadAgainVariable) == nullptr;
}

}  // namespace clew
