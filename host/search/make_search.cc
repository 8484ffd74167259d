#include "host/search/make_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/schedule/stream.h"
#include "host/search/exhaustive.h"
#include "host/search/fuzz_search.h"
#include "host/search/period_search.h"
#include "host/search/portfolio.h"
#include "host/search/rff_search.h"
#include "host/search/sampling.h"
#include "host/search/surw_search.h"
#include "host/target/replay.h"

namespace clew {
namespace {

std::optional<abi::StrategyKind> sampled(const std::string& name) {
  for (const auto& [word, kind] : {std::pair{"random", abi::StrategyKind::kRandom},
                                   {"pct", abi::StrategyKind::kPct},
                                   {"pos", abi::StrategyKind::kPos},
                                   {"chaos", abi::StrategyKind::kChaos},
                                   {"noise", abi::StrategyKind::kNoise},
                                   {"timer", abi::StrategyKind::kTimer}})
    if (name == word) return kind;
  return std::nullopt;
}

}  // namespace

Result<FuzzStart> fuzz_start(const HuntOptions& options, RecordingStore& store) {
  if (!options.from) return FuzzStart{};
  const std::string& from = *options.from;
  if (from.find_first_of(":,/") == std::string::npos || from.find(".clew") != std::string::npos) {
    CLEW_TRY(auto recording, store.load(from));
    CLEW_CHECK_OK(check_runs_live(recording));
    CLEW_TRY(auto stream, read_schedule_file(recording.schedule_file()));
    CLEW_TRY(auto schedule, to_schedule(stream));
    const bool passed = recording.meta.summary.outcome == Outcome::kPass;
    return FuzzStart{std::move(schedule), passed ? Verdict::kFail : Verdict::kPass,
                     recording.meta.summary.clock};
  }
  CLEW_TRY(auto schedule, load_schedule(from));
  const std::uint64_t last = schedule.switches.empty() ? 1 : schedule.switches.back().clock.value;
  return FuzzStart{std::move(schedule), Verdict::kFail, 2 * last + 100};
}

const std::vector<std::string>& strategy_names() {
  static const std::vector<std::string> names{
      "portfolio", "random", "pct",   "pos",   "surw",       "rff",      "period",
      "fuzz",      "chaos",  "timer", "noise", "exhaustive", "enumerate"};
  return names;
}

Result<std::unique_ptr<Search>> make_search(const HuntOptions& options, RecordingStore& store) {
  const std::string& name = options.strategy;
  if (const auto kind = sampled(name))
    return std::make_unique<SamplingSearch>(*kind, options.seed,
                                            *kind == abi::StrategyKind::kPct ? options.depth : 0);
  if (name == "portfolio") return std::make_unique<PortfolioSearch>(options.seed);
  if (name == "surw") return std::make_unique<SurwSearch>(options.seed);
  if (name == "rff") return std::make_unique<RffSearch>(options.seed);
  if (name == "period") return std::make_unique<PeriodSearch>(options.seed);
  if (name == "exhaustive") return std::make_unique<ExhaustiveSearch>(options.bound);
  if (name == "enumerate" && options.enumerate) return options.enumerate(options.seed);
  if (name == "fuzz") {
    CLEW_TRY(auto start, fuzz_start(options, store));
    return std::make_unique<FuzzSearch>(std::move(start.schedule), start.looking_for,
                                        start.run_length, options.seed, options.sigma);
  }
  return fail(ErrorCode::kUsage, fmt::format("there is no strategy '{}'", name),
              fmt::format("one of {}", fmt::join(strategy_names(), ", ")));
}

}  // namespace clew
