#include "cli/explain_report.h"

#include "cli/ui.h"
#include "host/report/explain_text.h"
#include "host/report/names.h"

namespace clew::cli {

void print_explained(const Explanation& explanation, const std::string& json) {
  const bool explained = explanation.cause.pattern != CausePattern::kNone;
  print_headline(explained ? Outcome::kFail : Outcome::kUnresolved, headline(explanation));
  const std::string text = explain_text(explanation, name_style() == NameStyle::kFull);
  if (json == "-")
    print_details(text);
  else
    print_result(text);
}

}  // namespace clew::cli
