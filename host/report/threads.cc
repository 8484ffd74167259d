#include "host/report/threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "host/isolate/each_event.h"
#include "host/report/names.h"
#include "host/report/object_words.h"
#include "host/report/words.h"

namespace clew {
namespace {

constexpr std::size_t kMostInSentence = 32;

std::string role_of_frame(const SourceFrame& frame) {
  if (is_lambda(frame.function) && frame.start_line != 0)
    return fmt::format("lambda at {}:{}", std::filesystem::path(frame.file).filename().string(),
                       frame.start_line);
  return function_text(frame.function);
}

// The stacks that a run has told of a thread.
std::vector<const FrameList*> stacks_of(const Reports& reports, ThreadIndex thread) {
  std::vector<const FrameList*> list;
  for (const StackReport& stack : reports.stacks)
    if (stack.thread == thread) list.push_back(&stack.frames);
  for (const WaitReport& wait : reports.waits)
    if (wait.thread == thread) list.push_back(&wait.frames);
  if (reports.failure && reports.failure->thread == thread)
    list.push_back(&reports.failure->frames);
  return list;
}

}  // namespace

std::string role_of(std::string_view id, std::string_view given,
                    const std::vector<SourceFrame>& stack) {
  if (!given.empty()) return printable(given);
  if (id == "T0") return "main";
  const auto outermost = std::find_if(stack.rbegin(), stack.rend(), is_user_code);
  return outermost == stack.rend() ? "" : printable(role_of_frame(*outermost));
}

std::string thread_label(std::string_view id, std::string_view role) {
  if (role.empty() || role.size() > kMostInSentence) return printable(id);
  return fmt::format("{} ({})", role, printable(id));
}

std::string thread_label(const RunResult& run, Symbolizer& symbols, ThreadIndex thread) {
  const std::string id = run.thread_id(thread);
  const auto& threads = run.reports.threads;
  const std::string given = thread < threads.size() ? threads[thread].name : "";
  std::string role = role_of(id, given, {});
  for (const FrameList* frames : stacks_of(run.reports, thread)) {
    if (!role.empty()) break;
    role = role_of(id, given, symbols.frames(*frames));
  }
  if (role.empty() && thread < threads.size() && threads[thread].start != 0)
    role = role_of(id, given, symbols.frames({threads[thread].start}));
  return thread_label(id, role);
}

Mentions::Mentions(const IsolateResult& result) {
  const auto add = [this](const Standpoint& standpoint) {
    if (standpoint.thread.empty()) return;
    std::string& role = roles_[standpoint.thread];
    if (role.empty()) role = role_of(standpoint.thread, standpoint.name, standpoint.stack);
  };
  const auto add_both = [&add](const Standpoint& from, const std::optional<Standpoint>& next) {
    add(from);
    if (next) add(*next);
  };
  for (const IsolatedSwitch& one : result.switches) {
    add_both(one.fail_from, one.fail_next);
    if (one.pass_from) add_both(*one.pass_from, one.pass_next);
  }
  for (const PreemptionInfo& one : result.preemptions) add_both(one.from, one.next);
  for_each_event(result, [this](const EventInfo& event, EventSide) {
    Object object{object_words(event.name, event.thread), object_words_again(event.name)};
    if (object.first != object.again &&
        std::ranges::find(objects_, object.first, &Object::first) == objects_.end())
      objects_.push_back(std::move(object));
  });
}

std::string Mentions::shorten_objects(std::string text) {
  for (const auto& [first, again] : objects_) {
    std::size_t at = text.find(first);
    if (at == std::string::npos) continue;
    if (mentioned_.insert(first).second) at = text.find(first, at + first.size());
    for (; at != std::string::npos; at = text.find(first, at + again.size()))
      text.replace(at, first.size(), again);
  }
  return text;
}

std::string Mentions::introduce(std::string text) {
  text = shorten_objects(std::move(text));
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (const auto& [id, role] : roles_) {
    if (introduced_.contains(id)) continue;
    for (std::size_t at = text.find(id); at != std::string::npos; at = text.find(id, at + 1)) {
      const std::size_t end = at + id.size();
      // T0.1 is no mention of T0, and the full stop of a sentence is no part of an id.
      const bool longer =
          end < text.size() &&
          (is_part(text[end]) || (text[end] == '.' && end + 1 < text.size() &&
                                  std::isdigit(static_cast<unsigned char>(text[end + 1])) != 0));
      if (longer || (at > 0 && (is_part(text[at - 1]) || text[at - 1] == '('))) continue;
      if (const std::string label = thread_label(id, role); label != id) {
        text.replace(at, id.size(), label);
        introduced_.insert(id);
      }
      break;
    }
  }
  return text;
}

std::string Mentions::legend() const {
  if (roles_.empty()) return "";
  std::string text = "T0 is the main thread, T0.1 the first thread that it created";
  for (const auto& [id, role] : roles_)
    if (!role.empty() && id != "T0" && !introduced_.contains(id))
      text += fmt::format("; {} runs {}", printable(id), role);
  return text +
         ". A step is one yield point (an access to memory, a lock, a call); the clock counts "
         "them.";
}

}  // namespace clew
