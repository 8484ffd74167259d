// Runs a program under every schedule, one by one, and prints what happened in each: the truth that
// check.py compares clew's sentences with.
//
//   brute_force MOST PROGRAM [ARGUMENT]...
//
// There is no reduction: at each step of each run, every thread that could have run instead is a
// further run. Those with fewer preemptions come first; at most MOST runs are made. After that it
// answers questions, one in a line of its standard input: what happens under this schedule (text as
// in docs/schedules.md) or script ("T0.1 12 0 0 T0.2; ...": thread, its own event, kind, ordinal,
// to whom).
//
// What it prints, in lines of words:
//   place N FILE LINE FUNCTION       a place in the source; "-": not known
//   step N THREAD OWN KIND OBJECT SIZE PLACE
//   run PREEMPTIONS VERDICT KIND KEY QUESTIONS INTERLEAVING : STEP...
//   end RUNS COMPLETE                all schedules with at most COMPLETE preemptions; -1: all
//   answer VERDICT KIND KEY PREEMPTIONS CLOCK HASH : CLOCK/STEP... : DECISION...
//     DECISION: CLOCK/THREAD/OWN/KIND/ORDINAL/TO/PLACE
// A question can also be the folder of a recording ("/..."): "schedule TEXT" then comes before the
// answer.
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/isolate/script.h"
#include "host/isolate/source_view.h"
#include "host/isolate/trials.h"
#include "host/recording/schedule_file.h"
#include "host/report/words.h"
#include "host/search/criteria.h"
#include "host/search/guides.h"
#include "host/search/hunt.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/run_target.h"
#include "host/target/served_program.h"

namespace clew {
namespace {

constexpr std::uint32_t kPool = 8;
constexpr std::uint64_t kBudget = 1'000'000;
constexpr std::size_t kBatch = 256;

template <class T>
T checked(Result<T> result) {
  if (!result) {
    std::cerr << "brute_force: " << result.error().message << "\n";
    exit(1);
  }
  return std::move(*result);
}

std::string word_of(abi::StepKind kind) {
  const std::string word = to_word(kind);
  return word.empty() ? "other" : word;
}

const char* word_of(Verdict verdict) {
  return verdict == Verdict::kPass ? "pass" : verdict == Verdict::kFail ? "fail" : "unresolved";
}

LaunchPlan plan_of_program(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  LaunchPlan plan = plan_here(program, std::move(arguments));
  plan.flags = abi::kFlagFromMain;
  plan.seed = 1;
  plan.pool = kPool;
  plan.budget = kBudget;
  return plan;
}

FileDescriptor no_input() { return FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

// A run in a separate process: it tells where modules lie and what threads are called.
RunResult plain_run(LaunchPlan plan) {
  plan.strategy = abi::StrategyKind::kNone;
  plan.output = OutputMode::kCaptureOnly;
  std::string folder = "/tmp/clew_truth_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) exit(1);
  RunObserver quiet;
  RunResult run = [&] {
    auto store = checked(RecordingStore::open(folder));
    auto draft = checked(store.create());
    return checked(
        run_target(plan, checked(InputFeed::from_file(no_input(), nullptr)), &draft, quiet));
  }();
  std::filesystem::remove_all(folder);
  return run;
}

class Printer {
 public:
  explicit Printer(const RunResult& run) : symbols_(run.reports) {}

  std::size_t place(abi::Place place) {
    const auto [at, is_new] = places_.emplace(place, places_.size());
    if (is_new) {
      const auto info = symbols_.place(place);
      const auto or_dash = [](std::string text) {
        std::ranges::replace(text, ' ', '_');
        return text.empty() ? "-" : text;
      };
      std::cout << fmt::format("place {} {} {} {}\n", at->second,
                               or_dash(info ? info->at.file : ""), info ? info->at.line : 0,
                               or_dash(info ? info->at.function : ""));
    }
    return at->second;
  }

  std::string thread(abi::ThreadKey key) {
    if (key == abi::kMainThreadKey) return "T0";
    for (std::uint32_t i = 1; i <= kPool; ++i)
      if (abi::child_key(abi::kMainThreadKey, i) == key) return fmt::format("T0.{}", i);
    return key == 0 ? "-" : fmt::format("{:x}", key);
  }

  std::size_t step(const TraceStep& step) {
    const auto key = std::tuple(step.thread, step.own, step.kind, step.object, step.place);
    const auto [at, is_new] = steps_.emplace(key, steps_.size());
    if (is_new) {
      const std::size_t where = place(step.place);
      std::cout << fmt::format("step {} {} {} {} {:x} {} {}\n", at->second, thread(step.thread),
                               step.own, word_of(step.kind), step.object, step.size, where);
    }
    return at->second;
  }

 private:
  Symbolizer symbols_;
  std::map<abi::Place, std::size_t> places_;
  std::map<std::tuple<abi::ThreadKey, std::uint64_t, abi::StepKind, std::uint64_t, abi::Place>,
           std::size_t>
      steps_;
};

struct Judged {
  Verdict verdict;
  std::string kind;
};
Judged judge(const ServedJob& job) {
  if (job.stopped)
    return {job.stopped->kind == FailureKind::kHang ? Verdict::kFail : Verdict::kUnresolved,
            to_word(job.stopped->kind)};
  auto judge = checked(Judge::create({}));
  const auto judgement =
      checked(judge.judge({job.result.end, job.result.status, job.result.failure, "", ""}));
  std::string kind = judgement.kind ? to_word(*judgement.kind) : "-";
  if (judgement.kind == FailureKind::kExit) kind += fmt::format("{}", job.result.status);
  return {judgement.verdict, std::move(kind)};
}

std::vector<ServedJob> run(ServedProgram& program, const std::vector<JobPlan>& jobs) {
  return checked(program.run(jobs, {}, kAllChoices, nullptr));
}

struct Prefix {
  std::vector<std::uint32_t> threads;
};

std::uint32_t preempts(const TraceStep& before, const TraceStep& at, std::uint32_t thread) {
  const bool could_continue = (at.enabled >> before.index & 1) != 0;
  return could_continue && thread != before.index ? 1 : 0;
}

void enumerate(ServedProgram& program, Printer& printer, std::size_t most) {
  std::vector<std::vector<Prefix>> waiting(1);  // by preemptions
  waiting[0].push_back({});
  std::size_t runs = 0;
  std::size_t level = 0;
  while (level < waiting.size() && runs < most) {
    if (waiting[level].empty()) {
      ++level;
      continue;
    }
    std::vector<Prefix> batch;
    std::vector<JobPlan> jobs;
    while (!waiting[level].empty() && batch.size() < std::min(kBatch, most - runs)) {
      batch.push_back(std::move(waiting[level].back()));
      waiting[level].pop_back();
      JobPlan plan;
      plan.strategy = abi::StrategyKind::kPrefix;
      plan.flags = abi::kJobTrace | abi::kJobAllPoints;
      plan.guide = prefix_guide(batch.back().threads);
      jobs.push_back(std::move(plan));
    }
    const std::vector<ServedJob> done = run(program, jobs);
    for (std::size_t i = 0; i < done.size(); ++i) {
      const std::vector<TraceStep>& steps = done[i].trace.steps;
      const std::vector<std::uint32_t>& prefix = batch[i].threads;
      std::vector<std::uint32_t> course;
      std::uint32_t preemptions = 0;
      std::string line;
      for (std::size_t k = 0; k < steps.size(); ++k) {
        const std::uint32_t before = preemptions;
        if (k > 0) preemptions += preempts(steps[k - 1], steps[k], steps[k].index);
        for (std::uint32_t t = 0; k >= prefix.size() && t < 64; ++t) {
          if ((steps[k].enabled >> t & 1) == 0 || t == steps[k].index) continue;
          const std::size_t cost = before + (k > 0 ? preempts(steps[k - 1], steps[k], t) : 0);
          if (waiting.size() <= cost) waiting.resize(cost + 1);
          Prefix other{course};
          other.threads.push_back(t);
          waiting[cost].push_back(std::move(other));
        }
        course.push_back(steps[k].index);
        line += fmt::format(" {}", printer.step(steps[k]));
      }
      if (course.size() < prefix.size() ||
          !std::equal(prefix.begin(), prefix.end(), course.begin())) {
        std::cerr << "brute_force: a run departed from its prefix\n";
        exit(1);
      }
      const Judged judged = judge(done[i]);
      const abi::JobResult& result = done[i].result;
      std::cout << fmt::format("run {} {} {} {:x} {} {:x} :{}\n", preemptions,
                               word_of(judged.verdict), judged.kind, result.failure_key,
                               static_cast<unsigned>(result.questions), result.interleaving, line);
    }
    runs += done.size();
  }
  while (level < waiting.size() && waiting[level].empty()) ++level;
  std::cout << fmt::format("end {} {}\n", runs,
                           level >= waiting.size() ? -1 : static_cast<int>(level) - 1)
            << std::flush;
}

JobPlan plan_of_line(const std::string& line) {
  if (line.empty() || line.find(' ') == std::string::npos || line[0] != 'T')
    return job_of(checked(parse_schedule(line)));
  ThreadScript script;
  std::istringstream items(line);
  for (std::string item; std::getline(items, item, ';');) {
    std::istringstream words(item);
    std::string thread, to;
    std::uint64_t own = 0;
    std::uint32_t kind = 0, ordinal = 0;
    words >> thread >> own >> kind >> ordinal >> to;
    script.push_back({key_of_thread(thread), own, static_cast<abi::ScriptKind>(kind), ordinal,
                      to == "-" ? 0 : key_of_thread(to)});
  }
  return job_of(script, 0);
}

std::string schedule_of_recording(const std::string& folder) {
  const Stream stream = checked(read_schedule_file(folder + "/schedule"));
  return format_schedule(checked(to_schedule(stream)));
}

void answer(ServedProgram& program, Printer& printer, std::string line) {
  if (line.starts_with("/")) {
    line = schedule_of_recording(line);
    std::cout << "schedule " << line << "\n";
  }
  JobPlan plan = plan_of_line(line);
  plan.flags |= abi::kJobWholeTrace;
  plan.window = {1, kBudget};
  const ServedJob job = run(program, {plan}).front();
  std::string steps, decisions;
  for (const TraceStep& step : job.trace.steps)
    steps += fmt::format(" {}/{}", step.clock, printer.step(step));
  for (const TraceDecision& one : job.trace.decisions)
    decisions +=
        fmt::format(" {}/{}/{}/{}/{}/{}/{}", one.clock, printer.thread(one.thread), one.own,
                    one.kind, one.ordinal, printer.thread(one.to), printer.place(one.place));
  const Judged judged = judge(job);
  std::cout << fmt::format("answer {} {} {:x} {} {} {:x} :{} :{}\n", word_of(judged.verdict),
                           judged.kind, job.result.failure_key, job.result.preemptions,
                           job.result.clock, job.result.hash, steps, decisions)
            << std::flush;
}

int work(std::size_t most, const std::string& program, std::vector<std::string> arguments) {
  const LaunchPlan plan =
      plan_of_program(std::filesystem::canonical(program), std::move(arguments));
  const RunResult plain = plain_run(plan);
  Printer printer(plain);
  ServeOptions options;
  options.in_place = true;
  ServedProgram served = checked(ServedProgram::start(plan, no_input().get(), options));
  enumerate(served, printer, most);
  for (std::string line; std::getline(std::cin, line);) answer(served, printer, line);
  return 0;
}

}  // namespace
}  // namespace clew

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::ios::sync_with_stdio(false);
  return clew::work(std::stoul(argv[1]), argv[2], {argv + 3, argv + argc});
}
