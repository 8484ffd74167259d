#include "host/symbolize/moments.h"

#include <utility>

namespace clew {
namespace {

ThreadPosition position_of(const StackReport& report, Symbolizer& symbols) {
  ThreadPosition position{report.thread, std::nullopt, symbols.frames(report.frames)};
  if (const SourceFrame* frame = Symbolizer::user_frame(position.stack))
    position.at = location_of(*frame);
  // The yield point is exact, where an address is the call of its slow path at best.
  if (const auto place = symbols.place(report.place); place && !place->at.file.empty())
    position.at = place->at;
  return position;
}

}  // namespace

std::vector<Moment> moments(const RunResult& run, const std::vector<std::uint64_t>& clocks,
                            Symbolizer& symbols) {
  std::vector<Moment> result;
  for (const std::uint64_t clock : clocks) {
    Moment moment{clock, std::nullopt, {}};
    for (const StackReport& report : run.reports.stacks) {
      if (report.clock != clock) continue;
      if (report.running)
        moment.running = position_of(report, symbols);
      else
        moment.others.push_back(position_of(report, symbols));
    }
    result.push_back(std::move(moment));
  }
  return result;
}

}  // namespace clew
