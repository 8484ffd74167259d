#include "host/model/body_lines.h"

#include <gtest/gtest.h>

namespace clew {
namespace {

constexpr const char* kSource = R"(int add(int a, int b) { return a + b; }
// A comment {
Thing::Thing(int size)
    : size_{size}, values_(size, 'x') {
  // nothing yet
  const char* text = "}";

  for (int i = 0; i < size; ++i) {
    values_[i] = '{';  /* } */
  }
}
void declared(int);
void run() {
  std::thread thread([&] {
    work();
    rest();
  });
}
)";

std::uint32_t lines(std::uint32_t line, BodyOf of = BodyOf::kFunction) {
  const auto body = body_lines(kSource, line, of);
  return body ? body->code : 999;
}

TEST(BodyLines, CountsWhatIsNeitherBlankNorComment) {
  EXPECT_EQ(lines(1), 1u);
  EXPECT_EQ(lines(3), 4u);
  EXPECT_EQ(lines(13), 4u);
}

TEST(BodyLines, OfALambdaWithinAFunction) { EXPECT_EQ(lines(14, BodyOf::kLambda), 2u); }

TEST(BodyLines, KnowsWhereTheyEnd) {
  const auto body = body_lines(kSource, 3, BodyOf::kFunction);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->first, 4u);
  EXPECT_EQ(body->last, 11u);
}

TEST(BodyLines, NothingWithoutABody) {
  EXPECT_EQ(lines(12), 999u);
  EXPECT_EQ(lines(100), 999u);
  EXPECT_FALSE(body_lines("int open() { return 1;", 1, BodyOf::kFunction));
}

}  // namespace
}  // namespace clew
