#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "host/cases/lab.h"
#include "host/cases/make_case.h"
#include "host/cases/other_names.h"
#include "host/seconds.h"

namespace clew {
namespace {

constexpr std::size_t kSamples = 40;
constexpr std::size_t kSteered = 400;

bool is_file(const std::string& path, const std::string& end) {
  return path == end || path.ends_with("/" + end);
}

// The site at a line that may be the event: of a kind that is wanted, if possible to the variable.
Result<SiteId> find_site(const Sites& sites, const std::string& file, std::uint32_t line,
                         abi::StepKind kind, const std::string& variable) {
  SiteId best = kNoSite;
  bool line_has_code = false;
  const auto names = [&](const Site& site) {
    if (variable.empty() || site.variable == without_indices(variable)) return true;
    if (!site.variable.empty() || site.statement == nullptr) return false;
    const auto& tokens = site.statement->tokens;
    return std::ranges::find(tokens, last_name(variable)) != tokens.end();
  };
  for (SiteId id = 1; id < sites.all().size(); ++id) {
    const Site& site = sites[id];
    if (!is_file(site.file, file)) continue;
    const bool covers =
        site.line == line || (site.statement != nullptr && site.statement->first_line <= line &&
                              line <= site.statement->last_line);
    if (!covers) continue;
    line_has_code = true;
    if (!may_stand_for(site.kind, kind) || !names(site)) continue;
    const auto rank = [&](const Site& s) {
      return std::tuple(s.line == line, s.kind == kind, s.executed, s.variable == variable);
    };
    if (best == kNoSite || rank(site) > rank(sites[best])) best = id;
  }
  if (best != kNoSite) return best;
  return fail(ErrorCode::kBadInput,
              fmt::format("there is no {}{} at {}:{}", anchor_word(kind),
                          variable.empty() ? "" : fmt::format(" of {}", variable), file, line),
              line_has_code ? "the line accesses memory in another way"
                            : "the line has no access to memory that clew sees");
}

// Which events are of one thread: by who executes them in the runs that were made.
class EventThreads {
 public:
  explicit EventThreads(const Survey& survey) {
    for (const LabRun& run : survey.runs()) {
      const TracedRun traced = survey.traced(run);
      for (std::size_t i = 0; i < run.steps.size(); ++i)
        if (traced.sites[i] != kNoSite) {
          std::vector<abi::ThreadKey>& threads = of_site_[traced.sites[i]];
          if (std::ranges::find(threads, run.steps[i].thread) == threads.end())
            threads.push_back(run.steps[i].thread);
        }
    }
  }

  // The number of a thread that executes the site, other than the one with the number `not_this`
  // (0: any); a new one if nobody is known to.
  std::uint32_t number_of(SiteId site, std::uint32_t not_this) {
    for (const abi::ThreadKey thread : of_site_[site])
      if (const std::uint32_t number = numbered(thread); number != not_this) return number;
    return not_this == 1 ? 2 : 1;
  }

 private:
  std::uint32_t numbered(abi::ThreadKey thread) {
    return numbers_.try_emplace(thread, static_cast<std::uint32_t>(numbers_.size() + 1))
        .first->second;
  }

  std::map<SiteId, std::vector<abi::ThreadKey>> of_site_;
  std::map<abi::ThreadKey, std::uint32_t> numbers_;
};

}  // namespace

Result<MadeCase> make_case_of_reads(const MakeReadsOptions& options, MakeObserver& observer) {
  const double started = seconds_now();
  LabOptions lab_options;
  lab_options.plan = options.plan;
  lab_options.plan.output = OutputMode::kCaptureOnly;
  lab_options.criteria = options.criteria;
  lab_options.input = [] { return HuntInput::of_file("/dev/null"); };
  lab_options.jobs = options.jobs;
  lab_options.seed = options.seed;
  if (options.seconds > 0) lab_options.until = started + options.seconds;
  Lab lab(std::move(lab_options), observer);
  Survey survey(lab);
  CLEW_CHECK_OK(survey.make(kSamples));

  MadeCase result;
  Case& made = result.made;
  made.program = options.plan.program;
  made.arguments.assign(options.plan.arguments.begin() + 1, options.plan.arguments.end());
  made.criteria = options.criteria;
  made.found = "clew case new --read";
  EventThreads threads(survey);
  for (const WantedRead& wanted : options.reads) {
    CLEW_TRY(const SiteId read, find_site(survey.sites(), wanted.file, wanted.line,
                                          abi::StepKind::kRead, wanted.variable));
    CLEW_TRY(const SiteId write, find_site(survey.sites(), wanted.write_file, wanted.write_line,
                                           abi::StepKind::kWrite, wanted.variable));
    CaseOrder order{CaseOrder::Kind::kSees, {made.events.size(), made.events.size() + 1}, true};
    for (const SiteId id : {read, write}) {
      CaseEvent event;
      event.name = std::string(1, static_cast<char>('a' + made.events.size() % 26));
      event.thread = threads.number_of(id, id == read ? 0 : made.events.back().thread);
      if (event.thread > kMostCaseThreads)
        return fail(ErrorCode::kUsage,
                    fmt::format("the events are of more than {} threads", kMostCaseThreads));
      event.at = survey.sites().anchor_of(id);
      made.events.push_back(std::move(event));
    }
    made.orders.push_back(std::move(order));
  }
  CLEW_TRY(auto tally, try_case(made, sites_of(place_events(made, survey.sites())), survey,
                                Until::kEnd, kSteered));
  result.with_order = tally.with_order;
  result.failed = tally.failed;
  if (tally.failed > 0) {
    made.with_order = tally.with_order;
    made.failed = tally.failed;
  }
  made.beside = variables_beside(made, survey.sites());
  made.expects_failure = tally.failing.has_value();
  using Proof = MadeCase::Proof;
  result.proof = tally.with_order == 0              ? Proof::kNotSeen
                 : tally.failed == 0                ? Proof::kPasses
                 : tally.failed == tally.with_order ? Proof::kSuffices
                                                    : Proof::kSometimes;
  if (tally.failing) {
    CLEW_TRY(const auto failure, lab.failure_of(*tally.failing));
    if (failure) {
      made.failure = failure->kind;
      made.detail = failure->detail;
    }
  }
  result.runs = lab.runs();
  result.interrupted_by = lab.interrupted_by();
  result.notes = lab.notes();
  result.seconds = seconds_now() - started;
  return result;
}

}  // namespace clew
