// What threads share, learned by watching. For strategies that decide at every scheduling point: an
// access is one if its yield point is known to touch memory that at least two threads use and one
// of them writes. What a run finds out goes to the host, which tells later runs
// (abi::Control::sharing), so that a run depends on its job alone and not on what else the process
// has run.
//
// Along with it goes the hash of the interleaving: for each memory cell the order of its writes,
// and which reads lie between them; two runs with the same hash differ only in the order of steps
// that do not conflict (the happens-before relation of Mazurkiewicz traces).
//
// Accesses before there is a second thread, and after all others have been joined, count for
// neither: nothing can come between.
#ifndef CLEW_RUNTIME_EVENT_SHARING_H_
#define CLEW_RUNTIME_EVENT_SHARING_H_

#include "clew_abi/control.h"
#include "clew_abi/point.h"
#include "runtime/event/listener.h"

namespace clew::rt {

// What the hooks look at (quick_points_x86_64.S), which know it by its offsets: the points of the module
// that was last asked for, and how often each was seen (Sharing::is_quiet).
struct QuietPoints {
  // Points that are quiet pass in the hooks, unless an access has to be announced first.
  enum class Pass : std::uint8_t { kNotAsked, kYes, kIfRepeated };
  const abi::Point* begin = nullptr;
  std::uint64_t size = 0;  // in bytes
  std::uint32_t* seen = nullptr;
  std::uint32_t quiet_from = 0;  // the value of `seen` from which on a point is quiet
  Pass pass = Pass::kNotAsked;
};
extern QuietPoints g_quiet __asm__("clew_quiet");

class Sharing final : public Listener {
 public:
  // Makes room in the memory that is kept. Done by begin() at the latest.
  static void reserve(const abi::Control& control);
  // REQUIRES: the strategy decides at every scheduling point.
  void begin(abi::Control& control, const abi::Job& job);
  // There is no such strategy.
  void stay_away();

  // Whether strategies are asked before this access.
  bool is_scheduling_point(abi::Place place, abi::PointKind kind) const {
    if (all_points_ || (kind >= abi::PointKind::kAtomicLoad && kind <= abi::PointKind::kAtomicCas))
      return true;
    const std::uint64_t id = place >> 1;
    return id >= known_bits_ || (known_[id >> 3] >> (id & 7) & 1) != 0;
  }

  // Whether an access that is no scheduling point need not be looked at: its point has been seen
  // often in this run without anything shared. One in kLookAgain is.
  bool is_quiet(abi::Place place) {
    const std::uint64_t id = place >> 1;
    if (id >= known_bits_) return false;
    std::uint32_t& seen = seen_[id];
    if ((seen >> 16) != (epoch_ & 0xffff)) seen = epoch_ << 16;
    const std::uint32_t count = ++seen & 0xffff;
    if (count < kLooks) return false;
    if (count == kLooks + kLookAgain) seen -= kLookAgain;
    return count != kLooks;
  }

  // The hooks may pass quiet points of the module, the first of which has the number `base`.
  void let_pass(const abi::Point* begin, const abi::Point* end, std::uint64_t base);

  void before(const Event& event) override;

  std::uint64_t interleaving() const { return interleaving_; }
  std::uint64_t found() const { return found_; }
  // The run is over: what was found stands in the control memory.
  void end();

 private:
  static constexpr std::uint32_t kLooks = 4096;
  static constexpr std::uint32_t kLookAgain = 64;
  struct Cell;
  struct Points;
  // Null: it is not there.
  Cell* find_cell(std::uintptr_t granule) const;
  Cell& cell_of(std::uintptr_t granule);
  void touch(Cell& cell, std::uintptr_t granule, const Event& event);
  static Points& points_of(const Cell& cell);
  void share(Cell& cell);
  static void remember(Cell& cell, std::uint32_t point);
  void report(std::uint32_t point);

  bool all_points_ = true;
  bool learning_ = false;
  const std::uint8_t* known_ = nullptr;
  std::uint64_t known_bits_ = 0;
  std::uint32_t* new_points_ = nullptr;  // of this job
  std::uint64_t new_room_ = 0;
  std::uint64_t found_ = 0;
  std::uint32_t* seen_ = nullptr;  // by point: the job's epoch, how often it was seen
  std::uint32_t epoch_ = 0;
  std::uint64_t interleaving_ = 0;
};

extern Sharing g_sharing;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_EVENT_SHARING_H_
