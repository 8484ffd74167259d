#include "cli/debug_deep.h"

#include <fmt/format.h>

#include <string>

#include "cli/population_status.h"
#include "cli/ui.h"
#include "host/calls/rank.h"
#include "host/noise/pinpoint.h"
#include "host/report/agreement.h"
#include "host/report/pinpoint_json.h"
#include "host/report/pinpoint_text.h"
#include "host/report/rank_text.h"

namespace clew::cli {
namespace {

constexpr std::size_t kRanked = 3;

// Of the text of pinpoint what answers, without its tables.
std::string answer_of(const PinpointResult& result) {
  std::string text;
  for (const NoiseCause& cause : result.causes) text += cause_text(result, cause);
  return text + rates_text(result);
}

Json look_by_noise(const HuntCommand& command, double seconds,
                   const std::optional<Explanation>& explanation, RecordingStore& store) {
  PinpointOptions options;
  options.hunt = command.hunt;
  options.hunt.seconds = seconds;
  CampaignStatusLine status;
  const auto result = pinpoint(options, store, status);
  status.clear();
  if (!result) {
    report_error(result.error());
    return nullptr;
  }
  print_headline(result->anything_stands_out() ? Outcome::kFail : Outcome::kPass,
                 pinpoint_headline(*result));
  print_details(answer_of(*result));
  Json json = pinpoint_json(*result);
  if (!explanation) return json;
  const Agreed same = agreed(*result, *explanation);
  // A campaign that was ended has said so.
  if (same.agreement != Agreement::kNothing || result->finished)
    print_details(fmt::format("  {}\n", noise_sentence(same)));
  json["agrees"] = to_word(same.agreement);
  return json;
}

Json look_by_calls(const HuntCommand& command, double seconds,
                   const std::optional<Explanation>& explanation, RecordingStore& store) {
  RankOptions options;
  options.hunt = command.hunt;
  options.hunt.seconds = seconds;
  options.budget_is_given = command.budget.has_value();
  RankStatusLine status;
  const auto result = rank(options, store, status);
  status.clear();
  if (!result) {
    report_error(result.error());
    return nullptr;
  }
  print_headline(Outcome::kFail, rank_headline(*result));
  print_details(rank_text(*result, kRanked));
  Json json = rank_json(*result);
  if (!explanation) return json;
  const Agreed same = agreed(*result, *explanation);
  print_details(fmt::format("  {}\n", calls_sentence(same)));
  json["agrees"] = to_word(same.agreement);
  return json;
}

}  // namespace

void look_deeper(const HuntCommand& command, double seconds,
                 const std::optional<Explanation>& explanation, RecordingStore& store,
                 const Interrupts& interrupts, Json& json) {
  print_details("\nclew: deeper: at which points noise makes it fail\n");
  json["pinpoint"] = look_by_noise(command, seconds, explanation, store);
  if (interrupts.take() != 0) return;
  print_details("\nclew: deeper: which functions are called differently in failing runs\n");
  json["rank"] = look_by_calls(command, seconds, explanation, store);
}

}  // namespace clew::cli
