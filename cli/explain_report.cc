#include "cli/explain_report.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/ui.h"
#include "host/elf/elf_file.h"
#include "host/report/explain_text.h"
#include "host/report/names.h"
#include "host/report/words.h"

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

void tell_if_stripped(const std::string& program) {
  const auto file = ElfFile::open(program);
  if (!file || file->defines_symbol("main")) return;
  print_details(fmt::format(
      "clew: note: {} is stripped: which code is its own, and what it computes with, is not known; "
      "explain a build with symbols\n",
      printable(std::filesystem::path(program).filename().string())));
}

}  // namespace clew::cli
