#include "host/trace/trace_decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace clew {
namespace {

// Nothing: the record is too short to be one.
template <class Record>
std::optional<Record> copied(const abi::TraceHead& head, std::span<const std::uint8_t> bytes) {
  if (bytes.size() < sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, bytes.data(), sizeof record);
  record.head = head;  // which was checked
  return record;
}

}  // namespace

void TraceDecoder::push(std::span<const std::uint8_t> bytes) {
  // Most traces come in one piece.
  if (trace_.steps.empty()) trace_.steps.reserve(bytes.size() / sizeof(abi::TraceAccess));
  while (!bad_at_ && !bytes.empty()) {
    if (pending_.empty()) {
      const std::size_t size = take(bytes);
      bytes = bytes.subspan(size);
      if (size != 0 || bad_at_) continue;
      pending_.assign(bytes.begin(), bytes.end());
      return;
    }
    // Up to the end of the record's head, and then up to its own.
    std::size_t wanted = sizeof(abi::TraceHead);
    if (pending_.size() >= wanted)
      wanted = reinterpret_cast<const abi::TraceHead*>(pending_.data())->size;
    if (wanted < pending_.size()) {  // it was changed while it was looked at
      bad_at_ = position_;
      return;
    }
    const std::size_t size = std::min(wanted - pending_.size(), bytes.size());
    pending_.insert(pending_.end(), bytes.begin(), bytes.begin() + static_cast<long>(size));
    bytes = bytes.subspan(size);
    if (take(pending_) != 0) pending_.clear();
  }
}

std::size_t TraceDecoder::take(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < sizeof(abi::TraceHead)) return 0;
  abi::TraceHead head;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.size < sizeof head || head.size % abi::kTraceAlignment != 0) {
    bad_at_ = position_;
    return 0;
  }
  if (bytes.size() < head.size) return 0;
  if (!read(head, bytes.first(head.size))) {
    bad_at_ = position_;
    return 0;
  }
  position_ += head.size;
  return head.size;
}

bool TraceDecoder::read(const abi::TraceHead& head, std::span<const std::uint8_t> bytes) {
  switch (head.kind) {
    case abi::TraceKind::kAccess: {
      const auto record = copied<abi::TraceAccess>(head, bytes);
      if (!record || !abi::is_access(record->kind) ||
          record->value_size > bytes.size() - sizeof *record)
        return false;
      read_step(*record, record->address, record->size);
      return true;
    }
    case abi::TraceKind::kSync: {
      const auto record = copied<abi::TraceSync>(head, bytes);
      if (!record || record->kind >= abi::StepKind::kCount || abi::is_access(record->kind))
        return false;
      read_step(*record, record->object, 0);
      return true;
    }
    case abi::TraceKind::kDecision: {
      const auto record = copied<abi::TraceDecision>(head, bytes);
      if (!record || record->kind >= abi::kScriptKinds) return false;
      trace_.decisions.push_back({.thread = head.thread,
                                  .place = record->place,
                                  .to = record->to,
                                  .clock = head.clock,
                                  .own = head.own,
                                  .steps_before = trace_.steps.size(),
                                  .ordinal = record->ordinal,
                                  .kind = record->kind});
      return true;
    }
  }
  return true;  // of a kind that is not known here
}

template <class Record>
void TraceDecoder::read_step(const Record& record, std::uint64_t object, std::uint32_t size) {
  trace_.steps.push_back({.thread = record.head.thread,
                          .place = record.place,
                          .object = object,
                          .clock = record.head.clock,
                          .own = record.head.own,
                          .enabled = record.enabled,
                          .size = size,
                          .index = record.head.index,
                          .kind = record.kind,
                          .flags = record.head.flags});
}

Trace TraceDecoder::finish() {
  trace_.complete = !bad_at_ && pending_.empty();
  return std::exchange(trace_, {});
}

}  // namespace clew
