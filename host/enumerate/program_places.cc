#include "host/enumerate/program_places.h"

#include <utility>

#include "host/symbolize/points.h"
#include "host/target/run_target.h"

namespace clew {
namespace {

// Chosen, not measured: a limit of memory.
constexpr std::uint64_t kMostPoints = 2'000'000;

bool reads(abi::PointKind kind) {
  using enum abi::PointKind;
  return kind == kLoad || kind == kAtomicLoad || kind == kAtomicRmw || kind == kAtomicCas ||
         kind == kBlockRead;
}
bool writes(abi::PointKind kind) {
  using enum abi::PointKind;
  return kind == kStore || kind == kAtomicStore || kind == kAtomicRmw || kind == kAtomicCas ||
         kind == kBlockWrite;
}

}  // namespace

bool is_file(const std::string& path, const std::string& file) {
  return path == file || (path.size() > file.size() && path.ends_with(file) &&
                          path[path.size() - file.size() - 1] == '/');
}

Result<ProgramPlaces> ProgramPlaces::of(const LaunchPlan& of, const HuntInput& input) {
  LaunchPlan plan = of;
  plan.strategy = abi::StrategyKind::kNone;
  plan.flags |= abi::kFlagFromMain;
  plan.queries = {1};
  plan.output = OutputMode::kCaptureOnly;
  CLEW_TRY(auto source, input.open());
  CLEW_TRY(auto feed, InputFeed::from_file(std::move(source), nullptr));
  RunObserver quiet;
  CLEW_TRY(auto run, run_target(plan, std::move(feed), nullptr, quiet));
  ProgramPlaces places;
  places.reports_ = std::make_shared<Reports>(std::move(run.reports));
  places.symbols_ = std::make_shared<Symbolizer>(*places.reports_);
  places.names_ = std::make_shared<RunNames>(*places.symbols_);
  for (const ModuleInfo& module : places.reports_->modules) {
    const auto table = PointTable::open(module.path);
    if (!table) continue;
    for (std::uint64_t id = 0; id < table->size() && places.accesses_.size() < kMostPoints; ++id) {
      const auto point = table->at(id);
      if (!point || (!reads(point->kind) && !writes(point->kind))) continue;
      places.accesses_.push_back({(module.base + id) << 1, point->file, point->line, point->column,
                                  reads(point->kind), writes(point->kind)});
    }
  }
  return places;
}

Location ProgramPlaces::location(abi::Place place) {
  const auto info = symbols_->place(place);
  return info ? info->at : Location{};
}

std::string ProgramPlaces::variable(std::uint64_t address, std::uint32_t size) {
  const auto [known, is_new] = variables_.try_emplace({address, size});
  if (!is_new) return known->second;
  const ObjectName name = names_->global(address, size);
  if (!name.known() || name.path.empty())
    known->second = symbols_->object_name(address);
  else
    known->second = name.offset == 0 ? name.path : name.path + "+" + std::to_string(name.offset);
  return known->second;
}

std::set<abi::Place> ProgramPlaces::reads_at(const std::string& file, std::uint32_t line) const {
  std::set<abi::Place> places;
  for (const Point& point : accesses_)
    if (point.reads && point.line == line && is_file(point.file, file)) places.insert(point.place);
  return places;
}

}  // namespace clew
