// Random values for tests. Only tests include this.
#ifndef CLEW_HOST_SCHEDULE_TEST_UTIL_H_
#define CLEW_HOST_SCHEDULE_TEST_UTIL_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include "host/schedule/schedule.h"
#include "host/schedule/stream.h"

namespace clew {

inline std::uint64_t below(std::mt19937_64& random, std::uint64_t end) { return random() % end; }

// All widths from 1 to `bits` are equally likely: log-uniform, with edge cases.
inline std::uint64_t random_number(std::mt19937_64& random, unsigned bits) {
  const std::uint64_t width = 1 + below(random, bits);
  return random() >> (64 - width);
}

inline ThreadId random_thread(std::mt19937_64& random) {
  ThreadId id;
  for (std::uint64_t depth = below(random, 4); depth > 0; --depth)
    id = id.child(static_cast<std::uint32_t>(1 + below(random, 12)));
  return id;
}

inline abi::ChoiceKind random_choice_kind(std::mt19937_64& random) {
  return static_cast<abi::ChoiceKind>(
      below(random, static_cast<std::uint64_t>(abi::ChoiceKind::kCount)));
}

inline void add_random_choice(std::mt19937_64& random, Schedule& schedule, Clock clock) {
  Choice choice{.clock = clock, .kind = random_choice_kind(random)};
  if (!schedule.choices.empty() && schedule.choices.back().clock == clock)
    choice.ordinal = schedule.choices.back().ordinal + 1;
  if (below(random, 3) == 0) choice.ordinal += random_number(random, 58);
  if (abi::names_thread(choice.kind)) choice.thread = random_thread(random);
  schedule.choices.push_back(choice);
}

inline Schedule random_schedule(std::mt19937_64& random) {
  Schedule schedule;
  Clock clock{1};
  for (std::uint64_t n = below(random, 40); n > 0; --n) {
    clock.value += below(random, 4) ? random_number(random, 50) : 0;
    if (below(random, 3) == 0) {
      add_random_choice(random, schedule, clock);
      continue;
    }
    Switch next{clock, std::nullopt};
    if (below(random, 2)) next.to = random_thread(random);
    schedule.switches.push_back(next);
  }
  return schedule;
}

inline Entry random_entry(std::mt19937_64& random, Clock last) {
  using abi::EntryKind;
  constexpr EntryKind kKinds[] = {EntryKind::kSwitchNext, EntryKind::kSwitchTo, EntryKind::kCheck,
                                  EntryKind::kChoice};
  Entry entry{.kind = kKinds[below(random, std::size(kKinds))],
              .clock = {last.value + random_number(random, 30)}};
  if (entry.kind == EntryKind::kChoice) {
    entry.ordinal = random_number(random, 64);
    entry.choice = random_choice_kind(random);
    entry.value = abi::names_thread(entry.choice) ? random_number(random, 64) : 1;
    return entry;
  }
  if (entry.kind != EntryKind::kSwitchNext) entry.thread = random_number(random, 64);
  if (entry.kind == EntryKind::kCheck) {
    entry.place = random_number(random, 64);
    entry.hash = static_cast<std::uint16_t>(random());
  }
  return entry;
}

inline std::vector<Entry> random_entries(std::mt19937_64& random, std::size_t count) {
  std::vector<Entry> entries;
  Clock last;
  while (entries.size() < count) {
    entries.push_back(random_entry(random, last));
    last = entries.back().clock;
  }
  return entries;
}

// Flips, cuts, inserts, repeats: one to four of them.
template <class Bytes>
Bytes mutate(std::mt19937_64& random, Bytes bytes) {
  using Byte = typename Bytes::value_type;
  for (std::uint64_t n = 1 + below(random, 4); n > 0; --n) {
    const auto at = static_cast<std::ptrdiff_t>(below(random, bytes.size() + 1));
    const auto length = static_cast<std::ptrdiff_t>(below(random, 16));
    const auto end =
        std::min<std::ptrdiff_t>(at + length, static_cast<std::ptrdiff_t>(bytes.size()));
    switch (below(random, 6)) {
      case 0:
        if (at < end)
          bytes[static_cast<std::size_t>(at)] ^= static_cast<Byte>(1u << below(random, 8));
        break;
      case 1:
        if (at < end) bytes[static_cast<std::size_t>(at)] = static_cast<Byte>(random());
        break;
      case 2:
        bytes.erase(bytes.begin() + at, bytes.begin() + end);
        break;
      case 3:
        bytes.insert(bytes.begin() + at, static_cast<Byte>(random()));
        break;
      case 4:
        bytes.erase(bytes.begin() + at, bytes.end());
        break;
      default: {
        const Bytes copy(bytes.begin() + at, bytes.begin() + end);
        bytes.insert(bytes.begin() + at, copy.begin(), copy.end());
      }
    }
  }
  return bytes;
}

}  // namespace clew

#endif  // CLEW_HOST_SCHEDULE_TEST_UTIL_H_
