// Plays the runtime's part in the control memory, for run_target_test.cc. It is built without the
// runtime, so that the two sides are tested separately.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "clew_abi/control.h"

namespace {

using namespace clew;

abi::Control* attach() {
  const char* text = std::getenv(abi::kControlVariable);
  struct stat status{};
  if (text == nullptr || fstat(std::atoi(text), &status) != 0) std::_Exit(99);
  void* mapped = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE,
                      MAP_SHARED, std::atoi(text), 0);
  if (mapped == MAP_FAILED) std::_Exit(98);
  auto* control = static_cast<abi::Control*>(mapped);
  if (control->version != abi::kVersion) std::_Exit(97);
  control->attached = 1;
  return control;
}

unsigned char* inputs_of(abi::Control* control) {
  return reinterpret_cast<unsigned char*>(control) + control->inputs.offset;
}

unsigned char byte_at(std::uint64_t position) {
  return static_cast<unsigned char>(position * 2654435761u >> 13);
}

int record(abi::Control* control, std::uint64_t size) {
  if (!(control->flags & abi::kFlagRecordInputs)) return 1;
  const std::uint64_t ring = control->inputs.size;
  for (std::uint64_t at = 0; at < size;) {
    const std::uint64_t free = ring - (at - control->inputs_tail.load());
    if (free == 0) usleep(100);
    for (std::uint64_t n = free < 4096 ? free : 4096; n > 0 && at < size; --n, ++at)
      inputs_of(control)[at % ring] = byte_at(at);
    control->inputs_head.store(at);
  }
  return 0;
}

int replay(const abi::Control* control, std::uint64_t size) {
  if (!(control->flags & abi::kFlagReplayInputs)) return 1;
  if (control->inputs.size != size) return 2;
  const unsigned char* bytes = inputs_of(const_cast<abi::Control*>(control));
  for (std::uint64_t at = 0; at < size; ++at)
    if (bytes[at] != byte_at(at)) return 3;
  char one = 0;
  return read(STDIN_FILENO, &one, 1) == 0 ? 0 : 4;  // nobody writes to it
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 96;
  abi::Control* control = attach();
  const std::string_view mode = arguments[1];
  const std::uint64_t size = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 0;
  if (mode == "inputs")
    return control->flags & abi::kFlagReplay ? replay(control, size) : record(control, size);
  if (mode == "overwrite") {
    control->inputs_head = control->inputs.size + 1;
    pause();
  }
  if (mode == "outside") {
    control->waits_outside = clew::abi::WaitsOutside::kYes;
    pause();
  }
  if (mode == "environment") {
    const char* preload = std::getenv("LD_PRELOAD");
    const char* told = std::getenv(clew::abi::kPreloadVariable);
    dprintf(STDOUT_FILENO, "%s|%s", preload ? preload : "none", told ? told : "none");
    return 0;
  }
  return 95;
}
