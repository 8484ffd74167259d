#include "runtime/detect/function_stack.h"

#include <gtest/gtest.h>

#include <vector>

namespace clew::rt {
namespace {

class Thread {
 public:
  void enter(std::uintptr_t stack, std::uintptr_t function, std::uint32_t interruptions = 0) {
    stack_.enter({stack, interruptions}, function, note_);
  }
  void leave(std::uintptr_t stack, std::uint32_t interruptions = 0) {
    stack_.leave({stack, interruptions}, note_);
  }
  std::vector<std::uintptr_t> left() { return std::move(left_); }

 private:
  std::vector<std::uintptr_t> left_;
  FunctionStack stack_;
  struct Note {
    std::vector<std::uintptr_t>& to;
    void operator()(std::uintptr_t function) const { to.push_back(function); }
  } note_{left_};
};

using Functions = std::vector<std::uintptr_t>;

TEST(FunctionStack, ReturnsLeaveOneEach) {
  Thread thread;
  thread.enter(1000, 1);
  thread.enter(900, 2);
  EXPECT_EQ(thread.left(), Functions{});
  thread.leave(900);
  EXPECT_EQ(thread.left(), Functions{2});
  thread.enter(900, 3);
  thread.leave(900);
  thread.leave(1000);
  EXPECT_EQ(thread.left(), (Functions{3, 1}));
}

TEST(FunctionStack, ReturnsOfOtherCodeLeaveNothing) {
  Thread thread;
  thread.enter(1000, 1);
  thread.leave(900);
  EXPECT_EQ(thread.left(), Functions{});
}

TEST(FunctionStack, JumpToTheNextFunctionLeavesTheFirst) {
  Thread thread;
  thread.enter(1000, 1);
  thread.enter(1000, 2);
  EXPECT_EQ(thread.left(), Functions{1});
}

TEST(FunctionStack, ExceptionsLeaveWhatIsBelow) {
  Thread thread;
  thread.enter(1000, 1);
  thread.enter(900, 2);
  thread.enter(800, 3);
  // Caught in 1, which calls 4.
  thread.enter(950, 4);
  EXPECT_EQ(thread.left(), (Functions{3, 2}));
}

TEST(FunctionStack, HandlersOnAnotherStackLeaveNothing) {
  Thread thread;
  thread.enter(1000, 1);
  thread.enter(5000, 2, 1);
  thread.enter(4900, 3, 1);
  thread.leave(4900, 1);
  EXPECT_EQ(thread.left(), Functions{3});
  // The handler ended by a jump.
  thread.enter(900, 4);
  EXPECT_EQ(thread.left(), Functions{2});
}

TEST(FunctionStack, Deep) {
  Thread thread;
  for (std::uintptr_t i = 0; i < 10'000; ++i) thread.enter(1'000'000 - i, i);
  thread.leave(1'000'000);
  const Functions left = thread.left();
  ASSERT_EQ(left.size(), 10'000u);
  EXPECT_EQ(left.front(), 9'999u);
  EXPECT_EQ(left.back(), 0u);
}

}  // namespace
}  // namespace clew::rt
