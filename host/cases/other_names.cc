#include "host/cases/other_names.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace clew {
namespace {

// Of a program, so that the work ends. Chosen, not measured.
constexpr std::size_t kMostVariables = 200;
constexpr std::size_t kMostBeside = 40;

// The variables of the case that are not mentioned, without members.
std::set<std::string> unmentioned(const Case& one, const Sites& sites) {
  std::set<std::string> names;
  for (const CaseEvent& event : one.events) {
    const std::string name = first_name(event.at.variable);
    if (!name.empty() && !sites.mentions(name)) names.insert(name);
  }
  return names;
}

// What the program's runs have accessed by a name that the case does not know.
std::vector<std::string> variables_of(const Sites& sites, const Case& one) {
  std::set<std::string> of_case;
  for (const CaseEvent& event : one.events) of_case.insert(event.at.variable);
  of_case.insert(one.beside.begin(), one.beside.end());
  std::set<std::string> found;
  for (const Site& site : sites.all())
    if (site.executed && !site.variable.empty() && !of_case.contains(site.variable) &&
        found.size() < kMostVariables)
      found.insert(site.variable);
  return {found.begin(), found.end()};
}

// The anchor of an event on `name`, if that is called `other` now: a variable alone has become all of it,
// and of an object or array with members the object has the name of the other one's.
Anchor renamed(const Anchor& anchor, const std::string& name, const std::string& other) {
  const std::string rest = anchor.variable.substr(name.size());
  const std::string now = rest.empty() ? other : first_name(other);
  Anchor result = anchor;
  result.variable = now + rest;
  result.text.clear();
  for (const std::string& token : anchor.text) {
    if (token != name) {
      result.text.push_back(token);
      continue;
    }
    for (SourceToken& part : source_tokens(now)) result.text.push_back(std::move(part.text));
  }
  return result;
}

// The less the better.
int distance(const std::vector<Placed>& placed) {
  int sum = 0;
  for (const Placed& one : placed) sum += static_cast<int>(one.fit);
  return sum;
}

// The way with `name` called `other` in addition; nothing: one of its events has no place then.
std::optional<OtherName> with_name(const OtherName& way, const std::string& name,
                                   const std::string& other, const Sites& sites) {
  OtherName result = way;
  for (std::size_t e = 0; e < way.one.events.size(); ++e) {
    if (first_name(way.one.events[e].at.variable) != name) continue;
    result.one.events[e].at = renamed(way.one.events[e].at, name, other);
    result.placed[e] = place_anchor(result.one.events[e].at, sites);
    if (result.placed[e].fit == Fit::kNone) return std::nullopt;
  }
  return result;
}

}  // namespace

std::string first_name(const std::string& variable) {
  return variable.substr(0, variable.find_first_of(".[-"));
}

std::vector<std::string> variables_beside(const Case& one, const Sites& sites) {
  std::set<std::string> functions;
  std::set<std::string> of_case;
  for (const CaseEvent& event : one.events) {
    functions.insert(event.at.function);
    of_case.insert(event.at.variable);
  }
  std::set<std::string> found;
  for (const Site& site : sites.all())
    if (site.executed && !site.variable.empty() && functions.contains(site.function) &&
        !of_case.contains(site.variable) && found.size() < kMostBeside)
      found.insert(site.variable);
  return {found.begin(), found.end()};
}

bool may_be_nameless(const Case& one, const CaseOrder& order, const Sites& sites) {
  return std::ranges::all_of(order.events, [&](std::size_t e) {
    const Anchor& anchor = one.events[e].at;
    return std::ranges::any_of(sites.all(), [&](const Site& site) {
      return site.executed && site.variable.empty() &&
             last_name(site.function) == last_name(anchor.function) &&
             may_stand_for(site.kind, anchor.kind);
    });
  });
}

bool may_have_other_name(const Case& one, const std::string& name, const Sites& sites) {
  const OtherName as_named{one, std::vector<Placed>(one.events.size())};
  return std::ranges::any_of(variables_of(sites, one), [&](const std::string& other) {
    return with_name(as_named, name, other, sites).has_value();
  });
}

std::vector<OtherName> other_names(const Case& one, const std::vector<Placed>& placed,
                                   const Sites& sites, std::size_t most) {
  const std::vector<std::string> others = variables_of(sites, one);
  std::vector<OtherName> ways{{one, placed}};
  for (const std::string& name : unmentioned(one, sites)) {
    std::multimap<int, OtherName> now;  // equal ones in the order of the names
    for (const OtherName& way : ways)
      for (const std::string& other : others)
        if (auto renamed_way = with_name(way, name, other, sites))
          now.emplace(distance(renamed_way->placed), std::move(*renamed_way));
    ways.clear();
    for (auto& [distant, way] : now)
      if (ways.size() < most) ways.push_back(std::move(way));
  }
  const auto lacks = [](const Placed& event) { return event.fit == Fit::kNone; };
  std::erase_if(ways, [&](const OtherName& way) {
    return way.one == one || std::ranges::any_of(way.placed, lacks);
  });
  for (OtherName& way : ways) {
    way.fits = std::ranges::all_of(way.placed,
                                   [](const Placed& event) { return event.fit != Fit::kNearest; });
    // However well it fits: that it is the same variable is a guess.
    for (std::size_t e = 0; e < one.events.size(); ++e)
      if (way.one.events[e].at != one.events[e].at) way.placed[e].fit = Fit::kNearest;
  }
  return ways;
}

}  // namespace clew
