// What a run reports and records, taken out of its control memory.
#ifndef CLEW_HOST_TARGET_INTAKE_H_
#define CLEW_HOST_TARGET_INTAKE_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "clew_abi/adoption.h"
#include "host/error.h"
#include "host/recording/recording.h"
#include "host/schedule/stream.h"
#include "host/target/control_memory.h"
#include "host/target/run_result.h"

namespace clew {

class Intake {
 public:
  // With a draft, schedule and inputs are recorded in it.
  [[nodiscard]] static Result<Intake> create(ControlMemory memory, const Draft* draft);

  // The recording begins with that in this folder, up to where a copy branches off; `reports` is
  // what that run has said so far. REQUIRES: a draft; nothing has been taken yet.
  [[nodiscard]] Result<void> begin_with(const std::filesystem::path& folder, const Reports& reports,
                                        const abi::Branch& branch);
  // Makes what has been taken readable in the draft's folder.
  [[nodiscard]] Result<void> flush();

  ControlMemory& memory() { return memory_; }
  const ControlMemory& memory() const { return memory_; }
  Reports& reports() { return reports_; }

  // Takes everything that is there.
  void take();
  // Bytes of inputs that the last take() found.
  std::uint64_t inputs_taken() const { return inputs_taken_; }
  // How the program has overwritten clew's memory, if it has. Nothing is taken after that.
  const std::optional<std::string>& overwritten() const { return overwritten_; }
  // What could not be stored. Nothing is stored after that.
  const std::optional<Error>& error() const { return error_; }

  // Closes the recorded parts. Returns what was recorded of the inputs.
  [[nodiscard]] Result<std::optional<Captured>> finish();

 private:
  explicit Intake(ControlMemory memory) : memory_(std::move(memory)) {}
  void take_inputs();
  void take_stream();
  void take(const StreamItem& item);
  void check(const Result<void>& stored) {
    if (!stored && !error_) error_ = stored.error();
  }

  ControlMemory memory_;
  std::optional<ScheduleFileWriter> schedule_;
  std::optional<InputsWriter> inputs_;
  StreamDecoder decoder_;
  Reports reports_;
  std::uint64_t inputs_taken_ = 0;
  std::optional<std::string> overwritten_;
  std::optional<Error> error_;
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_INTAKE_H_
