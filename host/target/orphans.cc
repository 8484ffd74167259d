#include "host/target/orphans.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <filesystem>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "host/target/slurp.h"

namespace clew {
namespace {

// A process that is ended leaves its own children, which are ended in the next round.
constexpr int kRounds = 200;
constexpr useconds_t kBetweenRounds = 5'000;

std::atomic<bool> g_takes_orphans = false;
std::mutex g_mutex;  // held from a fork until its child is known
std::set<pid_t> g_own;

// REQUIRES: g_mutex is held.
std::vector<pid_t> orphans() {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::istringstream numbers(slurp(task.path() / "children"));
    for (pid_t child = 0; numbers >> child;)
      if (!g_own.contains(child)) found.push_back(child);
  }
  return found;
}

bool has_variable(pid_t process, std::string_view variable) {
  const std::string text = slurp(fmt::format("/proc/{}/environ", process));
  const std::string whole = std::string(1, '\0') + std::string(variable) + '\0';
  return (std::string(1, '\0') + text).find(whole) != std::string::npos;
}

// Until `wanted` chooses none any more.
template <class Wanted>
void end_orphans(Wanted wanted) {
  for (int round = 0; round < kRounds; ++round) {
    bool any = false;
    {
      const std::scoped_lock lock(g_mutex);
      for (const pid_t process : orphans()) {
        if (!wanted(process)) continue;
        kill(process, SIGKILL);
        any |= waitpid(process, nullptr, WNOHANG) == 0;
      }
    }
    if (!any && round > 0) return;
    if (any) usleep(kBetweenRounds);
  }
}

}  // namespace

Orphans::Orphans() { g_takes_orphans = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

Orphans::~Orphans() {
  if (!g_takes_orphans.exchange(false)) return;
  end_orphans([](pid_t) { return true; });
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

pid_t fork_own_child() {
  const std::scoped_lock lock(g_mutex);
  const pid_t child = fork();
  if (child > 0) g_own.insert(child);
  return child;
}

void forget_own_child(pid_t child) {
  const std::scoped_lock lock(g_mutex);
  g_own.erase(child);
}

void reap_orphans() {
  if (!g_takes_orphans) return;
  const std::scoped_lock lock(g_mutex);
  for (const pid_t process : orphans()) waitpid(process, nullptr, WNOHANG);
}

void end_orphans_with(std::string_view variable) {
  if (!g_takes_orphans) return;
  end_orphans([variable](pid_t process) { return has_variable(process, variable); });
}

}  // namespace clew
