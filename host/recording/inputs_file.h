// The file `inputs` of a recording: what the run read from outside (abi/clew_abi/inputs.h), as one
// zstd frame. What the records mean is left to the runtime, which wrote them and reads them again.
#ifndef CLEW_HOST_RECORDING_INPUTS_FILE_H_
#define CLEW_HOST_RECORDING_INPUTS_FILE_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "host/error.h"
#include "host/recording/capture.h"

namespace clew {

// More does not fit into the range to which the runtime maps it.
inline constexpr std::uint64_t kMaxInputs = std::uint64_t{512} << 30;

// Compresses what is appended. The file is created with the first byte.
class InputsWriter {
 public:
  // REQUIRES: there is no file of this name.
  explicit InputsWriter(std::filesystem::path path);
  InputsWriter(InputsWriter&&) noexcept;
  InputsWriter& operator=(InputsWriter&&) noexcept;
  ~InputsWriter();

  // After an error the writer cannot be used any more.
  [[nodiscard]] Result<void> append(std::span<const std::uint8_t> bytes);
  // Makes everything that was appended readable in the file (copy_inputs).
  [[nodiscard]] Result<void> flush();
  // Closes. `size` and `hash` are of the bytes appended, `stored` and `stored_hash` of the file;
  // empty if nothing was appended.
  [[nodiscard]] Result<std::optional<Captured>> finish();

 private:
  struct State;
  [[nodiscard]] Result<void> begin();

  std::filesystem::path path_;
  std::unique_ptr<State> state_;
};

// Where a replay finds its inputs.
struct RecordedInputs {
  std::filesystem::path file;
  Captured content;
};

// Decompresses into `into`, bounded by its size whatever the file says.
// REQUIRES: into.size() == inputs.content.size.
[[nodiscard]] Result<void> read_inputs_file(const RecordedInputs& inputs,
                                            std::span<std::uint8_t> into);

// Appends the first `size` bytes that a file of inputs holds, which may still be written to.
[[nodiscard]] Result<void> copy_inputs(const std::filesystem::path& file, std::uint64_t size,
                                       InputsWriter& to);

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_INPUTS_FILE_H_
