#include "runtime/signal/attend.h"

namespace clew::rt {

Attended attend(Fiber& self, unsigned) {
  self.disturbed = false;
  return {};
}

}  // namespace clew::rt
