// Reading standard input to its end before a hunt, in sight of the user.
#ifndef CLEW_CLI_STANDARD_INPUT_H_
#define CLEW_CLI_STANDARD_INPUT_H_

#include "host/error.h"

namespace clew::cli {

// Says so if it takes long. Ctrl-C meanwhile ends clew.
[[nodiscard]] Result<void> read_standard_input();

}  // namespace clew::cli

#endif  // CLEW_CLI_STANDARD_INPUT_H_
