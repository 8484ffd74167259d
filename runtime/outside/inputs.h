// What the run reads from outside, recorded or replayed (clew_abi/inputs.h).
#ifndef CLEW_RUNTIME_OUTSIDE_INPUTS_H_
#define CLEW_RUNTIME_OUTSIDE_INPUTS_H_

#include <signal.h>

#include "clew_abi/control.h"
#include "clew_abi/inputs.h"
#include "runtime/rt.h"

namespace clew::rt {

// A part of the program's memory that a system call fills.
struct Piece {
  void* address = nullptr;
  std::size_t room = 0;  // that it may fill
  std::size_t size = 0;  // that it has filled
};

struct Answer {
  long result = 0;
  std::uint8_t flags = 0;  // abi::AnswerFlags
};

// A part of a file that the program has mapped, and how long the file is.
struct FilePart {
  std::uint64_t file = 0;
  std::uint64_t file_size = 0;
  std::uint64_t offset = 0;
};

class Inputs {
 public:
  void init(abi::Control& control);
  // This process is a copy of the program, and nobody records it.
  void stop() { recording_ = replaying_ = false; }
  // This process is a copy of the program with a ring of its own, which is empty.
  void begin_anew() {
    before_ += at_;
    at_ = 0;
  }
  // The ring has moved, with its content.
  void use(abi::Control& control);
  bool recording() const { return recording_; }
  // Recording: bytes since the start of the program, and those in the ring since its start.
  std::uint64_t position() const { return before_ + at_; }
  std::uint64_t written() const { return at_; }
  bool replaying() const { return replaying_; }

  // Recording.
  void put_answer(long call, std::uint16_t check, const Answer& answer, const Piece* pieces,
                  std::size_t count);
  void put_blocks(long call);
  void put_poll(std::uint64_t number, Nanos waited, const std::uint32_t* threads,
                std::size_t threads_count, const siginfo_t* signals, std::size_t signals_count);
  void put_mapping(const void* content, std::size_t size);
  void put_file(const FilePart& part, const void* content, std::size_t size);

  // Replaying. A record that does not match what the program does ends the run as a departure.
  Answer take_answer(long call, std::uint16_t check, Piece* pieces, std::size_t count);
  // The answer is that more was sent than the program has to send.
  [[noreturn]] void depart_with_less(long call) { depart("the same call with more data", call); }
  // Whether the next record says that the call had to wait.
  bool take_blocks(long call);
  bool next_blocks() { return peek() == abi::InputKind::kBlocks; }
  // Whether the next record says that this call had to wait.
  bool next_blocks(long call);
  // The record of this poll, if there is one; then its threads and its signals, one by one.
  bool take_poll(std::uint64_t number, Nanos& waited);
  bool take_polled_thread(std::uint32_t& index);
  bool take_polled_signal(siginfo_t& info);
  // Fills at most `room` bytes. Returns how many.
  std::size_t take_mapping(void* out, std::size_t room);
  // False: the next record is not about a file.
  bool take_file(FilePart& part, const std::uint8_t*& content, std::size_t& size);
  // Whether the recording ends here.
  bool at_end() { return peek() == abi::InputKind::kEnd; }

 private:
  void begin(abi::InputKind kind);
  void put(std::uint64_t value);
  void put(const void* bytes, std::size_t size);
  void publish();
  std::uint64_t number();
  const std::uint8_t* bytes(std::size_t size);
  abi::InputKind peek();
  std::uint64_t size_of_whole_records();
  // Ends the run if the recording has nothing more for the call's answer.
  void expect_more(long call);
  [[noreturn]] void depart(const char* what, long call);

  abi::Control* control_ = nullptr;
  std::uint8_t* data_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t at_ = 0;      // bytes written, or read
  std::uint64_t before_ = 0;  // bytes written by the processes that this is a copy of
  std::uint64_t polled_left_ = 0;
  bool recording_ = false;
  bool replaying_ = false;
  bool breaks_off_ = false;
};

extern Inputs g_inputs;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_INPUTS_H_
