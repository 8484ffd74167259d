#include "host/types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_set>

namespace clew {
namespace {

ThreadId thread(std::string_view text) { return ThreadId::parse(text).value(); }

TEST(ThreadId, TextRoundTrips) {
  for (const char* text : {"T0", "T0.1", "T0.2.1", "T0.4294967295", "T0.10.20.30"})
    EXPECT_EQ(thread(text).text(), text);
}

TEST(ThreadId, ChildrenAreNamedByOrdinal) {
  EXPECT_EQ(ThreadId().text(), "T0");
  EXPECT_TRUE(ThreadId().is_main());
  EXPECT_EQ(ThreadId().child(2).child(1), thread("T0.2.1"));
  EXPECT_THROW((void)ThreadId().child(0), std::logic_error);
}

TEST(ThreadId, RefusesWhatIsNone) {
  for (const char* text :
       {"", "T", "T1", "t0", "T00", "T0.", "T0..1", "T0.0", "T0.01", "T0.x", "T0.-1", "T0.+1",
        "T0.4294967296", "T0.99999999999999999999", "T0.1 ", " T0", "T0x"}) {
    const auto id = ThreadId::parse(text);
    ASSERT_FALSE(id) << text;
    EXPECT_FALSE(id.error().hint.empty()) << text;
    EXPECT_EQ(id.error().message.find('\n'), std::string::npos) << text;
  }
}

TEST(ThreadId, OrdersParentsFirstAndOrdinalsAsNumbers) {
  std::vector<ThreadId> ids;
  for (const char* text : {"T0.10", "T0.2", "T0", "T0.1.1", "T0.1"}) ids.push_back(thread(text));
  std::ranges::sort(ids);
  std::string order;
  for (const ThreadId& id : ids) order += id.text() + " ";
  EXPECT_EQ(order, "T0 T0.1 T0.1.1 T0.2 T0.10 ");
}

TEST(ThreadId, HashesAsAKey) {
  std::unordered_set<ThreadId> ids{thread("T0"), thread("T0.1"), thread("T0.1.1"), thread("T0.1")};
  EXPECT_EQ(ids.size(), 3u);
}

}  // namespace
}  // namespace clew
