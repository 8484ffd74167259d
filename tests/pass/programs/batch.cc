// Straight-line code with many points, and what ends or crosses it. Prints the same with and
// without points.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>

int a[64], b[64];
double v[40], w[40];
std::atomic<int> flag;
std::atomic<long> total;
struct Node {
  Node* next;
  int key, value;
};
Node nodes[10];

[[gnu::noinline]] int leaf(int x) { return a[x & 63] += x; }
[[gnu::noinline]] void thrower(int x) {
  b[1] = x;
  if (x % 3 == 0) throw x;
}

// Values of the batch that are used after it, in its branch, and in the blocks that follow.
[[gnu::noinline]] int results(int i) {
  int x = a[i], y = b[i], z = a[i + 1] * 3;
  b[i + 1] = x + y;
  a[i + 2] = y - z;
  if (x < y) return x * z + a[3];
  return b[4] + y;
}

[[gnu::noinline]] int across_calls(int i) {
  int x = a[i] + b[i];
  b[i] = x;
  x += leaf(x);
  b[i + 1] = x + a[i + 1];
  flag.fetch_add(x);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  total += flag.load();
  x += leaf(a[i + 3] + b[i + 3]);
  return x + a[i];
}

[[gnu::noinline]] int exceptions(int i) {
  int x = a[i] + b[i];
  try {
    thrower(x);
    b[2] = x + a[2];
    thrower(x + 1);
    thrower(x + 2);
  } catch (int y) {
    a[4] = y + b[4];
    x += a[5] + y;
  }
  return x;
}

[[gnu::noinline]] void saxpy(double factor, int n) {
  for (int i = 0; i < n; i++) v[i] += factor * w[i];
}

[[gnu::noinline]] int find(const Node* node, int key) {
  for (; node != nullptr; node = node->next)
    if (node->key == key) return node->value;
  return -1;
}

[[gnu::noinline]] int nested(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      if (a[j] & 1)
        s += b[j];
      else
        b[j] += a[i];
      if (s > 100000) break;
    }
    s ^= a[i];
  }
  return s;
}

[[gnu::noinline]] void blocks(Node* to, const Node* from, int n) {
  std::memcpy(to, from, sizeof(Node));
  to->key += from[1].key;
  std::memmove(a + 8, a + 9, n * sizeof(int));
  to->value = static_cast<int>(std::sqrt(from[2].value) + std::strlen("text"));
  std::memset(b + 20, 1, n);
  to->next = nullptr;
}

// Weak compare-exchanges, in a batch with others and in a loop that calls nothing.
[[gnu::noinline]] int weak(int i) {
  int x = a[i], expected = flag.load();
  b[i] += flag.compare_exchange_weak(expected, expected + x) ? 1 : x;
  a[i] ^= b[i + 1];
  for (long old = total.load(); !total.compare_exchange_weak(old, old * 3 + x);) b[i + 2]++;
  return a[i] + b[i];
}

#define FOUR(i)                       \
  a[(i)&63] += b[((i) + 7) & 63];     \
  b[(i + 1) & 63] ^= a[(i + 9) & 63]; \
  s += a[(i + 2) & 63];               \
  a[i & 31] = s;
#define SIXTEEN(i) FOUR(i) FOUR(i + 3) FOUR(i + 5) FOUR(i + 11)
#define SIXTY_FOUR(i) SIXTEEN(i) SIXTEEN(i + 1) SIXTEEN(i + 17) SIXTEEN(i + 23)
[[gnu::noinline]] int longer_than_a_batch(int i) {
  int s = 0;
  SIXTY_FOUR(i) SIXTY_FOUR(i * 3) return s;
}

// Starts in the middle of a loop; a cycle with two entries.
[[gnu::noinline]] int irreducible(int n) {
  int x = 0;
  if (n & 1) goto second;
first:
  x += a[x & 63];
  b[x & 63]++;
second:
  x += b[3] & 7;
  a[5]++;
  x += 3;
  if (x < n) goto first;
  return x;
}

[[gnu::noinline]] int assembly(int* p) {
  int x = a[0] + b[0];
  asm volatile("lock incl %0" : "+m"(*p) : : "cc", "memory");
  b[0] = x + a[1];
  asm volatile("" : : : "memory");
  a[1] = b[0] + 1;
  return *p;
}

int main() {
  for (int i = 0; i < 64; i++) a[i] = i * 37 % 101, b[i] = i * 53 % 89;
  for (int i = 0; i < 40; i++) v[i] = i, w[i] = 40 - i;
  for (int i = 0; i < 10; i++) nodes[i] = {i < 9 ? &nodes[i + 1] : nullptr, i * 3, i};
  long sum = 0;
  for (int i = 0; i < 20; i++) {
    sum = sum * 3 + results(i) + across_calls(i) + exceptions(i) + longer_than_a_batch(i) +
          irreducible(i * 5);
    saxpy(0.5, i * 2);
    sum += find(nodes, i * 3) + nested(i) + assembly(&a[7]) + weak(i);
  }
  blocks(&nodes[9], nodes, 5);
  for (int i = 0; i < 64; i++) sum = sum * 5 + a[i] + b[i];
  for (int i = 0; i < 40; i++) sum = sum * 7 + static_cast<long>(v[i] * 8);
  std::printf("%ld %ld %d %d\n", sum, total.load(), nodes[9].key, nodes[9].value);
}
