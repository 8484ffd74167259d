#include "cli/isolate_report.h"

#include "cli/ui.h"
#include "host/report/isolate_text.h"

namespace clew::cli {

void IsolateStatusLine::status(const IsolateStatus& status) {
  if (line_.due(status.seconds)) line_.draw("clew: " + status_text(status));
}

void print_isolated(const IsolateResult& result, const std::string& json) {
  print_headline(outcome_of(result), headline(result));
  if (json == "-")
    print_details(isolate_text(result));
  else
    print_result(isolate_text(result));
}

}  // namespace clew::cli
