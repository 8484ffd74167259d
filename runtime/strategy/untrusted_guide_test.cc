// Guides may hold anything: strategies do not crash, and every step of the program is executed.
#include <gtest/gtest.h>

#include "host/search/guides.h"
#include "runtime/random.h"
#include "runtime/strategy/noise.h"
#include "runtime/strategy/plan.h"
#include "runtime/strategy/prefix.h"
#include "runtime/strategy/rff.h"
#include "runtime/strategy/script_items.h"
#include "runtime/strategy/strategy_simulation.h"
#include "runtime/strategy/surw.h"

namespace clew::rt::simulation {
namespace {

const Program& program() {
  static const Program all{{{write(0x40, 1), lock(0x80), write(0x44, 2), unlock(0x80)}},
                           {{lock(0x80), read(0x40, 3), unlock(0x80), read(0x44, 4)}},
                           {{write(0x40, 5), read(0x44, 6), write(0x44, 7), write(0x40, 1)}}};
  return all;
}

template <class S>
void expect_complete(const std::vector<std::uint8_t>& guide, std::uint64_t seed) {
  const Outcome run = run_once<S>(program(), make_job(seed, &guide), 1000);
  EXPECT_EQ(run.order.size(), 12u) << "seed " << seed;
  EXPECT_FALSE(run.deadlock) << "seed " << seed;
}

// A script follows a real program only: what is read is looked at here.
void expect_script_in_order(const std::vector<std::uint8_t>& guide, std::uint64_t seed) {
  forget_arena();
  ScriptItems script(make_job(seed, &guide));
  std::uint64_t found = 0;
  for (int thread = 0; thread < 256; ++thread) {
    const ScriptThread* items = script.of(static_cast<abi::ThreadKey>(thread));
    if (items == nullptr) continue;
    for (const ScriptLane& lane : {items->preemptions, items->choices, items->cas}) {
      for (const auto* item = lane.next; item != lane.end; ++item, ++found) {
        EXPECT_EQ(item->thread, static_cast<abi::ThreadKey>(thread)) << "seed " << seed;
        if (item != lane.next) EXPECT_LE(item[-1].own, item->own) << "seed " << seed;
      }
    }
  }
  EXPECT_LE(found, script.count()) << "seed " << seed;
}

void expect_all_complete(const std::vector<std::uint8_t>& guide, std::uint64_t seed) {
  expect_complete<Surw>(guide, seed);
  expect_complete<Rff>(guide, seed);
  expect_complete<Plan>(guide, seed);
  expect_complete<Prefix>(guide, seed);
  expect_complete<Noise>(guide, seed);
  expect_script_in_order(guide, seed);
}

TEST(UntrustedGuide, AnyBytes) {
  std::uint64_t random = 1;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    std::vector<std::uint8_t> guide(split_mix(random) % 40);
    const std::uint64_t limit = seed % 2 == 0 ? 256 : 8;
    for (std::uint8_t& byte : guide) byte = static_cast<std::uint8_t>(split_mix(random) % limit);
    expect_all_complete(guide, seed);
  }
}

TEST(UntrustedGuide, WellFormedNonsense) {
  std::uint64_t random = 2;
  const auto small = [&](std::uint64_t bound) { return split_mix(random) % bound; };
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    std::vector<PlanDirective> directives(small(8));
    for (PlanDirective& d : directives)
      d = {small(5) == 0 ? 0 : key_of(static_cast<int>(small(4))), static_cast<PlanStop>(small(4)),
           small(9), small(4), static_cast<std::uint8_t>(small(4))};
    expect_complete<Plan>(plan_guide(directives), seed);

    std::vector<RffConstraint> constraints(small(8));
    for (RffConstraint& c : constraints) c = {small(8), small(8), static_cast<RffSign>(small(2))};
    const std::vector<abi::Place> places(small(3), small(8));
    expect_complete<Rff>(rff_guide(constraints, places), seed);

    std::vector<SurwThread> threads(small(4));
    for (SurwThread& t : threads)
      t = {key_of(static_cast<int>(small(4))), small(2) == 0 ? small(9) : UINT64_MAX, small(9)};
    expect_complete<Surw>(surw_guide(threads, places), seed);

    std::vector<std::uint32_t> steps(small(20));
    for (std::uint32_t& s : steps) s = static_cast<std::uint32_t>(small(4));
    expect_complete<Prefix>(prefix_guide(steps), seed);

    std::vector<clew::ScriptItem> items(small(20));
    for (clew::ScriptItem& item : items)
      item = {small(4), small(5), static_cast<std::uint8_t>(small(7)),
              static_cast<std::uint32_t>(small(3)), small(4)};
    expect_script_in_order(script_guide(items), seed);
  }
}

}  // namespace
}  // namespace clew::rt::simulation
