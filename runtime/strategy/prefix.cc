#include "runtime/strategy/prefix.h"

namespace clew::rt {

Prefix::Prefix(const abi::Job& job, Strategy& inside)
    : Wrapper(inside, {.at_every_point = true,
                       .picks = true,
                       .short_sleeps = job.parameters[abi::kPrefixShortSleeps] != 0}),
      choices_(ChoicePolicy::of_parameter(job)) {
  if (!read_guide(job)) length_ = 0;
}

bool Prefix::read_guide(const abi::Job& job) {
  abi::Reader reader(guide_of(job), job.guide.size);
  const std::uint64_t count = reader.varint();
  if (!reader.ok() || count > job.guide.size) return false;  // each is at least a byte
  threads_ = static_cast<std::uint32_t*>(arena_alloc((count + 1) * sizeof(std::uint32_t)));
  for (; length_ < count; ++length_) {
    if (!abi::read_field(reader, threads_[length_])) return false;
  }
  return reader.at_end();
}

std::uint32_t Prefix::pick(const Candidates& candidates) {
  if (steps_ >= length_) return inside_.pick(candidates);
  const std::uint32_t wanted = threads_[steps_];
  for (std::uint32_t i = 0; i < candidates.count; ++i)
    if (candidates.list[i].index == wanted) return i;
  return 0;
}

}  // namespace clew::rt
