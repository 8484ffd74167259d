#include "host/noise/pinpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "host/model/point_flow.h"
#include "host/noise/campaign_store.h"
#include "host/noise/delays.h"
#include "host/noise/orders.h"
#include "host/noise/plugin.h"
#include "host/symbolize/moments.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/run_target.h"

namespace clew {
namespace {

// All runs without noise are the same, unless something outside is not.
constexpr std::uint32_t kRunsWithout = 20;
constexpr std::uint32_t kRunsEverywhere = 400;
constexpr std::array<std::string_view, 4> kAlgorithms{"active", "features", "dd", "ddmin"};

// The run without noise once more, which tells where the program's modules are, and how it stands at
// these clocks.
Result<RunResult> quiet_run(const HuntOptions& of, const std::vector<std::uint64_t>& clocks) {
  LaunchPlan plan = of.plan;
  plan.strategy = Campaign::kQuietRun;
  plan.flags |= abi::kFlagFromMain;
  plan.choices = of.choices;
  plan.queries = clocks;
  plan.output = OutputMode::kCaptureOnly;
  CLEW_TRY(auto input, HuntInput::from_here());
  CLEW_TRY(auto source, input.open());
  CLEW_TRY(auto feed, InputFeed::from_file(std::move(source), nullptr));
  RunObserver quiet;
  return run_target(plan, std::move(feed), nullptr, quiet);
}

// The user's line that called the code that stands at a place.
std::optional<Location> caller_in(const std::vector<SourceFrame>& stack, const Location& at) {
  const auto is_there = [&](const SourceFrame& frame) {
    return frame.file == at.file && frame.line == at.line;
  };
  std::size_t i = 0;
  while (i < stack.size() && !is_there(stack[i])) ++i;
  // A place whose line is not known, or that the run does not stand at: of the former the user's
  // innermost line is its caller.
  if (i == stack.size() && at.line != 0) return std::nullopt;
  for (i = at.line == 0 ? 0 : i + 1; i < stack.size(); ++i)
    if (is_user_code(stack[i]) && stack[i].line != 0 && !is_there(stack[i]))
      return Location{stack[i].file, stack[i].line, stack[i].function};
  return std::nullopt;
}

// What a thread executes.
std::string outermost_function(const std::vector<SourceFrame>& stack) {
  for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame)
    if (is_user_code(*frame) && frame->line != 0) return frame->function;
  return "";
}

std::vector<Location> own_lines(const std::vector<SourceFrame>& stack) {
  std::vector<Location> lines;
  for (const SourceFrame& frame : stack)
    if (is_user_code(frame) && frame.line != 0)
      lines.push_back({frame.file, frame.line, frame.function});
  return lines;
}

void find_callers(const RunResult& run, Symbolizer& symbols, const Campaign::Clocks& clocks,
                  std::vector<NoisePoint>& points) {
  constexpr std::size_t kMostCallers = 6;  // as many as are told, and a few more to be counted
  for (NoisePoint& point : points) {
    const auto met = clocks.find(point.place);
    if (met == clocks.end()) continue;
    for (const Moment& moment : moments(run, met->second, symbols)) {
      if (!moment.running) continue;
      auto lines = own_lines(moment.running->stack);
      if (std::ranges::find(point.stacks, lines) == point.stacks.end())
        point.stacks.push_back(std::move(lines));
      if (point.callers.size() == kMostCallers) continue;
      if (point.thread_function.empty())
        point.thread_function = outermost_function(moment.running->stack);
      const auto caller = caller_in(moment.running->stack, point.at);
      if (caller && std::ranges::find(point.callers, *caller) == point.callers.end())
        point.callers.push_back(*caller);
    }
    const SourceFrame itself{point.at.function, point.at.file, point.at.line, 0, "", 0, 0};
    point.in_library = point.at.line == 0 || !is_user_code(itself);
    if (point.callers.size() != 1 || !point.in_library) continue;
    point.in_library = false;
    point.inside = std::exchange(point.at, point.callers.front());
    point.callers.clear();
    point.column = 0;
  }
}

// A call whose own line is not known, because the compiler made it, has that of the code before it.
constexpr std::uint64_t kFarBack = 64;  // bytes

std::optional<PlaceInfo> info_of(Symbolizer& symbols, abi::Place place) {
  auto info = symbols.place(place);
  if (!info || info->at.line != 0 || (place & 1) == 0) return info;
  for (std::uint64_t back = 1; back <= kFarBack; ++back) {
    auto before = symbols.place(place - 2 * back);
    if (before && before->at.line != 0 && before->at.function == info->at.function) return before;
  }
  return info;
}

Result<std::set<PointEdge>> locate(const HuntOptions& hunt, const Campaign::Clocks& clocks,
                                   std::vector<NoisePoint>& points) {
  std::vector<std::uint64_t> all{1};
  for (const NoisePoint& point : points)
    if (const auto met = clocks.find(point.place); met != clocks.end())
      all.insert(all.end(), met->second.begin(), met->second.end());
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  CLEW_TRY(auto run, quiet_run(hunt, all));
  Symbolizer symbols(run.reports);
  for (NoisePoint& point : points) {
    const auto info = info_of(symbols, point.place);
    if (!info) continue;
    point.at = info->at;
    point.column = info->column;
  }
  find_callers(run, symbols, clocks, points);
  std::vector<abi::Place> places;
  for (const NoisePoint& point : points) places.push_back(point.place);
  return PointFlow(run.reports, places).edges();
}

// A hunt that is told of nothing but the campaign.
class Observer final : public HuntObserver {
 public:
  Observer(PinpointObserver& observer, FailureBook& book) : observer_(observer), book_(book) {}
  void watch(const Campaign& campaign) { campaign_ = &campaign; }
  void status(const HuntStatus& status) override {
    observer_.status(campaign_->progress(), status.seconds);
  }
  void found(const FoundFailure& failure) override { numbers_.push_back(book_.number_of(failure)); }
  // By position in the hunt's list.
  [[nodiscard]] std::uint32_t number_of(std::size_t failure) const {
    return failure < numbers_.size() ? numbers_[failure] : 0;
  }

 private:
  PinpointObserver& observer_;
  FailureBook& book_;
  const Campaign* campaign_ = nullptr;
  std::vector<std::uint32_t> numbers_;
};

std::string program_text(const LaunchPlan& plan, const ProgramIdentity& identity) {
  return fmt::format("{} {:016x} {}", plan.program, identity.hash, fmt::join(plan.arguments, " "));
}

std::string options_text(const PinpointOptions& options) {
  const SearchOptions& search = options.search;
  return fmt::format("{} samples {} runs {} threshold {} percent {} everywhere {}{}",
                     search.algorithm, search.samples, search.runs, search.threshold.value_or(0),
                     options.percent, options.runs_everywhere, search.one_kind ? " one-kind" : "") +
         fmt::format("{}", fmt::join(options.at, " "));
}

Result<CampaignStore> open_store(const PinpointOptions& options, const RecordingStore& store) {
  CLEW_TRY(const auto identity, identify_program(options.hunt.plan.program));
  const std::filesystem::path folder = store.path() / "pinpoint";
  const CampaignIdentity wanted{program_text(options.hunt.plan, identity), options_text(options),
                                options.hunt.seed};
  if (!options.resume) return CampaignStore::create(folder, wanted);
  std::filesystem::path file;
  if (options.resumed) {
    file = *options.resumed;
  } else {
    CLEW_TRY(file, CampaignStore::newest(folder, wanted.program));
  }
  CLEW_TRY(auto opened, CampaignStore::open(file));
  if (opened.identity().program != wanted.program)
    return fail(ErrorCode::kBadInput,
                fmt::format("{} is a campaign of another program", file.string()),
                "its code or its arguments have changed; run it without --resume");
  return opened;
}

// Whether the point is at this place, FILE:LINE, whatever folder the file is in.
bool is_at(const NoisePoint& point, const std::string& place) {
  const std::string own = fmt::format("{}:{}", point.at.file, point.at.line);
  return own == place || own.ends_with("/" + place);
}

Result<std::vector<std::uint32_t>> points_at(const std::vector<std::string>& places,
                                             const std::vector<NoisePoint>& points) {
  std::vector<std::uint32_t> result;
  for (const std::string& place : places) {
    const std::size_t before = result.size();
    for (std::uint32_t i = 0; i < points.size(); ++i)
      if (is_at(points[i], place)) result.push_back(i);
    if (result.size() == before)
      return fail(ErrorCode::kBadInput, fmt::format("there is no program point at {}", place),
                  "points are accesses to what threads share, and calls that synchronise");
  }
  return result;
}

SearchResult measure(Laboratory& laboratory, std::vector<std::uint32_t> points) {
  SearchResult result;
  NoiseCause cause;
  cause.points = std::move(points);
  if (const auto rate = rate_alone(laboratory, cause.points, kRunsEverywhere, Target()))
    cause.rate = *rate;
  if (cause.rate.runs > 0) result.causes.push_back(std::move(cause));
  return result;
}

SearchResult search(Laboratory& laboratory, const PinpointOptions& options, const Plugin* plugin,
                    const std::vector<NoisePoint>& all, std::optional<Error>& problem) {
  laboratory.say("noise nowhere and everywhere", 0);
  const std::uint32_t everywhere =
      options.runs_everywhere != 0 ? options.runs_everywhere : kRunsEverywhere;
  const std::size_t points = laboratory.points();
  if (laboratory
          .run({{Subset(points), kRunsWithout, SamplePurpose::kWithout},
                {Subset::all(points), everywhere, SamplePurpose::kEverywhere}})
          .empty())
    return {};
  if (!options.at.empty()) {
    auto chosen = points_at(options.at, all);
    if (chosen) return measure(laboratory, std::move(*chosen));
    problem = chosen.error();
    return {};
  }
  const std::string& name = options.search.algorithm;
  if (plugin != nullptr) return plugin->search(laboratory, all);
  if (name == "features") return search_features(laboratory, options.search);
  if (name == "dd") return search_delta(laboratory, options.search, Delta::kDd);
  if (name == "ddmin") return search_delta(laboratory, options.search, Delta::kDdmin);
  return search_active(laboratory, options.search);
}

void summarize(PinpointResult& result, std::span<const Sample> samples,
               const PinpointOptions& options, const std::set<PointEdge>& in_code,
               const std::set<PointEdge>& seen) {
  std::uint64_t& runs = result.runs;
  for (const Sample& sample : samples) {
    runs += sample.runs;
    if (sample.purpose == SamplePurpose::kWithout) result.without.add(sample, Target());
    if (sample.purpose == SamplePurpose::kEverywhere) result.everywhere.add(sample, Target());
  }
  result.samples = samples.size();
  const Target target = !result.causes.empty() && result.causes.front().failure
                            ? Target(*result.causes.front().failure)
                            : Target();
  result.scores = score(samples, result.points.size(), target, options.search.threshold);
  result.delays =
      score_delays(samples, result.points.size(), seen, target, result.scores.threshold);
  result.edges = score_edges(in_code, seen, result.points, result.delays.after);
  result.stretches =
      stretches(result.edges, result.points, result.delays, result.scores.z_to_stand_out);
  result.differences = differences(result.edges, result.points, result.scores);
  result.ks = kolmogorov_smirnov(result.differences.consecutive, result.differences.arbitrary);
}

}  // namespace

bool PinpointResult::anything_stands_out() const {
  for (const NoiseCause& cause : causes)
    if (cause.rate.failed > 0) return true;
  for (std::size_t i = 0; i < scores.points.size(); ++i)
    if (scores.stands_out(i)) return true;
  return false;
}

int exit_status_of(const PinpointResult& result) {
  if (result.anything_stands_out()) return 1;
  return result.interrupted_by != 0 ? 128 + result.interrupted_by : 0;
}

Result<PinpointResult> pinpoint(const PinpointOptions& options, RecordingStore& store,
                                PinpointObserver& observer) {
  CLEW_TRY(auto kept, open_store(options, store));
  PinpointOptions as_begun = options;
  as_begun.hunt.seed = kept.identity().seed;
  as_begun.hunt.keep_going = true;
  as_begun.hunt.keep_passing = false;
  FailureBook book;
  CLEW_CHECK_OK(kept.use(book));
  CLEW_TRY(auto input, HuntInput::from_here());

  std::optional<Plugin> plugin;
  if (std::ranges::find(kAlgorithms, options.search.algorithm) == kAlgorithms.end()) {
    CLEW_TRY(auto loaded, Plugin::load(options.search.algorithm));
    plugin.emplace(std::move(loaded));
  }
  Observer watching(observer, book);
  SearchResult found;
  std::optional<Error> problem;
  std::set<PointEdge> in_code;
  const Campaign* running = nullptr;
  const auto campaign_points = [&]() -> const std::vector<NoisePoint>& {
    return running->found_points();
  };
  Campaign campaign(
      {as_begun.hunt.seed, options.percent},
      [&](std::vector<NoisePoint>& points, const Campaign::Clocks& clocks) -> Result<void> {
        CLEW_TRY(in_code, locate(options.hunt, clocks, points));
        return {};
      },
      [&](Laboratory& laboratory) {
        found =
            search(laboratory, as_begun, plugin ? &*plugin : nullptr, campaign_points(), problem);
        laboratory.say("looking at who comes first", 0);
        const auto is_deadlock = [&](std::uint32_t failure) {
          return book.all()[failure].failure.kind == FailureKind::kDeadlock;
        };
        for (NoiseCause& cause : found.causes)
          if (!watch_orders(laboratory, campaign_points(), is_deadlock, cause)) break;
      },
      [&](std::size_t failure) { return watching.number_of(failure); }, kept);
  running = &campaign;
  watching.watch(campaign);
  CLEW_TRY(auto hunted,
           hunt_with(campaign.search(), as_begun.hunt, store, watching, std::move(input)));
  campaign.stop();
  if (campaign.error()) problem = campaign.error();
  if (problem) return std::unexpected(*problem);

  PinpointResult result;
  result.algorithm = options.search.algorithm;
  result.seed = as_begun.hunt.seed;
  result.points = campaign.found_points();
  std::vector<Sample> samples(campaign.all().begin(), campaign.all().end());
  for (const std::string& file : options.join) {
    CLEW_TRY(auto other, CampaignStore::open(file));
    CLEW_TRY(auto more, other.design_samples(result.points, book));
    samples.insert(samples.end(), more.begin(), more.end());
  }
  result.failures = book.all();
  result.causes = std::move(found.causes);
  result.notes = std::move(hunted.notes);
  result.notes.insert(result.notes.end(), found.remarks.begin(), found.remarks.end());
  summarize(result, samples, as_begun, in_code, campaign.edges());
  result.runs_now = hunted.schedules;
  result.discovery_runs = campaign.discovery_runs();
  result.discovery_failures = campaign.discovery_failures();
  result.seconds = hunted.seconds;
  result.finished = campaign.finished();
  result.single_threaded = hunted.single_threaded;
  result.interrupted_by = hunted.interrupted_by;
  result.out_of_time = !result.finished && result.interrupted_by == 0 && !result.points.empty();
  result.campaign = kept.file();
  return result;
}

}  // namespace clew
