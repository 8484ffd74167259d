// A text editor's core: documents with undo, an autosaver that writes those that are dirty, a spell checker. What is typed between the autosaver's copy
// of a document and its note that the document is saved is never saved.
// ROOT CAUSE: autosaver.cpp:133 (the copy), autosaver.cpp:137, autosaver.cpp:80 (the note); KIND: atomicity-violation
// FLAGS: -O1
// SAYS: between two (accesses|steps) of T0\.1, which reads `(letter|notes)\.(dirty|text)_`
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace editor {

class Store {
 public:
  void write(const std::string& name, const std::string& text) {
    std::lock_guard<std::mutex> guard(mutex_);
    files_[name] = text;
    ++writes_;
  }
  std::string read(const std::string& name) const {
    std::lock_guard<std::mutex> guard(mutex_);
    auto it = files_.find(name);
    return it == files_.end() ? std::string() : it->second;
  }
  int writes() const {
    std::lock_guard<std::mutex> guard(mutex_);
    return writes_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> files_;
  int writes_ = 0;
};

struct Edit {
  size_t at;
  std::string inserted;
};

class Document {
 public:
  explicit Document(std::string name) : name_(std::move(name)) {}
  void insert(size_t at, const std::string& text) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (at > text_.size()) at = text_.size();
    text_.insert(at, text);
    undo_.push_back({at, text});
    dirty_ = true;
  }
  bool undo() {
    std::lock_guard<std::mutex> guard(mutex_);
    if (undo_.empty()) return false;
    const Edit& last = undo_.back();
    text_.erase(last.at, last.inserted.size());
    undo_.pop_back();
    dirty_ = true;
    return true;
  }
  std::string snapshot() const {
    std::lock_guard<std::mutex> guard(mutex_);
    return text_;
  }
  bool dirty() const {
    std::lock_guard<std::mutex> guard(mutex_);
    return dirty_;
  }
  std::string take() {
    std::lock_guard<std::mutex> guard(mutex_);
    dirty_ = false;
    return text_;
  }
  void mark_clean() {
    std::lock_guard<std::mutex> guard(mutex_);
    dirty_ = false;
  }
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
  mutable std::mutex mutex_;
  std::string text_;
  std::vector<Edit> undo_;
  bool dirty_ = false;
};

class Autosaver {
 public:
  Autosaver(Store& store, std::vector<Document*> documents)
      : store_(store), documents_(std::move(documents)), thread_([this] { run(); }) {}
  void stop() {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  void nudge() {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      ++nudges_;
    }
    wake_.notify_one();
  }

 private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return nudges_ > 0 || stopping_; });
      if (nudges_ > 0) --nudges_;
      const bool last = stopping_;
      lock.unlock();
      save_all();
      lock.lock();
      if (last) return;
    }
  }
  void save_all() {
    for (Document* document : documents_)
      if (document->dirty()) save(*document);
  }
  void save(Document& document) {
#ifdef FIXED
    const std::string text = document.take();
#else
    const std::string text = document.snapshot();
#endif
    store_.write(document.name(), text);
#ifndef FIXED
    document.mark_clean();
#endif
  }

  Store& store_;
  std::vector<Document*> documents_;
  std::mutex mutex_;
  std::condition_variable wake_;
  int nudges_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

class SpellChecker {
 public:
  void check(const Document& document) {
    const std::string text = document.snapshot();
    int words = 0;
    bool in = false;
    for (char c : text) {
      const bool letter = c != ' ';
      if (letter && !in) ++words;
      in = letter;
    }
    words_.fetch_add(words, std::memory_order_relaxed);
  }
  int words() const { return words_; }

 private:
  std::atomic<int> words_{0};
};

}  // namespace editor

int main() {
  using namespace editor;
  Store store;
  Document letter("letter"), notes("notes");
  SpellChecker speller;
  Autosaver saver(store, {&letter, &notes});
  std::thread typist([&] {
    letter.insert(0, "Dear Ada,");
    saver.nudge();
    letter.insert(9, " thank you");
    speller.check(letter);
  });
  std::thread author([&] {
    notes.insert(0, "buy milk");
    saver.nudge();
    if (notes.undo()) notes.insert(0, "buy tea");
  });
  typist.join();
  author.join();
  saver.stop();
  std::printf("%d words, %d writes\n", speller.words(), store.writes());
  assert(store.read("letter") == letter.snapshot());
  assert(store.read("notes") == notes.snapshot());
}
