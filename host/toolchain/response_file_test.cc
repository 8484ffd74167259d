#include "host/toolchain/response_file.h"

#include <gtest/gtest.h>

#include <map>

namespace clew::toolchain {
namespace {

using Strings = std::vector<std::string>;

struct SplitCase {
  std::string text;
  Strings expected;
};

TEST(Split, AsClangDoes) {
  const std::vector<SplitCase> cases{{"", {}},
                                     {" \t\r\n", {}},
                                     {"a", {"a"}},
                                     {"a b\tc\nd\r\ne ", {"a", "b", "c", "d", "e"}},
                                     {"'a b' \"c d\"", {"a b", "c d"}},
                                     {"-D'A B'=\"c\"d", {"-DA B=cd"}},
                                     {"a\\ b", {"a b"}},
                                     {"\\'a\\\"", {"'a\""}},
                                     {"'a\\'b'", {"a'b"}},
                                     {"\"a\\\\b\"", {"a\\b"}},
                                     {"'a\"b' \"c'd\"", {"a\"b", "c'd"}},
                                     {"'never closed", {"never closed"}},
                                     {"a\\", {"a\\"}},
                                     {"a '' \"\" b", {"a", "b"}},
                                     {"a\\\nb", {"a\nb"}},
                                     {"\xEF\xBB\xBF-c", {"-c"}}};
  for (const SplitCase& one : cases)
    EXPECT_EQ(split_response_text(one.text), one.expected) << one.text;
}

TEST(ToResponseText, IsTheInverse) {
  const Strings arguments{"plain", "with space", "tab\t",       "'", "\"",
                          "\\",    "a\nb",       "-DX=\"y z\"", "@x"};
  EXPECT_EQ(split_response_text(to_response_text(arguments)), arguments);
}

class Expand : public testing::Test {
 protected:
  Strings expand(const Strings& arguments) {
    const Files files{.exists = nullptr,
                      .read = [this](const std::string& path) -> std::optional<std::string> {
                        const auto found = files_.find(path);
                        if (found == files_.end()) return std::nullopt;
                        return found->second;
                      }};
    const auto expanded = expand_response_files(arguments, files);
    Strings texts;
    for (const auto& argument : expanded) {
      texts.push_back(std::to_string(argument.origin) + (argument.from_file ? "@" : ":") +
                      argument.text);
    }
    return texts;
  }

  std::map<std::string, std::string> files_;
};

TEST_F(Expand, PlainArgumentsStay) {
  EXPECT_EQ(expand({"a", "@", "-o", "b"}), (Strings{"0:a", "1:@", "2:-o", "3:b"}));
}

TEST_F(Expand, FilesAndFilesWithinFiles) {
  files_ = {{"one", "x @two y"}, {"two", "'z z'"}, {"empty", ""}};
  EXPECT_EQ(expand({"a", "@one", "@empty", "b"}), (Strings{"0:a", "1@x", "1@z z", "1@y", "3:b"}));
}

TEST_F(Expand, TheSameFileTwiceIsNoRecursion) {
  files_ = {{"one", "x"}, {"both", "@one @one"}};
  EXPECT_EQ(expand({"@both"}), (Strings{"0@x", "0@x"}));
}

TEST_F(Expand, MissingAndRecursiveFilesAreLeftToClang) {
  files_ = {{"self", "x @self y"}, {"a", "@b"}, {"b", "@a"}};
  EXPECT_EQ(expand({"@missing", "@self", "@a"}),
            (Strings{"0:@missing", "1@x", "1@@self", "1@y", "2@@a"}));
}

}  // namespace
}  // namespace clew::toolchain
