// Serves a translated run: what its runtime asks for, in a thread of its own. What the run has written
// down is read by a second one, so that the run proceeds meanwhile.
#ifndef CLEW_HOST_TRANSLATE_SERVICE_H_
#define CLEW_HOST_TRANSLATE_SERVICE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "host/error.h"
#include "host/translate/translator.h"

namespace clew {

class TranslationService {
 public:
  // What the run has written down, in the order in which it did.
  using Sink = std::function<void(std::span<const std::uint8_t>)>;

  [[nodiscard]] static Result<std::unique_ptr<TranslationService>> create(TraceDetail detail,
                                                                          Sink sink);
  // For counting runs. REQUIRES: the map outlives this.
  [[nodiscard]] static Result<std::unique_ptr<TranslationService>> create(OwnCode& map,
                                                                          CallDetail detail,
                                                                          Sink sink);
  ~TranslationService();
  TranslationService(const TranslationService&) = delete;
  TranslationService& operator=(const TranslationService&) = delete;

  // Of the memory that the program maps.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  // Calls `reached` with the number of each offset, ascending, when what the run has written down comes
  // to it: between two blocks, with the program waiting. To be called before the run.
  void stop_at(std::vector<std::uint64_t> offsets, std::function<void(std::size_t)> reached);
  // REQUIRES of these: called by `reached`. The program's registers, rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi,
  // r8 to r15 as they will be when it continues; and where it does: with the code at the address, instead of
  // the block that it stopped before. False: there is no such code.
  [[nodiscard]] std::span<std::uint64_t> registers();
  [[nodiscard]] bool continue_at(std::uint64_t address, std::span<const std::uint8_t> bytes);
  // The run has ended: takes the rest.
  void finish();
  // Of a counting service, which serves several runs, one after the other. REQUIRES of these: no run is
  // under way.
  [[nodiscard]] std::span<std::uint64_t> counters();
  void drain();      // returns when all of it was read
  void begin_run();  // the next one's marks begin anew
  [[nodiscard]] const Translator& translator() const { return *translator_; }

 private:
  using MakeTranslator = std::function<std::unique_ptr<Translator>(std::span<std::uint8_t> memory)>;
  [[nodiscard]] static Result<std::unique_ptr<TranslationService>> create(
      const MakeTranslator& make, Sink sink);
  TranslationService(int descriptor, std::span<std::uint8_t> memory, const MakeTranslator& make,
                     Sink sink);
  abi::TranslationState& state() {
    return *reinterpret_cast<abi::TranslationState*>(memory_.data());
  }
  void serve();
  void answer();
  void refill();
  void take();  // what is in the buffer
  void read();  // the second thread
  void catch_up();

  int descriptor_;
  std::span<std::uint8_t> memory_;
  Sink sink_;
  std::unique_ptr<Translator> translator_;
  std::uint64_t begin_ = abi::kBufferEnd - abi::kBufferSize;  // of what is in the buffer
  std::uint64_t written_ = 0;                                 // before that
  std::vector<std::uint64_t> stops_;
  std::size_t next_stop_ = 0;
  std::function<void(std::size_t)> reached_;
  std::atomic<bool> ends_ = false;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<std::vector<std::uint8_t>> taken_;
  std::vector<std::vector<std::uint8_t>> free_;
  bool reads_ = false;      // a part, at the moment
  bool all_taken_ = false;  // nothing more comes
  std::mutex blocks_;       // whoever reads looks at the blocks that the other one adds to

  std::thread reader_;
  std::thread thread_;
};

}  // namespace clew

#endif  // CLEW_HOST_TRANSLATE_SERVICE_H_
