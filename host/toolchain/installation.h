// Where clew's own files are. The build tree and every installation have the same layout:
//   bin/clew  lib/clew/libclew_pass.so  lib/clew/libclew_rt.so  lib/clew/clew_sanitizer_hooks.o
//   lib/clew/clew-start  include/clew/clew.h
#ifndef CLEW_HOST_TOOLCHAIN_INSTALLATION_H_
#define CLEW_HOST_TOOLCHAIN_INSTALLATION_H_

#include <filesystem>

#include "host/error.h"

namespace clew::toolchain {

struct Installation {
  std::filesystem::path include_dir;  // holds clew/clew.h
  std::filesystem::path library_dir;  // holds the runtime
  std::filesystem::path pass;
  std::filesystem::path runtime;
  std::filesystem::path sanitizer_hooks;  // of clew_abi/sanitizer.h
  std::filesystem::path starter;          // of the programs of imported recordings
};

// REQUIRES: `executable` is absolute and free of symbolic links, as /proc/self/exe gives it.
[[nodiscard]] Installation installation_of(const std::filesystem::path& executable);

// The installation that this process was started from; an error if a part is missing.
[[nodiscard]] Result<Installation> own_installation();

}  // namespace clew::toolchain

#endif  // CLEW_HOST_TOOLCHAIN_INSTALLATION_H_
