// What all subcommands print alike: errors, summaries, JSON, progress.
#ifndef CLEW_CLI_UI_H_
#define CLEW_CLI_UI_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "host/error.h"
#include "host/report/run_json.h"
#include "host/target/run_target.h"

namespace clew::cli {

// "clew: message" and "hint: ..." on standard error; returns the exit status that belongs to it.
int report_error(const Error& error);

// "clew: text" on standard error, with the part before the first of ",:" in the outcome's colour.
void print_headline(Outcome outcome, std::string_view text);
// What is printed may contain names and words of others: nothing of it drives the terminal
// (host/terminal_text.h).
// Standard error.
void print_details(std::string_view text);
// Standard error: clew's own words, in a colour if it is a terminal. `code` is ECMA-48's.
void print_painted(std::string_view text, const char* code);
// Standard error, a terminal: in place of the line that the cursor is in.
void redraw_line(std::string_view text);
// Standard output. A reader that has gone is not an error; of others output_status() tells.
void print_result(std::string_view text);
// How wide a line on standard output may be: COLUMNS, or the terminal's width. 0: no limit, since
// what is no terminal may be a file or a program.
std::size_t output_columns();
// `status`, unless standard output did not take all that was printed: then it says so, and returns
// the status of that error.
int output_status(int status);
// Says it if not all of what the program wrote could be passed on.
void tell_if_output_lost(const RunResult& run);

// Says what a program that was not built with clew cannot have, and what of a program a recording
// does not keep.
void tell_before_run(const LaunchPlan& plan);

// --json FILE, --graph FILE: "-" is standard output; nothing happens if `target` is empty.
[[nodiscard]] Result<void> write_json(const std::string& target, const Json& json);
[[nodiscard]] Result<void> write_text(const std::string& target, const std::string& text);

// For people at a terminal: a line on standard error that comes after two seconds and
// goes before anything else is printed.
class ProgressLine : public RunObserver {
 public:
  ProgressLine() = default;
  // Stands before the figures: "replay 3 of 10".
  explicit ProgressLine(std::string label);
  ~ProgressLine() override;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void progress(std::uint64_t clock, double seconds) override;
  void before_output() override { clear(); }
  // Many short runs: how far along they are.
  void overall(std::uint64_t done, std::uint64_t of);
  void set_label(std::string label) { label_ = std::move(label); }
  void clear();

 private:
  std::string label_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point drawn_ = started_;
};

}  // namespace clew::cli

#endif  // CLEW_CLI_UI_H_
