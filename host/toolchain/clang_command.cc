#include "host/toolchain/clang_command.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "host/toolchain/request.h"
#include "host/toolchain/response_file.h"

namespace clew::toolchain {
namespace {

using Arguments = std::vector<std::string>;

void append(Arguments& to, std::span<const std::string> from) {
  to.insert(to.end(), from.begin(), from.end());
}

Arguments possibly_unused(const Arguments& arguments) {
  Arguments marked{"--start-no-unused-arguments"};
  append(marked, arguments);
  marked.emplace_back("--end-no-unused-arguments");
  return marked;
}

// -Xclang -mllvm, not -mllvm: clang passes the latter to its assembler too, which does not know the
// option. -Xclang -load makes the pass's option known before it is parsed; -fpass-plugin runs the
// pass.
Arguments instrumenting(const Request& request, const Installation& installation) {
  const std::string pass = installation.pass.string();
  return possibly_unused({"-gline-tables-only", "-D__CLEW__=1",                          //
                          "-idirafter", installation.include_dir.string(),               //
                          "-Xclang", "-load", "-Xclang", pass, "-fpass-plugin=" + pass,  //
                          "-Xclang", "-mllvm", "-Xclang", "-clew-yield=" + request.granularity});
}

// The runtime must remain a dependency of a program that does not refer to it (--no-as-needed), and
// must be found after the user's -Wl,-Bstatic. -Xlinker and not -Wl, so that the path may contain a
// comma.
Arguments linking(const Request& request, const Installation& installation) {
  const std::string library_dir = installation.library_dir.string();
  Arguments arguments{"-L" + library_dir,  //
                      "-Wl,--push-state,--no-as-needed,-Bdynamic",
                      "-lclew_rt",        //
                      "-Wl,--pop-state",  //
                      "-Xlinker",
                      "-rpath",
                      "-Xlinker",
                      library_dir};
  // Binding a function at its first call leaves the caller's registers on the stack, including
  // those that count yield points, where a program that reads uninitialised memory may find them. A
  // library may refer to functions that are neither defined nor called.
  if (request.is_executable) arguments.emplace_back("-Wl,-z,now");
  // -Xlinker, because an input after the user's -x would be taken for source code.
  if (request.has_sanitizer)
    append(arguments, Arguments{"-Xlinker", installation.sanitizer_hooks.string()});
  return possibly_unused(arguments);
}

bool concerns_clew(const Request& request, std::size_t index) {
  return request.link_before == index || std::ranges::binary_search(request.own, index);
}

// The user's arguments without clew's own options, and `link` at its place.
Arguments assemble(std::span<const std::string> user, std::span<const ExpandedArgument> expanded,
                   const Request& request, const Arguments& link) {
  bool write_out = false;
  for (std::size_t i = 0; i < expanded.size(); ++i) {
    if (expanded[i].from_file && concerns_clew(request, i)) write_out = true;
  }
  Arguments result;
  for (std::size_t i = 0; i < expanded.size(); ++i) {
    const ExpandedArgument& argument = expanded[i];
    if (request.link_before == i) append(result, link);
    if (std::ranges::binary_search(request.own, i)) continue;
    if (write_out || !argument.from_file) {
      result.push_back(argument.text);
    } else if (i == 0 || expanded[i - 1].origin != argument.origin) {
      result.push_back(user[argument.origin]);
    }
  }
  if (!request.link_before) append(result, link);
  return result;
}

}  // namespace

Result<std::vector<std::string>> clang_arguments(std::span<const std::string> user_arguments,
                                                 const Installation& installation,
                                                 const Files& files) {
  const auto expanded = expand_response_files(user_arguments, files);
  CLEW_TRY(const Request request, read_request(expanded, files));

  Arguments result;
  if (request.has_input) result = instrumenting(request, installation);
  append(result, assemble(user_arguments, expanded, request,
                          request.links ? linking(request, installation) : Arguments{}));
  return result;
}

const char* compiler_variable(Language language) {
  return language == Language::kC ? "CLEW_CLANG" : "CLEW_CLANGXX";
}

std::string compiler_for(Language language) {
  const char* chosen = std::getenv(compiler_variable(language));
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return language == Language::kC ? CLEW_DEFAULT_CLANG : CLEW_DEFAULT_CLANGXX;
}

}  // namespace clew::toolchain
