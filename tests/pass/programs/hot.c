/* Its assembly is inspected: see hot_path in run_check.sh. */
long leaf(long* p) { return *p; }
long pure(long a, long b) { return a * b + 1; }
long sum(const long* a, long n) {
  long s = 0;
  for (long i = 0; i < n; i++) s += a[i];
  return s;
}
int claim(int* p, int mine) {
  int expected = 7;
  return __atomic_compare_exchange_n(p, &expected, mine, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED) ? mine : expected;
}
void branch(void);
void claim_then_call(int* p) {
  int expected = 0;
  if (__atomic_compare_exchange_n(p, &expected, 1, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) branch();
}
int claim_strongly(int* p, int mine) {
  int expected = 7;
  return __atomic_compare_exchange_n(p, &expected, mine, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED) ? mine : expected;
}
long two(long* p, long* q) { return *p + *q; }
void step(double* x, const double* y, double factor, long n) {
  for (long i = 0; i < n; i++) x[i] += factor * y[i];
}
