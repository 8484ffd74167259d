// clew trace: a recording run again, with all that its code does looked at.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/replay_report.h"
#include "cli/ui.h"
#include "host/report/words.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/exit_status.h"
#include "host/target/replay.h"
#include "host/translate/code_trace.h"
#include "host/translate/service.h"

namespace clew::cli {
namespace {

struct TraceOptions {
  std::string recording;
  std::string json;
};

// How much a run did.
class Counter : public CodeTraceListener {
 public:
  void block(const BlockRun& run) override {
    last_ = &run.block;
    ++blocks;
    instructions += run.block.instructions.size();
    for (const RecordedAccess& access : run.block.accesses) count(access, 1);
  }
  void cut(std::uint64_t address) override {
    if (last_ == nullptr) return;
    const std::uint64_t offset = address - last_->address;
    const auto first = static_cast<std::size_t>(
        std::ranges::lower_bound(last_->instructions, offset) - last_->instructions.begin());
    instructions -= last_->instructions.size() - first;
    for (const RecordedAccess& access : last_->accesses)
      if (access.instruction >= first) count(access, std::uint64_t{0} - 1);
    last_ = nullptr;
  }
  void returned(const abi::ReturnMark& mark) override { threads_.insert(mark.thread); }

  std::uint64_t instructions = 0;
  std::uint64_t blocks = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }

 private:
  void count(const RecordedAccess& access, std::uint64_t one) {
    if (access.kind != AccessKind::kWrite) reads += one;
    if (access.kind != AccessKind::kRead) writes += one;
  }

  const TranslatedBlock* last_ = nullptr;
  std::unordered_set<std::uint64_t> threads_;
};

Result<int> trace(const TraceOptions& options) {
  CLEW_TRY(auto replay, prepare_replay(options.recording));
  if (options.json == "-") replay.plan.output = OutputMode::kCaptureOnly;
  Counter counter;
  std::uint64_t bytes = 0;
  bool whole = true;
  const Translator* translator = nullptr;
  CLEW_TRY(const auto service, TranslationService::create([&](std::span<const std::uint8_t> part) {
             bytes += part.size();
             whole = whole && read_code_trace(part, *translator, counter);
           }));
  translator = &service->translator();
  replay.plan.translation = service->descriptor();
  ProgressLine progress;
  CLEW_TRY(const auto run, run_replay(replay, progress));
  service->finish();
  progress.clear();
  if (run.interrupted_by != 0) return 128 + run.interrupted_by;

  const auto lines = differences(replay.recording.meta, run);
  const std::string name = recording_name(replay.recording);
  if (!lines.empty()) {
    Symbolizer symbols(run.reports);
    print_departure(replay, run, lines, symbols);
  } else if (!whole) {
    print_headline(Outcome::kUnresolved,
                   fmt::format("the program has overwritten the trace of {}", name));
  } else {
    print_details(fmt::format(
        "clew: traced {}: same outcome, output and hash ({})\n"
        "  {} in {} of {}, {}, {}; {}\n",
        name, counted(run.summary.clock, "point"), counted(counter.instructions, "instruction"),
        counted(counter.blocks, "block"), counted(counter.threads(), "thread"),
        counted(counter.reads, "read"), counted(counter.writes, "write"), counted(bytes, "byte")));
  }
  CLEW_CHECK_OK(write_json(options.json, {{"recording", replay.recording.number},
                                          {"differences", lines},
                                          {"complete", whole},
                                          {"instructions", counter.instructions},
                                          {"blocks", counter.blocks},
                                          {"threads", counter.threads()},
                                          {"reads", counter.reads},
                                          {"writes", counter.writes},
                                          {"bytes", bytes},
                                          {"seconds", run.seconds}}));
  if (!lines.empty()) return kExitDeparted;
  return whole ? 0 : 1;
}

}  // namespace

void register_trace(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = app.add_subcommand(
      "trace", "Run a recording again and look at every instruction, read and write");
  command
      ->add_option("recording", options->recording,
                   "Number or folder of the recording (default: the newest)")
      ->type_name("RECORDING");
  add_json(*command, options->json);
  command->footer(
      "The program's code and that of its libraries runs from main on as a translation of itself\n"
      "that writes down what it does; clew compares the run with the recording and counts.\n\n"
      "Examples:\n"
      "  clew trace\n"
      "  clew trace 7 --json trace.json\n\n"
      "Exit status: 0; 123 if the traced run departed from the recording.");
  command->callback([options, &exit_status] {
    const auto status = trace(*options);
    exit_status = status ? *status : report_error(status.error());
  });
}

}  // namespace clew::cli
