// The files that a call of the compiler names, as functions so that tests need no disk.
#ifndef CLEW_HOST_TOOLCHAIN_FILES_H_
#define CLEW_HOST_TOOLCHAIN_FILES_H_

#include <functional>
#include <optional>
#include <string>

namespace clew::toolchain {

struct Files {
  std::function<bool(const std::string& path)> exists;
  // The content; empty if it cannot be read. Regular files only: a pipe (`clew cc @<(...)`) can be
  // read only once, and clang has to read it.
  std::function<std::optional<std::string>(const std::string& path)> read;
};

[[nodiscard]] Files files_on_disk();

}  // namespace clew::toolchain

#endif  // CLEW_HOST_TOOLCHAIN_FILES_H_
