#include "host/report/access_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "host/names/part_text.h"
#include "host/names/value_text.h"
#include "host/report/names.h"
#include "host/report/object_words.h"
#include "host/report/pinpoint_text.h"
#include "host/report/words.h"

namespace clew {
namespace {

AccessValue value_of(const ExecutedAccess& access) {
  return {access.kind, access.size, access.has_value, access.value};
}

// Of several members or elements at once, or a part of a string.
std::string parts_of(const AccessValue& access, const ObjectName& name) {
  if (name.type == nullptr) return "";
  const bool is_one = !name.type->is_aggregate() && name.offset == 0 &&
                      name.type->size().value_or(0) >= access.size;
  if (is_one) return "";
  std::uint8_t bytes[8];
  std::memcpy(bytes, &access.value, sizeof bytes);
  const std::string text =
      part_text(*name.type, name.offset,
                std::span(bytes).first(std::min<std::size_t>(access.size, sizeof bytes)), {});
  return text.empty() || access.size <= sizeof bytes ? text : text + " and more";
}

std::string thread_of(std::uint16_t thread, const std::vector<ThreadInfo>& threads) {
  return thread < threads.size() ? printable(threads[thread].id) : "?";
}

// Of another thread's value: ", written by T0.1 at int_queue.cpp:36".
std::string origin_text(const ExecutedAccess& access, const ExecutedLine& line,
                        const std::vector<ThreadInfo>& threads) {
  if (!access.written_by || access.written_by->thread == line.thread) return "";
  return fmt::format(", written by {} at {}:{}", thread_of(access.written_by->thread, threads),
                     short_path(access.written_by->at.file), access.written_by->at.line);
}

Json origin_json(const ExecutedAccess& access, const std::vector<ThreadInfo>& threads) {
  if (!access.written_by) return nullptr;
  return {{"thread", thread_of(access.written_by->thread, threads)},
          {"at", location_json(access.written_by->at)}};
}

}  // namespace

const char* to_verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return "reads";
    case AccessKind::kWrite:
      return "writes";
    default:
      return "updates";
  }
}

std::string access_value_text(const AccessValue& access, const ObjectName& name) {
  if (!access.is_known) return "";
  const char* before = access.kind == AccessKind::kUpdate ? " to " : ": ";
  // By its type, if that has more to say than a number.
  if (name.type != nullptr && !name.type->is_aggregate() && name.offset == 0 && access.size <= 8 &&
      name.type->size() == access.size && name.type->kind() != Type::Kind::kSigned &&
      name.type->kind() != Type::Kind::kUnsigned && !name.type->is_pointer()) {
    std::uint8_t bytes[8];
    std::memcpy(bytes, &access.value, sizeof bytes);
    return before + value_text(*name.type, std::span(bytes).first(access.size), {});
  }
  if (const std::string parts = parts_of(access, name); !parts.empty()) return before + parts;
  if (access.size > 8) return fmt::format("{}0x{:x} and more", before, access.value);
  const unsigned shift = 64 - 8 * access.size;
  const auto value = static_cast<std::int64_t>(access.value << shift) >> shift;
  constexpr std::int64_t kLargestNumber = std::int64_t{1} << 40;  // addresses are larger
  if ((name.type != nullptr && name.type->is_pointer() && access.value != 0) ||
      value >= kLargestNumber || value <= -kLargestNumber)
    return fmt::format("{}0x{:x}", before, access.value);
  return value > -10 && value < 10 ? fmt::format("{}{}", before, value)
                                   : fmt::format("{}{} (0x{:x})", before, value, access.value);
}

std::string executed_text(const ExecutedLines& lines, const std::vector<ThreadInfo>& threads) {
  std::string text = fmt::format("{:>12}  {:<8} line\n", "after clock", "thread");
  std::map<std::pair<std::string, std::uint32_t>, std::string> sources;
  for (const ExecutedLine& line : lines.lines) {
    const auto [source, added] = sources.try_emplace({line.at.file, line.at.line});
    if (added) source->second = source_line(line.at);
    const std::string thread = thread_of(line.thread, threads);
    text +=
        fmt::format("{:>12}  {:<8} {}{}\n", with_commas(line.clock), thread, location_text(line.at),
                    source->second.empty() ? "" : "  | " + source->second);
    for (const ExecutedAccess& access : line.accesses)
      text += fmt::format("{:24} {} {}{}{}\n", "", to_verb(access.kind),
                          access.name.known() ? object_words(access.name, thread)
                                              : fmt::format("0x{:x}", access.address),
                          access_value_text(value_of(access), access.name),
                          origin_text(access, line, threads));
    if (line.more > 0)
      text += fmt::format("{:24} ... and {}\n", "", counted(line.more, "further access"));
  }
  if (lines.total > lines.lines.size())
    text += fmt::format("  ... and {} more (--most {})\n",
                        with_commas(lines.total - lines.lines.size()), lines.total);
  return text;
}

Json executed_json(const ExecutedLines& lines, const std::vector<ThreadInfo>& threads) {
  Json all = Json::array();
  for (const ExecutedLine& line : lines.lines) {
    Json accesses = Json::array();
    for (const ExecutedAccess& access : line.accesses)
      accesses.push_back({{"what", to_verb(access.kind)},
                          {"address", access.address},
                          {"variable", short_object_words(access.name)},
                          {"text", access_value_text(value_of(access), access.name)},
                          {"size", access.size},
                          {"value", access.has_value ? Json(access.value) : Json()},
                          {"written_by", origin_json(access, threads)}});
    all.push_back({{"clock", line.clock},
                   {"thread", thread_of(line.thread, threads)},
                   {"at", location_json(line.at)},
                   {"accesses", accesses},
                   {"more", line.more}});
  }
  return all;
}

}  // namespace clew
