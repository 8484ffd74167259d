#include "host/toolchain/clang_command.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>

namespace clew::toolchain {
namespace {

using Strings = std::vector<std::string>;

Strings words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

std::string joined(const Strings& strings) {
  std::string line;
  for (const std::string& string : strings) line += (line.empty() ? "" : " ") + string;
  return line;
}

void replace(std::string& line, const std::string& what, const std::string& with) {
  if (const auto at = line.find(what); at != std::string::npos) line.replace(at, what.size(), with);
}

const std::map<std::string, std::string> kFiles = {
    {"plain", "-O2 a.c"},
    {"yield", "a.c -fclew-yield=line"},
    {"c", "-c"},
    {"libc", "a.o -lfoo -lc"},
    {"dashes", "-o a -- a.c"},
    {"outer", "@yield -DX"},
    {"wrong", "-fclew-yield="},
    {"spaces", "'a b.c' -DX=\\\"y\\\" -fclew-yield=sync"},
};

Result<Strings> transform(const Strings& user) {
  const Files files{.exists = [](const std::string& path) { return !path.contains("missing"); },
                    .read = [](const std::string& path) -> std::optional<std::string> {
                      const auto found = kFiles.find(path);
                      if (found == kFiles.end()) return std::nullopt;
                      return found->second;
                    }};
  return clang_arguments(user, installation_of("/p/bin/clew"), files);
}

std::string front(const std::string& granularity) {
  return "--start-no-unused-arguments -gline-tables-only -D__CLEW__=1 -idirafter /p/include "
         "-Xclang -load -Xclang /p/lib/clew/libclew_pass.so "
         "-fpass-plugin=/p/lib/clew/libclew_pass.so -Xclang -mllvm -Xclang -clew-yield=" +
         granularity + " --end-no-unused-arguments";
}

const std::string kLink =
    "--start-no-unused-arguments -L/p/lib/clew -Wl,--push-state,--no-as-needed,-Bdynamic -lclew_rt "
    "-Wl,--pop-state -Xlinker -rpath -Xlinker /p/lib/clew -Wl,-z,now --end-no-unused-arguments";

const std::string kLinkLibrary =
    "--start-no-unused-arguments -L/p/lib/clew -Wl,--push-state,--no-as-needed,-Bdynamic -lclew_rt "
    "-Wl,--pop-state -Xlinker -rpath -Xlinker /p/lib/clew --end-no-unused-arguments";

const std::string kLinkSanitizer =
    "--start-no-unused-arguments -L/p/lib/clew -Wl,--push-state,--no-as-needed,-Bdynamic -lclew_rt "
    "-Wl,--pop-state -Xlinker -rpath -Xlinker /p/lib/clew -Wl,-z,now "
    "-Xlinker /p/lib/clew/clew_sanitizer_hooks.o --end-no-unused-arguments";

struct Case {
  std::string user;
  // SYNC, SHARED, LINE: the arguments in front; LINK, LIBRARY, SANITIZER: the linker's
  std::string clang;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.user; }

class Transform : public testing::TestWithParam<Case> {};

TEST_P(Transform, GivesClangsArguments) {
  const auto arguments = transform(words(GetParam().user));
  ASSERT_TRUE(arguments) << arguments.error().message;
  std::string line = joined(*arguments);
  replace(line, front("sync"), "SYNC");
  replace(line, front("shared"), "SHARED");
  replace(line, front("line"), "LINE");
  replace(line, kLink, "LINK");
  replace(line, kLinkLibrary, "LIBRARY");
  replace(line, kLinkSanitizer, "SANITIZER");
  EXPECT_EQ(line, GetParam().clang);
}

INSTANTIATE_TEST_SUITE_P(WithoutInputs, Transform,
                         testing::Values(Case{"", ""}, Case{"--version", "--version"},
                                         Case{"-v", "-v"}, Case{"-dumpmachine", "-dumpmachine"},
                                         Case{"-print-prog-name=ld", "-print-prog-name=ld"},
                                         Case{"--help -v", "--help -v"},
                                         Case{"-fclew-yield=line -v", "-v"}, Case{"@c", "@c"},
                                         Case{"missing.c", "missing.c"}));

INSTANTIATE_TEST_SUITE_P(
    CompileOnly, Transform,
    testing::Values(Case{"-c a.c", "SHARED -c a.c"},
                    Case{"-fclew-yield=sync -c a.c", "SYNC -c a.c"},
                    Case{"-c a.c -fclew-yield=sync -g -fclew-yield=line", "LINE -c a.c -g"},
                    Case{"-E a.c", "SHARED -E a.c"}, Case{"-MM a.c", "SHARED -MM a.c"},
                    Case{"-x assembler -c a.s", "SHARED -x assembler -c a.s"},
                    Case{"-c -static a.c", "SHARED -c -static a.c"}, Case{"a.h", "SHARED a.h"}));

INSTANTIATE_TEST_SUITE_P(
    Link, Transform,
    testing::Values(Case{"a.c b.c -o a -pthread", "SHARED a.c b.c -o a -pthread LINK"},
                    Case{"a.o -lfoo", "SHARED a.o -lfoo LINK"},
                    Case{"a.o -lfoo -lc -lbar", "SHARED a.o -lfoo LINK -lc -lbar"},
                    Case{"a.o -l c", "SHARED a.o LINK -l c"},
                    Case{"-o a -- a.c", "SHARED -o a LINK -- a.c"},
                    Case{"-fclew-yield=line a.o -lc", "LINE a.o LINK -lc"},
                    Case{"-nostdlib a.o", "SHARED -nostdlib a.o LINK"},
                    Case{"-r a.o", "SHARED -r a.o"}, Case{"-### a.c", "SHARED -### a.c LINK"},
                    Case{"-Wl,--version", "SHARED -Wl,--version LINK"}));

INSTANTIATE_TEST_SUITE_P(
    Sanitizers, Transform,
    testing::Values(Case{"-fsanitize=address a.c", "SHARED -fsanitize=address a.c SANITIZER"},
                    Case{"a.o -fsanitize=undefined,address -lc",
                         "SHARED a.o -fsanitize=undefined,address SANITIZER -lc"},
                    Case{"-c -fsanitize=address a.c", "SHARED -c -fsanitize=address a.c"},
                    Case{"-shared -fsanitize=address a.c",
                         "SHARED -shared -fsanitize=address a.c LIBRARY"},
                    Case{"-fsanitize=address -fno-sanitize=all a.c",
                         "SHARED -fsanitize=address -fno-sanitize=all a.c LINK"}));

INSTANTIATE_TEST_SUITE_P(ResponseFiles, Transform,
                         testing::Values(Case{"@plain", "SHARED @plain LINK"},
                                         Case{"@c @plain", "SHARED @c @plain"},
                                         Case{"-v @plain -g", "SHARED -v @plain -g LINK"},
                                         Case{"-g @yield @c", "LINE -g a.c -c"},
                                         Case{"@outer -fclew-yield=sync", "SYNC a.c -DX LINK"},
                                         Case{"-fclew-yield=sync @plain", "SYNC @plain LINK"},
                                         Case{"@plain @libc", "SHARED -O2 a.c a.o -lfoo LINK -lc"},
                                         Case{"@dashes", "SHARED -o a LINK -- a.c"},
                                         Case{"@missing -c", "@missing -c"},
                                         Case{"@missing a.c", "SHARED @missing a.c LINK"}));

TEST(TransformErrors, ComeFromResponseFilesToo) {
  const auto arguments = transform({"@wrong", "a.c"});
  ASSERT_FALSE(arguments);
  EXPECT_EQ(arguments.error().code, ErrorCode::kUsage);
}

TEST(TransformQuotes, AreTakenOffWhenAFileIsWrittenOut) {
  const auto arguments = transform({"-c", "@spaces"});
  ASSERT_TRUE(arguments);
  EXPECT_EQ(Strings(arguments->end() - 3, arguments->end()), (Strings{"-c", "a b.c", "-DX=\"y\""}));
}

TEST(TransformQuotes, ArgumentsStayByteForByte) {
  const Strings user{"-c", "a b.c", "-DX=\"y z\"", "", "\t", "-DQ='"};
  const auto arguments = transform(user);
  ASSERT_TRUE(arguments);
  EXPECT_EQ(Strings(arguments->end() - 6, arguments->end()), user);
}

TEST(Compiler, OfTheBuildUnlessTheEnvironmentNamesOne) {
  unsetenv("CLEW_CLANG");
  EXPECT_TRUE(compiler_for(Language::kC).ends_with("clang-19"));
  EXPECT_TRUE(compiler_for(Language::kCxx).ends_with("clang++-19"));
  setenv("CLEW_CLANG", "/x/clang", 1);
  setenv("CLEW_CLANGXX", "", 1);
  EXPECT_EQ(compiler_for(Language::kC), "/x/clang");
  EXPECT_TRUE(compiler_for(Language::kCxx).ends_with("clang++-19"));
  unsetenv("CLEW_CLANG");
  unsetenv("CLEW_CLANGXX");
}

}  // namespace
}  // namespace clew::toolchain
