#include "host/report/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "host/report/names.h"
#include "host/report/threads.h"
#include "host/report/words.h"

namespace clew {
namespace {

constexpr std::size_t kMostFrames = 20;
constexpr std::size_t kMostWaits = 100;

std::string wait_place(Symbolizer& symbols, const WaitReport& wait) {
  const auto frames = symbols.frames(wait.frames);
  const SourceFrame* user = Symbolizer::user_frame(frames);
  return user != nullptr ? location_text(location_of(*user)) : place_text(symbols, wait.place);
}

bool is_deadlock(const RunResult& run) {
  return run.summary.failure && run.summary.failure->kind == FailureKind::kDeadlock;
}

std::string awaited_text(const RunResult& run, Symbolizer& symbols, const WaitReport& wait) {
  // For a join the holder is the thread that has to end.
  if (wait.kind == abi::WaitKind::kJoin && wait.holder)
    return "the end of " + thread_label(run, symbols, *wait.holder);
  const std::string object = awaited_object(run, symbols, wait.kind, wait.object);
  // The runtime calls it a deadlock only if nobody else has the other end.
  if (wait.kind == abi::WaitKind::kDescriptor && is_deadlock(run))
    return object + " (which only this program itself could end)";
  if (!wait.holder) return object;
  std::string text =
      fmt::format("{}, held by {}", object, thread_label(run, symbols, *wait.holder));
  // A lock without a name is known by where it was taken.
  for (const HoldReport& hold : run.reports.holds)
    if (hold.object == wait.object && hold.thread == *wait.holder && hold.taken_at)
      text += " since " + location_text(*hold.taken_at);
  return text;
}

std::string waits_text(const RunResult& run, Symbolizer& symbols) {
  std::string text;
  auto out = std::back_inserter(text);
  const auto& waits = run.reports.waits;
  for (std::size_t i = 0; i < std::min(waits.size(), kMostWaits); ++i) {
    const WaitReport& wait = waits[i];
    fmt::format_to(out, "  {} waits {} {}\n", thread_label(run, symbols, wait.thread),
                   waiting_word(wait.kind), awaited_text(run, symbols, wait));
    fmt::format_to(out, "      waits at {}\n", wait_place(symbols, wait));
    for (const HoldReport& hold : run.reports.holds) {
      if (hold.thread != wait.thread) continue;
      fmt::format_to(out, "      holds {}, taken at {}, clock {}\n",
                     awaited_object(run, symbols, hold.kind, hold.object),
                     hold.taken_at ? location_text(*hold.taken_at)
                                   : place_text(symbols, hold.address << 1 | 1),
                     with_commas(hold.clock));
    }
  }
  if (waits.size() > kMostWaits)
    fmt::format_to(out, "  … {} threads more\n", with_commas(waits.size() - kMostWaits));
  return text;
}

}  // namespace

std::string awaited_object(const RunResult& run, Symbolizer& symbols, abi::WaitKind kind,
                           std::uint64_t object) {
  if (kind == abi::WaitKind::kJoin)
    return object_text(
        kind, object, "",
        object < run.reports.threads.size() ? thread_label(run, symbols, object) : "");
  const auto name = run.reports.names.find(object);
  return object_text(kind, object,
                     name != run.reports.names.end() ? name->second : symbols.object_name(object),
                     "");
}

std::string figures_text(const RunSummary& summary) {
  // A run that was stopped did not get to tell its switches.
  if (summary.hash == 0)
    return fmt::format("{}, {}", counted(summary.clock, "point"),
                       counted(summary.threads, "thread"));
  return fmt::format("{}, {}, {}", counted(summary.clock, "point"),
                     counted(summary.switches, "switch"), counted(summary.threads, "thread"));
}

std::string headline(const RunSummary& summary) {
  if (!summary.failure)
    return fmt::format("{}, {}", to_word(summary.outcome), figures_text(summary));
  const Failure& failure = *summary.failure;
  const bool twice =
      failure.kind == FailureKind::kHang && summary.outcome == Outcome::kHang;  // "hang (hang)"
  return fmt::format("{}{}: {}", to_word(summary.outcome),
                     twice ? "" : fmt::format(" ({})", to_word(failure.kind)),
                     printable(failure.detail));
}

std::vector<SourceFrame> worth_showing(const std::vector<SourceFrame>& frames) {
  if (name_style() == NameStyle::kFull) return frames;
  // What lies within and without the user's code is the same in every run: libraries, clew, libc.
  const auto first = std::ranges::find_if(frames, is_user_code);
  const auto last = std::find_if(frames.rbegin(), frames.rend(), is_user_code).base();
  std::vector<SourceFrame> shown;
  if (first == frames.end()) {
    std::ranges::copy_if(frames, std::back_inserter(shown), [](const SourceFrame& frame) {
      return !frame.function.empty() && !is_plumbing(frame.function);
    });
    return shown;
  }
  // Of a library between two frames of the user's: the function that the user called.
  for (auto frame = first; frame != last; ++frame)
    if (is_user_code(*frame) || (is_user_code(*std::next(frame)) && !is_plumbing(frame->function)))
      shown.push_back(*frame);
  return shown;
}

std::string stack_text(const std::vector<SourceFrame>& frames, std::string_view indent) {
  std::string text;
  auto out = std::back_inserter(text);
  const std::vector<SourceFrame> worth = worth_showing(frames);
  // With its parameters, if another overload is on the stack.
  const auto name_of = [&worth](const SourceFrame& frame) {
    const std::string name = function_text(frame.function);
    const bool overloaded = std::ranges::any_of(worth, [&](const SourceFrame& other) {
      return other.function != frame.function && function_text(other.function) == name;
    });
    return printable(name.empty() ? "?" : overloaded ? short_signature(frame.function) : name);
  };
  for (std::size_t shown = 0; shown < worth.size(); ++shown) {
    const SourceFrame& frame = worth[shown];
    if (shown == kMostFrames && name_style() == NameStyle::kShort) {
      fmt::format_to(out, "{}… {} more\n", indent, counted(worth.size() - shown, "frame"));
      break;
    }
    if (!frame.file.empty())
      fmt::format_to(out, "{}#{} {} at {}:{}\n", indent, shown, name_of(frame),
                     printable(short_path(frame.file)), frame.line);
    else
      fmt::format_to(out, "{}#{} {} ({}{:#x})\n", indent, shown, name_of(frame),
                     frame.module.empty() ? "" : frame.module + " ", frame.address);
  }
  return text;
}

std::string failure_text(const RunResult& run, Symbolizer& symbols) {
  if (!run.summary.failure) return "";
  const Failure& failure = *run.summary.failure;
  std::string text;
  auto out = std::back_inserter(text);
  // These are of no one thread.
  const bool everywhere =
      failure.kind == FailureKind::kDeadlock || failure.kind == FailureKind::kInfeasible;
  if (failure.at && !everywhere) fmt::format_to(out, "  at {}\n", location_text(*failure.at));
  if (run.reports.failure && !everywhere) {
    fmt::format_to(out, "  in thread {}\n",
                   thread_label(run, symbols, run.reports.failure->thread));
    const auto frames = symbols.frames(run.reports.failure->frames);
    if (Symbolizer::user_frame(frames) != nullptr) text += stack_text(frames, "    ");
  }
  text += waits_text(run, symbols);
  return text;
}

std::string departure_text(const RunResult& run, const RunSummary& recorded, Symbolizer& symbols) {
  if (!run.reports.departure) {
    if (run.summary.clock == recorded.clock) return "";
    return fmt::format(
        "  clock     {}, after the last switch\n"
        "  expected  the end at clock {}\n"
        "  actual    the end at clock {}\n",
        with_commas(std::min(run.summary.clock, recorded.clock)), with_commas(recorded.clock),
        with_commas(run.summary.clock));
  }
  const Departure& departure = *run.reports.departure;
  if (departure.expected_thread == departure.actual_thread &&
      departure.expected_place == departure.actual_place)
    return fmt::format("  clock     {}\n  where     {} at {}\n", with_commas(departure.clock),
                       thread_label(run, symbols, departure.actual_thread),
                       place_text(symbols, departure.actual_place));
  return fmt::format(
      "  clock     {}\n"
      "  expected  {} at {}\n"
      "  actual    {} at {}\n",
      with_commas(departure.clock), thread_label(run, symbols, departure.expected_thread),
      place_text(symbols, departure.expected_place),
      thread_label(run, symbols, departure.actual_thread),
      place_text(symbols, departure.actual_place));
}

}  // namespace clew
