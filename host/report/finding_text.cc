#include "host/report/finding_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "host/report/run_text.h"
#include "host/report/words.h"

namespace clew {
namespace {

using Stack = std::function<std::vector<SourceFrame>(std::size_t finding, std::size_t site)>;

std::vector<SourceFrame> no_stack(std::size_t, std::size_t) { return {}; }

// What is said after the places. A race is one because nothing orders its accesses: the run shows that.
const char* conclusion(const Finding& finding) {
  if (finding.kind == "race")
    return "  no lock, wait or atomic operation orders these two accesses\n";
  if (finding.kind == "lock-order")
    return "  if each thread holds the first of its locks, none of them can take the second\n";
  return "";
}

std::string site_text(const Finding& finding, const Finding::Site& site) {
  // "reads it atomically"
  const std::size_t verb = std::min(site.action.find(' '), site.action.size());
  std::string text =
      fmt::format("  {} {} {}{}", site.thread, site.action.substr(0, verb),
                  finding.kind == "lock-order" ? "a lock" : "it", site.action.substr(verb));
  if (site.action == "is at") text = fmt::format("  {} is", site.thread);
  text += site.at ? " at " + location_text(*site.at) : " at a place that is not known";
  if (site.clock != 0) text += ", clock " + with_commas(site.clock);
  if (!site.locks.empty())
    text += fmt::format(", holding {}", printable(fmt::format("{}", fmt::join(site.locks, ", "))));
  else if (finding.kind == "race")
    text += ", holding no lock";
  return text + "\n";
}

// `after`: what is said of a finding behind its places.
std::string text_of(const std::vector<Finding>& findings, const Stack& stack,
                    const std::function<std::string(std::size_t)>& after) {
  std::string text;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    text += fmt::format("{}: {}\n", printable(finding.kind), printable(finding.text));
    for (std::size_t j = 0; j < finding.sites.size(); ++j) {
      text += site_text(finding, finding.sites[j]);
      const auto frames = stack(i, j);
      if (frames.size() > 1) text += stack_text(frames, "      ");
    }
    text += conclusion(finding) + after(i);
  }
  return text;
}

Json json_of(const std::vector<Finding>& findings, const Stack& stack) {
  Json list = Json::array();
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    Json sites = Json::array();
    for (std::size_t j = 0; j < finding.sites.size(); ++j) {
      const Finding::Site& site = finding.sites[j];
      sites.push_back({{"action", site.action},
                       {"thread", site.thread},
                       {"clock", site.clock != 0 ? Json(site.clock) : Json(nullptr)},
                       {"at", location_json(site.at)},
                       {"locks", site.locks},
                       {"stack", stack_json(stack(i, j))}});
    }
    list.push_back({{"kind", finding.kind},
                    {"severity", finding.severity},
                    {"text", finding.text},
                    {"address", finding.address != 0 ? Json(fmt::format("{:#x}", finding.address))
                                                     : Json(nullptr)},
                    {"size", finding.size},
                    {"sites", std::move(sites)}});
  }
  return list;
}

Stack stacks_of(const RunResult& run, Symbolizer& symbols) {
  return [&](std::size_t finding, std::size_t site) {
    return symbols.frames(run.reports.findings.at(finding).sites.at(site).frames);
  };
}

std::vector<Finding> plain(const std::vector<CountedFinding>& findings) {
  std::vector<Finding> all;
  for (const CountedFinding& one : findings) all.push_back(one.finding);
  return all;
}

}  // namespace

std::string findings_headline(const std::vector<Finding>& findings) {
  if (findings.empty()) return "no findings";
  std::map<std::string, std::uint64_t> kinds;
  for (const Finding& finding : findings) ++kinds[finding.kind];
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds) parts.push_back(fmt::format("{} {}", count, kind));
  return fmt::format("{}: {}", counted(findings.size(), "finding"), fmt::join(parts, ", "));
}

std::string findings_text(const RunResult& run, Symbolizer& symbols) {
  return text_of(run.summary.findings, stacks_of(run, symbols), [](std::size_t) { return ""; });
}

std::string findings_headline(const std::vector<CountedFinding>& findings) {
  return findings_headline(plain(findings));
}

std::string findings_text(const std::vector<CountedFinding>& findings, std::uint64_t schedules) {
  return text_of(plain(findings), no_stack, [&](std::size_t i) {
    return fmt::format("  in {} of {}, first in schedule {}\n", with_commas(findings[i].runs),
                       counted(schedules, "schedule"), with_commas(findings[i].first_schedule));
  });
}

Json findings_json(const std::vector<CountedFinding>& findings) {
  Json list = json_of(plain(findings), no_stack);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    list[i]["runs"] = findings[i].runs;
    list[i]["first_schedule"] = findings[i].first_schedule;
  }
  return list;
}

Json findings_json(const RunResult& run, Symbolizer& symbols) {
  return json_of(run.summary.findings, stacks_of(run, symbols));
}

}  // namespace clew
