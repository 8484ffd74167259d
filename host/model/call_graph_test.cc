#include "host/model/call_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

// The functions that the test looks at are its own.
extern "C" {
[[gnu::noinline]] int model_test_leaf(int n) { return n + std::abs(std::rand()); }
[[gnu::noinline]] int model_test_in_table(int n) { return n * 2 + std::rand(); }
[[gnu::noinline]] int model_test_by_lea(int n) { return n * 3 + std::rand(); }
[[gnu::noinline]] int model_test_only_called(int n) { return model_test_leaf(n) + 1; }
int (*model_test_table[])(int) = {model_test_in_table, nullptr};
[[gnu::noinline]] int model_test_indirect(int (*function)(int), int n) { return function(n) + 1; }
[[gnu::noinline]] int model_test_caller(int n) {
  return model_test_only_called(n) + model_test_indirect(model_test_by_lea, n) +
         model_test_indirect(model_test_table[n % 2], n);
}
}

namespace clew {
namespace {

using Kind = CallGraph::Call::Kind;

class CallGraphTest : public testing::Test {
 protected:
  void SetUp() override {
    if (getenv("MODEL_TEST_CALLS") != nullptr) model_test_caller(1);  // not to be removed
    auto graph = CallGraph::open("/proc/self/exe");
    ASSERT_TRUE(graph) << graph.error().message;
    graph_.emplace(std::move(*graph));
  }
  CallGraph::Number named(const char* name) {
    const auto number = graph_->function_named(name);
    EXPECT_TRUE(number) << name;
    return number.value_or(0);
  }
  bool calls(const char* caller, const char* callee) {
    return std::ranges::any_of(graph_->calls(named(caller)), [&](const CallGraph::Call& call) {
      return call.kind == Kind::kFunction && call.callee == named(callee);
    });
  }
  std::optional<CallGraph> graph_;
};

TEST_F(CallGraphTest, DirectCalls) {
  EXPECT_TRUE(calls("model_test_caller", "model_test_only_called"));
  EXPECT_TRUE(calls("model_test_caller", "model_test_indirect"));
  EXPECT_TRUE(calls("model_test_only_called", "model_test_leaf"));
  EXPECT_FALSE(calls("model_test_caller", "model_test_leaf"));
  EXPECT_FALSE(calls("model_test_leaf", "model_test_caller"));
}

TEST_F(CallGraphTest, CallsOfLibrariesHaveTheirNames) {
  const auto& calls = graph_->calls(named("model_test_in_table"));
  EXPECT_TRUE(std::ranges::any_of(calls, [](const CallGraph::Call& call) {
    return call.kind == Kind::kLibrary && call.symbol == "rand";
  }));
}

TEST_F(CallGraphTest, ACallByPointerCallsOneOfTheCandidates) {
  const auto& calls = graph_->calls(named("model_test_indirect"));
  EXPECT_TRUE(std::ranges::any_of(
      calls, [](const CallGraph::Call& call) { return call.kind == Kind::kPointer; }));
  const auto& candidates = graph_->candidates();
  const auto has = [&](const char* name) {
    return std::ranges::binary_search(candidates, named(name));
  };
  EXPECT_TRUE(has("model_test_in_table"));
  EXPECT_TRUE(has("model_test_by_lea"));
#if !__has_feature(address_sanitizer)  // it notes the address of each function in its frame
  EXPECT_FALSE(has("model_test_only_called"));
  EXPECT_FALSE(has("model_test_leaf"));
#endif
}

TEST_F(CallGraphTest, AddressesBelongToFunctions) {
  const auto number = named("model_test_caller");
  const CodeRange range = graph_->functions()[number].range;
  EXPECT_EQ(graph_->function_at(range.begin), number);
  EXPECT_EQ(graph_->function_at(range.end - 1), number);
  EXPECT_NE(graph_->function_at(range.end), number);
  EXPECT_FALSE(graph_->function_at(0));
}

TEST(CallGraph, SomethingElseIsNone) { EXPECT_FALSE(CallGraph::open("/proc/self/maps")); }

}  // namespace
}  // namespace clew
