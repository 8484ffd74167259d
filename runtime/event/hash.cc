#include "runtime/event/hash.h"

namespace clew::rt {

constinit RunHash g_hash;

}  // namespace clew::rt
