#include "host/report/names.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace clew {
namespace {

using Cases = std::vector<std::pair<std::string, std::string>>;

// As LLVM's demangler and binutils' write it.
#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>"
#define OLD_STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
#define LIBCXX_STRING \
  "std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char>>"

TEST(Names, Types) {
  const Cases cases{
      {STRING, "std::string"},
      {OLD_STRING, "std::string"},
      {LIBCXX_STRING, "std::string"},
      {"std::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >",
       "std::wstring"},
      {"std::basic_string_view<char, std::char_traits<char>>", "std::string_view"},
      {"std::vector<int, std::allocator<int>>", "std::vector<int>"},
      {"std::vector<" STRING ", std::allocator<" STRING ">>", "std::vector<std::string>"},
      {"std::map<" STRING ", int, std::less<" STRING ">, std::allocator<std::pair<" STRING
       " const, int>>>",
       "std::map<std::string, int>"},
      {"std::__1::map<" LIBCXX_STRING ", int, std::__1::less<" LIBCXX_STRING
       ">, std::__1::allocator<std::__1::pair<" LIBCXX_STRING " const, int>>>",
       "std::map<std::string, int>"},
      {"std::unordered_map<" STRING
       ", std::unique_ptr<int, std::default_delete<int>>, std::hash<" STRING
       ">, std::equal_to<" STRING ">, std::allocator<std::pair<" STRING
       " const, std::unique_ptr<int, std::default_delete<int>>>>>",
       "std::unordered_map<std::string, std::unique_ptr<int>>"},
      {"std::set<int, std::greater<int>, std::allocator<int>>", "std::set<int, std::greater<int>>"},
      {"std::queue<Job, std::deque<Job, std::allocator<Job> > >", "std::queue<Job>"},
      {"std::priority_queue<int, std::vector<int, std::allocator<int>>, std::less<int>>",
       "std::priority_queue<int>"},
      {"std::array<int, 4ul>", "std::array<int, 4>"},
      {"std::function<void (int, " STRING ")>", "std::function<void(int, std::string)>"},
      {"std::chrono::duration<long, std::ratio<1l, 1000l>>", "std::chrono::milliseconds"},
      {"std::unique_ptr<(anonymous namespace)::Node, std::default_delete<(anonymous namespace)::"
       "Node>>",
       "std::unique_ptr<Node>"},
      {"std::tuple<main::$_0>", "std::tuple<main::lambda>"},
      {"Arena<std::allocator<int>>", "Arena<std::allocator<int>>"},
      {"int", "int"},
      {"", ""},
  };
  for (const auto& [full, expected] : cases) EXPECT_EQ(short_type(full), expected) << full;
}

TEST(Names, Functions) {
  const Cases cases{
      {"main", "main"},
      {"worker(int, " STRING ")", "worker"},
      {"count(int)", "count"},
      {"Cache::get(int) const", "Cache::get"},
      {"Cache::get(int) const &", "Cache::get"},
      {"Cache::~Cache()", "Cache::~Cache"},
      {"StringBuffer::characters[abi:cxx11](unsigned long)", "StringBuffer::characters"},
      {"app::(anonymous namespace)::Cache<" STRING
       ", std::vector<int, std::allocator<int>>>::get(" STRING " const&)",
       "app::Cache<std::string, std::vector<int>>::get"},
      {"int* find<int>(int*, int*)", "find<int>"},
      {"decltype(fp(1)) app::apply_all<main::$_2>(main::$_2, std::vector<int>&)",
       "app::apply_all<main::lambda>"},
      {"std::ostream& app::operator<<<" STRING ">(std::ostream&, std::vector<" STRING "> const&)",
       "app::operator<<<std::string>"},
      {"bool operator==<int>(Box<int> const&, Box<int> const&)", "operator==<int>"},
      {"Cache<int>::operator()(int)", "Cache<int>::operator()"},
      {"Cache<int>::operator bool() const", "Cache<int>::operator bool"},
      {"Cache<int>::operator<(Cache<int> const&) const", "Cache<int>::operator<"},
      {"Cache<int>::operator[](unsigned long)", "Cache<int>::operator[]"},
      {"std::unique_ptr<Node, std::default_delete<Node>>::operator->() const",
       "std::unique_ptr<Node>::operator->"},
      {"operator new(unsigned long)", "operator new"},
      {"operator delete[](void*)", "operator delete[]"},
      {"non-virtual thunk to Widget::draw(int)", "Widget::draw"},
      {"Cache::get(int) [clone .cold]", "Cache::get"},
      {"Cache::get(int) (.cold)", "Cache::get"},
      {"T Queue<T>::pop() [T = int]", "Queue<T>::pop"},
      {"void BoundedBuffer::put(int *)", "BoundedBuffer::put"},
      {"auto cmp<int>(int) requires std::integral<int>", "cmp<int>"},
      {"pthread_mutex_lock@GLIBC_2.2.5", "pthread_mutex_lock"},
      // Long ones lose their template arguments, then their outer scopes.
      {"company::product::module::Registry<" STRING ", std::vector<int, std::allocator<int>>>::add("
       "int)",
       "company::product::module::Registry<…>::add"},
      {"a_rather_long_namespace::another_long_namespace::SomeClassWithALongName::"
       "a_method_with_a_long_name(int)",
       "…::SomeClassWithALongName::a_method_with_a_long_name"},
  };
  for (const auto& [full, expected] : cases) EXPECT_EQ(short_function(full), expected) << full;
}

TEST(Names, Lambdas) {
  const Cases cases{
      {"main::$_0::operator()() const", "lambda in main"},
      {"main::'lambda'()::operator()() const", "lambda in main"},
      {"main::'lambda0'(int, " STRING ")::operator()(int, " STRING ") const", "lambda in main"},
      {"main::{lambda(int)#1}::operator()(int) const", "lambda in main"},
      {"Pool::start(int)::$_0::operator()() const", "lambda in Pool::start"},
      {"Pool::run() const::'lambda'()::operator()() const", "lambda in Pool::run"},
      {"auto main::$_5::operator()<int>(int) const", "lambda in main"},
      {"main::$_0::operator()() const::'lambda'()::operator()() const", "lambda in main"},
      {"main::$_0::__invoke(void*)", "lambda in main"},
      {"$_0::operator()() const", "lambda"},
      {"app::Cache<" STRING ", int>::get(int)::'lambda'(int)::operator()(int) const",
       "lambda in app::Cache<std::string, int>::get"},
  };
  for (const auto& [full, expected] : cases) {
    EXPECT_EQ(short_function(full), expected) << full;
    EXPECT_TRUE(is_lambda(full)) << full;
  }
  EXPECT_FALSE(is_lambda("apply<main::$_0>(main::$_0)"));
  EXPECT_EQ(in_function("main::$_0::operator()() const"), "in a lambda in main");
  EXPECT_EQ(in_function("Cache::get(int)"), "in Cache::get");
}

TEST(Names, SignaturesTellOverloadsApart) {
  EXPECT_EQ(short_signature("Cache::get(int) const"), "Cache::get(int) const");
  EXPECT_EQ(short_signature("void put<int>(" STRING ")"), "put<int>(std::string)");
}

TEST(Names, PlumbingStartsThreadsAndPassesCallsOn) {
  for (const char* name :
       {"start_thread", "__clone3", "execute_native_thread_routine",
        "__libc_start_main@@GLIBC_2.34",
        "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::$_0>>>::_M_run()",
        "void std::__invoke_impl<void, main::$_0>(std::__invoke_other, main::$_0&&)",
        "std::__invoke_result<main::$_0>::type std::__invoke<main::$_0>(main::$_0&&)",
        "std::thread::_Invoker<std::tuple<main::$_0>>::operator()()",
        "std::_Function_handler<void (), main::$_0>::_M_invoke(std::_Any_data const&)",
        "std::function<void ()>::operator()() const",
        "void* std::__1::__thread_proxy[abi:ne190107]<std::__1::tuple<std::__1::unique_ptr<"
        "std::__1::__thread_struct, std::__1::default_delete<std::__1::__thread_struct>>, "
        "main::$_0>>(void*)"})
    EXPECT_TRUE(is_plumbing(name)) << name;
  for (const char* name :
       {"main", "worker(int)", "std::sort<int*>(int*, int*)",
        "std::vector<int, std::allocator<int>>::push_back(int&&)", "starting_thread(int)"})
    EXPECT_FALSE(is_plumbing(name)) << name;
}

TEST(Names, WholeNamesIfAskedFor) {
  set_name_style(NameStyle::kFull);
  EXPECT_EQ(function_text("count(int)"), "count(int)");
  set_name_style(NameStyle::kShort);
  EXPECT_EQ(function_text("count(int)"), "count");
}

TEST(Names, AnythingElseIsOnlyCut) {
  EXPECT_EQ(short_function("a<b"), "a<b");
  EXPECT_EQ(short_function(")"), ")");
  EXPECT_EQ(short_function(std::string(500, '<')).size(), kMostName + std::string("…").size());
  EXPECT_LE(short_function(std::string(100'000, 'x')).size(), 2 * kMostName + 3);
  std::string deep = "f";
  for (int i = 0; i < 1000; ++i) deep = "t<" + deep + ">";
  EXPECT_LE(short_function(deep).size(), 2 * kMostName + 3);
}

// Names come from the program: no text may crash or grow.
TEST(Names, RandomTexts) {
  constexpr std::array<const char*, 26> kParts{
      "std::",     "__cxx11::", "<",        ">",           "(", ")", ",",  " ",
      "operator",  "$_0",       "'lambda'", "[abi:cxx11]", "{", "}", "::", "a",
      "&",         "const",     "\xc3\xa4", "-",           "[", "]", "'",  "basic_string<char>",
      "allocator", "4ul"};
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::uint64_t n = random() % 24; n-- > 0;) text += kParts[random() % kParts.size()];
    for (const std::string& shorter : {short_function(text), short_signature(text)})
      ASSERT_LE(shorter.size(), 2 * kMostName + 24) << text;
    (void)short_type(text);
    (void)is_plumbing(text);
  }
}

}  // namespace
}  // namespace clew
