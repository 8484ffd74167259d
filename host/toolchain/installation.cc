#include "host/toolchain/installation.h"

#include <system_error>

namespace clew::toolchain {

Installation installation_of(const std::filesystem::path& executable) {
  const std::filesystem::path prefix = executable.parent_path().parent_path();
  const std::filesystem::path library_dir = prefix / "lib" / "clew";
  return {.include_dir = prefix / "include",
          .library_dir = library_dir,
          .pass = library_dir / "libclew_pass.so",
          .runtime = library_dir / "libclew_rt.so",
          .sanitizer_hooks = library_dir / "clew_sanitizer_hooks.o",
          .starter = library_dir / "clew-start"};
}

Result<Installation> own_installation() {
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return fail(ErrorCode::kSystem, "cannot read /proc/self/exe: " + error.message(),
                "clew needs /proc to find its own files");
  }
  Installation installation = installation_of(executable);
  for (const auto& part : {installation.pass, installation.runtime, installation.starter}) {
    if (!std::filesystem::exists(part, error)) {
      return fail(ErrorCode::kSystem, "a part of clew is missing: " + part.string(),
                  "build everything (scripts/setup) or install with cmake --install");
    }
  }
  return installation;
}

}  // namespace clew::toolchain
