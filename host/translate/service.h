// Serves a translated run: what its runtime asks for, in a thread of its own.
#ifndef CLEW_HOST_TRANSLATE_SERVICE_H_
#define CLEW_HOST_TRANSLATE_SERVICE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>

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
  // The run has ended: takes the rest.
  void finish();
  // Of a counting service, which serves several runs, one after the other. REQUIRES of these: no run is
  // under way.
  [[nodiscard]] std::span<std::uint64_t> counters();
  void drain();
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

  int descriptor_;
  std::span<std::uint8_t> memory_;
  Sink sink_;
  std::unique_ptr<Translator> translator_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace clew

#endif  // CLEW_HOST_TRANSLATE_SERVICE_H_
