// Models of the POSIX primitives. They keep their state in the object itself, in glibc's
// fields where those mean the same, so that static initialisers, copies into fresh memory
// and objects that are never destroyed behave as they do natively.
//
// All return an error number. `caller` is the code address a deadlock report shows.
#ifndef CLEW_RUNTIME_SYNC_MODELS_H_
#define CLEW_RUNTIME_SYNC_MODELS_H_

#include <pthread.h>
#include <semaphore.h>

#include "runtime/sched/fiber.h"
#include "runtime/time/deadline.h"

namespace clew::rt {

// Whether the thread that is about to take `reached.step.object` would get it at once (Reached::can_proceed).
bool mutex_can_be_taken(const Fiber& fiber);
bool spin_can_be_taken(const Fiber& fiber);
bool rwlock_can_be_read(const Fiber& fiber);
bool rwlock_can_be_written(const Fiber& fiber);
bool semaphore_is_positive(const Fiber& fiber);

int mutex_lock(pthread_mutex_t* mutex, Nanos deadline, const void* caller);
int mutex_trylock(pthread_mutex_t* mutex, const void* caller);
int mutex_unlock(pthread_mutex_t* mutex);
int mutex_destroy(pthread_mutex_t* mutex);
int mutex_consistent(pthread_mutex_t* mutex);
int mutex_set_ceiling(pthread_mutex_t* mutex, int ceiling, int* before, const void* caller);
// Around a wait for a condition: the waiting thread stays a user of the mutex.
int mutex_unlock_for_wait(pthread_mutex_t* mutex);
int mutex_lock_after_wait(pthread_mutex_t* mutex, const void* caller);
// The thread ends; the robust mutexes that it holds have lost their owner.
void mutex_owner_ends(Fiber& fiber);
// The process ends: other processes see that the robust mutexes of all its threads have lost their
// owners.
void leave_mutexes_to_others();

clockid_t cond_clock(const pthread_cond_t* cond);
int cond_wait(pthread_cond_t* cond, pthread_mutex_t* mutex, Nanos deadline, const void* caller);
int cond_signal(pthread_cond_t* cond);
int cond_broadcast(pthread_cond_t* cond);
int cond_destroy(pthread_cond_t* cond);

int rwlock_rdlock(pthread_rwlock_t* lock, Nanos deadline, const void* caller);
int rwlock_tryrdlock(pthread_rwlock_t* lock, const void* caller);
int rwlock_wrlock(pthread_rwlock_t* lock, Nanos deadline, const void* caller);
int rwlock_trywrlock(pthread_rwlock_t* lock, const void* caller);
int rwlock_unlock(pthread_rwlock_t* lock);
int rwlock_destroy(pthread_rwlock_t* lock);

int spin_lock(pthread_spinlock_t* lock, const void* caller);
int spin_trylock(pthread_spinlock_t* lock, const void* caller);
int spin_unlock(pthread_spinlock_t* lock);

int barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                 unsigned count);
int barrier_wait(pthread_barrier_t* barrier);
int barrier_destroy(pthread_barrier_t* barrier);

int semaphore_wait(sem_t* semaphore, Nanos deadline);
int semaphore_trywait(sem_t* semaphore);
int semaphore_post(sem_t* semaphore);

int run_once(pthread_once_t* control, void (*routine)(void), const void* caller);

// The futex system call: the kernel's answer, -errno on failure.
long futex(std::uint32_t* word, int operation, std::uint32_t value, const timespec* timeout,
           std::uint32_t* word2, std::uint32_t value3);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYNC_MODELS_H_
