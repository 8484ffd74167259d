#include "pass/instrument.h"

#include <vector>

#include "llvm/IR/Module.h"
#include "pass/emit.h"
#include "pass/functions.h"
#include "pass/locations.h"
#include "pass/options.h"
#include "pass/placement.h"
#include "pass/point_table.h"
#include "pass/random.h"

namespace clew::pass {
namespace {

SourcePosition position_of(const Site& site, Locations& locations) {
  return site.kind == abi::PointKind::kEntry ? locations.of_entry(*site.before->getFunction())
                                             : locations.of(*site.before);
}

}  // namespace

llvm::PreservedAnalyses Instrument::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  const Functions functions(module);
  Locations locations;
  ThreadLocals thread_locals;
  PointTable table(module);
  std::vector<Sites> full;
  std::vector<Sites> silent;
  for (llvm::Function& function : module) {
    const Instrumentation instrumentation = functions.instrumentation_of(function);
    if (instrumentation == Instrumentation::kNone) continue;
    mark_done(function);
    replace_random_instructions(function);
    const bool is_coarse = granularity_option() == Granularity::kSync && full.empty();
    if (instrumentation == Instrumentation::kSilent || is_coarse)
      table.add(abi::PointKind::kSilent, locations.of_entry(function));
    if (instrumentation == Instrumentation::kSilent) {
      silent.push_back(place_silent_calls(function));
      continue;
    }
    Sites& sites =
        full.emplace_back(place_points(function, granularity_option(), locations, thread_locals));
    for (Site& site : sites)
      site.index = table.add(site.kind, position_of(site, locations), site.order);
  }
  if (full.empty() && silent.empty()) return llvm::PreservedAnalyses::all();

  drop_stale_attributes(module);
  if (!table.empty()) table.finish();
  Emitter emitter(module, table, batch_ && batch_option());
  for (const Sites& sites : full)
    if (!sites.empty()) emitter.emit(*sites.front().before->getFunction(), sites);
  for (const Sites& calls : silent) emitter.emit_silent(calls);
  return llvm::PreservedAnalyses::none();
}

}  // namespace clew::pass
