// The bytes of guides. That strategies read them is tested in runtime/strategy/NAME_test.cc.
#include "host/search/guides.h"

#include <gtest/gtest.h>

namespace clew {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(Guides, Surw) {
  const SurwThread threads[] = {{5, 300, 7}, {6, 0, 0}};
  const abi::Place places[] = {9, 128};
  EXPECT_EQ(surw_guide(threads, places), (Bytes{2, 5, 0xac, 2, 7, 6, 0, 0, 2, 9, 0x80, 1}));
  EXPECT_EQ(surw_guide({}, {}), (Bytes{0, 0}));
}

TEST(Guides, Rff) {
  const RffConstraint constraints[] = {{0, 4, RffSign::kPositive}, {3, 200, RffSign::kNegative}};
  const abi::Place rivals[] = {5, 6};
  EXPECT_EQ(rff_guide(constraints, rivals), (Bytes{2, 0, 4, 0, 3, 0xc8, 1, 1, 2, 5, 6}));
}

TEST(Guides, Plan) {
  const PlanDirective directives[] = {{0, PlanStop::kEnd, 0, 1, 0},
                                      {8, PlanStop::kBefore, 6, 200, kPlanInsist | kPlanHold}};
  EXPECT_EQ(plan_guide(directives), (Bytes{2, 0, 3, 0, 1, 0, 8, 1, 6, 0xc8, 1, 3}));
}

TEST(Guides, KeysAreUpToTenBytes) {
  const PlanDirective directives[] = {{UINT64_MAX, PlanStop::kSteps, 0, 1, 0}};
  const Bytes guide = plan_guide(directives);
  EXPECT_EQ(guide.size(), 1 + 10 + 4u);
  abi::Reader reader(guide.data(), guide.size());
  reader.varint();
  EXPECT_EQ(reader.varint(), UINT64_MAX);
}

TEST(Guides, Script) {
  const ScriptItem items[] = {{5, 300, 0, 1, 0}, {6, 1, 2, 0, 200}};
  EXPECT_EQ(script_guide(items), (Bytes{2, 5, 0xac, 2, 0, 1, 0, 6, 1, 2, 0, 0xc8, 1}));
  EXPECT_EQ(script_guide({}), (Bytes{0}));
}

TEST(Guides, Prefix) {
  const std::uint32_t threads[] = {0, 1, 130};
  EXPECT_EQ(prefix_guide(threads), (Bytes{3, 0, 1, 0x82, 1}));
}

}  // namespace
}  // namespace clew
