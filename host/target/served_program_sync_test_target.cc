// The program that served_program_script_test runs: threads that synchronise in every way, so that
// all questions arise. The first argument says how.
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <latch>
#include <map>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

volatile int g_shared = 0;

void stir(int value) { g_shared = g_shared * 3 + value; }

int result() {
  printf("%d\n", static_cast<int>(g_shared));
  return static_cast<int>(static_cast<unsigned>(g_shared) >> 3 & 1);
}

int with_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> all;
  for (int t = 0; t < count; ++t) all.emplace_back(body, t);
  for (std::thread& t : all) t.join();
  return result();
}

int condition() {
  static std::mutex mutex;
  static std::condition_variable filled, emptied;
  static std::deque<int> queue;
  return with_threads(5, [](int t) {
    for (int i = 0; i < 4; ++i) {
      std::unique_lock lock(mutex, std::defer_lock);
      if (!lock.try_lock()) lock.lock();
      if (t % 2 == 0) {
        while (queue.size() >= 2)
          if (emptied.wait_for(lock, 50us) == std::cv_status::timeout) break;
        queue.push_back(t);
        filled.notify_one();
      } else {
        while (queue.empty())
          if (filled.wait_for(lock, 80us) == std::cv_status::timeout) break;
        if (queue.empty()) continue;
        stir(queue.front());
        queue.pop_front();
        emptied.notify_one();
      }
    }
  });
}

int atomics() {
  static std::atomic<int> sum{0};
  return with_threads(3, [](int t) {
    for (int i = 0; i < 6; ++i) {
      int seen = sum.load();
      while (!sum.compare_exchange_weak(seen, seen * 3 + t)) stir(t);
      if (i % 3 == 0) std::this_thread::yield();
      stir(sum.fetch_add(1));
    }
  });
}

int semaphores() {
  static sem_t semaphore;
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  static pthread_barrier_t barrier;
  sem_init(&semaphore, 0, 1);
  pthread_barrier_init(&barrier, nullptr, 4);
  return with_threads(4, [](int t) {
    for (int i = 0; i < 3; ++i) {
      timespec until;
      clock_gettime(CLOCK_REALTIME, &until);
      until.tv_nsec = (until.tv_nsec + 20'000) % 1'000'000'000;
      const bool got = i == 1 ? sem_timedwait(&semaphore, &until) == 0 : sem_wait(&semaphore) == 0;
      stir(t);
      if (got) sem_post(&semaphore);
      pthread_rwlock_rdlock(&lock);
      const int seen = g_shared;
      pthread_rwlock_unlock(&lock);
      if (pthread_rwlock_trywrlock(&lock) == 0) {
        stir(seen);
        pthread_rwlock_unlock(&lock);
      }
      pthread_barrier_wait(&barrier);
    }
  });
}

int modern() {
  static std::latch started(3);
  static std::barrier together(3);
  static std::counting_semaphore<2> room(2);
  static std::atomic<int> turn{0};
  return with_threads(3, [](int t) {
    started.arrive_and_wait();
    for (int i = 0; i < 3; ++i) {
      room.acquire();
      stir(t);
      room.release();
      together.arrive_and_wait();
    }
    for (int seen = turn.load(); seen != t; seen = turn.load()) turn.wait(seen);
    stir(t);
    turn.store(t + 1);
    turn.notify_all();
  });
}

// The threads that run first wait in loops that only a fair scheduler ends.
int spins() {
  static volatile bool ready[3] = {};
  return with_threads(3, [](int t) {
    for (int i = 0; i < 3; ++i) stir(t);
    if (t < 2)
      while (!ready[t + 1]) {
      }
    stir(t);
    ready[t] = true;
  });
}

// Readings of the clock advance it while others sleep.
int polls() {
  return with_threads(3, [](int t) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 5; ++i) {
      if (t == 0)
        while (std::chrono::steady_clock::now() < begin + (i + 1) * 7us) stir(i);
      else
        std::this_thread::sleep_for(3us * t);
      for (int j = 0; j < 20; ++j) stir(t);
    }
  });
}

// main ends while others run.
int leaves() {
  for (int t = 0; t < 3; ++t)
    std::thread([t] {
      for (int i = 0; i < 20; ++i) stir(t);
      std::thread([] { stir(7); }).detach();
    }).detach();
  for (int i = 0; i < 10; ++i) stir(9);
  return result();
}

const std::map<std::string, int (*)()> kModes{
    {"condition", condition}, {"atomics", atomics}, {"semaphores", semaphores}, {"modern", modern},
    {"spins", spins},         {"polls", polls},     {"leaves", leaves},
};

}  // namespace

int main(int count, char** arguments) {
  const auto mode = kModes.find(count > 1 ? arguments[1] : "atomics");
  return mode != kModes.end() ? mode->second() : 99;
}
