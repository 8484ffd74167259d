#include "host/cases/source_file.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

namespace clew {
namespace {

bool is_one_of(const std::string& token, std::initializer_list<const char*> list) {
  return std::ranges::any_of(list, [&](const char* one) { return token == one; });
}

bool is_identifier(const std::string& token) {
  if (token.empty()) return false;
  const auto c = static_cast<unsigned char>(token.front());
  return std::isalpha(c) != 0 || c == '_';
}

bool is_keyword(const std::string& token) {
  return is_one_of(
      token,
      {"if",       "else",   "for",   "while",  "do",     "switch", "case",    "return", "break",
       "continue", "goto",   "int",   "char",   "bool",   "void",   "auto",    "const",  "static",
       "unsigned", "long",   "new",   "delete", "sizeof", "this",   "nullptr", "true",   "false",
       "throw",    "double", "float", "short",  "struct", "class",  "try",     "catch"});
}

// Code between braces, or the file. A statement may be under way in several at a time: in the
// arguments of a call there may be a lambda.
struct Level {
  enum class Kind : std::uint8_t { kScope, kFunction, kBlock };
  Kind kind = Kind::kScope;
  std::string name;
  std::vector<char> open = {};  // parentheses, brackets and braces of initializers
  Statement current = {};
};

class Divider {
 public:
  std::vector<Statement> run(std::string_view text) {
    levels_.push_back({});
    for (const SourceToken& token : source_tokens(text, Branches::kKept))
      token.branch == SourceToken::Branch::kNone ? take(token) : take_branch(token.branch);
    while (levels_.size() > 1) close();
    emit();
    number();
    return std::move(statements_);
  }

 private:
  void take(const SourceToken& token) {
    const std::string& text = token.text;
    Level& level = levels_.back();
    if (text == "{" && !begins_initializer(level)) return open_block(token);
    if (text == "}" && (level.open.empty() || level.open.back() != '{')) return close_block(token);
    append(token);
    if (text == "(" || text == "[" || text == "{") {
      level.open.push_back(text.front());
      return;
    }
    if (text == ")" || text == "]" || text == "}") {
      if (!level.open.empty()) level.open.pop_back();
      if (text == ")" && level.open.empty() && is_control_head(level.current)) emit();
      return;
    }
    if (!level.open.empty()) return;
    if (text == ";" || is_label(level.current))
      emit();
    else if (level.current.tokens.size() == 1 && is_one_of(text, {"else", "do", "try"}))
      emit();
  }

  // Another branch continues where the first one began, if that has opened or closed a block.
  void take_branch(SourceToken::Branch branch) {
    using Branch = SourceToken::Branch;
    const bool fits = levels_.size() <= kMostLevelsKept && before_branch_.size() < kMostBranches;
    if (branch == Branch::kBegins) {
      before_branch_.push_back(fits ? levels_ : std::vector<Level>());
    } else if (before_branch_.empty()) {
      return;
    } else if (branch == Branch::kEnds) {
      before_branch_.pop_back();
    } else if (const auto& before = before_branch_.back();
               !before.empty() && before.size() != levels_.size()) {
      emit();
      levels_ = before;
    }
  }

  void append(const SourceToken& token) {
    Statement& current = levels_.back().current;
    if (!current.tokens.empty() &&
        (token.line != current.last_line || token.column != current.last_column + 1))
      current.text += ' ';
    current.text += token.text;
    if (current.tokens.empty()) {
      current.first_line = token.line;
      current.first_column = token.column;
    }
    current.last_line = token.line;
    current.last_column = token.column + static_cast<std::uint32_t>(token.text.size()) - 1;
    current.tokens.push_back(token.text);
  }

  static bool is_control_head(const Statement& statement) {
    const auto& tokens = statement.tokens;
    if (!is_one_of(tokens.front(), {"if", "for", "while", "switch", "catch"})) return false;
    int depth = 0;
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      if (tokens[i] == "(") ++depth;
      if (tokens[i] == ")" && --depth == 0) return i + 1 == tokens.size();
    }
    return false;
  }
  static bool is_label(const Statement& statement) {
    const auto& tokens = statement.tokens;
    return tokens.back() == ":" &&
           (is_one_of(tokens.front(), {"case", "default", "public", "private", "protected"}));
  }

  // Not a block's brace: that follows a parenthesis, a keyword, or what names a scope.
  static bool begins_initializer(const Level& level) {
    const auto& tokens = level.current.tokens;
    if (tokens.empty()) return false;
    const std::string& last = tokens.back();
    if (is_one_of(last, {"=", ",", "(", "return", ">", "{"})) return true;
    if (!is_identifier(last)) return false;
    if (is_one_of(last, {"else", "do", "try", "const", "noexcept", "override", "final", "mutable"}))
      return false;
    const auto is_head = [](const std::string& token) {
      return is_one_of(token, {"namespace", "class", "struct", "union", "enum", "extern", "->"});
    };
    if (level.open.empty()) return std::ranges::none_of(tokens, is_head);
    // In parentheses: of a lambda with a result, or an initializer.
    return tokens.size() < 2 || tokens[tokens.size() - 2] != "->";
  }

  void open_block(const SourceToken& brace) {
    Level& level = levels_.back();
    Level inner;
    inner.kind = Level::Kind::kBlock;
    if (!level.open.empty()) {
      append(brace);
    } else {
      if (level.kind == Level::Kind::kScope) name_block(level.current.tokens, inner);
      if (inner.kind == Level::Kind::kFunction) {
        levels_.push_back(std::move(inner));  // its head belongs to it
        std::swap(levels_.back().current, levels_[levels_.size() - 2].current);
        emit();
        return;
      }
      emit();
    }
    levels_.push_back(std::move(inner));
  }

  // Not the parentheses of a template's argument, std::function<void()>, nor those of an attribute.
  static std::vector<std::string>::const_iterator parameters_of(
      const std::vector<std::string>& head) {
    int angles = 0;
    int of_attribute = 0;
    for (auto token = head.begin(); token != head.end(); ++token) {
      const bool begins = *token == "(" && token != head.begin() &&
                          is_one_of(*(token - 1), {"__attribute__", "alignas", "decltype"});
      if (begins || of_attribute > 0) {
        of_attribute += *token == "(" ? 1 : *token == ")" ? -1 : 0;
        continue;
      }
      if (*token == "<") ++angles;
      if (*token == ">" && angles > 0) --angles;
      if (*token == "(" && angles == 0) return token;
    }
    return std::ranges::find(head, "(");
  }

  static void name_block(const std::vector<std::string>& head, Level& inner) {
    const auto paren = parameters_of(head);
    const bool is_scope =
        !head.empty() && std::ranges::any_of(head.begin(), paren, [](const auto& t) {
          return is_one_of(t, {"namespace", "class", "struct", "union", "enum"});
        });
    if (paren == head.end() || (is_scope && head.back() != ")")) {
      inner.kind = Level::Kind::kScope;
      for (std::size_t i = 0; i + 1 < head.size(); ++i)
        if (is_one_of(head[i], {"class", "struct", "union"}) && is_identifier(head[i + 1]))
          inner.name = head[i + 1];
      return;
    }
    inner.kind = Level::Kind::kFunction;
    auto first = paren;
    while (first != head.begin()) {
      const std::string& before = *(first - 1);
      const bool joins = before == "::" || before == "~" || (first != paren && *first == "::");
      if (!is_identifier(before) && !joins) break;
      if (first != paren && !joins && *first != "~") break;
      --first;
    }
    for (auto token = first; token != paren; ++token) inner.name += *token;
    if (inner.name.starts_with("::")) inner.name.erase(0, 2);
  }

  void close_block(const SourceToken& brace) {
    if (levels_.size() == 1) return;
    close();
    Level& level = levels_.back();
    if (!level.open.empty()) append(brace);
  }
  void close() {
    emit();
    levels_.pop_back();
  }

  void emit() {
    Level& level = levels_.back();
    Statement statement = std::exchange(level.current, {});
    level.open.clear();
    if (statement.tokens.empty() || (statement.tokens.size() == 1 && statement.tokens[0] == ";"))
      return;
    statement.function = function();
    statements_.push_back(std::move(statement));
  }
  [[nodiscard]] std::string function() const {
    std::string scopes;
    for (const Level& level : levels_) {
      if (level.kind == Level::Kind::kScope && !level.name.empty()) scopes += level.name + "::";
      if (level.kind == Level::Kind::kFunction) return scopes + level.name;
    }
    return "";
  }

  void number() {
    const auto place = [](const Statement& s) { return std::pair(s.first_line, s.first_column); };
    std::ranges::sort(statements_, {}, place);
    std::map<std::pair<std::string, std::vector<std::string>>, std::uint32_t> seen;
    for (Statement& statement : statements_)
      statement.occurrence = ++seen[{statement.function, statement.tokens}];
  }

  // Of untrusted text, so that copies stay small.
  static constexpr std::size_t kMostLevelsKept = 64;
  static constexpr std::size_t kMostBranches = 64;

  std::vector<Level> levels_;
  std::vector<std::vector<Level>> before_branch_;  // empty: too many to be kept
  std::vector<Statement> statements_;
};

}  // namespace

std::vector<Statement> statements_of(std::string_view text) { return Divider().run(text); }

const Statement* statement_at(const std::vector<Statement>& statements, std::uint32_t line,
                              std::uint32_t column) {
  const Statement* covering = nullptr;
  const Statement* beginning = nullptr;
  for (const Statement& one : statements) {
    if (line < one.first_line || line > one.last_line) continue;
    if (column != 0) {
      const bool after_start = line > one.first_line || column >= one.first_column;
      const bool before_end = line < one.last_line || column <= one.last_column;
      if (after_start && before_end) covering = &one;  // the last one is the innermost
    } else if (covering == nullptr || one.first_line >= covering->first_line) {
      covering = covering != nullptr && covering->first_line == line ? covering : &one;
    }
    if (one.first_line == line && beginning == nullptr) beginning = &one;
  }
  return covering != nullptr ? covering : beginning;
}

double similarity(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.empty() || b.empty()) return a.empty() && b.empty() ? 1 : 0;
  constexpr std::size_t kMost = 400;  // the table must stay small
  const std::size_t n = std::min(a.size(), kMost);
  const std::size_t m = std::min(b.size(), kMost);
  std::vector<double> row(m + 1);
  for (std::size_t j = 0; j <= m; ++j) row[j] = static_cast<double>(j);
  for (std::size_t i = 1; i <= n; ++i) {
    double diagonal = std::exchange(row[0], static_cast<double>(i));
    for (std::size_t j = 1; j <= m; ++j) {
      const bool names = is_identifier(a[i - 1]) && is_identifier(b[j - 1]) &&
                         !is_keyword(a[i - 1]) && !is_keyword(b[j - 1]);
      const double change = a[i - 1] == b[j - 1] ? 0 : names ? 0.5 : 1;
      const double best = std::min({diagonal + change, row[j] + 1, row[j - 1] + 1});
      diagonal = std::exchange(row[j], best);
    }
  }
  return 1 - row[m] / static_cast<double>(std::max(n, m));
}

std::set<std::string> data_names(const std::vector<std::string>& tokens) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool called = i + 1 < tokens.size() && tokens[i + 1] == "(";
    if (is_identifier(tokens[i]) && !is_keyword(tokens[i]) && !called) names.insert(tokens[i]);
  }
  return names;
}

double shared_names(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const std::set<std::string> mine = data_names(a);
  const std::set<std::string> theirs = data_names(b);
  if (mine.empty()) return 0;
  const auto shared =
      std::ranges::count_if(mine, [&](const std::string& name) { return theirs.contains(name); });
  return static_cast<double>(shared) / static_cast<double>(mine.size());
}

bool same_but_for_names(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.size() != b.size()) return false;
  std::map<std::string, std::string> forward;
  std::map<std::string, std::string> backward;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool names =
        is_identifier(a[i]) && is_identifier(b[i]) && !is_keyword(a[i]) && !is_keyword(b[i]);
    // What is called is no local variable.
    const bool called = i + 1 < a.size() && a[i + 1] == "(";
    if ((!names || called) && a[i] != b[i]) return false;
    if (!names) continue;
    if (forward.try_emplace(a[i], b[i]).first->second != b[i]) return false;
    if (backward.try_emplace(b[i], a[i]).first->second != a[i]) return false;
  }
  return true;
}

}  // namespace clew
