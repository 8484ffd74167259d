#include "host/toolchain/request.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <string_view>

#include "host/quote.h"
#include "host/toolchain/clang_options.h"

namespace clew::toolchain {
namespace {

constexpr std::string_view kOwnPrefix = "-fclew-";
constexpr std::string_view kYield = "-fclew-yield=";
constexpr auto kGranularities = std::to_array<std::string_view>({"sync", "shared", "line"});

// A comma-separated list.
bool lists(std::string_view values, std::string_view wanted) {
  return std::ranges::any_of(values | std::views::split(','), [&](auto part) {
    return std::string_view(part.begin(), part.end()) == wanted;
  });
}

bool is_relocatable(std::string_view linker_option) {
  return linker_option == "-r" || linker_option == "--relocatable";
}

bool is_c_library(std::string_view input) {
  return input == "-lc" || input == "-l:libc.so" || input == "-l:libc.so.6" ||
         input.ends_with("/libc.so") || input.ends_with("/libc.so.6");
}

class Reader {
 public:
  Reader(std::span<const ExpandedArgument> arguments, const Files& files)
      : arguments_(arguments), files_(files) {}

  Result<Request> read() {
    for (at_ = 0; at_ < arguments_.size(); ++at_) {
      const std::string_view text = arguments_[at_].text;
      if (text == "--") {
        read_inputs_to_end();
        break;
      }
      if (text.starts_with(kOwnPrefix)) {
        CLEW_CHECK_OK(read_own(text));
      } else if (text.size() < 2 || text.front() != '-') {
        read_input(text);
      } else {
        read_option(text);
      }
    }
    request_.has_input = has_header_ || has_linkable_;
    request_.links = has_linkable_ && !stops_;
    request_.is_executable = request_.links && !shared_;
    request_.has_sanitizer = request_.is_executable && sanitizer_;
    return refuse_what_cannot_work();
  }

 private:
  Result<void> read_own(std::string_view text) {
    request_.own.push_back(at_);
    if (!text.starts_with(kYield)) {
      return fail(ErrorCode::kUsage, "unknown option " + quote(text),
                  "clew's only compiler option is -fclew-yield=sync|shared|line");
    }
    const std::string_view value = text.substr(kYield.size());
    if (std::ranges::find(kGranularities, value) == kGranularities.end()) {
      return fail(ErrorCode::kUsage, "unknown granularity " + quote(value) + " in " + quote(text),
                  "use -fclew-yield=sync, -fclew-yield=shared or -fclew-yield=line");
    }
    request_.granularity = value;
    return {};
  }

  void read_input(std::string_view text) {
    if (is_c_library(text)) link_before(at_);
    if (text != "-" && !elsewhere_ && !files_.exists(std::string(text))) return;
    const bool header = language_.empty() ? is_header_file(text) : is_header_language(language_);
    (header ? has_header_ : has_linkable_) = true;
  }

  void read_inputs_to_end() {
    link_before(at_);
    for (const ExpandedArgument& input : arguments_.subspan(at_ + 1)) read_input(input.text);
  }

  void read_option(std::string_view option) {
    const std::size_t option_at = at_;
    std::string_view value;
    if (values_after(option) > 0 && at_ + 1 < arguments_.size()) value = arguments_[++at_].text;

    if (stops_before_link(option)) {
      stops_ = true;
    } else if (option == "-static" || option == "--static" || option == "-static-pie") {
      static_ = option;
    } else if (option == "-shared" || option == "--shared") {
      shared_ = true;
    } else if (option.starts_with("-working-directory") || option.contains("vfsoverlay")) {
      elsewhere_ = true;
    } else if (option.starts_with("-x")) {
      read_language(option == "-x" ? value : option.substr(2));
    } else if (option == "--language" || option.starts_with("--language=")) {
      read_language(value.empty() ? option.substr(option.find('=') + 1) : value);
    } else if (option.starts_with("-l")) {
      has_linkable_ = true;
      if (is_c_library(std::string(option).append(value))) link_before(option_at);
    } else {
      read_linker_option(option, value);
      read_sanitizers(option);
    }
  }

  void read_language(std::string_view language) {
    language_ = language == "none" ? std::string_view{} : language;
  }

  // Arguments for the linker are inputs to clang: `cc -Wl,--version` links.
  void read_linker_option(std::string_view option, std::string_view value) {
    if (option.starts_with("-Wl,")) {
      has_linkable_ = true;
      if (lists(option, "-r") || lists(option, "--relocatable")) stops_ = true;
    } else if (option == "-Xlinker" || option == "--for-linker" || option == "-z") {
      has_linkable_ = true;
      if (option != "-z" && is_relocatable(value)) stops_ = true;
    }
  }

  void read_sanitizers(std::string_view option) {
    constexpr std::string_view kOn = "-fsanitize=";
    constexpr std::string_view kOff = "-fno-sanitize=";
    if (option.starts_with(kOn)) {
      sanitizer_ = true;
      if (lists(option.substr(kOn.size()), "thread")) thread_sanitizer_ = true;
    } else if (option.starts_with(kOff)) {
      const std::string_view off = option.substr(kOff.size());
      if (lists(off, "thread") || lists(off, "all")) thread_sanitizer_ = false;
      if (lists(off, "all")) sanitizer_ = false;
    }
  }

  Result<Request> refuse_what_cannot_work() {
    if (thread_sanitizer_ && request_.has_input) {
      return fail(ErrorCode::kUsage,
                  "-fsanitize=thread cannot be combined with clew: ThreadSanitizer's own model of "
                  "threads and memory does not fit clew's fibers",
                  "leave out -fsanitize=thread: clew finds races by running the program under many "
                  "schedules");
    }
    if (request_.links && !static_.empty()) {
      return fail(
          ErrorCode::kUsage,
          std::string(static_) + " cannot work with clew: its runtime is a shared library",
          "leave " + std::string(static_) + " out; -static-libgcc and -static-libstdc++ are fine");
    }
    return std::move(request_);
  }

  void link_before(std::size_t index) {
    if (!request_.link_before) request_.link_before = index;
  }

  std::span<const ExpandedArgument> arguments_;
  const Files& files_;
  std::size_t at_ = 0;
  Request request_;
  std::string_view language_;  // of -x; empty: by file name
  std::string_view static_;    // the option that requests it
  bool elsewhere_ = false;  // clang resolves paths differently, so we cannot know which files exist
  bool has_header_ = false;
  bool has_linkable_ = false;
  bool stops_ = false;
  bool shared_ = false;
  bool sanitizer_ = false;
  bool thread_sanitizer_ = false;
};

}  // namespace

Result<Request> read_request(std::span<const ExpandedArgument> arguments, const Files& files) {
  return Reader(arguments, files).read();
}

}  // namespace clew::toolchain
