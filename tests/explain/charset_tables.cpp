// Character tables that the first who needs them fills: the flag that says that they are there is set before they are. Who finds it set takes a short way
// past the lock, and comes to the name of the table before that is written.
// ROOT CAUSE: charset_tables.cpp:22 (set too early), charset_tables.cpp:33 (looked at without the lock); KIND: order-violation
// SAYS: before T0\.\d has written it at charset_tables\.cpp:26 .* and after T0\.\d has let it come there at charset_tables\.cpp:22
// SAYS: reads "latin1"
#include <pthread.h>

#include <cstdio>
#include <cstring>
#include <string>

struct Charset {
  int ready;
  unsigned char upper[256];
  const char* name;
};
Charset latin;
pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

void fill(Charset* set, const char* name) {
#ifndef FIXED
  __atomic_store_n(&set->ready, 1, __ATOMIC_RELEASE);
#endif
  for (int i = 0; i < 256; i++)
    set->upper[i] = static_cast<unsigned char>(i >= 'a' && i <= 'z' ? i - 32 : i);
  set->name = name;
#ifdef FIXED
  __atomic_store_n(&set->ready, 1, __ATOMIC_RELEASE);
#endif
}

Charset* get() {
  if (__atomic_load_n(&latin.ready, __ATOMIC_ACQUIRE) == 0) {
    pthread_mutex_lock(&guard);
    if (latin.ready == 0) fill(&latin, "latin1");
    pthread_mutex_unlock(&guard);
  }
  return &latin;
}

std::string shout(const char* text) {
  Charset* set = get();
  std::string out(text);
  for (char& c : out) c = static_cast<char>(set->upper[static_cast<unsigned char>(c)]);
  return out + "@" + std::string(set->name, std::strlen(set->name));
}

void* client(void* text) {
  std::printf("%s\n", shout(static_cast<const char*>(text)).c_str());
  return nullptr;
}

int main() {
  char hello[] = "hello", world[] = "world";
  pthread_t a, b;
  pthread_create(&a, nullptr, client, hello);
  pthread_create(&b, nullptr, client, world);
  pthread_join(a, nullptr);
  pthread_join(b, nullptr);
  return 0;
}
