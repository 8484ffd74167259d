// What the first run tells about how to make all others: as which process of the program, and how
// fast its clock goes. Both follow from the run alone, not from how long it took.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "host/search/hunt_state.h"

namespace clew {
namespace {

bool ended_well(const abi::JobResult& result) {
  return result.end == abi::JobEnd::kExited && result.status == 0;
}

// A program that is content although a child failed expects that: such a child is not entered. One
// that fails because of a child fails like this one.
std::vector<std::uint32_t> children_to_enter(const abi::JobResult& result) {
  const std::uint64_t with_threads =
      result.threaded_children &
      (ended_well(result) ? ~result.failed_children : result.failed_children);
  std::vector<std::uint32_t> children;
  for (std::uint32_t i = 0; i < 64; ++i)
    if ((with_threads >> i & 1) != 0) children.push_back(i + 1);
  return children;
}

// Two seconds by the program's own clock, a fifth of a second of it by work: twenty million points,
// or two hundred thousand reads of the clock. Chosen: a run of that length takes a few tenths of a
// second.
constexpr std::int64_t kLongTime = 2'000'000'000;
constexpr std::int64_t kLongWork = 200'000'000;
constexpr std::uint64_t kManySwitches = 20'000;
constexpr std::array<std::uint32_t, 6> kSpeeds{2, 5, 10, 20, 50, 100};

bool reached_budget(const abi::JobResult& result) {
  return result.end == abi::JobEnd::kFailed && result.failure == abi::FailureKind::kHang;
}

bool takes_long_by_its_clock(const abi::JobResult& result) {
  if ((result.uncovered & abi::kUncoveredTime) == 0) return false;
  return reached_budget(result) || (result.time >= kLongTime && (result.busy_time >= kLongWork ||
                                                                 result.switches >= kManySwitches));
}

std::uint32_t speed_for(const abi::JobResult& result) {
  for (const std::uint32_t speed : kSpeeds)
    if (!reached_budget(result) && result.time / speed <= kLongWork) return speed;
  return kSpeeds.back();
}

bool is_much_shorter(const abi::JobResult& result, const abi::JobResult& before) {
  if (reached_budget(result)) return false;
  return reached_budget(before) || result.clock <= before.clock / 2 ||
         result.switches <= before.switches / 2;
}

}  // namespace

Result<void> Hunt::run_as_planned_now(std::span<const JobPlan> plans, std::vector<RanJob>& ran) {
  recorder_.set_process(plan_.enter_child, plan_.clock_speed);
  CLEW_CHECK_OK(choose_engine());
  return run_jobs(plans, ran);
}

Result<void> Hunt::enter_child(std::span<const JobPlan> plans, std::vector<RanJob>& ran) {
  const abi::JobResult& first = ran.front().job.result;
  if (plan_.enter_child != 0 || first.threads > 1) return {};
  const std::vector<std::uint32_t> children = children_to_enter(first);
  if (children.empty()) return {};
  plan_.enter_child = children.front();
  add_note(fmt::format(
      "the threads are in child processes that the program forks: it is run as child {}, and "
      "nobody runs as its parent{}",
      children.front(),
      children.size() == 1
          ? ""
          : fmt::format(" (those with threads: {}; --child, --each)", fmt::join(children, ", "))));
  return run_as_planned_now(plans, ran);
}

Result<void> Hunt::speed_up_clock(std::span<const JobPlan> plans, std::vector<RanJob>& ran) {
  const abi::JobResult first = ran.front().job.result;
  if (options_.clock_speed_is_given || !takes_long_by_its_clock(first)) return {};
  plan_.clock_speed = speed_for(first);
  std::vector<RanJob> faster;
  CLEW_CHECK_OK(run_as_planned_now(plans, faster));
  if (!faster.front().done) return {};
  if (is_much_shorter(faster.front().job.result, first)) {
    add_note(fmt::format(
        "virtual time passes {} times as fast as usual: a run takes {:.1f} s by the program's own "
        "clock (--clock-speed)",
        plan_.clock_speed, static_cast<double>(faster.front().job.result.time) / 1e9));
    ran = std::move(faster);
    return {};
  }
  plan_.clock_speed = 1;
  return run_as_planned_now(plans, ran);
}

Result<void> Hunt::learn_from_first(std::span<const JobPlan> plans, std::vector<RanJob>& ran) {
  if (!ran.front().done || ran.front().job.stopped) return {};
  CLEW_CHECK_OK(enter_child(plans, ran));
  if (!ran.front().done || ran.front().job.stopped) return {};
  return speed_up_clock(plans, ran);
}

Result<std::vector<std::uint32_t>> Hunt::children() {
  CLEW_CHECK_OK(choose_engine());
  std::vector<JobPlan> plans = search_->next(1);
  std::vector<RanJob> ran;
  if (!plans.empty()) CLEW_CHECK_OK(run_jobs(plans, ran));
  if (ran.empty() || !ran.front().done || ran.front().job.result.threads > 1)
    return std::vector<std::uint32_t>{};
  return children_to_enter(ran.front().job.result);
}

}  // namespace clew
