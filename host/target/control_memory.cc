#include "host/target/control_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "clew_abi/trace.h"

namespace clew {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr int kLowestDescriptor = 100;
constexpr int kHighestDescriptor = 999'999;  // kControlDigits digits

std::uint64_t round_up(std::uint64_t size) { return (size + kPage - 1) / kPage * kPage; }

std::unexpected<Error> no_memory() {
  return fail(ErrorCode::kSystem, fmt::format("cannot set up memory shared with the program: {}",
                                              std::strerror(errno)));
}

// The runtime's arena, the fixed range of this memory, and some more.
constexpr rlim_t kLeastAddressSpace = rlim_t{5} << 30;
constexpr rlim_t kLeastDescriptors = kLowestDescriptor + 32;

// What the user's limits do not allow, in words: the system's would be "Invalid argument".
Result<void> check_user_limits() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < kLeastDescriptors)
    return fail(ErrorCode::kSystem,
                fmt::format("a process may have {} open files, clew needs {}", limit.rlim_cur,
                            kLeastDescriptors),
                "raise the limit (ulimit -n)");
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < kLeastAddressSpace)
    return fail(ErrorCode::kSystem,
                fmt::format("a process may have {} MiB of address space, clew needs {} MiB beside "
                            "the program's own; most of it is never used",
                            limit.rlim_cur >> 20, kLeastAddressSpace >> 20),
                "raise the limit (ulimit -v)");
  return {};
}

// Each with its NUL.
std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all.append(text.c_str(), text.size() + 1);
  return all;
}

}  // namespace

Result<ControlMemory> ControlMemory::create(const LaunchPlan& plan, const Room& room) {
  CLEW_CHECK_OK(check_user_limits());
  const std::string names = joined(plan.follow.names);
  std::uint64_t total = round_up(sizeof(abi::Control));
  const auto reserve = [&total](std::uint64_t size) {
    const std::uint64_t offset = total;
    total += round_up(size);
    return offset;
  };
  Layout layout;
  layout.jobs = reserve(room.jobs * sizeof(abi::Job));
  layout.results = reserve(room.jobs * sizeof(abi::JobResult));
  layout.data_size = std::max<std::uint64_t>(room.data, plan.follow.bytes.size() + names.size());
  layout.data = reserve(layout.data_size);
  layout.sharing.size = std::max<std::uint64_t>(room.sharing, plan.sharing.size());
  layout.sharing.offset = reserve(layout.sharing.size);
  layout.new_sharing.size = room.sharing * 8 * sizeof(std::uint32_t);
  layout.new_sharing.offset = reserve(layout.new_sharing.size);
  layout.trace.size = room.trace != 0 ? room.trace + abi::kTraceReserve : 0;
  layout.trace.offset = reserve(layout.trace.size);
  layout.inputs.size = plan.inputs ? plan.inputs->content.size : 0;
  if (room.record_inputs) layout.inputs.size = kInputsRingSize;
  layout.inputs.offset = reserve(layout.inputs.size);
  const std::string listeners = joined(plan.listeners);
  const std::uint64_t listeners_offset = reserve(listeners.size());
  const std::uint64_t queries_size = plan.queries.size() * sizeof(std::uint64_t);
  const std::uint64_t queries_offset = reserve(queries_size);
  const std::uint64_t ring_offset = reserve(kRingSize);

  FileDescriptor low(memfd_create("clew", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!low.valid()) return no_memory();
  FileDescriptor fd(fcntl(low.get(), F_DUPFD_CLOEXEC, kLowestDescriptor));
  if (!fd.valid() || fd.get() > kHighestDescriptor) return no_memory();
  // The memory is sealed, so that the program cannot shrink it while the host uses it.
  if (ftruncate(fd.get(), static_cast<off_t>(total)) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return no_memory();
  void* mapped = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return no_memory();

  ControlMemory memory(std::move(fd), static_cast<std::byte*>(mapped), total);
  memory.ring_ = {.offset = ring_offset, .size = kRingSize};
  if (room.record_inputs)
    memory.inputs_ring_ = {.offset = layout.inputs.offset, .size = kInputsRingSize};
  memory.layout_ = layout;
  auto* control = new (mapped) abi::Control{};
  control->magic = abi::kControlMagic;
  control->version = abi::kVersion;
  control->size_of_control = sizeof(abi::Control);
  control->flags = plan.flags | (room.record_inputs ? abi::kFlagRecordInputs : 0u);
  control->pool = plan.pool;
  control->seed = plan.seed;
  control->budget = plan.budget;
  control->fair_slice = plan.fair_slice;
  control->stack_limit = plan.stack_limit;
  control->epoch_ns = plan.epoch_ns;
  control->blocked_signals = plan.blocked_signals;
  control->ignored_signals = plan.ignored_signals;
  control->recording = plan.recording;
  control->host = getpid();
  control->trace_file = -1;
  control->translation = plan.translation;
  control->generation = plan.generation;
  control->enter_child = plan.enter_child;
  control->clock_speed = plan.clock_speed;
  control->total_size = total;
  control->queries_offset = queries_offset;
  control->queries_count = plan.queries.size();
  control->ring_offset = ring_offset;
  control->ring_size = kRingSize;
  control->jobs_offset = layout.jobs;
  control->results_offset = layout.results;
  control->sharing = layout.sharing;
  control->new_sharing = layout.new_sharing;
  control->trace = layout.trace;
  control->inputs = layout.inputs;
  control->listeners = {listeners_offset, listeners.size()};
  control->jobs_count = 1;

  const auto put = [&memory](std::uint64_t offset, const void* from, std::size_t size) {
    if (size > 0) std::memcpy(memory.data_ + offset, from, size);
  };
  abi::Job job{};
  job.strategy = plan.strategy;
  job.flags = plan.job_flags;
  job.choices = plan.choices;
  job.seed = plan.schedule_seed;
  std::ranges::copy(plan.parameters, job.parameters);
  job.guide = {layout.data, plan.follow.bytes.size()};
  job.names = {layout.data + plan.follow.bytes.size(), names.size()};
  job.names_count = static_cast<std::uint32_t>(plan.follow.names.size());
  put(layout.jobs, &job, sizeof job);
  put(job.guide.offset, plan.follow.bytes.data(), plan.follow.bytes.size());
  put(job.names.offset, names.data(), names.size());
  put(layout.sharing.offset, plan.sharing.data(), plan.sharing.size());
  put(listeners_offset, listeners.data(), listeners.size());
  put(queries_offset, plan.queries.data(), queries_size);
  return memory;
}

ControlMemory::ControlMemory(ControlMemory&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(other.size_),
      ring_(other.ring_),
      inputs_ring_(other.inputs_ring_),
      layout_(other.layout_) {}

ControlMemory::~ControlMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace clew
