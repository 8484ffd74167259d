#include "host/enumerate/enumerate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <regex>
#include <utility>

#include "host/enumerate/program_places.h"
#include "host/enumerate/read_names.h"
#include "host/lines.h"
#include "host/recording/file.h"
#include "host/seconds.h"

namespace clew {
namespace {

// Shown of the lines that no run executed. Chosen, not measured.
constexpr std::size_t kMostUnexecuted = 50;
constexpr std::size_t kMostUnexecutedPoints = 20'000;  // that are looked at
constexpr std::size_t kMostFailingCombinations = 50;
constexpr std::uint64_t kMostSource = std::uint64_t{64} << 20;  // as host/report/stacks.cc
// Of the time that the search was given, in addition to it. Chosen, not measured.
constexpr double kNamingShare = 0.1;
// Seconds. The first run, from which the places are known, may have taken longer than all that was
// given.
constexpr double kShortestSearch = 0.1;
// Seconds between two that are told: counting pairs takes as long as some runs if there are many.
constexpr double kBetweenStatus = 0.25;

struct At {
  std::string file;
  std::uint32_t line = 0;
  std::string variable;
};

Result<At> parse_at(const std::string& text) {
  At at;
  const auto bad = [&] {
    return fail(ErrorCode::kUsage, fmt::format("'{}' is no place of a read", text),
                "FILE:LINE or FILE:LINE:VARIABLE");
  };
  const std::size_t file_end = text.find(':');
  if (file_end == std::string::npos || file_end == 0) return bad();
  at.file = text.substr(0, file_end);
  const char* begin = text.data() + file_end + 1;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, at.line);
  if (error != std::errc() || at.line == 0) return bad();
  if (rest != end && *rest != ':') return bad();
  if (rest != end) at.variable = std::string(rest + 1, end);
  return at;
}

// "items_" of "queue.items_[3]".
std::string last_name(const std::string& variable) {
  std::string name;
  std::string last;
  int depth = 0;
  for (const char c : variable) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (depth == 0 && ((std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_')) {
      name += c;
    } else if (depth == 0) {
      name.clear();
    }
    if (!name.empty()) last = name;
  }
  return last;
}

// Where a read finds its bytes, in all runs.
struct Extent {
  Extent() = default;
  explicit Extent(const Term& term) { add(term); }
  void add(const Term& term) {
    low = std::min(low, term.address);
    high = std::max(high, term.highest);
    size = std::max(size, term.size);
  }
  [[nodiscard]] bool is_one() const { return low == high; }
  std::uint64_t low = UINT64_MAX;
  std::uint64_t high = 0;
  std::uint32_t size = 0;
};

// "items[].count" of "items[3].count": of one element or another.
std::string of_any_element(const std::string& name) {
  std::string any;
  int depth = 0;
  for (const char c : name) {
    if (c == ']') --depth;
    if (depth == 0) any += c;
    if (c == '[') ++depth;
  }
  return any;
}

class Collector {
 public:
  Collector(const EnumerateSearch& search, ProgramPlaces& places, const std::vector<At>& wanted)
      : search_(search), places_(places), wanted_(wanted) {}

  // Reads of memory that is no global variable.
  [[nodiscard]] std::set<EventKey> nameless() {
    std::map<EventKey, Extent> extents;
    for (const Term& term : search_.terms().all())
      if (search_.terms().is_shared(term.read)) extents[term.read].add(term);
    std::set<EventKey> reads;
    for (const auto& [read, extent] : extents)
      if (global_at(extent).empty()) reads.insert(read);
    return reads;
  }
  void name(std::map<EventKey, std::string> names) { names_ = std::move(names); }

  void fill(EnumerateResult& result) {
    std::map<EventKey, std::vector<Terms::Number>> of_read;
    const std::vector<Term>& terms = search_.terms().all();
    for (Terms::Number i = 0; i < terms.size(); ++i) {
      if (search_.terms().is_shared(terms[i].read) || !wanted_.empty())
        of_read[terms[i].read].push_back(i);
      else if (const std::string name = global_at(Extent(terms[i])); !name.empty())
        read_.try_emplace(last_name(name), name);
    }
    struct Listed {
      ReadInfo info;
      const std::vector<Terms::Number>* numbers = nullptr;
    };
    std::vector<Listed> listed;
    for (const auto& [read, numbers] : of_read) {
      ReadInfo info{place_of(read), variable_of(read, numbers), {}};
      if (!is_wanted(info)) continue;
      if (!info.variable.empty()) read_.try_emplace(last_name(info.variable), info.variable);
      if (numbers.size() < 2 && wanted_.empty()) {
        ++result.without_choice;
        continue;
      }
      listed.push_back({std::move(info), &numbers});
    }
    std::ranges::sort(listed, {}, [](const Listed& one) {
      return std::tuple(one.info.read.at.file, one.info.read.at.line, one.info.read.thread,
                        one.info.read.instance, one.info.read.place);
    });
    for (Listed& one : listed) {
      for (const Terms::Number number : *one.numbers) {
        position_[number] = {result.reads.size(), one.info.terms.size()};
        one.info.terms.push_back(term_of(terms[number]));
        count(one.info.terms.back().status, result.coverage);
      }
      result.reads.push_back(std::move(one.info));
    }
    fill_combinations(result);
    fill_unexecuted(result);
  }

 private:
  static void count(TermStatus status, EnumerateSearch::Coverage& coverage) {
    ++(status == TermStatus::kSeen         ? coverage.seen
       : status == TermStatus::kImpossible ? coverage.impossible
                                           : coverage.open);
  }

  [[nodiscard]] bool is_wanted(const ReadInfo& read) const {
    if (wanted_.empty()) return true;
    return std::ranges::any_of(wanted_, [&](const At& at) {
      if (at.line != read.read.at.line || !is_file(read.read.at.file, at.file)) return false;
      // What has no name may be it.
      return at.variable.empty() || read.variable.empty() || read.variable == at.variable ||
             read.variable == of_any_element(at.variable) ||
             last_name(read.variable) == at.variable;
    });
  }

  // The global variable; nothing if it is none, or not always the same one.
  std::string global_at(const Extent& extent) {
    std::string name = places_.variable(extent.low, extent.size);
    if (extent.is_one() || name.empty()) return name;
    const std::string last = places_.variable(extent.high, extent.size);
    if (last == name) return name;
    name = of_any_element(name);
    return name == of_any_element(last) ? name : "";
  }

  std::string variable_of(const EventKey& read, const std::vector<Terms::Number>& numbers) {
    Extent extent;
    for (const Terms::Number number : numbers) extent.add(search_.terms().all()[number]);
    if (std::string name = global_at(extent); !name.empty()) return name;
    const auto name = names_.find(read);
    if (name == names_.end()) return "";
    return extent.is_one() ? name->second : of_any_element(name->second);
  }

  EventPlace place_of(const EventKey& key) {
    return {places_.location(key.place), search_.terms().thread_name(key.thread), key.instance,
            key.place};
  }

  TermInfo term_of(const Term& term) {
    TermInfo info;
    if (term.write.place != 0) info.write = place_of(term.write);
    info.local = term.local();
    info.status = search_.status(term);
    info.passing_runs = term.passing.runs;
    info.failing_runs = term.failing.runs;
    info.attempts = term.attempts;
    info.passing = search_.recording(term, Verdict::kPass);
    info.failing = search_.recording(term, Verdict::kFail);
    if (info.status == TermStatus::kImpossible) {
      const OrderReason reason = search_.reason(term);
      info.reason.kind = reason.kind;
      if (reason.place != 0) info.reason.at = places_.location(reason.place);
      if (reason.overwritten != 0) info.reason.overwritten = places_.location(reason.overwritten);
      if (reason.lock != 0) info.reason.lock = places_.location(reason.lock);
      if (reason.source != 0) info.reason.source = places_.location(reason.source);
      if (term.may_be && reason.kind != OrderReason::Kind::kExhausted && !search_.exhausted()) {
        info.reason.runs = term.ordered_runs;
        info.reason.one_reason = term.one_reason;
      }
    }
    return info;
  }

  void fill_combinations(EnumerateResult& result) {
    const Combinations& combinations = search_.combinations();
    result.together = combinations.together();
    result.combinations_cut = combinations.is_cut();
    for (const Combinations::Combination& combination : combinations.all()) {
      count(combination.seen()    ? TermStatus::kSeen
            : search_.exhausted() ? TermStatus::kImpossible
                                  : TermStatus::kOpen,
            result.combined);
      if (!search_.fails_together(combination) ||
          result.failing_combinations.size() >= kMostFailingCombinations)
        continue;
      CombinationInfo info;
      info.failing_runs = combination.failing.runs;
      info.failing = search_.recording(combination, Verdict::kFail);
      if (const auto* beside = search_.passing_beside(combination))
        info.passing = search_.recording(*beside, Verdict::kPass);
      bool all_listed = true;
      for (const Terms::Number number : combination.terms) {
        const auto position = position_.find(number);
        all_listed &= position != position_.end();
        if (all_listed) info.terms.push_back(position->second);
      }
      if (all_listed) result.failing_combinations.push_back(std::move(info));
    }
  }

  // With a type before it and a value behind it: what is initialised is new, no thread has it yet.
  static bool declares(const std::string& line, const std::string& name) {
    static const std::regex kNoType(R"(\b(return|else|do|goto|case|throw)\s*$)");
    const std::regex declaration(R"([\w>]\s*[\s*&]\s*)" + name + R"(\s*(=[^=]|\{|;))");
    std::smatch found;
    return std::regex_search(line, found, declaration) &&
           !std::regex_search(found.prefix().str() + found.str().substr(0, 1), kNoType);
  }
  // Whether a line's text writes to a variable: where the code does not say it.
  static bool writes_by_text(const std::string& line, const std::string& name) {
    if (line.find(name) == std::string::npos) return false;
    const std::string before = R"((^|[;{}(),.:]|->|\belse\b|\bdo\b)\s*)";
    const std::regex writes(before + name +
                            R"(\b(\[[^\]]*\])?\s*(=[^=]|[-+*/%&|^]=|<<=|>>=|\+\+|--))");
    const std::regex steps(R"((\+\+|--)\s*)" + name + R"(\b)");
    return std::regex_search(line, writes) || std::regex_search(line, steps);
  }

  void fill_unexecuted(EnumerateResult& result) {
    if (read_.empty()) return;
    // By line and column: a line may have several writes. Column 0: one of the line.
    std::map<std::string, std::set<std::pair<std::uint32_t, std::uint32_t>>> executed;
    std::vector<const ProgramPlaces::Point*> points;
    std::vector<abi::Place> places;
    for (const ProgramPlaces::Point& point : places_.accesses()) {
      if (!point.writes || point.line == 0) continue;
      if (search_.executed(point.place)) {
        executed[point.file].insert({{point.line, 0}, {point.line, point.column}});
      } else if (points.size() < kMostUnexecutedPoints) {
        points.push_back(&point);
        places.push_back(point.place);
      }
    }
    const std::vector<WrittenData> written = places_.written(places);
    std::map<std::string, std::vector<std::string>> texts;
    std::set<std::tuple<std::string, std::uint32_t, std::string>> told;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const ProgramPlaces::Point& point = *points[i];
      using Kind = WrittenData::Kind;
      if (written[i].kind == Kind::kNotCalled ||
          executed[point.file].contains({point.line, point.column}))
        continue;
      const auto add = [&](const std::string& variable, bool by_text) {
        if (result.unexecuted.size() < kMostUnexecuted &&
            told.insert({point.file, point.line, last_name(variable)}).second)
          result.unexecuted.push_back({variable, {point.file, point.line, ""}, by_text});
      };
      const auto [text, is_new] = texts.try_emplace(point.file);
      if (is_new) {
        // The name comes from the program: what is no file, or large, has no lines.
        if (const auto bytes = read_file(point.file, kMostSource))
          for (const std::string_view line :
               lines_of({reinterpret_cast<const char*>(bytes->data()), bytes->size()}))
            text->second.emplace_back(line);
      }
      const std::string line =
          point.line <= text->second.size() ? text->second[point.line - 1] : "";
      if (written[i].kind != Kind::kUnknown) {
        if (declares(line, last_name(written[i].name))) continue;
        // A member of some object may be that of the variable that is read.
        const auto read = read_.find(last_name(written[i].name));
        if (read != read_.end() &&
            (written[i].kind == Kind::kMember || may_be_one(written[i].name, read->second)))
          add(written[i].name, false);
        continue;
      }
      if (executed[point.file].contains({point.line, 0})) continue;  // its text may mean that one
      for (const auto& [name, variable] : read_)
        if (writes_by_text(line, name) && !declares(line, name)) add(variable, true);
    }
    std::ranges::sort(result.unexecuted, {}, [](const EnumerateResult::Unexecuted& one) {
      return std::tuple(one.at.file, one.at.line, one.variable);
    });
  }
  // "items[3].count" and "items[].count"
  static bool may_be_one(const std::string& a, const std::string& b) {
    const auto base = [](const std::string& name) { return name.substr(0, name.find('[')); };
    return a == b || base(a) == base(b);
  }

  const EnumerateSearch& search_;
  ProgramPlaces& places_;
  const std::vector<At>& wanted_;
  std::map<EventKey, std::string> names_;
  std::map<std::string, std::string> read_;  // what shared reads read, by its last name
  std::map<Terms::Number, std::pair<std::size_t, std::size_t>> position_;
};

class Observer final : public HuntObserver {
 public:
  Observer(EnumerateObserver& observer, const EnumerateSearch& search)
      : observer_(observer), search_(search) {}
  void status(const HuntStatus& status) override {
    if (told_ && status.seconds < *told_ + kBetweenStatus) return;
    told_ = status.seconds;
    observer_.status(search_.coverage(), status);
  }
  void found(const FoundFailure&) override {}

 private:
  std::optional<double> told_;
  EnumerateObserver& observer_;
  const EnumerateSearch& search_;
};

}  // namespace

Result<EnumerateResult> enumerate(const EnumerateOptions& options, RecordingStore& store,
                                  EnumerateObserver& observer) {
  const double started = seconds_now();
  std::vector<At> wanted;
  for (const std::string& text : options.at) {
    CLEW_TRY(auto at, parse_at(text));
    wanted.push_back(std::move(at));
  }
  CLEW_TRY(auto input, HuntInput::from_here());
  CLEW_TRY(auto places, ProgramPlaces::of(options.hunt.plan, input));
  EnumerateSearchOptions how;
  how.seed = options.hunt.seed;
  how.together = options.together;
  how.later_instances = options.instances + 1;
  if (options.exhaust) how.end = EnumerateSearchOptions::End::kExhausted;
  HuntOptions hunt = options.hunt;
  if (hunt.seconds > 0) {
    const double until = started + hunt.seconds;
    how.time_is_up = [until] { return seconds_now() >= until; };
    hunt.seconds = std::max(until - seconds_now(), kShortestSearch);
  }
  for (const At& at : wanted) {
    const std::set<abi::Place> reads = places.reads_at(at.file, at.line);
    if (reads.empty())
      return fail(ErrorCode::kBadInput, fmt::format("there is no read at {}:{}", at.file, at.line),
                  "reads of memory that threads may share, in code that was built with clew");
    how.places.insert(reads.begin(), reads.end());
  }
  EnumerateSearch search(std::move(how));
  Observer watching(observer, search);
  hunt.strategy = "enumerate";
  hunt.keep_going = true;
  hunt.keep_passing = false;
  EnumerateResult result;
  CLEW_TRY(const auto same_input, input.open());  // for runs that are made once more
  CLEW_TRY(result.hunt, hunt_with(search.search(), hunt, store, watching, std::move(input)));
  result.exhausted = search.exhausted();
  result.untried = search.untried();
  for (const Term& term : search.terms().all())
    result.seen_otherwise +=
        term.seen() && !term.systematic && search.terms().is_shared(term.read) ? 1 : 0;
  result.runs = search.runs();
  result.last_new_run = search.terms().last_new_run();
  result.not_looked_at = search.not_looked_at();
  result.too_late = search.too_late();
  result.is_cut = search.terms().is_cut();
  result.later_instances = search.terms().later_instances();
  Collector collector(search, places, wanted);
  const double limit = options.hunt.seconds;
  const double until = limit == 0 ? 0 : started + limit * (1 + kNamingShare);
  if (result.hunt.interrupted_by == 0)
    if (const auto again = HuntInput::of_file("/proc/self/fd/" + std::to_string(same_input.get())))
      collector.name(name_reads(search.terms(), collector.nameless(), hunt, *again, until));
  collector.fill(result);
  return result;
}

}  // namespace clew
