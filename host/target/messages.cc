#include "host/target/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace clew {
namespace {

using abi::MessageType;

// A program with more threads than this runs out of memory long before.
constexpr std::uint64_t kMaxThreads = 1u << 20;
constexpr std::size_t kMaxThreadIdLength = 1024;
constexpr std::size_t kMaxNotes = 1000;
constexpr std::size_t kMaxCreated = 1u << 16;

class Payload {
 public:
  explicit Payload(std::span<const std::uint8_t> bytes)
      : reader_(bytes.data(), bytes.size()), left_(bytes.size()) {}

  std::uint64_t number() { return reader_.varint(); }

  std::string text() {
    const std::uint64_t size = reader_.varint();
    const std::uint8_t* bytes = reader_.bytes(size);
    return bytes != nullptr ? std::string(reinterpret_cast<const char*>(bytes), size) : "";
  }

  FrameList frames() {
    const std::uint64_t count = reader_.varint();
    FrameList list;
    if (count > left_) bad_ = true;  // each address takes at least one byte
    for (std::uint64_t i = 0; i < count && good(); ++i) list.push_back(reader_.varint());
    return list;
  }

  template <class Enum>
  Enum one_of() {
    const std::uint64_t value = reader_.varint();
    if (value >= static_cast<std::uint64_t>(Enum::kCount)) bad_ = true;
    return bad_ ? Enum{} : static_cast<Enum>(value);
  }

  abi::SliceEnd slice_end() {
    const std::uint64_t value = reader_.varint();
    if (value > static_cast<std::uint64_t>(abi::SliceEnd::kRunEnded)) bad_ = true;
    return bad_ ? abi::SliceEnd::kRunEnded : static_cast<abi::SliceEnd>(value);
  }

  bool good() const { return reader_.ok() && !bad_; }

 private:
  abi::Reader reader_;
  std::size_t left_;
  bool bad_ = false;
};

MessageStatus status_of(bool good) {
  return good ? MessageStatus::kGood : MessageStatus::kMalformed;
}

ThreadInfo& thread_at(Reports& reports, std::uint64_t index) {
  if (reports.threads.size() <= index) reports.threads.resize(index + 1);
  return reports.threads[index];
}

MessageStatus read_thread(Payload payload, Reports& reports) {
  const std::uint64_t index = payload.number();
  const std::uint64_t parent = payload.number();
  const std::uint64_t ordinal = payload.number();
  const std::uint64_t start = payload.number();
  if (!payload.good() || index >= kMaxThreads || (index != 0 && parent >= index))
    return MessageStatus::kMalformed;
  std::string id = "T0";
  if (index != 0) {
    id = fmt::format("{}.{}", thread_at(reports, parent).id, ordinal);
    if (id.size() > kMaxThreadIdLength) return MessageStatus::kMalformed;
  }
  ThreadInfo& thread = thread_at(reports, index);
  thread.id = std::move(id);
  thread.start = start;
  return MessageStatus::kGood;
}

MessageStatus read_name(Payload payload, Reports& reports) {
  const std::uint64_t index = payload.number();
  std::string name = payload.text();
  if (!payload.good() || index >= reports.threads.size()) return MessageStatus::kMalformed;
  reports.threads[index].name = std::move(name);
  return MessageStatus::kGood;
}

MessageStatus read_failure(Payload payload, Reports& reports) {
  FailureReport failure;
  failure.kind = payload.one_of<abi::FailureKind>();
  failure.thread = payload.number();
  failure.detail = payload.text();
  failure.file = payload.text();
  failure.line = static_cast<std::uint32_t>(payload.number());
  failure.function = payload.text();
  failure.frames = payload.frames();
  if (!payload.good()) return MessageStatus::kMalformed;
  // The first one is the cause; what follows may be its consequence.
  if (!reports.failure) reports.failure = std::move(failure);
  return MessageStatus::kGood;
}

MessageStatus read_wait(Payload payload, Reports& reports) {
  WaitReport wait;
  wait.thread = payload.number();
  wait.kind = payload.one_of<abi::WaitKind>();
  wait.object = payload.number();
  if (const std::uint64_t holder = payload.number(); holder != 0) wait.holder = holder - 1;
  wait.place = payload.number();
  wait.since = payload.number();
  wait.frames = payload.frames();
  if (!payload.good()) return MessageStatus::kMalformed;
  // What was said of the thread before is out of date.
  std::erase_if(reports.waits, [&](const WaitReport& old) { return old.thread == wait.thread; });
  std::erase_if(reports.holds, [&](const HoldReport& old) { return old.thread == wait.thread; });
  reports.waits.push_back(std::move(wait));
  return MessageStatus::kGood;
}

MessageStatus read_created(Payload payload, Reports& reports) {
  const std::uint64_t number = payload.number();
  CreatedName name{payload.one_of<abi::CreatedKind>(), payload.number(), payload.number(),
                   payload.text()};
  if (!payload.good() || number > reports.created.size() || number >= kMaxCreated)
    return MessageStatus::kMalformed;
  if (number == reports.created.size()) reports.created.emplace_back();
  reports.created[number] = std::move(name);
  return MessageStatus::kGood;
}

FindingReport::Site read_finding_site(Payload& payload) {
  FindingReport::Site site;
  site.action = payload.one_of<abi::FindingAction>();
  site.thread = payload.number();
  site.clock = payload.number();
  site.place = payload.number();
  site.object = payload.number();
  site.size = payload.number();
  const std::uint64_t locks = payload.number();
  for (std::uint64_t i = 0; i < locks && i < abi::kMaxFindingLocks && payload.good(); ++i) {
    const auto kind = payload.one_of<abi::WaitKind>();
    site.locks.push_back({kind, payload.number()});
  }
  return site;
}

MessageStatus read_finding(Payload payload, Reports& reports) {
  FindingReport finding;
  finding.kind = payload.one_of<abi::FindingKind>();
  finding.severity = payload.one_of<abi::FindingSeverity>();
  finding.address = payload.number();
  finding.size = payload.number();
  finding.name = payload.text();
  finding.text = payload.text();
  const std::uint64_t sites = payload.number();
  for (std::uint64_t i = 0; i < sites && i < abi::kMaxFindingSites && payload.good(); ++i)
    finding.sites.push_back(read_finding_site(payload));
  if (!payload.good()) return MessageStatus::kMalformed;
  if (reports.findings.size() < abi::kMaxFindings) reports.findings.push_back(std::move(finding));
  return MessageStatus::kGood;
}

}  // namespace

MessageStatus read_message(std::uint64_t type, std::span<const std::uint8_t> bytes,
                           Reports& reports) {
  Payload payload(bytes);
  switch (static_cast<MessageType>(type)) {
    case MessageType::kThread:
      return read_thread(payload, reports);
    case MessageType::kName:
      return read_name(payload, reports);
    case MessageType::kFailure:
      return read_failure(payload, reports);
    case MessageType::kWaits:
      return read_wait(payload, reports);
    case MessageType::kCreated:
      return read_created(payload, reports);
    case MessageType::kFinding:
      return read_finding(payload, reports);
    case MessageType::kModule: {
      ModuleInfo module{payload.number(), payload.number(), payload.text()};
      if (payload.good()) reports.modules.push_back(std::move(module));
      return status_of(payload.good());
    }
    case MessageType::kHolds: {
      const HoldReport hold{payload.number(), payload.one_of<abi::WaitKind>(),
                            payload.number(), payload.number(),
                            payload.number(), std::nullopt};
      if (payload.good()) reports.holds.push_back(hold);
      return status_of(payload.good());
    }
    case MessageType::kBecomes: {
      std::string path = payload.text();
      if (payload.good() && path.empty()) {
        reports.becomes.reset();
        reports.end.reset();
      } else if (payload.good()) {
        reports.becomes = std::move(path);
      }
      return status_of(payload.good());
    }
    case MessageType::kStatus: {
      const std::uint64_t status = payload.number();
      if (payload.good() && status <= 0xffff) reports.status = static_cast<int>(status);
      return status_of(payload.good() && status <= 0xffff);
    }
    case MessageType::kSlice: {
      const SliceReport slice{payload.number(),
                              payload.number(),
                              payload.number(),
                              payload.number(),
                              payload.number(),
                              payload.slice_end(),
                              payload.one_of<abi::WaitKind>(),
                              payload.number()};
      if (payload.good()) reports.slices.push_back(slice);
      return status_of(payload.good());
    }
    case MessageType::kStack: {
      StackReport stack{payload.number(), payload.number(), payload.number() != 0, payload.number(),
                        payload.frames()};
      if (payload.good()) reports.stacks.push_back(std::move(stack));
      return status_of(payload.good());
    }
    case MessageType::kMaps: {
      std::string maps = payload.text();
      if (payload.good()) reports.maps = std::move(maps);
      return status_of(payload.good());
    }
    case MessageType::kNote: {
      std::string note = payload.text();
      const bool known = std::ranges::find(reports.notes, note) != reports.notes.end();
      if (payload.good() && !known && reports.notes.size() < kMaxNotes)
        reports.notes.push_back(std::move(note));
      return status_of(payload.good());
    }
    case MessageType::kDeparted: {
      Departure departure{payload.number(), payload.number(), payload.number(),
                          payload.number(), payload.number(), payload.text()};
      if (payload.good() && !reports.departure) reports.departure = std::move(departure);
      return status_of(payload.good());
    }
    case MessageType::kEnd: {
      const EndReport end{payload.number(), payload.number(), payload.number(), payload.number(),
                          payload.number()};
      if (payload.good()) reports.end = end;
      return status_of(payload.good());
    }
  }
  return MessageStatus::kMalformed;
}

}  // namespace clew
