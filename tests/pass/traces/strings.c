// FLAGS: -O1 -g -fno-builtin
// FORMAT: long
// Strings are read and written as far as they reach.
#include <string.h>

char from[16] = "ariadne";
char to[32] = "clew of ";

__attribute__((noinline)) int strings(void) {
  strcat(to, from);
  strncat(to, from, 2);
  strcpy(to, from);
  strncpy(to, from, 4);
  return (int)strlen(to) + strncmp(to, from, 3) + strcmp(to, from) + (memchr(to, 'e', 9) != 0);
}

__attribute__((annotate("clew_no_yield"))) int main(void) { return strings() - 8; }
// TRACE: /strings.c:10:3 strings BlockRead 8
// TRACE: /strings.c:10:3 strings BlockWrite 17
// TRACE: /strings.c:11:3 strings BlockRead 2
// TRACE: /strings.c:11:3 strings BlockWrite 18
// TRACE: /strings.c:12:3 strings BlockRead 8
// TRACE: /strings.c:12:3 strings BlockWrite 8
// TRACE: /strings.c:13:3 strings BlockRead 4
// TRACE: /strings.c:13:3 strings BlockWrite 4
// TRACE: /strings.c:14:15 strings BlockRead 8
// TRACE: /strings.c:14:28 strings BlockRead 3
// TRACE: /strings.c:14:28 strings BlockRead 3
// TRACE: /strings.c:14:51 strings BlockRead 8
// TRACE: /strings.c:14:51 strings BlockRead 8
// TRACE: /strings.c:14:71 strings BlockRead 9
