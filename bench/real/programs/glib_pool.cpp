// GLib: GThreadPool, GAsyncQueue, GMutex, GCond, GRWLock, GOnce, GPrivate, and a GMainLoop that other threads wake.
// Its locks wait on their own futexes.
// Package: libglib2.0-dev. Flags: pkg:glib-2.0 pkg:gthread-2.0 -pthread. Usage: glib_pool [threads] [items]
#include <glib.h>

#include <cstdio>
#include <cstdlib>

static GMutex mutex;
static GCond changed;
static GRWLock table_lock;
static GHashTable* table;
static GAsyncQueue* results;
static int finished = 0;
static int freed = 0;
static GPrivate of_thread = G_PRIVATE_INIT([](gpointer memory) {
  g_free(memory);
  g_atomic_int_inc(&freed);
});

static void job(gpointer data, gpointer) {
  const int n = GPOINTER_TO_INT(data);
  if (g_private_get(&of_thread) == nullptr) g_private_set(&of_thread, g_new0(int, 1));
  int* own = static_cast<int*>(g_private_get(&of_thread));
  *own += n;
  guint32 x = n;
  for (int i = 0; i < 200; i++) x = x * 1664525 + 1013904223;
  g_rw_lock_writer_lock(&table_lock);
  const gpointer key = GINT_TO_POINTER(1 + n % 20);
  g_hash_table_insert(table, key,
                      GINT_TO_POINTER(GPOINTER_TO_INT(g_hash_table_lookup(table, key)) + n % 7));
  g_rw_lock_writer_unlock(&table_lock);
  g_rw_lock_reader_lock(&table_lock);
  if (g_hash_table_lookup(table, key) == nullptr && n % 7 != 0) g_error("lost key %d", n);
  g_rw_lock_reader_unlock(&table_lock);
  g_async_queue_push(results, GINT_TO_POINTER(1 + x % 1000));
  g_mutex_lock(&mutex);
  finished++;
  g_cond_broadcast(&changed);
  g_mutex_unlock(&mutex);
}

static void pool(int threads, int items) {
  table = g_hash_table_new(nullptr, nullptr);
  results = g_async_queue_new();
  GThreadPool* pool = g_thread_pool_new(job, nullptr, threads, TRUE, nullptr);
  for (int i = 1; i <= items; i++) g_thread_pool_push(pool, GINT_TO_POINTER(i), nullptr);
  g_mutex_lock(&mutex);
  while (finished < items) g_cond_wait(&changed, &mutex);
  g_mutex_unlock(&mutex);
  g_thread_pool_free(pool, FALSE, TRUE);
  long sum = 0, values = 0;
  for (int i = 0; i < items; i++) sum += GPOINTER_TO_INT(g_async_queue_pop(results));
  GHashTableIter iter;
  gpointer key, value;
  g_hash_table_iter_init(&iter, table);
  while (g_hash_table_iter_next(&iter, &key, &value))
    values += GPOINTER_TO_INT(key) * GPOINTER_TO_INT(value);
  std::printf("pool: sum %ld, values %ld, left %d\n", sum, values, g_async_queue_length(results));
  g_async_queue_unref(results);
  g_hash_table_destroy(table);
}

static void queues(int items) {
  GAsyncQueue* there = g_async_queue_new();
  GAsyncQueue* back = g_async_queue_new();
  GAsyncQueue* pair[] = {there, back};
  GThread* thread = g_thread_new(
      "doubler",
      [](gpointer data) -> gpointer {
        auto** queues = static_cast<GAsyncQueue**>(data);
        for (int n; (n = GPOINTER_TO_INT(g_async_queue_pop(queues[0]))) > 0;)
          g_async_queue_push(queues[1], GINT_TO_POINTER(n * 2));
        return GINT_TO_POINTER(42);
      },
      pair);
  long sum = 0;
  for (int i = 1; i <= items; i++) g_async_queue_push(there, GINT_TO_POINTER(i));
  for (int i = 1; i <= items; i++) sum += GPOINTER_TO_INT(g_async_queue_pop(back));
  const bool empty =
      g_async_queue_timeout_pop(back, 10000) == nullptr;  // ten milliseconds without success
  g_async_queue_push(there, GINT_TO_POINTER(-1));
  std::printf("queues: sum %ld, empty %d, thread gave %d\n", sum, empty,
              GPOINTER_TO_INT(g_thread_join(thread)));
  g_async_queue_unref(there);
  g_async_queue_unref(back);
}

struct Loop {
  GMainLoop* loop;
  int left;
  long sum;
  int ticks;
};

static gboolean count_down(Loop* loop) {
  if (--loop->left == 0) g_main_loop_quit(loop->loop);
  return G_SOURCE_REMOVE;
}

static void main_loop() {
  Loop loop{g_main_loop_new(nullptr, FALSE), 3 * 50 + 1, 0, 0};
  g_timeout_add(
      2,
      [](gpointer data) -> gboolean {
        auto* l = static_cast<Loop*>(data);
        if (++l->ticks < 4) return G_SOURCE_CONTINUE;
        return count_down(l);
      },
      &loop);
  GThread* threads[3];
  for (GThread*& thread : threads) {
    thread = g_thread_new(
        "poster",
        [](gpointer data) -> gpointer {
          for (int i = 0; i < 50; i++) {
            g_idle_add(
                [](gpointer d) -> gboolean {
                  static_cast<Loop*>(d)->sum += 3;
                  return count_down(static_cast<Loop*>(d));
                },
                data);
            if (i % 10 == 0) g_usleep(500);
          }
          return nullptr;
        },
        &loop);
  }
  g_main_loop_run(loop.loop);
  for (GThread* thread : threads) g_thread_join(thread);
  g_main_loop_unref(loop.loop);
  std::printf("main loop: sum %ld, ticks %d\n", loop.sum, loop.ticks);
}

static void once() {
  static GOnce flag = G_ONCE_INIT;
  static int calls = 0;
  GThread* threads[4];
  for (GThread*& thread : threads) {
    thread = g_thread_new(
        "once",
        [](gpointer) -> gpointer {
          return g_once(
              &flag, [](gpointer) -> gpointer { return GINT_TO_POINTER(++calls * 100); }, nullptr);
        },
        nullptr);
  }
  int sum = 0;
  for (GThread* thread : threads) sum += GPOINTER_TO_INT(g_thread_join(thread));
  std::printf("once: %d calls, sum %d\n", calls, sum);
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 4;
  const int items = argc > 2 ? std::atoi(argv[2]) : 3000;
  pool(threads, items);
  queues(items);
  main_loop();
  once();
}
