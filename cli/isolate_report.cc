#include "cli/isolate_report.h"

#include "cli/ui.h"
#include "host/report/isolate_text.h"

namespace clew::cli {

void IsolateStatusLine::status(const IsolateStatus& status) {
  if (line_.due(status.seconds)) line_.draw("clew: " + status_text(status));
}

void print_isolated(const IsolateResult& result, const RecordingStore& store,
                    const std::string& json) {
  print_headline(outcome_of(result), headline(result));
  const std::string text =
      isolate_text(result, last_words(store, result.failing.value_or(result.original)));
  if (json == "-")
    print_details(text);
  else
    print_result(text);
}

}  // namespace clew::cli
