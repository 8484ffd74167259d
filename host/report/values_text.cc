#include "host/report/values_text.h"

#include <fmt/format.h>

#include "host/report/names.h"
#include "host/report/words.h"

namespace clew {

std::string values_text(const ValuesAt& values) {
  std::string text = fmt::format("clock {}\n", with_commas(values.clock));
  for (const ThreadValues& thread : values.threads) {
    text +=
        fmt::format("{} {}", printable(thread.thread), thread.runs ? "runs" : "waits or is ready");
    if (!thread.at) {
      text += ", in no code with source\n";
      continue;
    }
    text += fmt::format(", at {}\n", location_text(*thread.at));
    for (const ValuedLine& line : thread.lines) {
      text += fmt::format("  {} {:>5} | {}\n", line.number == thread.at->line ? ">" : " ",
                          line.number, printable(line.source));
      for (const VariableValue& one : line.values)
        text += fmt::format("          |     {} = {}\n", printable(one.name), printable(one.value));
    }
  }
  return text;
}

Json values_json(const ValuesAt& values) {
  Json threads = Json::array();
  for (const ThreadValues& thread : values.threads) {
    Json lines = Json::array();
    for (const ValuedLine& line : thread.lines) {
      Json variables = Json::object();
      for (const VariableValue& one : line.values) variables[one.name] = one.value;
      lines.push_back({{"line", line.number}, {"source", line.source}, {"values", variables}});
    }
    threads.push_back({{"thread", thread.thread},
                       {"runs", thread.runs},
                       {"at", location_json(thread.at)},
                       {"lines", lines}});
  }
  return {{"clock", values.clock}, {"threads", threads}};
}

}  // namespace clew
