#include "host/toolchain/request.h"

#include <gtest/gtest.h>

#include <sstream>

namespace clew::toolchain {
namespace {

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

Result<Request> read(const std::string& line) {
  const Files files{.exists = [](const std::string& path) { return !path.contains("missing"); },
                    .read = [](const std::string&) { return std::nullopt; }};
  return read_request(expand_response_files(words(line), files), files);
}

enum class Kind { kNoInput, kStops, kLinks };

struct KindCase {
  Kind kind;
  std::string line;
};

std::ostream& operator<<(std::ostream& out, const KindCase& c) { return out << c.line; }

class KindOfCall : public testing::TestWithParam<KindCase> {};

TEST_P(KindOfCall, IsRecognised) {
  const auto request = read(GetParam().line);
  ASSERT_TRUE(request) << request.error().message;
  const Kind kind = !request->has_input ? Kind::kNoInput
                    : request->links    ? Kind::kLinks
                                        : Kind::kStops;
  EXPECT_EQ(kind, GetParam().kind);
}

constexpr const char* kNoInput[] = {
    "",
    "--version",
    "-v",
    "-v -c",
    "-dumpmachine",
    "-dumpversion",
    "-print-search-dirs",
    "-print-file-name=libc.so",
    "--print-resource-dir",
    "-o a.c",
    "-I dir -L dir -D X",
    "-include a.h",
    "-MF a.d -MT a.o",
    "-Xclang a.c",
    "-x c",
    "-target x86_64-linux-gnu",
    "-###",
    "-Xarch_x86_64 a.c",
    "-O2 -fsanitize=thread -v",
    "-static",
    "-o",
    "-fclew-yield=line",
    "missing.c",
    "-c missing.c",
    "@missing",
    "-- missing.c",
    "missing.h",
};

constexpr const char* kStops[] = {
    "-c a.c",
    "a.c -c",
    "-c a.c -o a.o -lm",
    "-S a.c",
    "-E a.c",
    "-M a.c",
    "-MM a.c",
    "-fsyntax-only a.c",
    "--analyze a.c",
    "--compile a.c",
    "--preprocess a.c",
    "-r a.o b.o -o c.o",
    "-Wl,-r a.o",
    "-nostdlib -Wl,-x,-r a.o",
    "-Xlinker -r a.o",
    "-Wl,--relocatable a.o",
    "-c -x assembler a.s",
    "--precompile a.cppm",
    "-emit-ast a.c",
    "a.h",
    "-x c++-header a",
    "-xc-header a.c",
    "--language=c-header a.c",
    "--language c++-header a.c",
    "a.hpp b.hh",
    "-c a.c -static",
    "-static -c a.c",
    "--version a.c",
    "-c -",
    "-c -- a.c",
    "--emit-static-lib a.c -o a.a",
    "-fmodule-header a.cc",
    "-E -dM -x c /dev/null",
};

constexpr const char* kLinks[] = {
    "a.c",
    "a.c b.c -o a",
    "a.o",
    "-shared -fPIC a.c -o a.so",
    "-lm",
    "-l m",
    "-Wl,--version",
    "-Xlinker --version",
    "-MD a.c",
    "-MMD -MF a.d a.c",
    "a.c -v",
    "-### a.c",
    "-flto a.o",
    "-x c a.h",
    "-x c++-header a -x none a.o",
    "a.h -lm",
    "a.h a.c",
    "-",
    "-o a -- a.c",
    "-nostdlib a.o",
    "-static-libgcc a.o",
    "-static-libstdc++ a.o",
    "-Wl,-Bstatic a.o",
    "-Xclang -fsyntax-only a.c",
    "-o -c a.c",
    "-fsanitize=address a.c",
    "-MT -c a.c",
    "-Wl,-rpath,-rx a.o",
    "libx.a",
    "/lib/x.so",
    "-z now",
    "missing.c a.c",
    "missing.c -lm",
    "-working-directory x missing.c",
    "-working-directory=x missing.c",
    "-ivfsoverlay x missing.c",
};

std::vector<KindCase> cases(Kind kind, std::span<const char* const> lines) {
  std::vector<KindCase> result;
  for (const char* line : lines) result.push_back({kind, line});
  return result;
}

INSTANTIATE_TEST_SUITE_P(NoInput, KindOfCall, testing::ValuesIn(cases(Kind::kNoInput, kNoInput)));
INSTANTIATE_TEST_SUITE_P(Stops, KindOfCall, testing::ValuesIn(cases(Kind::kStops, kStops)));
INSTANTIATE_TEST_SUITE_P(Links, KindOfCall, testing::ValuesIn(cases(Kind::kLinks, kLinks)));

TEST(Granularity, LastOneCounts) {
  EXPECT_EQ(read("a.c")->granularity, "shared");
  EXPECT_EQ(read("-fclew-yield=sync a.c")->granularity, "sync");
  const auto request = read("-fclew-yield=sync a.c -fclew-yield=line");
  EXPECT_EQ(request->granularity, "line");
  EXPECT_EQ(request->own, (std::vector<std::size_t>{0, 2}));
}

TEST(Granularity, OfOptionsOnlyNotOfTheirValues) {
  EXPECT_EQ(read("-D -fclew-yield=line a.c")->granularity, "shared");
  EXPECT_EQ(read("-c -- -fclew-yield=line")->granularity, "shared");
}

TEST(LinkBefore, NamedCLibraryAndEndOfOptions) {
  EXPECT_EQ(read("a.c -lm")->link_before, std::nullopt);
  EXPECT_EQ(read("a.c -lfoo -lc -lm")->link_before, 2U);
  EXPECT_EQ(read("a.c -lfoo -l c")->link_before, 2U);
  EXPECT_EQ(read("a.c -l:libc.so.6")->link_before, 1U);
  EXPECT_EQ(read("a.c /lib/x86_64-linux-gnu/libc.so.6")->link_before, 1U);
  EXPECT_EQ(read("-o a -- a.c")->link_before, 2U);
  EXPECT_EQ(read("a.c -lc -- b.c")->link_before, 1U);
  EXPECT_EQ(read("-o -- a.c")->link_before, std::nullopt);
}

struct RefusedCase {
  std::string line;
  std::string message;  // a part of it
};

std::ostream& operator<<(std::ostream& out, const RefusedCase& c) { return out << c.line; }

class Refused : public testing::TestWithParam<RefusedCase> {};

TEST_P(Refused, InOneLineWithAHint) {
  const auto request = read(GetParam().line);
  ASSERT_FALSE(request);
  const Error& error = request.error();
  EXPECT_EQ(error.code, ErrorCode::kUsage);
  EXPECT_NE(error.message.find(GetParam().message), std::string::npos) << error.message;
  EXPECT_EQ((error.message + error.hint).find('\n'), std::string::npos);
  EXPECT_FALSE(error.hint.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Calls, Refused,
    testing::Values(RefusedCase{"-fclew-yield=word a.c", "unknown granularity 'word'"},
                    RefusedCase{"-fclew-yield= a.c", "unknown granularity ''"},
                    RefusedCase{"-fclew-yield=Line --version", "unknown granularity 'Line'"},
                    RefusedCase{"-fclew-yield line a.c", "unknown option '-fclew-yield'"},
                    RefusedCase{"-fclew-speed=1 a.c", "unknown option '-fclew-speed=1'"},
                    RefusedCase{"-static a.c", "-static cannot"},
                    RefusedCase{"--static a.c", "--static cannot"},
                    RefusedCase{"a.o -static-pie", "-static-pie cannot"},
                    RefusedCase{"-fsanitize=thread -c a.c", "-fsanitize=thread"},
                    RefusedCase{"-fsanitize=undefined,thread a.c", "-fsanitize=thread"},
                    RefusedCase{"-fno-sanitize=thread -fsanitize=thread a.c",
                                "-fsanitize=thread"}));

TEST(Sanitizers, SwitchedOffAgainIsFine) {
  EXPECT_TRUE(read("-fsanitize=thread -fno-sanitize=thread a.c"));
  EXPECT_TRUE(read("-fsanitize=thread -fno-sanitize=all a.c"));
  EXPECT_TRUE(read("-fsanitize=address,undefined a.c"));
  EXPECT_TRUE(read("-Xclang -fsanitize=thread a.c"));
}

}  // namespace
}  // namespace clew::toolchain
