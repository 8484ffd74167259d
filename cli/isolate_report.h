// What `clew isolate` and `clew debug` print alike.
#ifndef CLEW_CLI_ISOLATE_REPORT_H_
#define CLEW_CLI_ISOLATE_REPORT_H_

#include <string>

#include "cli/status_line.h"
#include "host/isolate/isolate.h"

namespace clew::cli {

// The status line while it runs.
class IsolateStatusLine : public IsolateObserver {
 public:
  void status(const IsolateStatus& status) override;
  void clear() { line_.clear(); }

 private:
  StatusLine line_{2};
};

// The first line on standard error. The report on standard output, or with the first line if JSON
// goes there.
void print_isolated(const IsolateResult& result, const RecordingStore& store,
                    const std::string& json);

}  // namespace clew::cli

#endif  // CLEW_CLI_ISOLATE_REPORT_H_
