#include "host/report/names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "host/report/name_pieces.h"

namespace clew {
namespace {

NameStyle g_style = NameStyle::kShort;
// ---- What nobody writes

constexpr std::array<std::string_view, 7> kInlineNamespaces{
    "__cxx11", "__1", "__2", "__ndk1", "_V2", "__debug", "__cxx1998"};

bool is_abi_tag(const Piece& piece) {
  return piece.opens('[') && !piece.args.empty() && piece.args[0].size() >= 2 &&
         piece.args[0][0].is("abi") && piece.args[0][1].is(":");
}

bool is_anonymous(const Piece& piece) {
  return piece.bracket &&
         (render(piece) == "(anonymous namespace)" || render(piece) == "{anonymous}");
}

// `$_0`, `'lambda1'` (its parameters follow), `{lambda(int)#1}`
bool is_lambda_piece(const Piece& piece) {
  if (piece.opens('{'))
    return !piece.args.empty() && !piece.args[0].empty() && piece.args[0][0].is("lambda");
  return !piece.bracket && (piece.text.starts_with("$_") || piece.text.starts_with("'lambda"));
}

// "4ul" is a 4
std::string without_suffix(const std::string& word) {
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) == 0) return word;
  const std::size_t end = word.find_first_not_of("0123456789");
  if (end == std::string::npos) return word;
  const std::string suffix = word.substr(end);
  return suffix == "u" || suffix == "l" || suffix == "ul" || suffix == "ll" || suffix == "ull"
             ? word.substr(0, end)
             : word;
}

// The template that a bracket at the end of `before` belongs to: "std::vector".
std::string template_of(const Pieces& before) {
  std::size_t first = before.size();
  while (first > 0 && !before[first - 1].bracket && !before[first - 1].is(" ")) --first;
  return render(Pieces(before.begin() + static_cast<std::ptrdiff_t>(first), before.end()));
}

bool is_default(const std::string& name, const std::string& last, const std::string& first) {
  if (last.starts_with("std::allocator<") || last.starts_with("std::char_traits<")) return true;
  for (const char* functor : {"std::less", "std::hash", "std::equal_to", "std::default_delete"})
    if (last == std::string(functor) + "<" + first + ">") return true;
  if (name == "std::queue" || name == "std::stack") return last == "std::deque<" + first + ">";
  return name == "std::priority_queue" && last == "std::vector<" + first + ">";
}

struct Alias {
  std::string_view name;
  std::string_view arguments;
  std::string_view shorter;
};
constexpr std::array<Alias, 22> kAliases{{
    {"std::basic_string", "char", "std::string"},
    {"std::basic_string", "wchar_t", "std::wstring"},
    {"std::basic_string", "char8_t", "std::u8string"},
    {"std::basic_string", "char16_t", "std::u16string"},
    {"std::basic_string", "char32_t", "std::u32string"},
    {"std::basic_string_view", "char", "std::string_view"},
    {"std::basic_string_view", "wchar_t", "std::wstring_view"},
    {"std::basic_ostream", "char", "std::ostream"},
    {"std::basic_istream", "char", "std::istream"},
    {"std::basic_iostream", "char", "std::iostream"},
    {"std::basic_ios", "char", "std::ios"},
    {"std::basic_ofstream", "char", "std::ofstream"},
    {"std::basic_ifstream", "char", "std::ifstream"},
    {"std::basic_fstream", "char", "std::fstream"},
    {"std::basic_stringstream", "char", "std::stringstream"},
    {"std::basic_ostringstream", "char", "std::ostringstream"},
    {"std::basic_istringstream", "char", "std::istringstream"},
    {"std::chrono::duration", "long, std::ratio<1, 1000000000>", "std::chrono::nanoseconds"},
    {"std::chrono::duration", "long, std::ratio<1, 1000000>", "std::chrono::microseconds"},
    {"std::chrono::duration", "long, std::ratio<1, 1000>", "std::chrono::milliseconds"},
    {"std::chrono::duration", "long, std::ratio<1, 1>", "std::chrono::seconds"},
    {"std::chrono::duration", "long", "std::chrono::seconds"},
}};

const Alias* alias_of(const std::string& name, const std::string& arguments) {
  for (const Alias& alias : kAliases)
    if (alias.name == name && alias.arguments == arguments) return &alias;
  return nullptr;
}

Pieces tidy(const Pieces& pieces);

// `bracket` belongs to what stands at the end of `done`.
void add_template_arguments(Pieces& done, Piece bracket) {
  const std::string name = template_of(done);
  const std::string first = bracket.args.empty() ? "" : render(bracket.args[0]);
  while (bracket.args.size() > 1 && is_default(name, render(bracket.args.back()), first))
    bracket.args.pop_back();
  std::string arguments = render(bracket);
  arguments = arguments.substr(1, arguments.size() - 2);
  const Alias* alias = alias_of(name, arguments);
  if (alias == nullptr) return done.push_back(std::move(bracket));
  while (!done.empty() && !done.back().bracket && !done.back().is(" ")) done.pop_back();
  done.push_back({std::string(alias->shorter), {}});
}

Pieces tidy(const Pieces& pieces) {
  Pieces done;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    const bool scope = i + 1 < pieces.size() && pieces[i + 1].is("::");
    if (is_abi_tag(piece)) continue;
    if (is_anonymous(piece) && scope) {
      ++i;
      continue;
    }
    const bool in_std = done.size() >= 2 && done.back().is("::") && done[done.size() - 2].is("std");
    if (in_std && scope && !piece.bracket &&
        std::ranges::find(kInlineNamespaces, piece.text) != kInlineNamespaces.end()) {
      ++i;
      continue;
    }
    if (!piece.bracket) {
      done.push_back({without_suffix(piece.text), {}});
      continue;
    }
    if (is_lambda_piece(piece)) {
      done.push_back({"$_", {}});
      continue;
    }
    Piece inner{piece.text, {}, true};
    for (const Pieces& arg : piece.args) inner.args.push_back(tidy(arg));
    // "void ()" of a std::function
    if (piece.opens('(') && done.size() >= 2 && done.back().is(" ") &&
        !done[done.size() - 2].bracket)
      done.pop_back();
    if (piece.opens('<'))
      add_template_arguments(done, std::move(inner));
    else
      done.push_back(std::move(inner));
  }
  return done;
}

// ---- Functions

bool is_qualifier(const Piece& piece) {
  return piece.is(" ") || piece.is("const") || piece.is("volatile") || piece.is("&") ||
         piece.is("noexcept");
}

// The parameters of the functions that something is local to: "start(int) const::$_0" is
// "start::$_0".
Pieces without_inner_parameters(const Pieces& pieces) {
  Pieces done;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].opens('(') && !done.empty()) {
      std::size_t next = i + 1;
      while (next < pieces.size() && is_qualifier(pieces[next])) ++next;
      if (next < pieces.size() && pieces[next].is("::")) {
        i = next - 1;
        continue;
      }
    }
    done.push_back(pieces[i]);
  }
  return done;
}

// Where the parameters begin; the size if there are none.
std::size_t parameters_at(const Pieces& pieces) {
  std::size_t i = pieces.size();
  while (i > 0 && is_qualifier(pieces[i - 1])) --i;
  if (i > 1 && pieces[i - 1].opens('(') && !pieces[i - 2].is(" ")) return i - 1;
  return pieces.size();
}

// Where the name begins, behind the return type.
std::size_t name_at(const Pieces& pieces, std::size_t end) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < end; ++i) {
    if (!pieces[i].bracket && pieces[i].text.starts_with("operator")) break;
    if (pieces[i].is(" ")) first = i + 1;
  }
  // A pointer that is returned: "int* f<int>"
  while (first < end && (pieces[first].is("*") || pieces[first].is("&"))) ++first;
  return first;
}

std::vector<Pieces> components(const Pieces& path) {
  std::vector<Pieces> list(1);
  for (const Piece& piece : path)
    if (piece.is("::"))
      list.emplace_back();
    else
      list.back().push_back(piece);
  return list;
}

std::string joined(const std::vector<Pieces>& path) {
  std::string text;
  for (const Pieces& component : path) text += (text.empty() ? "" : "::") + render(component);
  return text;
}

// As much as is needed to get below the limit: template arguments, then outer scopes.
std::string fitted(std::vector<Pieces> path) {
  for (Pieces& component : path) {
    if (joined(path).size() <= kMostName) break;
    for (Piece& piece : component)
      if (piece.opens('<') && render(piece).size() > 5) piece = {"<…>", {}};
  }
  std::string text = joined(path);
  for (std::size_t i = 1; i < path.size() && text.size() > kMostName; ++i)
    text = "…::" + joined({path.begin() + static_cast<std::ptrdiff_t>(i), path.end()});
  return text;
}

// UTF-8 is not cut within a letter.
std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most) + "…";
}

// Whether a component is the body of a lambda, and what it lies in.
bool is_lambda_component(const Pieces& component) {
  return !component.empty() && is_lambda_piece(component.front());
}

bool is_lambda_path(const std::vector<Pieces>& path) {
  return std::ranges::any_of(path, is_lambda_component);
}

// A function within a lambda's class is the lambda; a lambda within a lambda is one of the function
// around both.
std::string lambda_text(const std::vector<Pieces>& path) {
  const auto first = std::ranges::find_if(path, is_lambda_component);
  std::vector<Pieces> around(path.begin(), first);
  return around.empty() ? "lambda" : "lambda in " + fitted(std::move(around));
}

std::string path_text(const Pieces& name) {
  auto path = components(name);
  return is_lambda_path(path) ? lambda_text(path) : fitted(std::move(path));
}

// In a type there is no room for words.
void name_lambdas(Pieces& pieces) {
  for (Piece& piece : pieces) {
    if (is_lambda_piece(piece)) piece = {"lambda", {}};
    for (Pieces& arg : piece.args) name_lambdas(arg);
  }
}

std::string_view without_marks_of_compilers(std::string_view text) {
  for (const std::string_view prefix : {"non-virtual thunk to ", "virtual thunk to "})
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  for (const std::string_view suffix : {" [clone", " (.", "@GLIBC", "@CXXABI", " requires "})
    text = text.substr(0, text.find(suffix));
  // What __PRETTY_FUNCTION__ adds of a template: "T Queue<T>::pop() [T = int]"
  if (const std::size_t bracket = text.find(" ["); bracket != std::string_view::npos)
    if (text.substr(bracket).contains(" = ")) text = text.substr(0, bracket);
  return text;
}

struct Function {
  Pieces name;
  Pieces parameters;  // with the bracket and what follows it
};

std::optional<Function> function_of(std::string_view demangled) {
  auto parsed = pieces_of(without_marks_of_compilers(demangled));
  if (!parsed) return std::nullopt;
  const Pieces all = without_inner_parameters(tidy(*parsed));
  const std::size_t end = parameters_at(all);
  const auto begin = all.begin();
  Function result{{begin + static_cast<std::ptrdiff_t>(name_at(all, end)),
                   begin + static_cast<std::ptrdiff_t>(end)},
                  {begin + static_cast<std::ptrdiff_t>(end), all.end()}};
  if (result.name.empty()) return std::nullopt;
  return result;
}

std::string named(Pieces name) {
  for (Piece& piece : name)
    for (Pieces& arg : piece.args) name_lambdas(arg);
  return cut(path_text(name), 2 * kMostName);
}

}  // namespace

void set_name_style(NameStyle style) { g_style = style; }
NameStyle name_style() { return g_style; }

std::string short_type(std::string_view demangled) {
  auto parsed = pieces_of(demangled);
  if (!parsed) return cut(std::string(demangled), 2 * kMostName);
  Pieces pieces = without_inner_parameters(tidy(*parsed));
  name_lambdas(pieces);
  return render(pieces);
}

std::string short_function(std::string_view demangled) {
  auto function = function_of(demangled);
  if (!function) return cut(std::string(demangled), kMostName);
  return named(std::move(function->name));
}

std::string short_signature(std::string_view demangled) {
  auto function = function_of(demangled);
  if (!function) return cut(std::string(demangled), kMostName);
  name_lambdas(function->parameters);
  return cut(named(std::move(function->name)) + render(function->parameters), 2 * kMostName);
}

std::string function_text(std::string_view demangled) {
  return name_style() == NameStyle::kFull ? std::string(demangled) : short_function(demangled);
}

std::string in_function(std::string_view demangled) {
  const std::string name = function_text(demangled);
  return (name == "lambda" || name.starts_with("lambda in ") ? "in a " : "in ") + name;
}

bool is_lambda(std::string_view demangled) {
  const auto function = function_of(demangled);
  return function && is_lambda_path(components(function->name));
}

bool is_plumbing(std::string_view demangled) {
  const auto function = function_of(demangled);
  if (!function) return false;
  const std::string name = render(function->name);
  constexpr std::array<std::string_view, 8> kLibc{"start_thread",
                                                  "clone",
                                                  "clone3",
                                                  "__clone3",
                                                  "__libc_start_call_main",
                                                  "_start",
                                                  "execute_native_thread_routine",
                                                  "thrd_start"};
  if (std::ranges::find(kLibc, name) != kLibc.end() || name.starts_with("__libc_start_main"))
    return true;
  if (!name.starts_with("std::")) return false;
  const std::string_view rest = std::string_view(name).substr(5);
  constexpr std::array<std::string_view, 8> kStarters{"thread::_",         "jthread::_", "invoke",
                                                      "_Function_handler", "function<",  "_Bind",
                                                      "packaged_task<",    "apply<"};
  return rest.starts_with('_') || std::ranges::any_of(kStarters, [&](std::string_view one) {
           return rest.starts_with(one);
         });
}

}  // namespace clew
