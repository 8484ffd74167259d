#include "cli/cc.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cli/ui.h"
#include "host/target/exit_status.h"
#include "host/toolchain/files.h"
#include "host/toolchain/installation.h"
#include "host/toolchain/response_file.h"

namespace clew::cli {
namespace {

using toolchain::Language;

constexpr char kHelp[] = R"(Usage: clew cc [OPTION]... FILE...      (also: clew-cc)
       clew c++ [OPTION]... FILE...     (also: clew-c++)

Compile and link C and C++ so that clew can control the program's threads. Drop-in
replacements for clang and clang++: every option but clew's own is clang's.

clew's own option:
  -fclew-yield=GRANULARITY  where threads can be switched; the last one counts
      sync     at synchronisation calls and atomic operations only
      shared   there, at loop back edges, and where memory that may be shared is
               accessed (default)
      line     as shared, and at each function entry and each source line

Added to every call: debug line tables (-g and -g0 override them), -D__CLEW__=1, the
header <clew/clew.h>, the instrumentation, and at link the runtime library.
Refused: -static and -static-pie (the runtime is a shared library), -fsanitize=thread.

Environment:
  CLEW_CLANG, CLEW_CLANGXX  clang 19 and clang++ 19 to use instead of
      %s and %s

Examples:
  clew c++ -O1 -g a.cpp b.cpp -o a -pthread && clew run -- ./a
  CC=clew-cc CXX=clew-c++ ./configure && make
  cmake -DCMAKE_C_COMPILER=clew-cc -DCMAKE_CXX_COMPILER=clew-c++ ..

Exit status: clang's; %d for a call that clew refuses, %d if clang cannot be started.
)";

int print_help() {
  std::printf(kHelp, toolchain::compiler_for(Language::kC).c_str(),
              toolchain::compiler_for(Language::kCxx).c_str(), kExitUsage, kExitBadInput);
  return 0;
}

// Returns only if it failed, with errno set. Like the shell, looks in PATH for a name without a
// slash.
void execute(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> pointers{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  execvp(program.c_str(), pointers.data());
}

// For a list that is too long for the kernel: clang reads it from a file that exists in memory
// only, and so needs nobody to delete it. Returns only if it failed, with errno set.
void execute_by_response_file(const std::string& program,
                              const std::vector<std::string>& arguments) {
  const std::string text = toolchain::to_response_text(arguments);
  const int file = memfd_create("clew-arguments", 0);
  if (file < 0) return;
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count < 0) return;
    written += static_cast<std::size_t>(count);
  }
  execute(program, {"@/proc/self/fd/" + std::to_string(file)});
}

Error cannot_start(Language language, const std::string& program, int error_number) {
  return {.code = ErrorCode::kSystem,
          .message = "cannot start " + program + ": " + std::strerror(error_number),
          .hint = std::string("install clang-19, or set ") +
                  toolchain::compiler_variable(language) + " to the path of clang 19"};
}

}  // namespace

std::optional<Language> compiler_called_as(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  if (name == "clew-cc") return Language::kC;
  if (name == "clew-c++") return Language::kCxx;
  return std::nullopt;
}

int run_compiler(Language language, std::span<const char* const> arguments) {
  const std::vector<std::string> user(arguments.begin(), arguments.end());
  if (user.size() == 1 && user.front() == "--help") return print_help();

  const auto installation = toolchain::own_installation();
  if (!installation) return report_error(installation.error());
  const auto command = toolchain::clang_arguments(user, *installation, toolchain::files_on_disk());
  if (!command) return report_error(command.error());

  const std::string program = toolchain::compiler_for(language);
  execute(program, *command);
  if (errno == E2BIG) execute_by_response_file(program, *command);
  return report_error(cannot_start(language, program, errno));
}

}  // namespace clew::cli
