// The frame of a conformance program: a registry of cases, and a main that runs them.
//
//   CASE(pthread_mutex_lock, edeadlk_errorcheck) { EXPECT_EQ(pthread_mutex_lock(&m), EDEADLK); }
//
// prints "pthread_mutex_lock.edeadlk_errorcheck: ok", or FAILED with the first expectation that did
// not hold. Expectations may be checked in any thread and never end the case. Arguments of the
// program: none (all cases, in the order of the file), --list, or the names of the cases to run. A
// process that a case forks must end with _exit.
#ifndef CLEW_TESTS_CONFORMANCE_CHECK_H_
#define CLEW_TESTS_CONFORMANCE_CHECK_H_

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
#include <exception>
#endif

struct Case {
  const char* name;
  void (*run)(void);
  struct Case* next;
};

static struct Case* first_case;
static struct Case** last_case = &first_case;

// The first failure of the running case; later ones are dropped.
static int case_failed;
static char failure[400];

__attribute__((format(printf, 3, 4), unused)) static void fail_case(const char* file, int line,
                                                                    const char* format, ...) {
  if (__atomic_exchange_n(&case_failed, 1, __ATOMIC_ACQ_REL)) return;
  const char* slash = strrchr(file, '/');
  int length = snprintf(failure, sizeof failure, "%s:%d: ", slash ? slash + 1 : file, line);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure + length, sizeof failure - (size_t)length, format, arguments);
  va_end(arguments);
}

__attribute__((unused)) static void expect_equal(const char* file, int line, const char* text,
                                                 long long actual, long long expected) {
  if (actual != expected) fail_case(file, line, "%s: %lld, not %lld", text, actual, expected);
}

#define EXPECT(condition)                                              \
  do {                                                                 \
    if (!(condition)) fail_case(__FILE__, __LINE__, "%s", #condition); \
  } while (0)

// For integers: error numbers, counts, flags.
#define EXPECT_EQ(actual, expected) \
  expect_equal(__FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))

// For functions that return -1 and set errno.
#define EXPECT_ERRNO(call, expected)                                      \
  do {                                                                    \
    errno = 0;                                                            \
    long long result_of_call = (long long)(call);                         \
    expect_equal(__FILE__, __LINE__, #call, result_of_call, -1);          \
    expect_equal(__FILE__, __LINE__, "errno of " #call, errno, expected); \
  } while (0)

#define CASE(subject, what)                                                 \
  static void subject##__##what(void);                                      \
  __attribute__((constructor)) static void register_##subject##__##what() { \
    static struct Case self = {#subject "." #what, subject##__##what, 0};   \
    *last_case = &self;                                                     \
    last_case = &self.next;                                                 \
  }                                                                         \
  static void subject##__##what(void)

static int run_case(const struct Case* each) {
  case_failed = 0;
#ifdef __cplusplus
  try {
    each->run();
  } catch (const std::exception& error) {
    fail_case(__FILE__, __LINE__, "escaped: %s", error.what());
  }
#else
  each->run();
#endif
  int failed = __atomic_load_n(&case_failed, __ATOMIC_ACQUIRE);
  if (failed) {
    printf("%s: FAILED %s\n", each->name, failure);
  } else {
    printf("%s: ok\n", each->name);
  }
  fflush(stdout);
  return failed;
}

static int wanted(const struct Case* each, int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], each->name) == 0) return 1;
  return argc < 2;
}

int main(int argc, char** argv) {
  int list = argc == 2 && strcmp(argv[1], "--list") == 0;
  int ran = 0;
  int failed = 0;
  for (const struct Case* each = first_case; each; each = each->next) {
    if (list) {
      puts(each->name);
    } else if (wanted(each, argc, argv)) {
      failed += run_case(each);
      ++ran;
    }
  }
  if (!list && argc > 1 && ran != argc - 1) {
    fprintf(stderr, "no such case\n");
    return 2;
  }
  return failed != 0;
}

#endif  // CLEW_TESTS_CONFORMANCE_CHECK_H_
