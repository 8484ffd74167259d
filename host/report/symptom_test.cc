#include "host/report/symptom.h"

#include <gtest/gtest.h>

#include <random>

namespace clew {
namespace {

// As AddressSanitizer 19 prints it, shortened.
constexpr char kReport[] = R"(warming up
=================================================================
==12681==ERROR: AddressSanitizer: heap-use-after-free on address 0x502000000030 at pc 0x55555566436f bp 0x7ffff47fecb0 sp 0x7ffff47feca8
WRITE of size 8 at 0x502000000030 thread T1
    #0 0x55555566436e in std::vector<int, std::allocator<int>>::push_back(int&&) /usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/stl_vector.h:1287:18
    #1 0x55555566436e in Cache<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>>::count(int) const /a/my cache/cache.cpp:28:18
    #2 0x7ffff7cd44a2  (/lib/x86_64-linux-gnu/libstdc++.so.6+0xd44a2) (BuildId: 289ee39f)
    #3 0x7ffff79a71f4 in start_thread nptl/pthread_create.c:442:8

0x502000000030 is located 0 bytes inside of 8-byte region [0x502000000030,0x502000000038)
freed by thread T2 here:
    #0 0x5555556617e2 in operator delete(void*, unsigned long) (/a/prog+0x10d7e2) (BuildId: 2cc9a2c3)
    #1 0x7ffff7cd44a2  (/lib/x86_64-linux-gnu/libstdc++.so.6+0xd44a2) (BuildId: 289ee39f)
    #2 0x7ffff7e8a3e5 in clew::rt::(anonymous namespace)::thread_body(void*) /b/clew/runtime/thread/thread_block.cc:110:3

previously allocated by thread T0 here:
    #0 0x555555660b7d in operator new(unsigned long) (/a/prog+0x10cb7d) (BuildId: 2cc9a2c3)
    #1 0x5555556630d0 in main /a/cache.cpp:44:13

Thread T1 created by T0 here:
    #0 0x555555605c91 in pthread_create (/a/prog+0xb1c91) (BuildId: 2cc9a2c3)

SUMMARY: AddressSanitizer: heap-use-after-free /a/cache.cpp:28:18 in count(int)
)";

TEST(Symptom, AReportOfASanitizerInFourLines) {
  const std::vector<std::string> expected{
      "AddressSanitizer: heap-use-after-free",
      "  WRITE of size 8 in Cache<std::string>::count at /a/my cache/cache.cpp:28",
      "  freed by code without lines, see the full report",
      "  allocated by main at /a/cache.cpp:44",
  };
  EXPECT_EQ(sanitizer_summary(kReport), expected);
  EXPECT_TRUE(sanitizer_summary("").empty());
  EXPECT_TRUE(sanitizer_summary("ERROR: disk full\n").empty());
}

TEST(Symptom, TheLastLinesOfStandardError) {
  const Failure failure{FailureKind::kExit, "exited with status 1", "", {}};
  EXPECT_EQ(symptom_text(failure, {"out\n", "1\n2\n3\n\n4\n5\n6\n7 of \033[31m8"}, "  "),
            "  last on standard error:\n"
            "    | 3\n    | 4\n    | 5\n    | 6\n    | 7 of ?[31m8\n");
  EXPECT_EQ(symptom_text(failure, {"lost 3\n", "\n"}, ""),
            "last on standard output:\n  | lost 3\n");
  EXPECT_EQ(symptom_text(failure, {}, ""), "");
}

TEST(Symptom, WhatTheFirstLineSaysIsNotRepeated) {
  const Failure assertion{FailureKind::kAssert, "assertion `x' failed", "", {}};
  EXPECT_EQ(symptom_text(assertion, {"", "p: a.cc:3: int main(): Assertion `x' failed.\n"}, ""),
            "");
  const Failure exception{FailureKind::kException, "uncaught std::runtime_error: full", "", {}};
  const std::string said =
      "terminate called after throwing an instance of 'std::runtime_error'\n  what():  full\n";
  EXPECT_EQ(symptom_text(exception, {"", said}, ""), "");
  EXPECT_EQ(symptom_text(exception, {"", "3 jobs\n" + said}, ""),
            "last on standard error:\n  | 3 jobs\n");
}

// A program may print anything.
TEST(Symptom, RandomTexts) {
  std::mt19937_64 random(1);
  const std::string report = kReport;
  for (int i = 0; i < 2'000; ++i) {
    std::string text = report;
    for (int n = 0; n < 20; ++n) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0)
        text.erase(at, random() % 40);
      else
        text[at] = "\n #(/:<>\xff"[random() % 10];
      if (text.empty()) text = "x";
    }
    (void)symptom_text({FailureKind::kSanitizer, "", "", {}}, {"", text}, "  ");
  }
}

}  // namespace
}  // namespace clew
