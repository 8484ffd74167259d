// Checks of options that the library's own say less clearly. They run while the command line is
// read, before anything else does.
#ifndef CLEW_CLI_VALIDATORS_H_
#define CLEW_CLI_VALIDATORS_H_

#include <CLI/CLI.hpp>

namespace clew::cli {

// A number greater than 0. The library's own names the largest number there is in its error.
CLI::Validator positive();
// Whole numbers from 1, and from 0.
CLI::Validator count();
CLI::Validator whole();
// The name of a file that can be written, or "-".
CLI::Validator writable();

}  // namespace clew::cli

#endif  // CLEW_CLI_VALIDATORS_H_
