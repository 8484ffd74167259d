// Signals and threads: masks, pthread_kill, pthread_sigqueue, raise, handlers, jumps out of them.
#define _GNU_SOURCE
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>

#include "help.h"

static sem_t handled;
static sem_t release;
static volatile sig_atomic_t last_signal;
static volatile sig_atomic_t last_value;
static volatile sig_atomic_t count;
static pthread_t handler_thread;

static void note(int number) {
  last_signal = number;
  handler_thread = pthread_self();
  count = count + 1;
  sem_post(&handled);
}

static void note_info(int number, siginfo_t* info, void* context) {
  last_value = info->si_value.sival_int;
  EXPECT_EQ(info->si_code, SI_QUEUE);
  EXPECT_EQ(info->si_pid, getpid());
  note(number);
}

static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  EXPECT_EQ(sigaction(number, &action, NULL), 0);
}

static void reset(void) {
  EXPECT_EQ(sem_init(&handled, 0, 0), 0);
  EXPECT_EQ(sem_init(&release, 0, 0), 0);
  last_signal = last_value = count = 0;
  handle(SIGUSR1, note, 0);
  handle(SIGUSR2, note, 0);
}

static void wait_for(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) {
  }
}

static void* wait_for_release(void* unused) {
  wait_for(&release);
  return NULL;
}

static void change_mask(int how, int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  EXPECT_EQ(pthread_sigmask(how, &set, NULL), 0);
}

static int is_blocked(int number) {
  sigset_t set;
  EXPECT_EQ(pthread_sigmask(SIG_SETMASK, NULL, &set), 0);
  return sigismember(&set, number);
}

static int is_pending(int number) {
  sigset_t set;
  EXPECT_EQ(sigpending(&set), 0);
  return sigismember(&set, number);
}

CASE(pthread_kill, runs_handler_in_that_thread) {
  reset();
  pthread_t thread = start(wait_for_release, NULL);
  EXPECT_EQ(pthread_kill(thread, SIGUSR1), 0);
  wait_for(&handled);
  EXPECT_EQ(last_signal, SIGUSR1);
  EXPECT(pthread_equal(handler_thread, thread));
  EXPECT_EQ(sem_post(&release), 0);
  finish(thread);
  EXPECT_EQ(count, 1);
}

CASE(pthread_kill, self_is_at_once) {
  reset();
  EXPECT_EQ(pthread_kill(pthread_self(), SIGUSR2), 0);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(last_signal, SIGUSR2);
}

CASE(pthread_kill, signal_0_and_einval) {
  reset();
  pthread_t thread = start(wait_for_release, NULL);
  EXPECT_EQ(pthread_kill(thread, 0), 0);
  EXPECT_EQ(pthread_kill(thread, -1), EINVAL);
  EXPECT_EQ(pthread_kill(thread, 1000), EINVAL);
  EXPECT_EQ(sem_post(&release), 0);
  finish(thread);
}

static void* post_and_end(void* unused) {
  sem_post(&handled);
  return NULL;
}

// glibc from 2.34: success, as long as the thread has not been joined.
CASE(pthread_kill, ended_thread) {
  reset();
  pthread_t thread = start(post_and_end, NULL);
  wait_for(&handled);
  nap(kShortMs);
  EXPECT_EQ(pthread_kill(thread, 0), 0);
  finish(thread);
}

CASE(raise, is_of_this_thread) {
  reset();
  EXPECT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(count, 1);
  EXPECT(pthread_equal(handler_thread, pthread_self()));
  EXPECT_ERRNO(raise(1000), EINVAL);
}

CASE(pthread_sigmask, blocks_and_delivers_later) {
  reset();
  change_mask(SIG_BLOCK, SIGUSR1);
  EXPECT_EQ(is_blocked(SIGUSR1), 1);
  EXPECT_EQ(is_blocked(SIGUSR2), 0);
  EXPECT_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
  EXPECT_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(is_pending(SIGUSR1), 1);
  change_mask(SIG_UNBLOCK, SIGUSR1);
  EXPECT_EQ(count, 1);  // standard signals do not queue
  EXPECT_EQ(is_pending(SIGUSR1), 0);
}

CASE(pthread_sigmask, old_set_and_einval) {
  reset();
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  EXPECT_EQ(pthread_sigmask(SIG_SETMASK, &set, &old), 0);
  EXPECT_EQ(sigismember(&old, SIGUSR1), 0);
  EXPECT_EQ(pthread_sigmask(77, &set, NULL), EINVAL);
  EXPECT_EQ(pthread_sigmask(SIG_SETMASK, &old, &set), 0);
  EXPECT_EQ(sigismember(&set, SIGUSR1), 1);
  EXPECT_EQ(is_blocked(SIGUSR1), 0);
}

static void* note_masks(void* masks) {
  ((int*)masks)[0] = is_blocked(SIGUSR1);
  change_mask(SIG_UNBLOCK, SIGUSR1);
  ((int*)masks)[1] = is_blocked(SIGUSR1);
  change_mask(SIG_BLOCK, SIGUSR2);
  return NULL;
}

CASE(pthread_sigmask, is_inherited_and_of_a_thread) {
  reset();
  int masks[2] = {-1, -1};
  change_mask(SIG_BLOCK, SIGUSR1);
  finish(start(note_masks, masks));
  EXPECT_EQ(masks[0], 1);
  EXPECT_EQ(masks[1], 0);
  EXPECT_EQ(is_blocked(SIGUSR1), 1);
  EXPECT_EQ(is_blocked(SIGUSR2), 0);
  change_mask(SIG_UNBLOCK, SIGUSR1);
}

CASE(sigprocmask, of_this_thread) {
  reset();
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  EXPECT_EQ(sigprocmask(SIG_BLOCK, &set, NULL), 0);
  EXPECT_EQ(is_blocked(SIGUSR1), 1);
  EXPECT_EQ(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
  EXPECT_ERRNO(sigprocmask(77, &set, NULL), EINVAL);
}

// A signal of the process goes to a thread that does not block it.
CASE(kill, goes_to_a_thread_that_takes_it) {
  reset();
  pthread_t thread = start(wait_for_release, NULL);
  change_mask(SIG_BLOCK, SIGUSR1);
  EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
  wait_for(&handled);
  EXPECT(pthread_equal(handler_thread, thread));
  change_mask(SIG_UNBLOCK, SIGUSR1);
  EXPECT_EQ(sem_post(&release), 0);
  finish(thread);
  EXPECT_EQ(count, 1);
}

CASE(pthread_sigqueue, carries_a_value) {
  reset();
  struct sigaction action = {.sa_sigaction = note_info, .sa_flags = SA_SIGINFO};
  EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  pthread_t thread = start(wait_for_release, NULL);
  EXPECT_EQ(pthread_sigqueue(thread, SIGUSR1, (union sigval){.sival_int = 42}), 0);
  wait_for(&handled);
  EXPECT_EQ(last_value, 42);
  EXPECT(pthread_equal(handler_thread, thread));
  EXPECT_EQ(pthread_sigqueue(thread, 1000, (union sigval){.sival_int = 1}), EINVAL);
  EXPECT_EQ(sem_post(&release), 0);
  finish(thread);
}

// Real-time signals queue.
CASE(pthread_sigqueue, queues) {
  reset();
  struct sigaction action = {.sa_sigaction = note_info, .sa_flags = SA_SIGINFO};
  EXPECT_EQ(sigaction(SIGRTMIN, &action, NULL), 0);
  change_mask(SIG_BLOCK, SIGRTMIN);
  for (int i = 1; i <= 3; ++i)
    EXPECT_EQ(pthread_sigqueue(pthread_self(), SIGRTMIN, (union sigval){.sival_int = i}), 0);
  EXPECT_EQ(count, 0);
  change_mask(SIG_UNBLOCK, SIGRTMIN);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(last_value, 3);
}

CASE(sigaction, mask_during_handler) {
  reset();
  struct sigaction old;
  struct sigaction action = {.sa_handler = note};
  sigaddset(&action.sa_mask, SIGUSR2);
  EXPECT_EQ(sigaction(SIGUSR1, &action, &old), 0);
  EXPECT(old.sa_handler == note);
  EXPECT_EQ(sigaction(SIGUSR1, NULL, &old), 0);
  EXPECT_EQ(sigismember(&old.sa_mask, SIGUSR2), 1);
  EXPECT_ERRNO(sigaction(SIGKILL, &action, NULL), EINVAL);
  EXPECT_ERRNO(sigaction(1000, &action, NULL), EINVAL);
}

static int blocked_inside[2];

static void look_at_mask(int number) {
  blocked_inside[0] = is_blocked(SIGUSR1);
  blocked_inside[1] = is_blocked(SIGUSR2);
}

CASE(sigaction, nodefer_and_resethand) {
  reset();
  handle(SIGUSR1, look_at_mask, 0);
  EXPECT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(blocked_inside[0], 1);
  EXPECT_EQ(blocked_inside[1], 0);
  handle(SIGUSR1, look_at_mask, SA_NODEFER | SA_RESETHAND);
  EXPECT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(blocked_inside[0], 0);
  struct sigaction now;
  EXPECT_EQ(sigaction(SIGUSR1, NULL, &now), 0);
  EXPECT(now.sa_handler == SIG_DFL);
}

CASE(signal, sets_and_ignores) {
  reset();
  EXPECT(signal(SIGUSR1, SIG_IGN) == note);
  EXPECT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(count, 0);
  EXPECT(signal(SIGUSR1, note) == SIG_IGN);
  EXPECT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(count, 1);
  EXPECT(signal(SIGKILL, note) == SIG_ERR);
}

static char alternate[1 << 16];
static char* address_in_handler;

static void note_address(int number) { address_in_handler = (char*)__builtin_frame_address(0); }

static void* use_alternate_stack(void* unused) {
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  stack_t old;
  EXPECT_EQ(sigaltstack(&stack, &old), 0);
  EXPECT_EQ(old.ss_flags, SS_DISABLE);
  handle(SIGUSR1, note_address, SA_ONSTACK);
  EXPECT_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
  EXPECT(address_in_handler > alternate && address_in_handler < alternate + sizeof alternate);
  stack.ss_flags = SS_DISABLE;
  EXPECT_EQ(sigaltstack(&stack, NULL), 0);
  stack = (stack_t){.ss_sp = alternate, .ss_size = 100};
  EXPECT_ERRNO(sigaltstack(&stack, NULL), ENOMEM);
  return NULL;
}

CASE(sigaltstack, handler_runs_there) {
  reset();
  finish(start(use_alternate_stack, NULL));
  use_alternate_stack(NULL);
}

static sigjmp_buf place;

static void jump(int number) { siglongjmp(place, number); }

static void* jump_out(void* value) {
  if (sigsetjmp(place, 1) == 0) {
    pthread_kill(pthread_self(), SIGUSR1);
    *(int*)value = 1;
  } else {
    *(int*)value = 2;
    EXPECT_EQ(is_blocked(SIGUSR1), 0);  // the mask is restored
  }
  return NULL;
}

CASE(siglongjmp, out_of_a_handler) {
  reset();
  int value = 0;
  handle(SIGUSR1, jump, 0);
  finish(start(jump_out, &value));
  EXPECT_EQ(value, 2);
  value = 0;
  jump_out(&value);
  EXPECT_EQ(value, 2);
}
