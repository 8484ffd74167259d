// From schedules to streams and back.
#include <fmt/format.h>

#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "host/schedule/stream.h"

namespace clew {
namespace {

using abi::EntryKind;

std::unexpected<Error> bad(std::uint64_t offset, std::string_view what) {
  return fail(ErrorCode::kBadInput, fmt::format("{} at byte {} of the stream", what, offset));
}

Result<std::vector<ThreadId>> parse_names(const std::vector<std::string>& names) {
  std::vector<ThreadId> threads;
  for (const std::string& name : names) {
    auto id = ThreadId::parse(name);
    if (!id) {
      id.error().code = ErrorCode::kBadInput;
      return std::unexpected(id.error());
    }
    threads.push_back(*std::move(id));
  }
  return threads;
}

// Turns a schedule's items into entries, and thread ids into indices.
class ScheduleEncoder {
 public:
  void operator()(const Switch& item) {
    Entry entry{.kind = EntryKind::kSwitchNext, .clock = item.clock};
    if (item.to) {
      entry.kind = EntryKind::kSwitchTo;
      entry.thread = index_of(*item.to);
    }
    encoder_.append(entry);
  }

  void operator()(const Choice& item) {
    if (abi::names_thread(item.kind) != item.thread.has_value())
      throw std::logic_error("encode: a choice with a thread too many or too few");
    if (last_ && std::pair(last_->clock, last_->ordinal) >= std::pair(item.clock, item.ordinal))
      throw std::logic_error("encode: choices must ascend");
    last_ = &item;
    encoder_.append(Entry{.kind = EntryKind::kChoice,
                          .clock = item.clock,
                          .ordinal = item.ordinal,
                          .choice = item.kind,
                          .value = item.thread ? index_of(*item.thread) : 1});
  }

  Stream take() { return {encoder_.take(), std::move(names_)}; }

 private:
  std::uint64_t index_of(const ThreadId& thread) {
    const auto [it, is_new] = indices_.try_emplace(thread, names_.size());
    if (is_new) names_.push_back(thread.text());
    return it->second;
  }

  StreamEncoder encoder_;
  std::vector<std::string> names_;
  std::unordered_map<ThreadId, std::uint64_t> indices_;
  const Choice* last_ = nullptr;
};

// The reverse, for untrusted entries.
class ScheduleCollector {
 public:
  explicit ScheduleCollector(std::vector<ThreadId> threads) : threads_(std::move(threads)) {}

  Result<void> add(const Entry& entry, std::uint64_t offset) {
    if (entry.kind == EntryKind::kCheck) return {};
    const bool is_choice = entry.kind == EntryKind::kChoice;
    if (entry.clock.value == 0) return bad(offset, "an item with clock 0");
    std::optional<ThreadId> thread;
    if (is_choice ? abi::names_thread(entry.choice) : entry.kind == EntryKind::kSwitchTo) {
      const std::uint64_t index = is_choice ? entry.value : entry.thread;
      if (index >= threads_.size())
        return bad(offset, fmt::format("thread name {}, of which there are only {},", index,
                                       threads_.size()));
      thread = threads_[index];
    }
    if (!is_choice) {
      schedule_.switches.push_back({entry.clock, std::move(thread)});
      return {};
    }
    if (!schedule_.choices.empty()) {
      const Choice& last = schedule_.choices.back();
      if (last.clock == entry.clock && last.ordinal >= entry.ordinal)
        return bad(offset, "a choice out of order");
    }
    schedule_.choices.push_back({entry.clock, entry.ordinal, entry.choice, std::move(thread)});
    return {};
  }

  Schedule take() { return std::move(schedule_); }

 private:
  std::vector<ThreadId> threads_;
  Schedule schedule_;
};

}  // namespace

Stream encode(const Schedule& schedule) {
  ScheduleEncoder encoder;
  for_each_item(schedule, encoder);
  return encoder.take();
}

Result<Schedule> to_schedule(const Stream& stream) {
  CLEW_TRY(auto threads, parse_names(stream.names));
  ScheduleCollector schedule(std::move(threads));
  StreamDecoder decoder;
  decoder.push(stream.bytes);
  for (;;) {
    const std::uint64_t offset = decoder.offset();
    CLEW_TRY(auto item, decoder.next());
    if (!item) break;
    const Entry* entry = std::get_if<Entry>(&*item);
    if (!entry) return bad(offset, "a message among the switches");
    CLEW_CHECK_OK(schedule.add(*entry, offset));
  }
  CLEW_CHECK_OK(decoder.finish());
  return schedule.take();
}

}  // namespace clew
