// Functions of the program under test, told to listeners that ask for them (<clew/listener.h>): the
// program's code runs as a translation that says where functions begin and return.
#ifndef CLEW_HOST_CALLS_TOLD_FUNCTIONS_H_
#define CLEW_HOST_CALLS_TOLD_FUNCTIONS_H_

#include <memory>

#include "host/calls/program_code.h"
#include "host/target/launch_plan.h"
#include "host/translate/service.h"

namespace clew {

class ToldFunctions {
 public:
  // For runs by this plan, one after the other, which must not outlive this. Does nothing if the plan has
  // no listeners; if none of them asks, the program's own code runs.
  [[nodiscard]] static ToldFunctions prepare(LaunchPlan& plan);
  // Before each run.
  void begin_run();

 private:
  std::unique_ptr<ProgramCode> code_;
  std::unique_ptr<TranslationService> service_;
};

}  // namespace clew

#endif  // CLEW_HOST_CALLS_TOLD_FUNCTIONS_H_
