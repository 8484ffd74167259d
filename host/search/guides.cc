#include "host/search/guides.h"

#include <utility>

#include "clew_abi/stream.h"

namespace clew {

namespace {

class Writer {
 public:
  Writer& operator<<(std::uint64_t value) {
    std::uint8_t encoded[abi::kMaxVarint];
    const std::size_t size = abi::put_varint(encoded, value);
    bytes_.insert(bytes_.end(), encoded, encoded + size);
    return *this;
  }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

std::vector<std::uint8_t> surw_guide(std::span<const SurwThread> threads,
                                     std::span<const abi::Place> interesting) {
  Writer out;
  out << threads.size();
  for (const SurwThread& thread : threads) out << thread.key << thread.own << thread.created;
  out << interesting.size();
  for (const abi::Place place : interesting) out << place;
  return out.take();
}

std::vector<std::uint8_t> rff_guide(std::span<const RffConstraint> constraints,
                                    std::span<const abi::Place> rivals) {
  Writer out;
  out << constraints.size();
  for (const RffConstraint& constraint : constraints)
    out << constraint.write << constraint.read << static_cast<std::uint64_t>(constraint.sign);
  out << rivals.size();
  for (const abi::Place rival : rivals) out << rival;
  return out.take();
}

std::vector<std::uint8_t> plan_guide(std::span<const PlanDirective> directives) {
  Writer out;
  out << directives.size();
  for (const PlanDirective& directive : directives)
    out << directive.thread << static_cast<std::uint64_t>(directive.stop) << directive.place
        << directive.times << directive.flags;
  return out.take();
}

std::vector<std::uint8_t> script_guide(std::span<const ScriptItem> items) {
  Writer out;
  out << items.size();
  for (const ScriptItem& item : items)
    out << item.thread << item.own << item.kind << item.ordinal << item.to;
  return out.take();
}

std::vector<ScriptItem> script_of(std::span<const abi::TraceEvent> trace) {
  std::vector<ScriptItem> items;
  for (const abi::TraceEvent& event : trace)
    if (event.kind == abi::StepKind::kDecision)
      items.push_back({event.thread, event.own, event.flags, event.size, event.object});
  return items;
}

std::vector<std::uint8_t> prefix_guide(std::span<const std::uint32_t> threads) {
  Writer out;
  out << threads.size();
  for (const std::uint32_t thread : threads) out << thread;
  return out.take();
}

}  // namespace clew
