#include "host/cases/source_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace clew {
namespace {

std::vector<std::string> texts(std::string_view source) {
  std::vector<std::string> result;
  for (const Statement& one : statements_of(source))
    result.push_back(one.function + "|" + one.text);
  return result;
}

TEST(SourceFile, DividesFunctionsIntoStatements) {
  const std::vector<std::string> expected{"|static int n = 0;",
                                          "f|static int f(int a)",
                                          "f|if (a > 0)",
                                          "f|n = a;",
                                          "f|else",
                                          "f|for (int i = 0; i < a; i++)",
                                          "f|n++;",
                                          "f|return n;"};
  EXPECT_EQ(texts("static int n = 0;  // a; b {\n"
                  "static int f(int a) {\n"
                  "  if (a > 0) n = a; else { for (int i = 0; i < a; i++) n++; }\n"
                  "  return n;\n"
                  "}\n"),
            expected);
}

TEST(SourceFile, BranchesMayOpenTheSameBlock) {
  const std::vector<std::string> expected{"f|int f(int a)", "f|if (a > 0)", "f|if (a > 1)",
                                          "f|n++;",         "f|return n;",  "g|int g()",
                                          "g|return 1;"};
  EXPECT_EQ(texts("int f(int a) {\n"
                  "#ifdef X\n"
                  "  if (a > 0) {\n"
                  "#else\n"
                  "  if (a > 1) {\n"
                  "#endif\n"
                  "    n++;\n"
                  "  }\n"
                  "  return n;\n"
                  "}\n"
                  "int g() { return 1; }\n"),
            expected);
  EXPECT_EQ(texts("#else\n#endif\n# if 1\nint g() { return 1; }\n").size(), 2u);
}

TEST(SourceFile, NamesMembersByTheirClass) {
  const std::vector<std::string> expected{"|namespace a",
                                          "|class Q : public R",
                                          "Q::push|void push(int x)",
                                          "Q::push|items_.push_back(x);",
                                          "Q::pop|int Q::pop() const",
                                          "Q::pop|return items_[0];"};
  EXPECT_EQ(
      texts("namespace a {\nclass Q : public R {\n void push(int x) { items_.push_back(x); }\n};\n"
            "int Q::pop() const { return items_[0]; }\n}\n"),
      expected);
}

TEST(SourceFile, ParenthesesOfTypesAreNoParameters) {
  const std::vector<std::string> expected{
      "|class Q", "Q::pop|std::optional<std::function<void()>> pop()", "Q::pop|return {};"};
  EXPECT_EQ(texts("class Q { std::optional<std::function<void()>> pop() { return {}; } };"),
            expected);
}

TEST(SourceFile, AttributesAreNoFunctions) {
  const std::vector<std::string> expected{"work|__attribute__((noinline)) static void work(int* a)",
                                          "work|*a = 1;"};
  EXPECT_EQ(texts("__attribute__((noinline)) static void work(int* a) { *a = 1; }"), expected);
}

TEST(SourceFile, StatementsOfLambdasAreTheirOwn) {
  const std::vector<std::string> expected{"main|int main()", "main|n++;",
                                          "main|std::thread t([&] { });",
                                          "main|std::atomic<int> m{0};"};
  std::vector<std::string> found =
      texts("int main() {\n  std::thread t([&] { n++; });\n  std::atomic<int> m{0};\n}\n");
  std::ranges::sort(found);
  std::vector<std::string> sorted = expected;
  std::ranges::sort(sorted);
  EXPECT_EQ(found, sorted);
}

// Comments, white space and line breaks are none of a statement's.
TEST(SourceFile, FormatDoesNotCount) {
  const auto a = statements_of("void f() { n = g(a, b); }");
  const auto b = statements_of("void\nf ()\n{\n  n /* x */ =\n    g (a, // y\n       b);\n}\n");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].tokens, b[i].tokens);
}

TEST(SourceFile, EqualStatementsAreCounted) {
  const auto all = statements_of("void f() { n = 0; g(); n = 0; }\nvoid h() { n = 0; }\n");
  std::vector<std::uint32_t> counts;
  for (const Statement& one : all)
    if (one.text == "n = 0;") counts.push_back(one.occurrence);
  EXPECT_EQ(counts, (std::vector<std::uint32_t>{1, 2, 1}));
}

TEST(SourceFile, FindsTheStatementOfAPlace) {
  const auto all = statements_of("void f() {\n  a = 1; b = 2;\n  c = g(\n      h);\n}\n");
  EXPECT_EQ(statement_at(all, 2, 3)->text, "a = 1;");
  EXPECT_EQ(statement_at(all, 2, 12)->text, "b = 2;");
  EXPECT_EQ(statement_at(all, 4, 7)->text, "c = g( h);");
  EXPECT_EQ(statement_at(all, 4, 0)->text, "c = g( h);");
  EXPECT_EQ(statement_at(all, 9, 1), nullptr);
}

TEST(SourceFile, RenamedVariablesAreTheSame) {
  const auto tokens = [](const char* text) { return statements_of(text)[0].tokens; };
  EXPECT_TRUE(same_but_for_names(tokens("total = total + x;"), tokens("sum = sum + y;")));
  EXPECT_FALSE(same_but_for_names(tokens("total = total + x;"), tokens("sum = y + y;")));
  EXPECT_FALSE(same_but_for_names(tokens("push(x);"), tokens("pop(x);")));
  EXPECT_GT(similarity(tokens("a = b + 1;"), tokens("a = c + 1;")), 0.9);
  EXPECT_LT(similarity(tokens("a = b + 1;"), tokens("return;")), 0.3);
}

// What is called is no data.
TEST(SourceFile, SharesNamesOfData) {
  const auto tokens = [](const char* text) { return statements_of(text).front().tokens; };
  const auto read = tokens("int successor = next_[node].load();");
  EXPECT_DOUBLE_EQ(shared_names(read, tokens("Top now{next_[top.node].load(), 1};")), 2.0 / 3);
  EXPECT_DOUBLE_EQ(shared_names(read, tokens("Top top = top_.load();")), 0);
  EXPECT_DOUBLE_EQ(shared_names(tokens("lock();"), tokens("lock();")), 0);
}

// Code that nothing balances ends all the same.
TEST(SourceFile, TakesAnything) {
  for (const char* text :
       {"}}}}", "((((", "{{{{", "\"", "R\"(", "/*", "#", "'", ";;", "f({)}", "a \\"})
    EXPECT_NO_FATAL_FAILURE((void)statements_of(text)) << text;
}

}  // namespace
}  // namespace clew
