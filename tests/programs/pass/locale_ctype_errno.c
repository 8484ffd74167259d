// What libc keeps for each thread: errno, the character tables, the locale, strerror's and
// strtok_r's state, random state of its own, time conversion; used in several threads, with
// switches in between.
// EXPECT: pass
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "../check.h"

enum { kThreads = 4 };

static int rounds = 5;

static void check_errno(int id) {
  int expected = id % 2 ? EINVAL : ENOENT;
  errno = expected;
  sched_yield();
  CHECK(errno == expected);
  CHECK(close(-1) == -1 && errno == EBADF);
  char buffer[128];
  CHECK(strstr(strerror_r(expected, buffer, sizeof buffer), id % 2 ? "Invalid" : "No such") !=
        NULL);
  CHECK(strcmp(strerror(expected), id % 2 ? "Invalid argument" : "No such file or directory") == 0);
}

static void check_ctype(void) {
  const char* text = "aZ5 _\n";
  CHECK(isalpha(text[0]) && islower(text[0]) && toupper(text[0]) == 'A');
  CHECK(isupper(text[1]) && tolower(text[1]) == 'z');
  CHECK(isdigit(text[2]) && isspace(text[3]) && ispunct(text[4]) && iscntrl(text[5]));
  CHECK(iswalpha(L'q') && towupper(L'q') == L'Q');
  wchar_t wide[8];
  mbstate_t state = {0};
  const char* source = "wide";
  CHECK(mbsrtowcs(wide, &source, 8, &state) == 4 && wide[0] == L'w');
}

static void check_locale(int id) {
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  CHECK(c_locale != (locale_t)0);
  locale_t old = uselocale(c_locale);
  sched_yield();
  CHECK(uselocale((locale_t)0) == c_locale);
  char text[32];
  snprintf(text, sizeof text, "%d.%s %.2f", id, "x", 1.5 + id);
  CHECK(strchr(text, ',') == NULL);
  CHECK(strtod("2.75", NULL) == 2.75);
  uselocale(old);
  freelocale(c_locale);
}

static void check_time(int id) {
  time_t t = 86400 * (365 + id);  // January 1971
  struct tm broken;
  CHECK(gmtime_r(&t, &broken) == &broken);
  sched_yield();
  CHECK(broken.tm_year == 71 && broken.tm_mday == 1 + id);
  CHECK(localtime_r(&t, &broken) == &broken);
  CHECK(mktime(&broken) == t);
  char text[32];
  CHECK(strftime(text, sizeof text, "%Y", &broken) == 4);
}

static void check_strtok(int id) {
  char text[32], *state = NULL;
  snprintf(text, sizeof text, "a%d,b%d,c%d", id, id, id);
  int fields = 0;
  for (char* field = strtok_r(text, ",", &state); field; field = strtok_r(NULL, ",", &state)) {
    CHECK(field[0] == 'a' + fields && atoi(field + 1) == id);
    sched_yield();
    fields++;
  }
  CHECK(fields == 3);
}

static void check_random(int id) {
  unsigned seed = (unsigned)id, same_seed = (unsigned)id;
  int first = rand_r(&seed);
  sched_yield();
  CHECK(rand_r(&same_seed) == first);
}

static void* work(void* arg) {
  int id = (int)(long)arg;
  for (int i = 0; i < rounds; i++) {
    check_errno(id);
    check_ctype();
    check_locale(id);
    check_time(id);
    check_strtok(id);
    check_random(id);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) rounds = atoi(argv[1]);
  setenv("TZ", "CET-1", 1);
  tzset();
  errno = ERANGE;
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++) {
    int error = pthread_create(&threads[i], NULL, work, (void*)i);
    CHECK(error == 0);
  }
  work((void*)(long)kThreads);
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  puts("ok");
  return 0;
}
