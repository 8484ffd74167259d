#include "host/target/intake.h"

#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

#include "host/target/messages.h"

namespace clew {
namespace {

constexpr const char* kOverwritten = "the program overwrote clew's memory";

}  // namespace

Result<Intake> Intake::create(ControlMemory memory, const Draft* draft) {
  Intake intake(std::move(memory));
  if (draft == nullptr) return intake;
  CLEW_TRY(auto schedule, draft->open_schedule());
  intake.schedule_ = std::move(schedule);
  intake.inputs_ = draft->open_inputs();
  return intake;
}

Result<void> Intake::begin_with(const std::filesystem::path& folder, const Reports& reports,
                                const abi::Branch& branch) {
  if (branch.threads == 0 || branch.threads > reports.threads.size())
    return fail(ErrorCode::kBadInput, "it has more threads than the process of which it is a copy");
  const auto threads = static_cast<std::ptrdiff_t>(branch.threads);
  reports_.threads.assign(reports.threads.begin(), reports.threads.begin() + threads);
  for (const ModuleInfo& module : reports.modules)
    if (module.base < branch.points) reports_.modules.push_back(module);
  CLEW_TRY(auto entries, read_schedule_beginning(folder / "schedule", branch.entries));
  for (const Entry& entry : entries)
    if (auto done = schedule_->append(entry); !done) return done;
  return copy_inputs(folder / "inputs", branch.inputs, *inputs_);
}

Result<void> Intake::flush() {
  if (overwritten_) return fail(ErrorCode::kBadInput, *overwritten_);
  if (error_) return std::unexpected(*error_);
  if (auto done = schedule_->flush(); !done) return done;
  return inputs_->flush();
}

void Intake::take() {
  take_inputs();
  take_stream();
}

void Intake::take_inputs() {
  inputs_taken_ = 0;
  if (!inputs_ || overwritten_) return;
  const auto drained = memory_.drain_inputs([&](auto bytes) {
    inputs_taken_ += bytes.size();
    if (!error_) check(inputs_->append(bytes));
  });
  if (drained == ControlMemory::Drained::kCorrupted) overwritten_ = kOverwritten;
}

void Intake::take_stream() {
  if (overwritten_) return;
  const auto drained = memory_.drain([this](auto bytes) { decoder_.push(bytes); });
  if (drained == ControlMemory::Drained::kCorrupted) overwritten_ = kOverwritten;
  while (!overwritten_) {
    auto item = decoder_.next();
    if (!item)
      overwritten_ = fmt::format("{} ({})", kOverwritten, item.error().message);
    else if (!*item)
      return;
    else
      take(**item);
  }
}

void Intake::take(const StreamItem& item) {
  if (const auto* message = std::get_if<Message>(&item)) {
    const auto type = static_cast<std::uint64_t>(message->type);
    if (read_message(type, message->payload, reports_) == MessageStatus::kMalformed)
      overwritten_ = fmt::format("{} (a message is malformed)", kOverwritten);
  } else if (schedule_ && !error_) {
    check(schedule_->append(std::get<Entry>(item)));
  }
}

Result<std::optional<Captured>> Intake::finish() {
  if (schedule_ && !error_) {
    std::vector<std::string> names;
    for (const ThreadInfo& thread : reports_.threads)
      names.push_back(thread.id.empty() ? "T0" : thread.id);
    check(schedule_->finish(names));
  }
  std::optional<Captured> captured;
  if (inputs_ && !error_) {
    CLEW_TRY(auto inputs, inputs_->finish());
    captured = inputs;
  }
  if (error_) return std::unexpected(*error_);
  return captured;
}

}  // namespace clew
