#include "runtime/strategy/script_items.h"

#include <algorithm>

namespace clew::rt {
namespace {

ScriptLane ScriptThread::* lane_of(const ScriptItem& item) {
  if (item.kind == abi::kScriptPreemption) return &ScriptThread::preemptions;
  return item.kind == abi::script_kind(abi::ChoiceKind::kCas) ? &ScriptThread::cas
                                                              : &ScriptThread::choices;
}

int rank_of(const ScriptItem& item) {
  const auto lane = lane_of(item);
  return lane == &ScriptThread::preemptions ? 0 : lane == &ScriptThread::choices ? 1 : 2;
}

bool in_order(const ScriptItem& a, const ScriptItem& b) {
  if (a.thread != b.thread) return a.thread < b.thread;
  if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
  if (a.own != b.own) return a.own < b.own;
  if (a.ordinal != b.ordinal) return a.ordinal < b.ordinal;
  return a.position < b.position;
}

}  // namespace

ScriptItems::ScriptItems(const abi::Job& job) {
  if (!read_guide(job)) count_ = 0;
  sort_by_thread();
}

bool ScriptItems::read_guide(const abi::Job& job) {
  abi::Reader reader(guide_of(job), job.guide.size);
  const std::uint64_t count = reader.varint();
  // Each is at least five bytes.
  if (!reader.ok() || count > job.guide.size / 5 || count > UINT32_MAX) return false;
  items_ = static_cast<ScriptItem*>(arena_alloc((count + 1) * sizeof(ScriptItem)));
  for (; count_ < count; ++count_) {
    abi::ScriptItem given;
    if (!abi::read_item(reader, given) || given.kind >= abi::kScriptKinds ||
        given.ordinal == UINT32_MAX)
      return false;
    items_[count_] = {given, static_cast<std::uint32_t>(count_)};
  }
  return reader.at_end();
}

void ScriptItems::sort_by_thread() {
  std::sort(items_, items_ + count_, in_order);
  const ScriptItem* const end = items_ + count_;
  for (const ScriptItem* item = items_; item != end;) {
    const ScriptItem& first = *item;
    ScriptThread thread;
    for (; item != end && item->thread == first.thread; ++item) {
      ScriptLane& lane = thread.*lane_of(*item);
      if (lane.empty()) lane.next = item;
      lane.end = item + 1;
    }
    thread.cas_due = thread.cas;
    threads_.put(first.thread, thread);
  }
}

}  // namespace clew::rt
