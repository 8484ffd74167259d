#include "host/debug/incarnation.h"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "clew_abi/control.h"

namespace clew::debug {

Result<std::unique_ptr<Incarnation>> Incarnation::start(const Replay& replay, std::uint64_t clock,
                                                        const Shown& shown) {
  std::unique_ptr<Incarnation> self(new Incarnation(replay));
  LaunchPlan& plan = self->replay_.plan;
  // With a look at every point the clock is exact wherever the program stops, and it takes the same
  // path through code that counts points together each time.
  plan.flags |= abi::kFlagWaitDebugger | abi::kFlagEveryPoint;
  if (clock != 0) plan.queries = {clock};
  plan.shown_before = shown;
  self->ending_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  if (!self->ending_.valid())
    return fail(ErrorCode::kSystem, fmt::format("cannot start it: {}", std::strerror(errno)));
  auto started = self->started_.get_future();
  self->thread_ = std::thread([&incarnation = *self] { incarnation.run(); });
  CLEW_TRY(const pid_t pid, started.get());
  CLEW_TRY(auto tracee, Tracee::attach(pid));
  self->tracee_.emplace(std::move(tracee));
  const std::uint32_t ready = 1;
  self->tracee_->write(abi::kControlAddress + offsetof(abi::Control, debugger_ready),
                       {reinterpret_cast<const std::uint8_t*>(&ready), sizeof ready});
  return self;
}

void Incarnation::run() {
  result_ = run_replay(replay_, *this);
  if (told_) return;
  started_.set_value(*result_ ? Result<pid_t>(fail(ErrorCode::kBadInput,
                                                   "the program ended before it could be stopped"))
                              : Result<pid_t>(std::unexpected(result_->error())));
}

Result<int> Incarnation::attached(pid_t pid) {
  told_ = true;
  started_.set_value(pid);
  return ending_.get();
}

Shown Incarnation::end() {
  eventfd_write(ending_.get(), 1);
  if (tracee_) tracee_->kill_now();
  if (thread_.joinable()) thread_.join();
  if (!result_ || !*result_) return {};
  return {(*result_)->output.size, (*result_)->errors.size};
}

Incarnation::~Incarnation() { end(); }

}  // namespace clew::debug
