// A downloader in the manner of aget: each thread fetches its part and adds to the common count of bytes. SIGTERM saves the progress of all parts so
// that the download can be resumed; the handler reads the count and the parts' positions while threads are in the middle of changing them.
// ROOT CAUSE: downloader.cpp:66 and downloader.cpp:67 (two updates that belong together), downloader.cpp:53 (the handler reads both); KIND: atomicity-violation or data-race
// SAYS: signal handler sees .* `progress.total`
#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kParts = 2;
constexpr int kChunk = 4;

struct Part {
  int number = 0;
  int first = 0;
  int end = 0;
  volatile int position = 0;
};

struct Progress {
  volatile int total = 0;
  Part parts[kParts];
};

struct SavedState {
  bool present = false;
  int total = 0;
  int positions[kParts] = {};
};

Progress progress;
SavedState saved;
std::string remote_file;
std::vector<char> local_file;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
volatile sig_atomic_t stop_asked = 0;

int fetch(int at, int count, char* to) {
  const int left = static_cast<int>(remote_file.size()) - at;
  const int got = count < left ? count : left;
  std::memcpy(to, remote_file.data() + at, static_cast<std::size_t>(got));
  return got;
}

void save_state() {
  for (int i = 0; i < kParts; i++) saved.positions[i] = progress.parts[i].position;
  saved.total = progress.total;
  saved.present = true;
}

void on_terminate(int) {
#ifdef FIXED
  stop_asked = 1;
#else
  save_state();
#endif
}

void add_progress(Part& part, int got) {
  part.position = part.position + got;
  progress.total = progress.total + got;
}

void* download_part(void* argument) {
  Part& part = *static_cast<Part*>(argument);
  while (part.position < part.end) {
    const int left = part.end - part.position;
    const int wanted = left < kChunk ? left : kChunk;
    const int got = fetch(part.position, wanted, local_file.data() + part.position);
    if (got <= 0) break;
    pthread_mutex_lock(&mutex);
    add_progress(part, got);
    if (stop_asked && !saved.present) save_state();
    pthread_mutex_unlock(&mutex);
  }
  return nullptr;
}

// What was saved can be resumed from if the parts add up to the total.
bool is_consistent(const SavedState& state) {
  int sum = 0;
  for (int i = 0; i < kParts; i++) {
    const Part& part = progress.parts[i];
    if (state.positions[i] < part.first || state.positions[i] > part.end) return false;
    sum += state.positions[i] - part.first;
  }
  return sum == state.total;
}

void plan(int size) {
  const int each = size / kParts;
  for (int i = 0; i < kParts; i++) {
    Part& part = progress.parts[i];
    part.number = i;
    part.first = i * each;
    part.end = i + 1 == kParts ? size : (i + 1) * each;
    part.position = part.first;
  }
}

void* terminal(void* target) {
  pthread_kill(*static_cast<pthread_t*>(target), SIGTERM);
  return nullptr;
}

}  // namespace

int main() {
  for (int i = 0; i < 16; i++) remote_file.push_back(static_cast<char>('a' + i));
  local_file.resize(remote_file.size());
  plan(static_cast<int>(remote_file.size()));

  struct sigaction action = {};
  action.sa_handler = on_terminate;
  sigaction(SIGTERM, &action, nullptr);

  pthread_t threads[kParts], user;
  for (int i = 0; i < kParts; i++)
    pthread_create(&threads[i], nullptr, download_part, &progress.parts[i]);
  pthread_create(&user, nullptr, terminal, &threads[0]);
  pthread_join(user, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);

  if (std::memcmp(local_file.data(), remote_file.data(), remote_file.size()) != 0) return 2;
  if (saved.present && !is_consistent(saved)) {
    std::fprintf(stderr, "the saved state cannot be resumed: total %d\n", saved.total);
    return 1;
  }
  std::printf("%d bytes\n", progress.total);
  return 0;
}
