#include "cli/common_options.h"

#include <CLI/CLI.hpp>

#include "cli/validators.h"
#include "host/report/names.h"

namespace clew::cli {

CLI::Option* add_json(CLI::App& app, std::string& target) {
  return app.add_option("--json", target, "Write the result as JSON; - is standard output")
      ->type_name("FILE")
      ->check(writable());
}

void add_full(CLI::App& app) {
  app.add_flag_callback(
      "--full", [] { set_name_style(NameStyle::kFull); },
      "Names of functions in full, and every frame of a stack");
}

}  // namespace clew::cli
