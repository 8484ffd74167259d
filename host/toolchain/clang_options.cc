#include "host/toolchain/clang_options.h"

#include <algorithm>
#include <array>

namespace clew::toolchain {
namespace {

// Both tables were obtained from clang 19 itself, not from its documentation: for an option that
// takes a value it says "argument to '-x' is missing" when the value is left out (`clang -### -x`).
// Options for Apple's linker are left out, except for the few that people pass by mistake.
constexpr auto kOneValue = std::to_array<std::string_view>({
    "--analyzer-output",
    "--assert",
    "--classpath",
    "--config",
    "--define-macro",
    "--dyld-prefix",
    "--encoding",
    "--for-linker",
    "--force-link",
    "--imacros",
    "--include",
    "--include-directory",
    "--include-directory-after",
    "--include-prefix",
    "--include-with-prefix",
    "--include-with-prefix-after",
    "--include-with-prefix-before",
    "--language",
    "--library-directory",
    "--mhwdiv",
    "--no-system-header-prefix",
    "--output",
    "--param",
    "--prefix",
    "--print-file-name",
    "--resource",
    "--serialize-diagnostics",
    "--specs",
    "--std",
    "--sysroot",
    "--system-header-prefix",
    "--undefine-macro",
    "--vfsoverlay",
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-U",
    "-V",
    "-Xanalyzer",
    "-Xarch_device",
    "-Xarch_host",
    "-Xassembler",
    "-Xclang",
    "-Xcuda-fatbinary",
    "-Xcuda-ptxas",
    "-Xlinker",
    "-Xoffload-linker",
    "-Xopenmp-target",
    "-Xpreprocessor",
    "-arch",
    "-b",
    "-ccc-gcc-name",
    "-ccc-install-dir",
    "-cxx-isystem",
    "-dependency-dot",
    "-dependency-file",
    "-dsym-dir",
    "-dumpdir",
    "-e",
    "-fdebug-compilation-dir",
    "-fexperimental-openacc-macro-override",
    "-filelist",
    "-fmodules-user-build-path",
    "-framework",
    "-ftrapv-handler",
    "-gen-cdb-fragment-path",
    "-hlsl-entry",
    "-iapinotes-modules",
    "-idirafter",
    "-iframework",
    "-iframeworkwithsysroot",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-install_name",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-l",
    "-meabi",
    "-mllvm",
    "-mmlir",
    "-module-dependency-dir",
    "-mthread-model",
    "-o",
    "-object-file-name",
    "-resource-dir",
    "-rpath",
    "-serialize-diagnostics",
    "-stdlib++-isystem",
    "-target",
    "-u",
    "-undefined",
    "-vfsoverlay",
    "-working-directory",
    "-x",
    "-z",
});

constexpr auto kStops = std::to_array<std::string_view>({
    "--analyze",
    "--assemble",
    "--compile",
    "--dependencies",
    "--emit-static-lib",
    "--precompile",
    "--migrate",
    "--preprocess",
    "--user-dependencies",
    "-E",
    "-M",
    "-MM",
    "-S",
    "-c",
    "-emit-ast",
    "-emit-interface-stubs",
    "-extract-api",
    "-fsyntax-only",
    "-module-file-info",
    "-r",
    "-rewrite-legacy-objc",
    "-rewrite-objc",
    "-verify-pch",
});

// clang answers these and does nothing else.
constexpr auto kQuestions = std::to_array<std::string_view>({
    "--help",
    "--help-hidden",
    "--version",
    "-dumpmachine",
    "-dumpversion",
    "-help",
});

constexpr auto kHeaderEndings = std::to_array<std::string_view>({"H", "h", "hh", "hpp", "hxx"});

static_assert(std::ranges::is_sorted(kOneValue));

bool contains(const auto& table, std::string_view word) {
  return std::ranges::find(table, word) != table.end();
}

}  // namespace

std::size_t values_after(std::string_view option) {
  const bool per_target = option.starts_with("-Xarch_") || option.starts_with("-Xopenmp-target=");
  return per_target || std::ranges::binary_search(kOneValue, option) ? 1 : 0;
}

bool stops_before_link(std::string_view option) {
  return contains(kStops, option) || contains(kQuestions, option) ||
         option.starts_with("-fmodule-header") || option.starts_with("-print-") ||
         option.starts_with("--print-");
}

bool is_header_language(std::string_view language) { return language.ends_with("-header"); }

bool is_header_file(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return false;
  return contains(kHeaderEndings, path.substr(dot + 1));
}

}  // namespace clew::toolchain
