#include "runtime/detect/findings.h"

#include "clew_abi/control.h"
#include "clew_abi/findings.h"
#include "runtime/record/end.h"
#include "runtime/record/job.h"
#include "runtime/record/log.h"
#include "runtime/record/stacks.h"

namespace clew::rt {

constinit Findings g_findings;

namespace {

const char* failure_text(const FoundSomething& found) {
  switch (found.kind) {
    case abi::FindingKind::kRace:
      return "a data race";
    case abi::FindingKind::kLockOrder:
      return "locks are taken in an order that can deadlock";
    case abi::FindingKind::kMemory:
      return found.sites[0].action == abi::FindingAction::kFree
                 ? "memory is freed twice"
                 : "memory is used after it was freed";
    default:
      return found.text;
  }
}

void put(Payload& payload, const FindingSite& site) {
  payload.number(static_cast<std::uint64_t>(site.action))
      .number(site.thread)
      .number(site.clock)
      .number(site.place)
      .number(site.object)
      .number(site.size);
  const std::uint32_t count = site.locks != nullptr ? site.locks->count : 0;
  payload.number(count);
  for (std::uint32_t i = 0; i < count; ++i)
    payload.number(static_cast<std::uint64_t>(site.locks->held[i].kind))
        .number(site.locks->held[i].object);
}

std::uint64_t key_of(const FoundSomething& found) {
  abi::FindingKey key(found.kind);
  key.name(found.name);
  if (found.sites_count == 0) key.name(found.text);
  for (std::uint32_t i = 0; i < found.sites_count; ++i)
    key.site(found.sites[i].action, found.sites[i].place);
  return key.value();
}

}  // namespace

void Findings::begin(std::uint32_t flags) {
  flags_ = flags;
  count_ = 0;
  ending_ = false;
  if (!running_job()) return;
  for (std::uint32_t i = 0; i < before_jobs_count_; ++i) note_of_job(before_jobs_[i]);
}

void Findings::note_of_job(std::uint64_t key) {
  auto& control = *reinterpret_cast<abi::Control*>(abi::kControlAddress);
  const std::uint64_t count = control.head.load(std::memory_order_relaxed);
  if ((count + 1) * sizeof(abi::FindingNote) > control.ring_size) return;
  reinterpret_cast<abi::FindingNote*>(abi::kControlAddress + control.ring_offset)[count] = {
      control.jobs_done.load(std::memory_order_relaxed), 0, key};
  control.head.store(count + 1, std::memory_order_release);
}

void Findings::report(const FoundSomething& found, Counts counts) {
  if (ending_ || count_ >= abi::kMaxFindings) return;
  if (running_job())
    note_of_job(key_of(found));
  else if (before_jobs_count_ < abi::kMaxFindings)
    before_jobs_[before_jobs_count_++] = key_of(found);
  if (++count_ == 1) report_maps();
  Payload payload;
  payload.number(static_cast<std::uint64_t>(found.kind))
      .number(static_cast<std::uint64_t>(found.severity))
      .number(found.address)
      .number(found.size)
      .text(found.name)
      .text(found.text)
      .number(found.sites_count);
  for (std::uint32_t i = 0; i < found.sites_count; ++i) put(payload, found.sites[i]);
  g_log.message(abi::MessageType::kFinding, payload);
  if (count_ == abi::kMaxFindings) note("there are more findings than are listed");
  const bool fails = counts == Counts::kAsFailure || (flags_ & abi::fails_flag(found.kind)) != 0;
  if (!fails) return;
  ending_ = true;
  end_found(abi::failure_of(found.kind), failure_text(found));
}

void Findings::note(const char* line) { g_log.note(line); }

}  // namespace clew::rt
