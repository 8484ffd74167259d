#include "host/enumerate/read_names.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "host/observe/event_names.h"
#include "host/recording/scratch_store.h"
#include "host/search/hunt_recorder.h"
#include "host/seconds.h"
#include "host/target/replay.h"

namespace clew {
namespace {

// Runs that are made once more, and traced: each takes about as long as some hundred others. Chosen,
// not measured.
constexpr std::size_t kMostRuns = 4;

struct Shown {
  std::shared_ptr<const JobPlan> plan;
  Verdict verdict = Verdict::kPass;
  std::vector<std::pair<EventKey, EventObject>> reads;
};

// For each run that has shown one of the reads: which ones, the run with the most of them first.
std::vector<Shown> runs_to_make(const Terms& terms, const std::set<EventKey>& nameless) {
  std::vector<Shown> runs;
  std::set<EventKey> placed;
  for (const Term& term : terms.all()) {
    if (!nameless.contains(term.read) || placed.contains(term.read)) continue;
    for (const Verdict verdict : {Verdict::kPass, Verdict::kFail}) {
      const Witness& witness = verdict == Verdict::kPass ? term.passing : term.failing;
      if (witness.runs == 0 || !placed.insert(term.read).second) continue;
      auto run = std::ranges::find(runs, witness.plan, &Shown::plan);
      if (run == runs.end()) run = runs.insert(runs.end(), Shown{witness.plan, verdict, {}});
      run->reads.push_back(
          {term.read,
           EventObject{witness.clock, terms.thread_name(term.read.thread), witness.address}});
    }
  }
  std::ranges::sort(runs, std::ranges::greater(),
                    [](const Shown& run) { return run.reads.size(); });
  return runs;
}

Result<void> name_in(Shown& shown, const HuntOptions& hunt, const HuntInput& input, Judge& judge,
                     RecordingStore& store, double until, std::map<EventKey, std::string>& names) {
  LaunchPlan plan = hunt.plan;
  plan.output = OutputMode::kCaptureOnly;
  HuntRecorder recorder(plan, input, store, judge);
  CLEW_TRY(const auto recorded,
           recorder.record({*shown.plan, {}, kAllChoices, plan.pool, Origin(), {}}, shown.verdict));
  if (!recorded) return {};
  CLEW_TRY(const auto replay,
           prepare_replay((store.path() / std::to_string(recorded->number)).string()));
  std::vector<EventObject> objects;
  for (const auto& [read, object] : shown.reads) objects.push_back(object);
  const double left = until == 0 ? kLongestNaming : until - seconds_now();
  if (left <= 0) return {};
  name_events(replay, objects, std::min(left, kLongestNaming));
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (std::string name = source_text(objects[i].name); !name.empty())
      names.emplace(shown.reads[i].first, std::move(name));
  return {};
}

}  // namespace

std::map<EventKey, std::string> name_reads(const Terms& terms, const std::set<EventKey>& nameless,
                                           const HuntOptions& hunt, const HuntInput& input,
                                           double until) {
  std::map<EventKey, std::string> names;
  ScratchStore scratch;
  const auto store = scratch.get();
  auto judge = Judge::create(hunt.criteria);
  if (nameless.empty() || !store || !judge) return names;
  std::vector<Shown> runs = runs_to_make(terms, nameless);
  if (runs.size() > kMostRuns) runs.resize(kMostRuns);
  for (Shown& run : runs) {
    if (until != 0 && seconds_now() >= until) break;
    if (!name_in(run, hunt, input, *judge, **store, until, names)) break;
  }
  return names;
}

}  // namespace clew
