#include "host/search/boost_tests.h"

#include <algorithm>
#include <optional>

#include "host/lines.h"

namespace clew {
namespace {

constexpr std::size_t kIndent = 4;

struct Unit {
  std::size_t depth = 0;
  std::string name;
  bool enabled = false;
};

// "    case*: what it is about"; without the star it is disabled. A name may have a star in it, too: that
// of a template's case.
std::optional<Unit> unit_of(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  if (begin == line.size() || begin % kIndent != 0) return std::nullopt;
  const std::size_t end =
      std::min({line.find("*: ", begin), line.find(" : ", begin), line.size() - 1});
  if (end <= begin || (line[end] != '*' && line[end] != ' ')) return std::nullopt;
  return Unit{begin / kIndent, std::string(line.substr(begin, end - begin)), line[end] == '*'};
}

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(mark);
    parts.push_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// A star stands for anything at the beginning, at the end, or alone.
bool fits(std::string_view pattern, std::string_view name) {
  const bool before = pattern.starts_with('*');
  if (before) pattern.remove_prefix(1);
  const bool after = pattern.ends_with('*');
  if (after) pattern.remove_suffix(1);
  if (before && after) return name.find(pattern) != name.npos;
  if (before) return name.ends_with(pattern);
  return after ? name.starts_with(pattern) : name == pattern;
}

// "suite,other/case*": for each level the names that it may have. What is selected is selected with all
// that is in it.
bool selects(std::string_view filter, std::string_view name) {
  const auto levels = split(filter, '/');
  const auto path = split(name, '/');
  if (levels.size() > path.size()) return false;
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (std::ranges::none_of(split(levels[i], ','),
                             [&](std::string_view pattern) { return fits(pattern, path[i]); }))
      return false;
  return true;
}

// Whether arguments[i] is a filter, which may be the next argument: then i is that one's.
std::optional<std::string_view> filter_at(const std::vector<std::string>& arguments,
                                          std::size_t& i) {
  const std::string_view argument = arguments[i];
  for (const std::string_view option : {"--run_test", "-t"}) {
    if (!argument.starts_with(option)) continue;
    const std::string_view rest = argument.substr(option.size());
    if (rest.starts_with('=')) return rest.substr(1);
    if (rest.empty() && i + 1 < arguments.size()) return arguments[++i];
    if (!rest.empty() && option == "-t") return rest;
  }
  return std::nullopt;
}

// Of what follows "--" the program makes what it likes.
bool is_the_programs(const std::vector<std::string>& arguments, std::size_t i) {
  return arguments[i] == "--";
}

// In names these have a meaning in filters; a star does for what follows.
std::string filter_for(std::string_view name) {
  const std::size_t special = name.find_first_of(",*:@!+");
  if (special == name.npos) return std::string(name);
  const std::size_t level = name.find('/', special);
  std::string filter = std::string(name.substr(0, special)) + '*';
  if (level != name.npos) filter += '/' + filter_for(name.substr(level + 1));
  return filter;
}

}  // namespace

std::vector<std::string> boost_test_names(std::string_view list) {
  std::vector<std::string> names;
  std::vector<Unit> path;
  // A unit is a case if nothing is in it, which the next line shows.
  const auto leave = [&](std::size_t depth) {
    if (path.size() == depth + 1 && std::ranges::all_of(path, &Unit::enabled)) {
      std::string name;
      for (const Unit& unit : path) name += (name.empty() ? "" : "/") + unit.name;
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
    if (path.size() > depth) path.resize(depth);
  };
  for (const std::string_view line : lines_of(list)) {
    auto unit = unit_of(line);
    if (!unit || unit->depth > path.size()) continue;  // the program's own words
    if (unit->depth < path.size()) {
      leave(path.size() - 1);
      path.resize(unit->depth);
    }
    path.push_back(std::move(*unit));
  }
  if (!path.empty()) leave(path.size() - 1);
  return names;
}

Result<void> select_boost_tests(const std::vector<std::string>& arguments,
                                std::vector<std::string>& names) {
  std::vector<std::string_view> filters;
  for (std::size_t i = 1; i < arguments.size() && !is_the_programs(arguments, i); ++i)
    if (const auto given = filter_at(arguments, i))
      for (const std::string_view filter : split(*given, ':')) filters.push_back(filter);
  for (const std::string_view filter : filters)
    if (filter.find_first_of("@!+") != filter.npos)
      return fail(
          ErrorCode::kUsage,
          "--each does not know what this filter of Boost.Test selects: " + std::string(filter),
          "name suites and cases, or leave out --each");
  if (!filters.empty())
    std::erase_if(names, [&](const std::string& name) {
      return std::ranges::none_of(filters,
                                  [&](std::string_view filter) { return selects(filter, name); });
    });
  return {};
}

std::vector<std::string> boost_test_arguments(const std::vector<std::string>& arguments,
                                              const std::vector<std::string>& options) {
  std::vector<std::string> kept{arguments.front()};
  kept.insert(kept.end(), options.begin(), options.end());
  std::size_t i = 1;
  for (; i < arguments.size() && !is_the_programs(arguments, i); ++i)
    if (!filter_at(arguments, i)) kept.push_back(arguments[i]);
  kept.insert(kept.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
  return kept;
}

std::vector<std::string> boost_test_case_arguments(const std::vector<std::string>& arguments,
                                                   std::string_view name) {
  const bool catches = std::ranges::any_of(arguments, [](const std::string& argument) {
    return argument.starts_with("--catch_system_error") || argument == "-s";
  });
  std::vector<std::string> options{"--run_test=" + filter_for(name)};
  if (!catches) options.emplace_back("--catch_system_errors=no");
  return boost_test_arguments(arguments, options);
}

}  // namespace clew
