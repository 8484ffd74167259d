// `clew cc`, `clew c++`, and the same tool called as clew-cc or clew-c++.
#ifndef CLEW_CLI_CC_H_
#define CLEW_CLI_CC_H_

#include <optional>
#include <span>
#include <string_view>

#include "host/toolchain/clang_command.h"

namespace clew::cli {

// argv[0] of a compiler: "clew-cc" or "clew-c++", in any folder; nothing for every other name.
[[nodiscard]] std::optional<toolchain::Language> compiler_called_as(std::string_view program);

// Becomes clang, so that its messages and exit status are the caller's. Returns an exit status only
// if clang was not started: after --help, or after an error that it has printed. `arguments` does
// not include the name of the program or of the subcommand. No argument is clew's before it has
// been here: main() must not let its option parser see any of them.
[[nodiscard]] int run_compiler(toolchain::Language language,
                               std::span<const char* const> arguments);

}  // namespace clew::cli

#endif  // CLEW_CLI_CC_H_
