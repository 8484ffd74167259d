#include "host/observe/traced_replay.h"

#include <utility>

#include "host/translate/service.h"

namespace clew {

Result<TracedReplay> run_traced_replay(const Replay& replay, TraceDetail detail,
                                       RunObserver& observer, CodeTraceListener& listener) {
  TracedReplay result;
  const Translator* translator = nullptr;
  CLEW_TRY(const auto service,
           TranslationService::create(detail, [&](std::span<const std::uint8_t> part) {
             result.bytes += part.size();
             result.whole = result.whole && read_code_trace(part, *translator, listener);
           }));
  translator = &service->translator();
  Replay traced = replay;
  traced.plan.translation = service->descriptor();
  CLEW_TRY(result.run, run_replay(traced, observer));
  service->finish();
  result.differences = differences(replay.recording.meta, result.run);
  result.blocks = translator->blocks();
  return result;
}

}  // namespace clew
