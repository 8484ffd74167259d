// A program that stops at places, for tests to look at what its variables are called and hold there.
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

// The test takes over here, and looks at the caller.
__attribute__((noinline)) void stop(const void* what) {
  asm volatile("int3" : : "r"(what) : "memory");
}

enum class State : std::uint8_t { kIdle, kBusy, kDone = 7 };
enum Flags : unsigned { kRead = 1, kWrite = 2, kExec = 4 };

struct Entry {
  int key = 0;
  double weight = 0;
  Entry* next = nullptr;
};

struct Base {
  long id = 17;
};

class Queue : public Base {
 public:
  explicit Queue(std::string name) : name_(std::move(name)) {}
  void add(int key, double weight);
  int total() const;

  struct Slot {
    int value;
    State state;
  };

 private:
  std::mutex mutex_;
  std::string name_;
  Slot items_[8] = {};
  int head_ = 0;
  std::atomic<int> count_{0};
  std::vector<Entry> entries_;
  unsigned low_ : 3 = 5;
  signed high_ : 5 = -3;
  friend void set_up();
};

namespace registry {
Queue queue("first");
int grid[3][4];
}  // namespace registry

namespace {
State state = State::kBusy;
Entry* last = nullptr;
}  // namespace

thread_local int depth = 3;
thread_local Entry scratch;
Flags flags = static_cast<Flags>(kRead | kExec);
std::shared_ptr<Queue> shared;
void (*callback)(const void*) = stop;

__attribute__((noinline)) void Queue::add(int key, double weight) {
  const int slot = head_ % 8;
  items_[slot].value = key;
  items_[slot].state = State::kBusy;
  entries_.push_back({key, weight, nullptr});
  count_.fetch_add(1);
  stop(&items_[slot].value);
  head_ = slot + 1;
}

__attribute__((noinline)) int Queue::total() const {
  int sum = 0;
  for (const Entry& entry : entries_) {
    sum += entry.key;
    stop(&entry);
  }
  return sum;
}

__attribute__((noinline)) void set_up() {
  registry::grid[1][2] = 12;
  registry::queue.add(4, 0.5);
  registry::queue.add(9, -2.25);
  shared = std::make_shared<Queue>("a queue with a long name that is not stored inside");
  shared->head_ = 3;
  last = new Entry{3, 1.5, nullptr};
}

void escape(const void* thing) { asm volatile("" : : "r"(thing) : "memory"); }

template <class... Things>
void use(Things&... things) {
  (escape(&things), ...);
}

__attribute__((noinline)) int containers(const char* word, bool yes) {
  std::vector<int> numbers{1, 2, 3, 4, 5, 6, 7};
  std::vector<std::string> words{"one", "two \"quoted\"", std::string(80, 'x')};
  std::map<std::string, int> ages{{"ada", 36}, {"bob", 41}};
  std::unordered_map<int, std::string> names{{5, "five"}};
  std::deque<int> line;
  for (int i = 0; i < 300; ++i) line.push_back(i);
  for (int i = 0; i < 140; ++i) line.pop_front();
  std::set<int> some{9, 3, 5};
  std::list<char> letters{'a', 'b'};
  std::optional<int> nothing;
  std::optional<int> eight = 8;
  std::unique_ptr<Entry> owner(new Entry{8, 2, nullptr});
  std::array<short, 3> shorts{7, 8, 9};
  std::pair<int, bool> both{2, true};
  std::queue<int> waiting;
  waiting.push(11);
  std::string_view view(word, 2);
  float third = 0.25F;
  State now = State::kDone;
  unsigned char small = 200;
  std::tuple<int, std::string, char> three{1, "two", '3'};
  std::variant<int, std::string> either = "text", number = 7;
  std::forward_list<int> chain{1, 2, 3};
  std::span<short> window(shorts);
  std::chrono::milliseconds wait(250);
  std::weak_ptr<Entry> gone = std::make_shared<Entry>();
  std::bitset<10> mask(0x155);
  std::condition_variable ready;
  int local[5] = {10, 20, 30, 40, 50};
  stop(&local[2]);
  const int result = static_cast<int>(numbers.size() + words.size() + ages.size() + names.size() +
                                      line.size() + some.size() + letters.size() + view.size()) +
                     nothing.value_or(1) + *eight + owner->key + shorts[1] + both.first +
                     waiting.front() + static_cast<int>(third) + static_cast<int>(now) + small +
                     local[3] + (yes ? 1 : 0);
  ready.notify_all();
  use(three, either, number, chain, window, wait, gone, mask);
  stop(&result);
  return result;
}

// Its destructor is called behind the code that the debug information has for the block.
struct Guard {
  explicit Guard(int which) : key(which) {}
  ~Guard() { stop(&key); }
  int key;
  int other = 0;
};

__attribute__((noinline)) int guarded(bool yes) {
  int before = 1;
  if (yes) {
    Guard guard(5);
    before += static_cast<int>(flags);
  }
  return before;
}

int main(int argc, char** argv) {
  set_up();
  guarded(argc > 0);
  ++depth;
  scratch.key = 6;
  int done = registry::queue.total();
  std::thread([&done] {
    scratch.key = 60;
    stop(&scratch.key);
    ++done;
  }).join();
  done += containers(argc > 1 ? argv[1] : "word", done > 2);
  stop(&done);
  std::printf("%d %d\n", done, flags + static_cast<int>(state) + (callback == stop ? 1 : 0));
  delete last;
  return 0;
}
