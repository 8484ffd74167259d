// Clew's own standard input, where it is needed to its end before anything can start.
#ifndef CLEW_HOST_SEARCH_STANDARD_INPUT_H_
#define CLEW_HOST_SEARCH_STANDARD_INPUT_H_

#include <functional>

#include "host/error.h"

namespace clew {

// Reads a pipe or a socket to its end and puts a file with what came in its place; others stay as
// they are. `slow` is called if that takes longer than a second. The signal that ended it: SIGINT
// or the like; 0: none.
[[nodiscard]] Result<int> settle_standard_input(const std::function<void()>& slow);

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_STANDARD_INPUT_H_
