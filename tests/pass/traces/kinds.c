// FLAGS: -O1 -g
// FORMAT: long
#include <stdatomic.h>
#include <string.h>

struct Big { char bytes[40]; };
int plain;
long wide;
_Atomic int word;
struct Big from, to;
char text[16];
int sched_yield(void);
int pthread_mutex_lock(void*);
__thread int mine;
const int table[4] = {1, 2, 3, 4};

__attribute__((noinline)) int kinds(int i) {
  plain = 1;
  wide++;
  atomic_load(&word);
  atomic_store(&word, 2);
  atomic_fetch_add(&word, 1);
  int expected = 1;
  atomic_compare_exchange_strong(&word, &expected, 7);
  atomic_thread_fence(memory_order_seq_cst);
  to = from;
  __builtin_ia32_pause();
  __asm__ volatile("rep; nop");
  __asm__ volatile("lock; incl %0" : "+m"(plain));
  sched_yield();
  pthread_mutex_lock(&plain);
  mine++;
  return (int)strlen(text) + table[i];
}

__attribute__((annotate("clew_no_yield"))) int main(void) {
  sched_yield();
  return kinds(0) - 1;
}
// TRACE: - NoPointSite
// TRACE: /kinds.c:18:9 kinds Store 4
// TRACE: /kinds.c:19:7 kinds Load 8
// TRACE: /kinds.c:19:7 kinds Store 8
// TRACE: /kinds.c:20:3 kinds AtomicLoad 4
// TRACE: /kinds.c:21:3 kinds AtomicStore 4
// TRACE: /kinds.c:22:3 kinds AtomicRmw 4
// TRACE: /kinds.c:24:3 kinds AtomicCas 4
// TRACE: /kinds.c:25:3 kinds Fence 0
// TRACE: /kinds.c:26:8 kinds BlockRead 40
// TRACE: /kinds.c:26:8 kinds BlockWrite 40
// TRACE: /kinds.c:27:3 kinds Pause 0
// TRACE: /kinds.c:28:3 kinds Pause 0
// TRACE: /kinds.c:29:3 kinds AtomicRmw 0
// TRACE: /kinds.c:30:3 kinds SyncCall 0
// TRACE: /kinds.c:31:3 kinds SyncCall 0
// TRACE: /kinds.c:32:7 kinds Load 4
// TRACE: /kinds.c:32:7 kinds Store 4
// TRACE: /kinds.c:33:15 kinds BlockRead 1
