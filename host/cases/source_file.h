// Source text as statements, so that a place can be found again in an edited program: by what its
// statement says, not by its line. Comments, white space and line breaks do not count.
//
// This is no compiler. Macros are not expanded. All branches of a conditional inclusion are read, each as
// what follows the code before the first: they may open the same block. Code that is unbalanced all the
// same is divided somewhat wrongly; it is then divided in the same way the next time.
#ifndef CLEW_HOST_CASES_SOURCE_FILE_H_
#define CLEW_HOST_CASES_SOURCE_FILE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace clew {

struct SourceToken {
  // A preprocessor line that begins, changes or ends a branch has no text.
  enum class Branch : std::uint8_t { kNone, kBegins, kOther, kEnds };
  std::string text;
  std::uint32_t line = 0;
  std::uint32_t column = 0;  // from 1
  Branch branch = Branch::kNone;
};

// Comments and preprocessor lines are left out; of these, those of branches only if they are not wanted.
enum class Branches : std::uint8_t { kLeftOut, kKept };
[[nodiscard]] std::vector<SourceToken> source_tokens(std::string_view text,
                                                     Branches branches = Branches::kLeftOut);

// A statement, or the head of one: "if (n == 0)".
struct Statement {
  std::vector<std::string> tokens;
  std::string text;      // the source without comments, white space as one space
  std::string function;  // "Cache::evict", as the source has it; empty: outside of functions
  std::uint32_t first_line = 0;
  std::uint32_t first_column = 0;
  std::uint32_t last_line = 0;
  std::uint32_t last_column = 0;
  std::uint32_t occurrence = 0;  // among those of the function with the same tokens, from 1
};

[[nodiscard]] std::vector<Statement> statements_of(std::string_view text);

// The one at a place. Column 0: not known, then the first that begins in the line, or the one that
// covers it.
[[nodiscard]] const Statement* statement_at(const std::vector<Statement>& statements,
                                            std::uint32_t line, std::uint32_t column);

// How much two statements have in common: 1 if they are the same, 0 if nothing is. Two names that
// differ count half: it may be the same thing under a new name.
[[nodiscard]] double similarity(const std::vector<std::string>& a,
                                const std::vector<std::string>& b);

// Names of data in a statement: those that are not called.
[[nodiscard]] std::set<std::string> data_names(const std::vector<std::string>& tokens);
// The share of the names of data in `a` that `b` has as well; 0 if there are none.
[[nodiscard]] double shared_names(const std::vector<std::string>& a,
                                  const std::vector<std::string>& b);

// The same but for names of variables and types, each of which has one new name.
[[nodiscard]] bool same_but_for_names(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b);

}  // namespace clew

#endif  // CLEW_HOST_CASES_SOURCE_FILE_H_
