#include "host/calls/told_functions.h"

#include "clew_abi/control.h"
#include "clew_abi/findings.h"

namespace clew {

ToldFunctions ToldFunctions::prepare(LaunchPlan& plan) {
  ToldFunctions told;
  if (plan.listeners.empty()) return told;
  told.code_ = std::make_unique<ProgramCode>(CountLevel::kCalls);
  // What counting runs write down besides, changes of threads, is of no use here.
  auto service = TranslationService::create(*told.code_, CallDetail::kFunctions,
                                            [](std::span<const std::uint8_t>) {});
  // The runtime says that functions are not told, if a listener asks for them.
  if (!service) return told;
  told.service_ = std::move(*service);
  plan.translation = told.service_->descriptor();
  plan.flags |= abi::kFlagTranslateIfAsked;
  return told;
}

void ToldFunctions::begin_run() {
  if (service_) service_->begin_run();
}

}  // namespace clew
