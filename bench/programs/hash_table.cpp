// A concurrent hash map with striped locks: threads mix inserts, lookups and erasures; each key
// belongs to one thread, which keeps a model of what the map must hold, and all threads read all
// keys.
// Usage: hash_table [threads] [size]; size is the number of operations, over all threads.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

static std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Pseudo-random numbers, the same in every run.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }

 private:
  std::uint64_t state_;
};

class ConcurrentMap {
 public:
  ConcurrentMap() : stripes_(kStripes) {}

  // Returns whether the key was new.
  bool insert(std::uint64_t key, std::uint64_t value) {
    std::uint64_t hash = mix(key);
    Stripe& stripe = stripe_of(hash);
    std::lock_guard lock(stripe.mutex);
    if (Node* node = stripe.find(key, hash)) {
      node->value = value;
      return false;
    }
    if (stripe.count >= 2 * stripe.buckets.size()) stripe.grow();
    std::unique_ptr<Node>& bucket = stripe.bucket(hash);
    bucket = std::make_unique<Node>(Node{key, value, std::move(bucket)});
    stripe.count++;
    return true;
  }

  std::optional<std::uint64_t> find(std::uint64_t key) {
    std::uint64_t hash = mix(key);
    Stripe& stripe = stripe_of(hash);
    std::lock_guard lock(stripe.mutex);
    Node* node = stripe.find(key, hash);
    if (node == nullptr) return std::nullopt;
    return node->value;
  }

  // Returns whether the key was there.
  bool erase(std::uint64_t key) {
    std::uint64_t hash = mix(key);
    Stripe& stripe = stripe_of(hash);
    std::lock_guard lock(stripe.mutex);
    for (std::unique_ptr<Node>* link = &stripe.bucket(hash); *link; link = &(*link)->next) {
      if ((*link)->key != key) continue;
      std::unique_ptr<Node> rest = std::move((*link)->next);
      *link = std::move(rest);
      stripe.count--;
      return true;
    }
    return false;
  }

  std::size_t size() {
    std::size_t total = 0;
    for (Stripe& stripe : stripes_) {
      std::lock_guard lock(stripe.mutex);
      total += stripe.count;
    }
    return total;
  }

 private:
  static constexpr std::size_t kStripes = 64;

  struct Node {
    std::uint64_t key;
    std::uint64_t value;
    std::unique_ptr<Node> next;
  };

  struct Stripe {
    std::mutex mutex;
    std::size_t count = 0;
    std::vector<std::unique_ptr<Node>> buckets = std::vector<std::unique_ptr<Node>>(16);

    // The low bits chose the stripe.
    std::unique_ptr<Node>& bucket(std::uint64_t hash) {
      return buckets[(hash / kStripes) & (buckets.size() - 1)];
    }

    Node* find(std::uint64_t key, std::uint64_t hash) {
      Node* node = bucket(hash).get();
      while (node != nullptr && node->key != key) node = node->next.get();
      return node;
    }

    void grow() {
      std::vector<std::unique_ptr<Node>> old(2 * buckets.size());
      old.swap(buckets);
      for (std::unique_ptr<Node>& head : old) {
        while (head) {
          std::unique_ptr<Node> node = std::move(head);
          head = std::move(node->next);
          std::unique_ptr<Node>& target = bucket(mix(node->key));
          node->next = std::move(target);
          target = std::move(node);
        }
      }
    }
  };

  Stripe& stripe_of(std::uint64_t hash) { return stripes_[hash % kStripes]; }

  std::vector<Stripe> stripes_;
};

static constexpr std::uint64_t kKeysPerThread = 20000;

struct Result {
  std::uint64_t held = 0;      // keys of this thread in the map at its end
  std::uint64_t checksum = 0;  // over what this thread did to its keys
  std::uint64_t errors = 0;
};

// Value 0 means: not in the map.
static void work(ConcurrentMap* map, int id, int thread_count, long operations, Result* result) {
  Generator random(1000 + id);
  std::vector<std::uint64_t> model(kKeysPerThread);
  for (long i = 0; i < operations; i++) {
    std::uint64_t choice = random.next();
    std::uint64_t index = random.next() % kKeysPerThread;
    std::uint64_t key = index * thread_count + id;
    switch (choice % 8) {
      case 0:
      case 1: {
        std::uint64_t value = (choice << 16 | id) | 1u << 20;
        if (map->insert(key, value) != (model[index] == 0)) result->errors++;
        model[index] = value;
        break;
      }
      case 2:
        if (map->erase(key) != (model[index] != 0)) result->errors++;
        model[index] = 0;
        break;
      case 3:
      case 4:
      case 5: {
        std::uint64_t found = map->find(key).value_or(0);
        if (found != model[index]) result->errors++;
        result->checksum = mix(result->checksum ^ found);
        break;
      }
      default: {  // another thread's key: its value may be anything that thread writes
        std::uint64_t other = choice / 8 % thread_count;
        std::uint64_t found = map->find(index * thread_count + other).value_or(other);
        if ((found & 0xffff) != other) result->errors++;
      }
    }
  }
  for (std::uint64_t index = 0; index < kKeysPerThread; index++) {
    if (map->find(index * thread_count + id).value_or(0) != model[index]) result->errors++;
    if (model[index] != 0) result->held++;
  }
}

int main(int argc, char** argv) {
  int thread_count = argc > 1 ? std::atoi(argv[1]) : 4;
  long operations = argc > 2 ? std::atol(argv[2]) : 9000000;

  ConcurrentMap map;
  std::vector<Result> results(thread_count);
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; i++) {
    threads.emplace_back(work, &map, i, thread_count, operations / thread_count, &results[i]);
  }
  for (std::thread& thread : threads) thread.join();

  std::uint64_t held = 0, checksum = 0, errors = 0;
  for (const Result& result : results) {
    held += result.held;
    checksum = mix(checksum ^ result.checksum);
    errors += result.errors;
  }
  bool good = errors == 0 && map.size() == held;
  std::printf("%lu keys, checksum %016lx %s\n", held, checksum, good ? "ok" : "WRONG");
  return good ? 0 : 1;
}
