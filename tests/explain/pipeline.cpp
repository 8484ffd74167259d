// Coroutines that await events. An event that is set resumes who awaits it. `await_suspend` looks whether the event is set and only then enters
// itself as the one who waits; a set between the two resumes nobody, and the coroutine sleeps for ever.
// ROOT CAUSE: pipeline.cpp:43 (looked whether it is set), pipeline.cpp:44 (entered as waiting); KIND: data-race or atomicity-violation or order-violation
// SAYS: (waiting_|set_)
#include <atomic>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace {

class Event {
 public:
  void set() {
    set_.store(true);
    if (void* waiting = waiting_.exchange(nullptr))
      std::coroutine_handle<>::from_address(waiting).resume();
  }

  auto operator co_await() {
    struct Awaiter {
      Event& event;
      bool await_ready() const { return false; }
      bool await_suspend(std::coroutine_handle<> handle) { return event.suspend(handle); }
      void await_resume() const {}
    };
    return Awaiter{*this};
  }

 private:
  // False: it need not wait.
  bool suspend(std::coroutine_handle<> handle) {
#ifdef FIXED
    waiting_.store(handle.address());
    if (!set_.load()) return true;
    // Who sets it may resume the coroutine: only if that has not happened, this
    // thread continues.
    return waiting_.exchange(nullptr) == nullptr;
#else
    if (set_.load()) return false;
    waiting_.store(handle.address());
    return true;
#endif
  }

  std::atomic<bool> set_{false};
  std::atomic<void*> waiting_{nullptr};
};

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

struct Document {
  std::string text;
  int words = 0;
};

class Pipeline {
 public:
  explicit Pipeline(std::vector<std::string> texts) {
    for (std::string& text : texts) documents_.push_back({std::move(text), 0});
  }

  // Counts when the documents are there.
  Task count() {
    co_await loaded_;
    for (Document& document : documents_) {
      document.words = 1;
      for (char c : document.text) document.words += c == ' ';
      total_ += document.words;
    }
    counted_.store(true);
  }

  void load() {
    for (Document& document : documents_) document.text += " end";
    loaded_.set();
  }

  bool counted() const { return counted_.load(); }
  int total() const { return total_; }

 private:
  std::vector<Document> documents_;
  Event loaded_;
  int total_ = 0;
  std::atomic<bool> counted_{false};
};

}  // namespace

int main() {
  Pipeline pipeline({"one two", "three"});
  std::thread loader([&] { pipeline.load(); });
  std::thread counter([&] { pipeline.count(); });
  loader.join();
  counter.join();
  if (!pipeline.counted()) {
    std::fprintf(stderr, "nobody has counted\n");
    return 1;
  }
  std::printf("%d words\n", pipeline.total());
  return 0;
}
