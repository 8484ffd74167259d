#include "host/names/part_text.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace clew {
namespace {

using Kind = Type::Kind;

// Types that are written down here.
class Written final : public Type::Reader {
 public:
  Type::Parts parts_of(const Type& type) override { return parts[type.key()]; }
  const Type* target_of(const Type& type) override { return targets[type.key()]; }
  std::map<std::uint64_t, Type::Parts> parts;
  std::map<std::uint64_t, const Type*> targets;
};

class PartTextTest : public testing::Test {
 protected:
  PartTextTest() {
    reader.parts[10].members = {{"low", 0, &number}, {"high", 4, &number}};
    reader.parts[11].members = {{"on", 0, &flag}, {"limits", 4, &limits}, {"name", 16, &string}};
    reader.parts[13].members = {{"a", 0, &number}, {"b", 0, &number}};
    reader.targets[12] = &character;
    reader.parts[14].arguments = {{"_CharT", &character}};
  }
  // Bytes of a number, the least first.
  std::string text(const Type& type, std::uint64_t offset, std::uint64_t value, std::size_t size) {
    std::uint8_t bytes[8];
    std::memcpy(bytes, &value, sizeof bytes);
    return part_text(type, offset, std::span(bytes).first(size), {});
  }
  std::string text(const Type& type, std::uint64_t offset, std::string_view characters) {
    return part_text(
        type, offset,
        std::span(reinterpret_cast<const std::uint8_t*>(characters.data()), characters.size()), {});
  }

  Written reader;
  Type number{Kind::kSigned, "int", 4, 1, &reader};
  Type flag{Kind::kBool, "bool", 1, 2, &reader};
  Type character{Kind::kCharacter, "char", 1, 3, &reader};
  Type limits{Kind::kRecord, "Limits", 8, 10, &reader};
  Type account{Kind::kRecord, "Account", 48, 11, &reader};
  Type buffer{Kind::kArray, "char[16]", 16, 12, &reader};
  Type either{Kind::kUnion, "Either", 4, 13, &reader};
  Type string{Kind::kRecord, "std::basic_string<char, std::char_traits<char> >", 32, 14, &reader};
};

TEST_F(PartTextTest, TwoMembersAtOnce) {
  EXPECT_EQ(text(limits, 0, 274877906948, 8), "{low = 4, high = 64}");
  EXPECT_EQ(text(limits, 0, std::uint64_t{0xfffffffe} << 32, 8), "{low = 0, high = -2}");
}

TEST_F(PartTextTest, MembersOfMembersAndWhatIsCutOff) {
  EXPECT_EQ(text(account, 4, 274877906948, 8), "{limits.low = 4, limits.high = 64}");
  EXPECT_EQ(text(account, 0, 1 | std::uint64_t{7} << 32, 8), "{on = true, limits.low = 7}");
  EXPECT_EQ(text(account, 6, 0, 4), "") << "half of each of two members";
  EXPECT_EQ(text(account, 1, 0, 2), "") << "between members";
}

TEST_F(PartTextTest, Elements) {
  EXPECT_EQ(text(number, 0, 274877906948, 8), "{4, 64}");
  EXPECT_EQ(text(character, 0, "say \"hi"), "\"say \\\"hi\"");
  EXPECT_EQ(text(buffer, 4, std::string_view("ab\0z", 4)), "\"ab\"");
  EXPECT_EQ(text(buffer, 4, "c"), "'c'");
}

TEST_F(PartTextTest, Strings) {
  EXPECT_EQ(text(string, 16, "abcdefgh"), "\"abcdefgh\"");
  EXPECT_EQ(text(string, 20, "efg"), "\"efg\"");
  EXPECT_EQ(text(account, 32, "abcd"), "{name = \"abcd\"}");
  EXPECT_EQ(text(string, 8, 5, 8), "{size() = 5}");
  EXPECT_EQ(text(string, 16, 97, 8), "") << "a capacity, or the text \"a\"";
}

TEST_F(PartTextTest, UnionsAreNotTold) { EXPECT_EQ(text(either, 0, 5, 4), ""); }

}  // namespace
}  // namespace clew
