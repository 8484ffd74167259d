/* Control flow that instrumentation can break. Prints the same with and without points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int shared = 1;

static int computed_goto(const unsigned char* code) {
  static void* const labels[] = {&&stop, &&add, &&twice};
  int x = shared;
  goto* labels[*code++];
add:
  x += shared;
  goto* labels[*code++];
twice:
  x *= 2;
  goto* labels[*code++];
stop:
  return x;
}

static int asm_goto(int x) {
  __asm__ goto("testl %0, %0\n\tjne %l1" : : "r"(x) : "cc" : other);
  return shared;
other:
  return shared + 10;
}

static int variable_length(int n) {
  int values[n];
  for (int i = 0; i < n; i++) values[i] = shared + i;
  int result = 0;
  for (int i = 0; i < n; i++) result += values[i];
  return result;
}

static int irreducible(int n) {
  int x = 0;
  if (n & 1) goto second;
first:
  x += 1;
second:
  x += 2;
  if (x < n) goto first;
  return x;
}

static int sum(int count, ...) {
  va_list list;
  va_start(list, count);
  int result = 0;
  while (count--) result += va_arg(list, int);
  va_end(list);
  return result;
}

static int choose(int x) {
  switch (x) {
    case 0: return shared;
    case 1: shared++; /* fall through */
    case 2: return 7;
    default: return x;
  }
}

static jmp_buf target;
static int jumps(void) {
  if (setjmp(target)) return shared;
  shared++;
  longjmp(target, 1);
}

__attribute__((noinline)) static int is_odd(int n);
__attribute__((noinline)) static int is_even(int n) {
  if (n == 0) return 1;
  __attribute__((musttail)) return is_odd(n - 1);
}
static int is_odd(int n) {
  if (n == 0) return 0;
  __attribute__((musttail)) return is_even(n - 1);
}

static double floats(const double* v, int n) {
  double a = 1, b = 2, c = 3;
  for (int i = 0; i < n; i++) {
    a += v[i] * b;
    b -= v[i] * c;
    c += a * 0.5;
  }
  return a + b + c;
}

void never(void) {
  for (;;) {
  }
}

int main(int argc, char** argv) {
  const unsigned char code[] = {1, 2, 1, 2, 0};
  const double v[] = {0.5, 1.5, 2.5, 3.5};
  char text[16];
  strcpy(text, argc > 5 ? argv[5] : "text");
  printf("%d %d %d\n", computed_goto(code), asm_goto(0), asm_goto(1));
  printf("%d %d %d\n", variable_length(argc + 4), irreducible(6), irreducible(7));
  printf("%d %d %d %d\n", sum(3, 1, 2, 3), choose(0), choose(1), choose(9));
  printf("%d %d %g %s\n", jumps(), is_even(100001), floats(v, 4), text);
  if (argc > 100) never();
}
