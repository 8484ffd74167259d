/* Its assembly is inspected: see hot_path in run_check.sh. */
long leaf(long* p) { return *p; }
long pure(long a, long b) { return a * b + 1; }
long sum(const long* a, long n) {
  long s = 0;
  for (long i = 0; i < n; i++) s += a[i];
  return s;
}
long two(long* p, long* q) { return *p + *q; }
void step(double* x, const double* y, double factor, long n) {
  for (long i = 0; i < n; i++) x[i] += factor * y[i];
}
