// Locks and conditions.
#ifndef CRAWLER_LOCKS_H_
#define CRAWLER_LOCKS_H_

#include <pthread.h>

namespace crawler {

class Mutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }
  pthread_mutex_t* native() { return &mutex_; }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class Guard {
 public:
  explicit Guard(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Guard() { mutex_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Mutex& mutex_;
};

class Condition {
 public:
  void wait(Mutex& mutex) { pthread_cond_wait(&condition_, mutex.native()); }
  void notify_one() { pthread_cond_signal(&condition_); }
  void notify_all() { pthread_cond_broadcast(&condition_); }

 private:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

}  // namespace crawler

#endif  // CRAWLER_LOCKS_H_
