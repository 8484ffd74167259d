// What a run did, in order (clew_abi/trace.h), for jobs that ask for it.
#ifndef CLEW_RUNTIME_RECORD_TRACE_H_
#define CLEW_RUNTIME_RECORD_TRACE_H_

#include "clew_abi/control.h"
#include "clew_abi/trace.h"
#include "runtime/event/listener.h"

namespace clew::rt {

class Trace final : public Listener {
 public:
  enum class Decisions : std::uint8_t { kLeftOut, kTraced };

  // `most`: a trace with more steps is left out, as one that does not fit is.
  void begin(abi::Control& control, const abi::Job& job, Decisions decisions, std::uint64_t most);
  // Says where the trace lies. REQUIRES: once for each begin().
  abi::TraceExtent end();

  // What it writes down of this job.
  Hearing hearing() const;

  void before(const Event& event) override;
  void at(const SchedulingPoint& point) override;
  void decided(const DecisionMade& decision) override;

 private:
  enum class Overflow : std::uint8_t { kLeaveOut, kToFile };

  template <class Record>
  void put(const Record& record);
  CLEW_NOINLINE bool make_room_slow(std::size_t size);
  bool move_to_file();
  void access_alone(const Event& event);

  // Accesses of threads that are alone: a program may end with long work of main. Chosen, not
  // measured: 3 MB.
  static constexpr std::uint32_t kMostAlone = 50'000;
  std::size_t in_memory() const { return static_cast<std::size_t>(next_ - first_); }

  // The job's records in memory, and the end of the room. Null: nothing is traced.
  std::uint8_t* first_ = nullptr;
  std::uint8_t* next_ = nullptr;
  std::uint8_t* end_ = nullptr;
  abi::Control* control_ = nullptr;
  std::uint64_t in_file_ = 0;  // bytes of the job's trace
  Overflow overflow_ = Overflow::kLeaveOut;
  bool incomplete_ = false;  // nothing is added any more
  bool decisions_ = false;
  bool created_ = false;     // a thread
  bool alone_lost_ = false;  // more than kMostAlone
  std::uint32_t alone_ = 0;
  Window window_ = Window::none();
};

extern Trace g_trace;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_TRACE_H_
