// What a run reads from outside: the answers of the kernel, in the order in which they were given.
// A recorded run writes them into a ring of the control memory (Control::inputs), a full replay
// reads them from there and asks nobody.
//
// One record after the other. A record is a varint kind, then:
//   kAnswer   v system call, v check, v result (zigzag), v flags, v number of pieces, and for each
//             piece v size and its bytes: what the kernel wrote into the program's memory
//   kBlocks   v system call: the calling thread had to wait; with kPartlyDone: after a part was
//             done
//   kPoll     v number of the poll (0: only what the call before has caused), v nanoseconds of
//             virtual time that passed while the program waited for it, v number of threads, the
//             index of each: what they wait for has come; v number of signals, and for each v size
//             and siginfo: they have arrived
//   kMapping  v size and bytes: the content of something that was mapped and is no regular file;
//             what a child that shared the program's memory has left in it
//   kFile     v number of a file, v its size, v offset, v size and bytes: what is there in a file
//             that was mapped, after it was mapped or a call has changed it
// `check` is a hash of the call's plain arguments, 16 bits.
#ifndef CLEW_ABI_INPUTS_H_
#define CLEW_ABI_INPUTS_H_

#include <cstdint>

namespace clew::abi {

enum class InputKind : std::uint8_t {
  kEnd = 0,
  kAnswer = 1,
  kBlocks = 2,
  kPoll = 3,
  kMapping = 4,
  kFile = 5
};

// Beyond the numbers of system calls.
inline constexpr long kPartlyDone = 1 << 16;

enum AnswerFlags : std::uint8_t {
  kToStdout = 1,  // what was written went to the program's standard output: a replay writes it too
  kToStderr = 2,
};

constexpr std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace clew::abi

#endif  // CLEW_ABI_INPUTS_H_
