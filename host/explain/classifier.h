// What kind of fault a root is: the questions, asked in order, and what their answers add to the cause. Each subject has a file:
// classify.cc the order of the questions, uses that come too early or too late; classify_ended.cc what is no more; classify_between.cc
// one thread between two accesses of another; classify_halves.cc things that are changed in two steps; classify_let_in.cc what let a
// thread come there.
#ifndef CLEW_HOST_EXPLAIN_CLASSIFIER_H_
#define CLEW_HOST_EXPLAIN_CLASSIFIER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "host/explain/memory_history.h"
#include "host/explain/root_cause.h"

namespace clew {

[[nodiscard]] bool is_creation(std::string_view name);

// The call that the node is; nullptr: it is none that was seen.
[[nodiscard]] const OutsideCall* call_of(const RunTrace& run, NodeId node);

// Whether nothing keeps the two apart: no lock that both hold, no synchronisation that orders them, and
// they are not both atomic. A thread and its own handler do not run at the same time.
[[nodiscard]] bool unordered(TracedPair& pair, Instance a, Instance b, std::uint64_t address,
                             WhichRun side = kFailing);

class Classifier {
 public:
  Classifier(TracedPair& pair, Naming& naming, const DualSlice& slice, Root& root)
      : pair_(pair),
        naming_(naming),
        slice_(slice),
        root_(root),
        run_(pair.trace(kFailing)),
        parties_(pair.parties(kFailing)) {}

  Cause classify();

 private:
  bool is_foreign(WhichRun side, NodeId made, NodeId use) const;
  CauseEvent event(WhichRun side, Instance at);
  std::optional<CauseEvent> source(WhichRun side, NodeId node);
  bool unordered(Instance a, Instance b);
  const MemoryAccess* entry(Instance at) const;
  bool is_by(const MemoryAccess& one, PartyId party) const;
  bool same_activity(Instance a, Instance b);
  // The first access of memory that the same call, or what it calls, has allocated.
  bool is_first_of_new(const MemoryAccess& one);
  void too_early();
  void overwritten();
  bool is_allocation(NodeId node);
  std::set<std::uint64_t> held_at(Instance at) const;
  // Where the thread gives one of the locks back, between `first` and `end`.
  void tell_release(Instance first, StepIndex end, const std::set<std::uint64_t>& locks);
  // The lines of the innermost function of the user's that both are in, if they are in calls of it.
  void tell_callers(Instance first, Instance last);

  // What is no more.
  // Nothing that was seen tells why a call gives another result, unless what it is given is no more.
  Cause result_of_call();
  // What it is given is a descriptor that another thread has closed.
  bool closed_before();
  // AddressSanitizer has found that the function, or the block, is left whose local variable it is.
  bool frame_ended(Instance use);
  bool use_after_free(Instance use);
  // It has accessed the same before, in the same call, and another has changed it in between and only then freed
  // it: what should have been one step is two.
  bool between_before_free(Instance use, StepIndex freed);
  // Whether the pointer was read, from memory that is still there, while who has freed what it points to could
  // write it: nothing orders the two. A pointer that is cleared after the release is part of an object that ends.
  bool pointer_races(Instance read, Instance freed);
  // Whether it reads a null pointer, which the write has left where there was another before.
  bool is_cleared(Instance use, Instance write);
  // Whether the write belongs to the end of the object that the memory is a part of: a destructor writes it that was called for that
  // object, or for one that the same thread frees then.
  bool is_ending(Instance write);

  // Between two accesses.
  // One thread comes between two accesses of another that belong together.
  bool between(Instance use);
  bool entry_is_null(const MemoryAccess& use) const;
  // It has read something else since its own write that the remote's thread changes as well, and expects the two to be of one time; what it
  // has written long before may be changed.
  bool nearer_split(const MemoryAccess& own, const MemoryAccess& remote, const MemoryAccess& use);
  // The nearest of its own accesses before that are in the same round of what both are in.
  bool in_one_round_with_own(const MemoryAccess& use);
  // Of one thread: in one round of what both are in, or the later is a write that follows from the earlier.
  bool belong_together(const MemoryAccess& earlier, const MemoryAccess& later);
  // The first write of the remote's thread between the two: what comes behind it follows from it.
  const MemoryAccess* first_between(const MemoryAccess& own, const MemoryAccess& remote) const;
  // It reads what another has written, and has accessed it itself before that.
  bool behind_own(const MemoryAccess& use);
  // The failing run never comes to the write that it has missed.
  bool is_omitted() const;
  // It reads too early, and accesses it again behind the write that it has missed: to write, or so
  // that the failure depends on it, or because of what it has read.
  bool before_own(const MemoryAccess& use);
  // It comes between two accesses of the thread whose write it has missed.
  bool inside_others(const MemoryAccess& use);
  // Its line is that of the write which the failing run has missed: there it finds what the other has written since (the key of a map), and does
  // not write it itself.
  bool should_write(const MemoryAccess& one);
  // It comes, with a write of its own, between two accesses of some other thread, of which the later one
  // overwrites what it wrote, or should have.
  bool inside_another(const MemoryAccess& use);
  // It reads what one of two threads has written last, which may be its own, and in the passing run what the other has: that one's write
  // comes between two accesses of the first, and is lost.
  bool between_writers();
  // Who waits for others to end, starts them, or lets this one come in between expects that.
  bool lets_others_in(const MemoryAccess& first, const MemoryAccess& remote,
                      const MemoryAccess& last);
  bool tell_between(const MemoryAccess& first, const MemoryAccess& remote,
                    const MemoryAccess& last);

  // Two things that are changed in two steps.
  // What the one thread accesses in two steps, of two variables, and the other comes between.
  // `behind`: the first of the steps must come after it, if it is valid.
  bool split(Instance early, Instance late, Instance behind = {});
  // It has read one part of what the other writes in two steps, and not the other part. `passing_party` has
  // written it in the passing run; a handler's number is that of one run only.
  bool tell_beside(Instance use, Instance missed, PartyId passing_party);
  // It went by what the other has written in one critical section, and misses what that writes in a later one, `missed`; `there` is that
  // write in the passing run.
  bool tell_sections(Instance use, Instance missed, Instance there);
  // The thread of the failing run that is the same as that one of the passing run.
  std::size_t late_thread(PartyId passing);
  // It has read what the other has just written, and something else that the other writes only afterwards.
  bool reads_half(Instance use);
  void tell_half(const ReadBeside& found, Instance use, Instance write);
  void tell_let_in(Instance early, Instance first);

  // What let a thread come there.
  // Whether the same wait times out in the passing run, and not only behind what the failing run has missed; if that does not
  // come to it, whether the thread's wait there ever does.
  bool times_out_in_passing(Instance wait);
  // A wait that has timed out, and does not in the passing run, has let one of the two come there: the last before
  // its access, in the same call.
  bool tell_time_out(Instance early);
  // Of what comes too early: whether it is done by the line which writes what is missed, and by the same thread. A statement is complete or not, and what it has done
  // of its work lets nobody in.
  bool is_of_missed_line(Instance at);
  // Where the other has written the pointer by which the thread comes to the memory, if it is its own new memory.
  std::optional<Instance> published(Instance early, std::uint16_t late_thread);
  void tell_let_go(Instance early, std::uint16_t late_thread, StepIndex late);
  // The last sleep before, in the same call or in one that it is in.
  void tell_sleep(Instance use);

  TracedPair& pair_;
  Naming& naming_;
  const DualSlice& slice_;
  Root& root_;
  const RunTrace& run_;
  const Parties& parties_;
  PartyId party_ = 0;
  std::vector<MemoryAccess> history_;
  Instance
      let_go_;  // what cause_.let_go tells; not valid: a pointer that was published, or nothing
  Cause cause_;
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_CLASSIFIER_H_
