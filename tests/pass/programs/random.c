// The processor's random numbers, of every width; prints them.
#include <immintrin.h>
#include <stdio.h>

int main(void) {
  unsigned short a = 0, b = 0;
  unsigned c = 0, d = 0;
  unsigned long long e = 0, f = 0;
  const int ok = _rdrand16_step(&a) + _rdseed16_step(&b) + _rdrand32_step(&c) + _rdseed32_step(&d) +
                 _rdrand64_step(&e) + _rdseed64_step(&f);
  printf("%d %x %x %x %x %llx %llx\n", ok, a, b, c, d, e, f);
  return 0;
}
