/* Reads the clocks and random numbers before the first constructor, where AddressSanitizer sets itself up, and later: the
 * clocks run on, and a replay reads the same.
 * EXPECT: pass */
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

#include "../check.h"

enum { kClocks = 3, kAtMost = 600 };
static const clockid_t clocks[kClocks] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME};
static struct timespec early[kClocks];
static struct timeval early_day;
static time_t early_time;
static uint32_t early_number;
static volatile int spent;

static void look(void) {
  for (int i = 0; i < kClocks; ++i) clock_gettime(clocks[i], &early[i]);
  gettimeofday(&early_day, NULL);
  early_time = time(NULL);
  if (getrandom(&early_number, sizeof early_number, 0) != sizeof early_number) early_number = 0;
}

__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = look;

static int is_soon_after(time_t now, time_t then) { return now >= then && now - then < kAtMost; }

int main(void) {
  struct timespec now;
  for (int i = 0; i < kClocks; ++i) {
    clock_gettime(clocks[i], &now);
    CHECK(is_soon_after(now.tv_sec, early[i].tv_sec));
  }
  CHECK(is_soon_after(time(NULL), early_time));
  CHECK(is_soon_after(time(NULL), early_day.tv_sec));
  /* What a program does with it: the number decides how long it works, and with it the clock. */
  for (unsigned i = 0; i < early_number % 1000; ++i) spent = spent + 1;
  CHECK(spent == (int)(early_number % 1000));
  puts("ok");
}
