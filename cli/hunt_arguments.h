// `clew run ./tests --gtest_filter=Queue.*`: what follows the program's name is the program's.
#ifndef CLEW_CLI_HUNT_ARGUMENTS_H_
#define CLEW_CLI_HUNT_ARGUMENTS_H_

#include <cstddef>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace clew::cli {

// The parser takes options wherever they stand, and an argument "[a,b]" for a list (which Catch2
// users would notice). So "--" is put before the program's name unless the user did, and a mark
// before each argument from there on. `arguments` are those of clew, the command first; of
// commands that take no program they stay as they are.
std::vector<std::string> separate_program(const CLI::App& app, std::vector<std::string> arguments);

// How many of the arguments are clew's own: all up to the program, or all.
std::size_t end_of_own_options(const CLI::App& app, const std::vector<std::string>& arguments);

// The program and its arguments, without the marks.
std::vector<std::string> without_marks(std::vector<std::string> arguments);

}  // namespace clew::cli

#endif  // CLEW_CLI_HUNT_ARGUMENTS_H_
