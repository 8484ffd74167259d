// Reading the payloads of the runtime's messages (abi/clew_abi/stream.h). The bytes come from the
// memory of the program under test: they may be anything.
#ifndef CLEW_HOST_TARGET_MESSAGES_H_
#define CLEW_HOST_TARGET_MESSAGES_H_

#include <cstdint>
#include <span>

#include "host/target/run_result.h"

namespace clew {

enum class MessageStatus : std::uint8_t { kGood, kMalformed };

// Adds what the message says to `reports`. A malformed one changes nothing.
[[nodiscard]] MessageStatus read_message(std::uint64_t type, std::span<const std::uint8_t> payload,
                                         Reports& reports);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_MESSAGES_H_
