#include "host/cases/placing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace clew {
namespace {

// Points for what two places have in common. Only their order matters, and the least sum that is
// still called a place. Chosen so that the same words in another function count more than similar
// words in the same one; tested by the edits in bench/cases.
constexpr double kSameText = 60;
constexpr double kSameButForNames = 50;
constexpr double kSimilar = 48;    // times the similarity
constexpr double kOtherText = 24;  // of the same variable in the same function
constexpr double kLeastSimilar = 0.3;
constexpr double kLeastElsewhere = 0.6;  // of a statement in another function
constexpr double kNoText = 40;
constexpr double kSameFunction = 20;
constexpr double kSameLastName = 16;  // a class was renamed
constexpr double kSameClass = 8;      // a function was, or its code became part of another
constexpr double kSameOccurrence = 3;
// Of statements that are equal, in the anchor's function: more than that another one was executed, or the
// place of a call that no run came to, of which the kind is not known.
constexpr double kSameOfEqual = 20;
constexpr double kSameKind = 6;
constexpr double kSameVariable = 8;
constexpr double kNamesVariable = 4;  // the statement has the variable's name
constexpr double kOtherVariable = -20;
constexpr double kSameFile = 2;
// Of the same words in a function that does not call the anchor's, nor that one it: they may have been there before.
constexpr double kUnrelatedFunction = -25;
constexpr double kExecuted = 3;
constexpr double kLeast = 40;
// Times the share of the anchor's names of data that the statement has: what is read or written is
// likelier to keep its name than the words around it are to stay.
constexpr double kSharedNames = 20;
// The function has no other statement that does what the anchor does.
constexpr double kOnlyOne = 22;

struct Candidate {
  const Statement* statement = nullptr;  // null: a place without a line
  std::string file;
  std::string function;
  std::vector<SiteId> sites;
};

std::string base_name(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? file : file.substr(slash + 1);
}

// The last name in it: "owner" of "forks[].owner".
std::string member_of(const std::string& variable) {
  std::string name;
  for (const SourceToken& token : source_tokens(variable))
    if (!token.text.empty() &&
        (std::isalpha(static_cast<unsigned char>(token.text[0])) != 0 || token.text[0] == '_'))
      name = token.text;
  return name;
}

class Placing {
 public:
  Placing(const Anchor& anchor, const Sites& sites)
      : anchor_(anchor),
        sites_(sites),
        is_function_gone_(!anchor.function.empty() && anchor.function != "main" &&
                          !sites.has_function(anchor.function)),
        words_(sites.words_of(anchor.function)) {}

  Placed run() {
    collect();
    const Candidate* best = nullptr;
    const Candidate* nearest = nullptr;
    double best_score = 0;
    double nearest_score = -1;
    for (const auto& [key, candidate] : candidates_) {
      const double score = score_of(candidate);
      const double text = text_score(candidate);
      if (text > nearest_score) nearest_score = text, nearest = &candidate;
      if (score >= kLeast && score > best_score) best_score = score, best = &candidate;
    }
    if (const Candidate* beside = beside_the_same(best)) best = beside;
    if (best != nullptr) return placed_at(*best, best_score);
    Placed placed;
    if (nearest != nullptr) tell(*nearest, placed);
    return placed;
  }

  std::vector<Placed> all(std::size_t most) {
    collect();
    std::multimap<double, const Candidate*, std::greater<>> ways;  // by score
    for (const auto& [key, candidate] : candidates_)
      if (const double score = score_of(candidate); score >= kLeast)
        ways.emplace(score, &candidate);
    std::vector<Placed> result;
    for (const auto& [score, candidate] : ways)
      if (result.size() < most) result.push_back(placed_at(*candidate, score));
    return result;
  }

 private:
  [[nodiscard]] Placed placed_at(const Candidate& at, double score) const {
    Placed placed;
    tell(at, placed);
    placed.fit = fit_of(at);
    placed.is_only_one = at.function == anchor_.function && is_only_one(at);
    placed.sites = sites_of(at);
    // A place without a line may be several statements now.
    if (anchor_.text.empty())
      for (const auto& [key, candidate] : candidates_)
        if (&candidate != &at && score_of(candidate) >= score - kExecuted)
          for (const SiteId id : sites_of(candidate)) placed.sites.push_back(id);
    if (placed.fit != Fit::kExact) add_moved_by_compiler(placed.sites);
    std::ranges::sort(placed.sites);
    const auto repeated = std::ranges::unique(placed.sites);
    placed.sites.erase(repeated.begin(), repeated.end());
    for (const SiteId id : placed.sites) placed.executed |= sites_[id].executed;
    return placed;
  }

  // The statement may be there and not do it any more, because another one of its line does it now:
  // the head of a loop, a condition.
  [[nodiscard]] const Candidate* beside_the_same(const Candidate* best) const {
    if (best != nullptr && (tokens_of(*best) == anchor_.text || is_renamed(tokens_of(*best))))
      return nullptr;
    const Candidate* found = nullptr;
    for (const Statement* same : sites_.statements_like(anchor_.function, anchor_.text)) {
      for (const auto& [key, candidate] : candidates_) {
        const Statement* other = candidate.statement;
        if (other == nullptr || candidate.function != anchor_.function ||
            other->last_line < same->first_line || other->first_line > same->last_line)
          continue;
        const std::vector<SiteId> sites = sites_of(candidate);
        if (std::ranges::any_of(sites, [&](SiteId id) { return sites_[id].kind == anchor_.kind; }))
          found = &candidate;
      }
    }
    return found;
  }

  // An access to the variable that has no line may be the one that is looked for.
  void add_moved_by_compiler(std::vector<SiteId>& found) const {
    if (anchor_.variable.empty()) return;
    for (SiteId id = 1; id < sites_.all().size(); ++id)
      if (sites_[id].statement == nullptr && sites_[id].variable == anchor_.variable &&
          may_stand_for(sites_[id].kind, anchor_.kind))
        found.push_back(id);
  }

  void collect() {
    for (SiteId id = 1; id < sites_.all().size(); ++id) {
      const Site& site = sites_[id];
      Candidate& candidate = candidates_[{
          site.file, site.statement != nullptr ? site.statement->first_line : 0,
          site.statement != nullptr ? site.statement->first_column : 0, site.function}];
      candidate.statement = site.statement;
      candidate.file = site.file;
      candidate.function = site.function;
      candidate.sites.push_back(id);
    }
  }

  [[nodiscard]] static const std::vector<std::string>& tokens_of(const Candidate& candidate) {
    static const std::vector<std::string> kEmpty;
    return candidate.statement != nullptr ? candidate.statement->tokens : kEmpty;
  }
  [[nodiscard]] double text_score(const Candidate& candidate) const {
    const auto& tokens = tokens_of(candidate);
    return tokens == anchor_.text ? 1 : similarity(tokens, anchor_.text);
  }
  [[nodiscard]] double function_score(const Candidate& candidate) const {
    if (candidate.function == anchor_.function) return kSameFunction;
    return !anchor_.function.empty() && last_name(candidate.function) == last_name(anchor_.function)
               ? kSameLastName
               : 0;
  }

  // Whether a statement is the anchor's but for names, of which the function has none any more: one that
  // it still has was not renamed, and the statement is another one of that shape.
  [[nodiscard]] bool is_renamed(const std::vector<std::string>& tokens) const {
    if (!same_but_for_names(tokens, anchor_.text)) return false;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i] != anchor_.text[i] && words_.contains(anchor_.text[i])) return false;
    return true;
  }
  // Whether code may have come from the anchor's function to that of the candidate: one of them calls the
  // other, or the first is gone.
  [[nodiscard]] bool may_have_moved_to(const Candidate& candidate) const {
    const std::string here = last_name(anchor_.function);
    const std::string there = last_name(candidate.function);
    return is_function_gone_ || here.empty() || there.empty() || here == there ||
           words_.contains(there) || sites_.words_of(candidate.function).contains(here);
  }
  [[nodiscard]] bool is_same_class(const Candidate& candidate) const {
    const std::size_t end = anchor_.function.rfind("::");
    return end != std::string::npos &&
           candidate.function.starts_with(anchor_.function.substr(0, end + 2));
  }
  // Whether a statement has all names of data of the anchor, which has several.
  [[nodiscard]] bool names_all_data(const std::vector<std::string>& tokens) const {
    return shared_names(anchor_.text, tokens) == 1 && data_names(anchor_.text).size() > 1;
  }

  // Below kLeast: no place.
  [[nodiscard]] double score_of(const Candidate& candidate) const {
    const std::vector<SiteId> sites = sites_of(candidate);
    if (sites.empty()) return 0;
    const auto& tokens = tokens_of(candidate);
    const double function = function_score(candidate);
    // An access to other data is another one, however similar; a lock may have become another.
    const bool is_other_data =
        abi::is_access(anchor_.kind) && names_variable(candidate, sites) == kOtherVariable;
    if (is_other_data && tokens != anchor_.text) return 0;
    double score = function;
    if (anchor_.text.empty() || tokens.empty()) {
      const bool known = names_variable(candidate, sites) > 0;
      // What a destructor does at the end of a block has no statement.
      const bool only_one = function > 0 && abi::ends_life(anchor_.kind) && is_only_one(candidate);
      if ((!known && !only_one) || (function == 0 && !anchor_.text.empty())) return 0;
      score += known ? kNoText : kOnlyOne;
    } else if (tokens == anchor_.text) {
      score +=
          kSameText + kSharedNames + (function == 0 && is_same_class(candidate) ? kSameClass : 0);
      if (function == 0 && !may_have_moved_to(candidate)) score += kUnrelatedFunction;
    } else if (is_renamed(tokens) && function > 0) {
      // Of two such, the one with more of the same names.
      score += kSameButForNames + 5 * similarity(tokens, anchor_.text) +
               kSharedNames * shared_names(anchor_.text, tokens);
    } else {
      const double same = similarity(tokens, anchor_.text);
      const double about = names_variable(candidate, sites);
      // Elsewhere, what is not about the variable is something else, however similar it is.
      if (function == 0 && !anchor_.variable.empty() && about <= 0) return 0;
      const bool same_variable = (function > 0 || is_function_gone_) && about == kSameVariable;
      const bool only_one = function > 0 && is_only_one(candidate);
      const bool in_class = function == 0 && is_same_class(candidate);
      if (in_class) score += kSameClass;
      const bool same_names = in_class && names_all_data(tokens);
      if (!same_variable && !only_one && !same_names &&
          same < (function > 0 ? kLeastSimilar : kLeastElsewhere))
        return 0;
      score += std::max({kSimilar * same, same_variable ? kOtherText : 0, only_one ? kOnlyOne : 0});
      score += kSharedNames * shared_names(anchor_.text, tokens);
    }
    score += names_variable(candidate, sites);
    if (candidate.statement != nullptr && candidate.statement->occurrence == anchor_.occurrence)
      score += function == kSameFunction && tokens == anchor_.text ? kSameOfEqual : kSameOccurrence;
    if (base_name(candidate.file) == anchor_.file) score += kSameFile;
    const auto is_same = [&](SiteId id) { return sites_[id].kind == anchor_.kind; };
    const auto was_executed = [&](SiteId id) { return sites_[id].executed; };
    if (std::ranges::any_of(sites, is_same)) score += kSameKind;
    if (std::ranges::any_of(sites, was_executed)) score += kExecuted;
    return score;
  }

  // Whether no other statement of its function does what the anchor does: synchronises or releases
  // memory in that way, or, for an access, one of the names in both is the only thing accessed.
  [[nodiscard]] bool is_only_one(const Candidate& candidate) const {
    const auto does = [&](const Candidate& one) {
      return std::ranges::any_of(one.sites, [&](SiteId id) {
        return sites_[id].kind == anchor_.kind && sites_[id].executed;
      });
    };
    if (!does(candidate)) return false;
    const auto rival = [&](const auto& other) {
      return &other.second != &candidate && other.second.function == candidate.function &&
             does(other.second);
    };
    if (std::ranges::any_of(candidates_, rival)) return false;
    if (!abi::is_access(anchor_.kind) || abi::ends_life(anchor_.kind)) return true;
    return std::ranges::any_of(tokens_of(candidate), [&](const std::string& token) {
      return token.size() > 1 && std::isalpha(static_cast<unsigned char>(token[0])) != 0 &&
             std::ranges::find(anchor_.text, token) != anchor_.text.end();
    });
  }

  [[nodiscard]] double names_variable(const Candidate& candidate,
                                      const std::vector<SiteId>& sites) const {
    if (anchor_.variable.empty()) return 0;
    bool known = false;
    for (const SiteId id : sites) {
      if (sites_[id].variable == anchor_.variable) return kSameVariable;
      known |= !sites_[id].variable.empty();
    }
    const auto& tokens = tokens_of(candidate);
    if (std::ranges::find(tokens, member_of(anchor_.variable)) != tokens.end())
      return kNamesVariable;
    return known ? kOtherVariable : 0;
  }

  // Those of the statement that do what the anchor does: of its kind if there are any, to its
  // variable if one is known to be.
  [[nodiscard]] std::vector<SiteId> sites_of(const Candidate& candidate) const {
    std::vector<SiteId> result;
    for (const SiteId id : candidate.sites)
      if (may_stand_for(sites_[id].kind, anchor_.kind)) result.push_back(id);
    const auto keep_if_any = [&](auto&& holds) {
      if (std::ranges::any_of(result, holds))
        std::erase_if(result, [&](SiteId id) { return !holds(id); });
    };
    if (!anchor_.variable.empty())
      keep_if_any([&](SiteId id) { return sites_[id].variable == anchor_.variable; });
    keep_if_any([&](SiteId id) { return sites_[id].kind == anchor_.kind; });
    return result;
  }

  [[nodiscard]] Fit fit_of(const Candidate& candidate) const {
    const auto& tokens = tokens_of(candidate);
    const bool here = candidate.function == anchor_.function;
    if (tokens == anchor_.text || anchor_.text.empty()) return here ? Fit::kExact : Fit::kMoved;
    if (here && is_renamed(tokens) && names_variable(candidate, sites_of(candidate)) >= 0)
      return Fit::kRenamed;
    return Fit::kNearest;
  }

  void tell(const Candidate& candidate, Placed& placed) const {
    placed.at = {candidate.file, 0, candidate.function};
    if (candidate.statement == nullptr) {
      if (!candidate.sites.empty()) placed.at.line = sites_[candidate.sites.front()].line;
      return;
    }
    placed.text = candidate.statement->text;
    placed.at.line = candidate.statement->first_line;
  }

  const Anchor& anchor_;
  const Sites& sites_;
  bool is_function_gone_;               // it was renamed, or became part of another
  const std::set<std::string>& words_;  // of the anchor's function, as it is now
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t, std::string>, Candidate>
      candidates_;
};

}  // namespace

Placed place_anchor(const Anchor& anchor, const Sites& sites) {
  return Placing(anchor, sites).run();
}

std::vector<Placed> places_of_anchor(const Anchor& anchor, const Sites& sites, std::size_t most) {
  return Placing(anchor, sites).all(most);
}

}  // namespace clew
