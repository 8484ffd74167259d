#include "cli/ui.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "host/recording/file.h"
#include "host/report/words.h"
#include "host/target/exit_status.h"
#include "host/target/program.h"
#include "host/terminal_text.h"

namespace clew::cli {
namespace {

constexpr double kQuietSeconds = 2;

int result_error = 0;  // the first errno of print_result()

bool colours() {
  static const bool result = [] {
    const char* refused = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return isatty(STDERR_FILENO) != 0 && (refused == nullptr || *refused == 0) &&
           (terminal == nullptr || std::string_view(terminal) != "dumb");
  }();
  return result;
}

std::string painted(std::string_view text, const char* code) {
  return colours() ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

const char* colour_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "1;32";
    case Outcome::kFail:
    case Outcome::kHang:
      return "1;31";
    case Outcome::kUnresolved:
      break;
  }
  return "1;33";
}

// False: the reader is gone or the disk is full; errno says.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = write(fd, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

// JSON escapes the control characters of ASCII alone. Others can only stand in its strings.
std::string escaped(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  while (!json.empty()) {
    const Utf8 first = first_character(json);
    const std::size_t size = first.size == 0 ? 1 : first.size;
    if (first.code > 0x7e && drives_terminal(first.code))
      result += fmt::format("\\u{:04x}", first.code);
    else
      result += json.substr(0, size);
    json.remove_prefix(size);
  }
  return result;
}

}  // namespace

int report_error(const Error& error) {
  std::string text = fmt::format("{} {}\n", painted("clew:", "1;31"),
                                 terminal_text(error.message, Newlines::kReplace));
  if (!error.hint.empty())
    text += fmt::format("hint: {}\n", terminal_text(error.hint, Newlines::kReplace));
  write_all(STDERR_FILENO, text);
  return exit_status_of(error);
}

void print_headline(Outcome outcome, std::string_view headline) {
  const std::string text = terminal_text(headline);
  const std::size_t end = std::min(text.find_first_of(",:"), text.size());
  write_all(STDERR_FILENO,
            fmt::format("clew: {}{}\n", painted(text.substr(0, end), colour_of(outcome)),
                        std::string_view(text).substr(end)));
}

void print_details(std::string_view text) { write_all(STDERR_FILENO, terminal_text(text)); }

void print_painted(std::string_view text, const char* code) {
  write_all(STDERR_FILENO, painted(text, code));
}

void redraw_line(std::string_view text) {
  write_all(STDERR_FILENO, "\r\033[K" + terminal_text(text, Newlines::kReplace));
}

void tell_before_run(const LaunchPlan& plan) {
  if (!plan.preload.empty())
    print_details(
        fmt::format("clew: {} was not built with clew: only calls of synchronisation functions and "
                    "system calls are yield points (rebuild it with clew c++ for switches between "
                    "plain memory accesses)\n",
                    plan.shown));
  for (const std::string& line : not_kept_of(plan.program))
    print_details(fmt::format("clew: note: {}: {}\n", plan.shown, line));
}

void print_result(std::string_view text) {
  if (result_error == 0 && !write_all(STDOUT_FILENO, terminal_text(text)) && errno != EPIPE)
    result_error = errno;
}

std::size_t output_columns() {
  constexpr std::size_t kLeast = 40;  // narrower than that, lines are cut beyond recognition
  std::size_t columns = 0;
  if (const char* given = std::getenv("COLUMNS"))
    std::from_chars(given, given + std::strlen(given), columns);
  winsize size{};
  if (columns == 0 && isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    columns = size.ws_col;
  return columns == 0 ? 0 : std::max(columns, kLeast);
}

int output_status(int status) {
  if (result_error == 0) return status;
  return report_error(system_error("write", "standard output", result_error));
}

void tell_if_output_lost(const RunResult& run) {
  if (run.output_error == 0) return;
  print_details(fmt::format("clew: the program's output could not all be written: {}\n",
                            std::strerror(run.output_error)));
}

Result<void> write_json(const std::string& target, const Json& json) {
  if (target.empty()) return {};
  // A program's text may be anything; JSON is UTF-8.
  const std::string text = escaped(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
  return write_text(target, text);
}

Result<void> write_text(const std::string& target, const std::string& text) {
  if (target.empty()) return {};
  if (target == "-") {
    print_result(text);
    return {};
  }
  FileDescriptor file(open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.valid() || !write_all(file.get(), text))
    return std::unexpected(system_error("write", target, errno));
  return {};
}

ProgressLine::ProgressLine(std::string label) : label_(std::move(label)) {}
ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::progress(std::uint64_t clock, double seconds) {
  if (seconds < kQuietSeconds || isatty(STDERR_FILENO) == 0) return;
  redraw_line(fmt::format("clew: {}{} points, {:.0f} s", label_.empty() ? "" : label_ + ", ",
                          with_commas(clock), seconds));
  shown_ = true;
}

void ProgressLine::overall(std::uint64_t done, std::uint64_t of) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - started_).count();
  if (seconds < kQuietSeconds || now - drawn_ < std::chrono::milliseconds(100) ||
      isatty(STDERR_FILENO) == 0)
    return;
  drawn_ = now;
  redraw_line(fmt::format("clew: {} of {}, {:.0f} s", with_commas(done), with_commas(of), seconds));
  shown_ = true;
}

void ProgressLine::clear() {
  if (std::exchange(shown_, false)) redraw_line("");
}

}  // namespace clew::cli
