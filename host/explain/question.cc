#include "host/explain/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "host/explain/cause_event.h"

namespace clew {
namespace {

// Executions of a line that are looked at for one that differs.
constexpr std::size_t kMostInstances = 10'000;

// Executions of the line in one run: each is the steps of one call, one after the other, that have a
// part of it.
struct Execution {
  std::uint16_t thread = 0;
  FrameIndex frame = kNoFrame;
  std::vector<Instance> parts;
};

class LineFinder {
 public:
  LineFinder(TracedPair& pair, WhichRun side, const Question& question)
      : pair_(pair), run_(pair.trace(side)), question_(question) {}

  // The newest first.
  std::vector<Execution> find() {
    std::vector<Execution> found;
    struct Newest {
      std::size_t index = 0;
      std::set<std::uint64_t> addresses;  // one that comes again is the line once more
    };
    std::unordered_map<FrameIndex, Newest> last;
    for (StepIndex step = static_cast<StepIndex>(run_.steps().size()); step-- > 0;) {
      const BlockStep& info = run_.steps()[step];
      if (info.hidden || info.frame == kNoFrame) continue;
      if (!has_line(info.block, step)) continue;
      for (std::uint32_t k = info.executed; k-- > 0;) {
        const std::uint64_t address = run_.code(step)[k].address;
        if (!is_asked(pair_.place_of_code(address))) continue;
        const auto [at, added] = last.try_emplace(info.frame);
        Newest& newest = at->second;
        if (added || !newest.addresses.insert(address).second) {
          if (found.size() == kMostInstances) return found;
          newest = {found.size(), {address}};
          found.push_back({info.thread, info.frame, {}});
        }
        found[newest.index].parts.push_back({step, k});
      }
    }
    return found;
  }

 private:
  bool is_asked(const CodePlace& place) const {
    if (place.line != question_.line || !place.file.ends_with(question_.file)) return false;
    const std::size_t before = place.file.size() - question_.file.size();
    return before == 0 || place.file[before - 1] == '/';
  }

  bool has_line(std::uint32_t block, StepIndex step) {
    const auto [known, added] = blocks_.try_emplace(block, false);
    if (added)
      known->second = std::ranges::any_of(run_.code(step), [&](const Instruction& one) {
        return is_asked(pair_.place_of_code(one.address));
      });
    return known->second;
  }

  TracedPair& pair_;
  const RunTrace& run_;
  const Question& question_;
  std::unordered_map<std::uint32_t, bool> blocks_;
};

// "count_" is what "this->count_" and "pool.count_" are called in their class.
bool is_called(const std::string& name, const std::string& asked) {
  if (!name.ends_with(asked)) return false;
  const std::size_t before = name.size() - asked.size();
  return before == 0 || name[before - 1] == '.' || name[before - 1] == '>' ||
         name[before - 1] == ':';
}

class Asker {
 public:
  Asker(TracedPair& pair, Naming& naming, const Question& question) : pair_(pair), naming_(naming) {
    result_.asked.question = question;
  }

  QuestionPoints ask() {
    const Question& question = result_.asked.question;
    std::array<std::vector<Execution>, 2> times;
    for (const WhichRun side : {kFailing, kPassing}) {
      times[side] = LineFinder(pair_, side, question).find();
      result_.asked.times[side] = times[side].size();
    }
    result_.asked.more = std::max(times[kFailing].size(), times[kPassing].size()) == kMostInstances;
    if (question.why_not) {
      if (times[kFailing].empty() && !times[kPassing].empty()) turned_off(times[kPassing].back());
    } else {
      points(times[kFailing]);
    }
    return std::move(result_);
  }

 private:
  void points(const std::vector<Execution>& times) {
    for (const Execution& one : times)
      if (look_at(one, true)) return;
    for (const Execution& one : times)
      if (look_at(one, false)) return;
  }

  // The failing run comes to no such line: the branch that leads to it in the passing run.
  void turned_off(const Execution& first) {
    Instance at = first.parts.back();
    while (at.valid()) {
      const Instance here = pair_.alignment().counterpart(kPassing, at);
      if (here.valid()) {
        result_.points.push_back(node_of(here));
        tell_place(here);
        return;
      }
      at = pair_.run(kPassing).control(at);
    }
  }

  bool look_at(const Execution& execution, bool only_different) {
    const std::string& variable = result_.asked.question.variable;
    std::vector<std::tuple<int, std::size_t, Instance>> ranked;
    for (const Instance at : execution.parts) {
      const bool differs =
          pair_.comparison().difference(kFailing, node_of(at)) != Difference::kNone;
      if (only_different && !differs) continue;
      const auto access = named_access(at, variable);
      if (!variable.empty() && !access) continue;
      const bool parts = pair_.alignment().parts(kFailing, at);
      ranked.emplace_back(parts                      ? 0
                          : access && access->writes ? 1
                          : access                   ? 2
                                                     : 3,
                          ranked.size(), at);
    }
    if (ranked.empty()) return false;
    std::ranges::sort(ranked);
    for (const auto& [rank, number, at] : ranked) result_.points.push_back(node_of(at));
    result_.asked.differs = only_different;
    const Instance at = std::get<Instance>(ranked.front());
    tell_place(at);
    tell_value(at);
    return true;
  }

  struct Access {
    std::uint32_t index = 0;
    bool writes = false;
    Naming::Named named;
  };
  std::optional<Access> named_access(Instance at, const std::string& variable) {
    const RunTrace& run = pair_.trace(kFailing);
    const auto [first, end] = run.accesses(at);
    for (std::uint32_t i = first; i < end; ++i) {
      const RecordedAccess& access = run.access(at.step, i);
      if (!access.has_value) continue;
      const auto name = naming_.memory(kFailing, at, run.access_address(at.step, i), access.size);
      if (!name || name->made_up || name->name.empty()) continue;
      if (!variable.empty() && !is_called(name->name, variable)) continue;
      return Access{i, access.kind != AccessKind::kRead, *name};
    }
    return std::nullopt;
  }

  void tell_place(Instance at) {
    const RunTrace& run = pair_.trace(kFailing);
    result_.asked.thread = pair_.run(kFailing).threads()[run.steps()[at.step].thread];
    const CodePlace& place = pair_.place(kFailing, at);
    result_.asked.at = {place.file, place.line, place.function};
    result_.asked.clock = run.clock(at.step);
  }

  void tell_value(Instance at) {
    const auto access = named_access(at, result_.asked.question.variable);
    if (!access) return;
    Asked& asked = result_.asked;
    asked.variable = access->named.name;
    asked.writes = access->writes;
    const RunTrace& run = pair_.trace(kFailing);
    const RecordedAccess& recorded = run.access(at.step, access->index);
    const std::uint64_t address = run.access_address(at.step, access->index);
    asked.failing = naming_.value(kFailing, at, run.access_value(at.step, access->index),
                                  recorded.size, &access->named);
    const Instance there = pair_.alignment().counterpart(kFailing, at);
    if (there.valid()) {
      const std::uint32_t index =
          pair_.trace(kPassing).accesses(there).first + (access->index - run.accesses(at).first);
      asked.passing =
          naming_.value(kPassing, there, pair_.trace(kPassing).access_value(there.step, index),
                        recorded.size, &access->named);
    }
    if (access->writes) return;
    const Instance source = pair_.run(kFailing).source(at.step, access->index);
    if (source.step == RunTrace::kFromStart)
      asked.source = CauseEvent{};
    else if (source.valid() && !is_unseen(node_of(source)))
      asked.source = event_of(pair_, naming_, kFailing, source, address, recorded.size);
  }

  TracedPair& pair_;
  Naming& naming_;
  QuestionPoints result_;
};

}  // namespace

Result<Question> parse_question(const std::string& text) {
  Question question;
  const auto wrong = [&] {
    return fail(ErrorCode::kUsage, fmt::format("'{}' is no line of a program", text),
                "FILE:LINE or FILE:LINE:VARIABLE, for example cache.cpp:41:count_");
  };
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string::npos) return wrong();
  question.file = text.substr(0, colon);
  const char* const begin = text.data() + colon + 1;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, question.line);
  if (error != std::errc() || question.line == 0) return wrong();
  if (rest == end) return question;
  if (*rest != ':' || rest + 1 == end) return wrong();
  question.variable.assign(rest + 1, end);
  return question;
}

Result<Question> parse_asked(const std::string& text) {
  constexpr std::string_view kWhyNot = "why not ";
  constexpr std::string_view kWhy = "why ";
  const bool why_not = text.starts_with(kWhyNot);
  if (!why_not && !text.starts_with(kWhy))
    return fail(ErrorCode::kUsage, fmt::format("'{}' is no question that clew knows", text),
                "'why FILE:LINE[:VARIABLE]' or 'why not FILE:LINE'");
  CLEW_TRY(auto question, parse_question(text.substr((why_not ? kWhyNot : kWhy).size())));
  question.why_not = why_not;
  if (why_not && !question.variable.empty())
    return fail(ErrorCode::kUsage, "'why not' is asked of a line", "'why not FILE:LINE'");
  return question;
}

QuestionPoints find_points(TracedPair& pair, Naming& naming, const Question& question) {
  return Asker(pair, naming, question).ask();
}

}  // namespace clew
