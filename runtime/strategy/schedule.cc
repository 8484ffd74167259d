#include "runtime/strategy/schedule.h"

#include <cstdio>
#include <cstring>

#include "runtime/arena.h"

namespace clew::rt {

namespace {

struct RawEntry {
  abi::EntryKind kind;
  Clock delta;
  std::uint64_t fields[3];
  std::uint16_t hash;
};

RawEntry read_entry(abi::Reader& reader) {
  const std::uint64_t head = reader.varint();
  RawEntry entry{static_cast<abi::EntryKind>(head & ((1u << abi::kKindBits) - 1)),
                 head >> abi::kKindBits,
                 {},
                 0};
  switch (entry.kind) {
    case abi::EntryKind::kSwitchNext:
      break;
    case abi::EntryKind::kSwitchTo:
      entry.fields[0] = reader.varint();
      break;
    case abi::EntryKind::kCheck:
      entry.fields[0] = reader.varint();
      entry.fields[1] = reader.varint();
      entry.hash = reader.u16();
      break;
    case abi::EntryKind::kChoice:
      for (std::uint64_t& field : entry.fields) field = reader.varint();
      break;
    default:
      check_failed("the entry belongs to a schedule", __FILE__, __LINE__);
  }
  CLEW_CHECK(reader.ok());
  return entry;
}

}  // namespace

ScheduleStrategy::ScheduleStrategy(const abi::Job& job, Run& run, Replay replay)
    : Strategy(kFollows),
      run_(run),
      names_count_(job.names_count),
      reader_(guide_of(job), job.guide.size),
      choice_reader_(guide_of(job), job.guide.size),
      cas_reader_(guide_of(job), job.guide.size),
      full_replay_(replay == Replay::kFull),
      loose_((job.flags & abi::kJobLoose) != 0) {
  names_ = static_cast<const char**>(arena_alloc((names_count_ + 1) * sizeof(char*)));
  resolved_ = static_cast<std::uint32_t*>(arena_alloc((names_count_ + 1) * 4));
  const char* name = names_of(job);
  for (std::uint64_t i = 0; i < names_count_; ++i, name += strlen(name) + 1) names_[i] = name;
  read_next();
  read_next_choice();
  if (choice_clock_ == kNever)
    cas_clock_ = kNever;
  else
    read_next_cas();
}

void ScheduleStrategy::read_next() {
  while (!reader_.at_end()) {
    const RawEntry entry = read_entry(reader_);
    clock_ = last_clock_ += entry.delta;
    if (entry.kind == abi::EntryKind::kChoice) continue;
    kind_ = entry.kind;
    thread_ = entry.fields[0];
    place_ = entry.fields[1];
    hash_ = entry.hash;
    return;
  }
  clock_ = kNever;
}

void ScheduleStrategy::read_next_choice() {
  while (!choice_reader_.at_end()) {
    const RawEntry entry = read_entry(choice_reader_);
    choice_clock_ = last_choice_clock_ += entry.delta;
    if (entry.kind != abi::EntryKind::kChoice) continue;
    choice_ordinal_ = entry.fields[0];
    choice_kind_ = entry.fields[1];
    choice_value_ = entry.fields[2];
    return;
  }
  choice_clock_ = kNever;
}

void ScheduleStrategy::read_next_cas() {
  while (!cas_reader_.at_end()) {
    const RawEntry entry = read_entry(cas_reader_);
    cas_clock_ += entry.delta;
    if (entry.kind == abi::EntryKind::kChoice &&
        entry.fields[1] == static_cast<std::uint64_t>(abi::ChoiceKind::kCas))
      return;
  }
  cas_clock_ = kNever;
}

Choice ScheduleStrategy::choose(const Question& question) {
  const Clock event = question.event;
  const std::uint32_t ordinal = question.ordinal;
  while (choice_clock_ < event || (choice_clock_ == event && choice_ordinal_ < ordinal)) {
    note_choice_without_effect("the question did not arise");
    read_next_choice();
  }
  if (choice_clock_ != event || choice_ordinal_ != ordinal) return {};
  Choice answer = Choice::position(1);
  if (choice_kind_ != static_cast<std::uint64_t>(question.kind)) {
    note_choice_without_effect("the question was another");
    answer = {};
  } else if (abi::names_thread(question.kind)) {
    const std::uint32_t index = choice_value_ < names_count_ ? resolve(choice_value_) : 0;
    answer = index != 0 ? Choice::thread(index - 1) : Choice{};
  }
  read_next_choice();
  return answer;
}

void ScheduleStrategy::note_choice_without_effect(const char* why) {
  static constexpr const char* kWords[] = {
#define CLEW_KIND(name, text, value) text,
      CLEW_CHOICE_KINDS(CLEW_KIND)
#undef CLEW_KIND
  };
  char note[160];
  snprintf(note, sizeof note, "the choice %llu/%llu/%s had no effect: %s",
           static_cast<unsigned long long>(choice_clock_),
           static_cast<unsigned long long>(choice_ordinal_),
           choice_kind_ < sizeof kWords / sizeof kWords[0] ? kWords[choice_kind_] : "?", why);
  run_.note(note);
}

Clock ScheduleStrategy::next_decision(Clock now) {
  while (cas_clock_ <= now) read_next_cas();
  const Clock decision = clock_ > now ? clock_ : now + 1;
  return cas_clock_ < decision ? cas_clock_ : decision;
}

Decision ScheduleStrategy::preempt(Clock event) {
  while (clock_ <= event) {
    // A clock below the event: the points in between were passed inside a no-yield region or
    // the like; the switch takes effect here, at the first chance.
    const abi::EntryKind kind = kind_;
    if (kind == abi::EntryKind::kCheck) {
      compare(event);
      read_next();
      continue;
    }
    const Decision decision =
        kind == abi::EntryKind::kSwitchTo ? switch_to(event) : Decision{Decision::Kind::kNext};
    read_next();
    if (decision.kind != Decision::Kind::kStay) return decision;
  }
  return {};
}

void ScheduleStrategy::compare(Clock event) {
  if (!full_replay_) return;
  const ThreadIndex running = run_.running().index;
  const abi::Place place = run_.place();
  if (running == thread_ && place == place_ && run_.hash16() == hash_) return;
  const char* what = running != thread_ ? "another thread runs"
                     : place != place_  ? "the thread is at another place"
                                        : "something before this differed";
  run_.depart(event, thread_, place_, what);
}

Decision ScheduleStrategy::switch_to(Clock event) {
  const std::uint32_t index = thread_ < names_count_ ? resolve(thread_) : 0;
  const ThreadStatus status = index != 0 ? run_.status(index - 1) : ThreadStatus::kUnknown;
  if (status == ThreadStatus::kRunning) return {};
  if (status == ThreadStatus::kRunnable) return {Decision::Kind::kTo, index - 1};
  if (full_replay_) run_.depart(event, index != 0 ? index - 1 : 0, 0, "the thread cannot run");
  const char* why = status == ThreadStatus::kUnknown ? "there was no such thread"
                    : status == ThreadStatus::kEnded ? "it has ended"
                                                     : "it is waiting";
  char note[160];
  snprintf(note, sizeof note, "the switch %llu:%s had no effect: %s",
           static_cast<unsigned long long>(event), thread_ < names_count_ ? names_[thread_] : "?",
           why);
  run_.note(note);
  return {};
}

// The index + 1 of the thread with this name, 0 if there is none (yet). In a recording the
// names stand in order of creation, so the thread of the same number is tried first.
std::uint32_t ScheduleStrategy::resolve(std::uint64_t name) {
  if (resolved_[name] != 0) return resolved_[name];
  const auto is_named = [&](ThreadIndex thread) {
    char id[1024];
    run_.name(thread, id, sizeof id);
    return strcmp(id, names_[name]) == 0;
  };
  if (name < run_.threads_created() && is_named(static_cast<ThreadIndex>(name)))
    return resolved_[name] = static_cast<std::uint32_t>(name) + 1;
  for (ThreadIndex i = 0; i < run_.threads_created(); ++i)
    if (is_named(i)) return resolved_[name] = i + 1;
  return 0;
}

bool ScheduleStrategy::left_over(Clock clock, char* reason, std::size_t size) {
  if (loose_ && !full_replay_) return false;
  for (std::uint64_t i = 0; i < names_count_ && !full_replay_; ++i) {
    if (resolve(i) != 0) continue;
    snprintf(reason, size, "the schedule names thread %s, which this run did not create",
             names_[i]);
    return true;
  }
  // One past the end is the padding of Choi and Zeller 2002, section 4.3: it means "after the run".
  while (clock_ != kNever && clock_ <= clock + 1) read_next();
  if (clock_ == kNever) return false;
  if (full_replay_) {
    const bool known = kind_ == abi::EntryKind::kCheck;
    run_.depart(clock, known ? thread_ : run_.running().index, known ? place_ : 0,
                "the run ended before its next switch");
  }
  snprintf(reason, size, "the schedule has a switch at clock %llu, but the run ended at clock %llu",
           static_cast<unsigned long long>(clock_), static_cast<unsigned long long>(clock));
  return true;
}

}  // namespace clew::rt
