#include "runtime/event/sharing.h"

#include <cstddef>

#include "runtime/event/stretch_layout.h"
#include "runtime/keep.h"

namespace clew::rt {

constinit Sharing g_sharing;
constinit QuietPoints g_quiet;
static_assert(offsetof(QuietPoints, begin) == CLEW_QUIET_BEGIN);
static_assert(offsetof(QuietPoints, size) == CLEW_QUIET_SIZE);
static_assert(offsetof(QuietPoints, seen) == CLEW_QUIET_SEEN);
static_assert(offsetof(QuietPoints, quiet_from) == CLEW_QUIET_FROM);
static_assert(offsetof(QuietPoints, pass) == CLEW_QUIET_PASS);
static_assert(static_cast<int>(QuietPoints::Pass::kYes) == CLEW_QUIET_PASS_YES);

namespace {

constexpr unsigned kCellBits = 17;
constexpr unsigned kWays = 2;
constexpr unsigned kGranuleBits = 3;
// A block is remembered up to here. Beyond, what was touched before is still found: of a copy in
// the first 4 KB (chosen, not measured), of memory that is freed in as much as there are cells.
constexpr std::uint32_t kMaxGranules = 32;
constexpr std::uint32_t kMaxLooks = 512;
constexpr std::uint32_t kMaxLooksFreed = 1u << kCellBits;
constexpr std::uint32_t kRemembered = 4;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15 ^ b;
  z = (z ^ (z >> 31)) * 0xbf58476d1ce4e5b9;
  return z ^ (z >> 29);
}

// Neighbours in memory have cells close to each other, so that the table is in the processor's caches
// if what the program works on is; the same offset in different blocks of memory lies anywhere.
std::uint64_t slot_of(std::uintptr_t granule) {
  constexpr unsigned kBlockBits = 5;
  constexpr std::uintptr_t kInBlock = (1u << kBlockBits) - 1;
  const std::uint64_t block = (granule >> kBlockBits) * 0x9e3779b97f4a7c15;
  return ((block >> (64 - (kCellBits - 1))) ^ (granule & kInBlock)) * kWays;
}

bool writes(abi::StepKind kind) { return kind != abi::StepKind::kRead; }

}  // namespace

// One granule of memory. A table of fixed size: when it is full the oldest are forgotten, which
// costs a scheduling point at most until the next run.
// All ways of a slot are in one line of the processor's cache: most of what an access costs in a
// hunt is waiting for it.
struct Sharing::Cell {
  std::uint64_t granule;
  std::uint32_t epoch;   // of the job that it belongs to
  std::uint16_t thread;  // first to touch it, index + 1 (wraps; a collision delays the finding)
  bool shared : 1;       // by several threads, and one of them writes
  bool several : 1;      // by several threads
  bool written : 1;
  std::uint8_t points_count;
  std::uint64_t write_chain;  // of its writes in order
  std::uint64_t reads;        // since the last write, in any order
};
// The points that touched the cell before it was known to be shared.
struct Sharing::Points {
  std::uint32_t of[kRemembered];
};

void Sharing::reserve(const abi::Control& control) {
  keep_init();
  if (kept().sharing_cells != nullptr) return;
  static_assert(sizeof(Cell) * kWays == 64);
  kept().sharing_cells = keep_alloc((sizeof(Cell) + sizeof(Points)) << kCellBits);
  kept().found_points = static_cast<std::uint8_t*>(keep_alloc(control.sharing.size + 1));
  kept().seen_points = static_cast<std::uint32_t*>(
      keep_alloc((control.sharing.size * 8 + 1) * sizeof(std::uint32_t)));
}

void Sharing::begin(abi::Control& control, const abi::Job& job) {
  auto* base = reinterpret_cast<std::uint8_t*>(&control);
  all_points_ = (job.flags & abi::kJobAllPoints) != 0;
  learning_ = true;
  known_ = base + control.sharing.offset;
  known_bits_ = control.sharing.size * 8;
  new_points_ = reinterpret_cast<std::uint32_t*>(base + control.new_sharing.offset) +
                control.new_sharing_count;
  new_room_ = control.new_sharing.size / sizeof(std::uint32_t) - control.new_sharing_count;
  found_ = 0;
  interleaving_ = 0;
  reserve(control);
  epoch_ = ++kept().epoch;
  seen_ = kept().seen_points;
  g_quiet = {.quiet_from = epoch_ << 16 | kLooks};
}

// Those that are quiet have been asked for often, and so decide nothing.
void Sharing::let_pass(const abi::Point* begin, const abi::Point* end, std::uint64_t base) {
  static_assert(kLookAgain - 2 == CLEW_QUIET_MORE);
  static_assert(sizeof(abi::Point) == 1 && sizeof *seen_ == 4);
  const auto points = static_cast<std::uint64_t>(end - begin);
  const std::uint64_t known = known_bits_ > base ? known_bits_ - base : 0;
  g_quiet.begin = begin;
  g_quiet.size = (points < known ? points : known) * sizeof(abi::Point);
  g_quiet.seen = seen_ + base;
}

void Sharing::stay_away() {
  learning_ = false;
  found_ = 0;
  interleaving_ = 0;
}

Sharing::Cell* Sharing::find_cell(std::uintptr_t granule) const {
  Cell* cell = static_cast<Cell*>(kept().sharing_cells) + slot_of(granule);
  for (unsigned i = 0; i < kWays; ++i)
    if (cell[i].granule == granule && cell[i].epoch == epoch_) return &cell[i];
  return nullptr;
}

Sharing::Cell& Sharing::cell_of(std::uintptr_t granule) {
  if (Cell* found = find_cell(granule)) return *found;
  Cell* cell = static_cast<Cell*>(kept().sharing_cells) + slot_of(granule);
  unsigned victim = 0;
  while (victim + 1 < kWays && cell[victim].epoch == epoch_) ++victim;
  cell[victim] = {granule, epoch_, 0, false, false, false, 0, 0, 0};
  return cell[victim];
}

void Sharing::report(std::uint32_t point) {
  if (point == 0 || point >= known_bits_) return;
  std::uint8_t& byte = kept().found_points[point >> 3];
  const auto bit = static_cast<std::uint8_t>(1u << (point & 7));
  if ((known_[point >> 3] & bit) != 0 || (byte & bit) != 0 || found_ == new_room_) return;
  byte |= bit;
  new_points_[found_++] = point;
}

Sharing::Points& Sharing::points_of(const Cell& cell) {
  auto* cells = static_cast<Cell*>(kept().sharing_cells);
  return reinterpret_cast<Points*>(cells + (std::size_t{1} << kCellBits))[&cell - cells];
}

void Sharing::share(Cell& cell) {
  cell.shared = true;
  for (std::uint32_t i = 0; i < cell.points_count; ++i) report(points_of(cell).of[i]);
}

void Sharing::remember(Cell& cell, std::uint32_t point) {
  Points& points = points_of(cell);
  for (std::uint32_t i = 0; i < cell.points_count; ++i)
    if (points.of[i] == point) return;
  if (cell.points_count < kRemembered) points.of[cell.points_count++] = point;
}

void Sharing::before(const Event& event) {
  if (event.alone) return;
  const Step& step = event.step;
  const std::uintptr_t first = step.object >> kGranuleBits;
  const std::uintptr_t last = (step.object + (step.size > 0 ? step.size - 1 : 0)) >> kGranuleBits;
  const std::uint32_t looks = abi::ends_life(step.kind) ? kMaxLooksFreed : kMaxLooks;
  std::uintptr_t granule = first;
  for (; granule <= last && granule - first < kMaxGranules; ++granule)
    touch(cell_of(granule), granule, event);
  for (; granule <= last && granule - first < looks; ++granule)
    if (Cell* cell = find_cell(granule)) touch(*cell, granule, event);
}

void Sharing::touch(Cell& cell, std::uintptr_t granule, const Event& event) {
  const Step& step = event.step;
  const bool write = writes(step.kind);
  // A handler comes between the steps of its thread as another thread would.
  const auto thread =
      static_cast<std::uint16_t>(event.thread.index + 1 + (event.in_handler ? 0x8000 : 0));
  const auto point = static_cast<std::uint32_t>((step.place & 1) == 0 ? step.place >> 1 : 0);
  const std::uint64_t who = event.thread.key ^ step.place << 1;
  if (cell.thread == 0) cell.thread = thread;
  if (cell.thread != thread) cell.several = true;
  if (write) cell.written = true;
  if (!cell.shared) {
    if (cell.several && cell.written)
      share(cell);
    else
      remember(cell, point);
  }
  if (cell.shared) report(point);
  // The sum over all cells, kept up to date.
  interleaving_ -= mix(granule, cell.write_chain + cell.reads);
  if (write) {
    cell.write_chain = mix(cell.write_chain + cell.reads, who);
    cell.reads = 0;
  } else {
    cell.reads += mix(cell.write_chain, who);
  }
  interleaving_ += mix(granule, cell.write_chain + cell.reads);
}

void Sharing::end() {
  if (!learning_) return;
  for (std::uint64_t i = 0; i < found_; ++i)
    kept().found_points[new_points_[i] >> 3] &=
        static_cast<std::uint8_t>(~(1u << (new_points_[i] & 7)));
}

}  // namespace clew::rt
