#include "host/target/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>

namespace clew {
namespace {
std::array<bool, 3> closed{};
}

void hold_standard_descriptors() {
  for (int number = 0; number < 3; ++number) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    // This is the lowest free number.
    closed[static_cast<std::size_t>(number)] =
        open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) == number;
  }
}

bool was_closed(int number) { return closed.at(static_cast<std::size_t>(number)); }

}  // namespace clew
