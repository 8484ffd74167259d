// A cache of documents with a limit on their total size. `find` hands out a plain pointer to the entry under the lock; readers
// use it after the lock is released. A put that exceeds the limit evicts the entry that was used least recently, whether somebody
// reads it or not.
// ROOT CAUSE: cache_eviction.cpp:88 (evicted while in use), cache_eviction.cpp:144 (used without the lock); KIND: order-violation
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

struct Statistics {
  int hits = 0;
  int misses = 0;
  int evictions = 0;
};

class Document {
 public:
  Document(std::string name, std::string body) : name_(std::move(name)), words_(count(body)) {
    body_ = new char[body.size() + 1];
    std::memcpy(body_, body.c_str(), body.size() + 1);
    size_ = body.size();
  }
  ~Document() {
    std::memset(body_, 0, size_);
    delete[] body_;
  }
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  const std::string& name() const { return name_; }
  std::size_t size() const { return size_; }
  int words() const { return words_; }
  int recount() const { return count(std::string(body_, size_)); }

 private:
  static int count(const std::string& text) {
    int words = 0;
    bool inside = false;
    for (char c : text) {
      const bool letter = c > ' ';
      words += letter && !inside;
      inside = letter;
    }
    return words;
  }

  std::string name_;
  char* body_ = nullptr;
  std::size_t size_ = 0;
  int words_ = 0;
};

class Cache {
 public:
  explicit Cache(std::size_t limit) : limit_(limit) {}

  Document* find(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      statistics_.misses++;
      return nullptr;
    }
    statistics_.hits++;
    touch(name);
    return found->second;
  }

  void put(const std::string& name, const std::string& body) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (entries_.count(name) != 0) return;
    Document* made = new Document(name, body);
    total_ += made->size();
    entries_[name] = made;
    order_.push_front(name);
    while (total_ > limit_ && order_.size() > 1) {
      const auto oldest = entries_.find(order_.back());
      order_.pop_back();
      total_ -= oldest->second->size();
      statistics_.evictions++;
      delete oldest->second;
      entries_.erase(oldest);
    }
  }

  Statistics statistics() {
    std::lock_guard<std::mutex> lock(mutex_);
    return statistics_;
  }

  void clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [name, document] : entries_) delete document;
    entries_.clear();
    order_.clear();
    total_ = 0;
  }

 private:
  void touch(const std::string& name) {
    order_.remove(name);
    order_.push_front(name);
  }

  std::mutex mutex_;
  std::size_t limit_;
  std::size_t total_ = 0;
  std::unordered_map<std::string, Document*> entries_;
  std::list<std::string> order_;
  Statistics statistics_;
};

class Report {
 public:
  void add(int words) {
    std::lock_guard<std::mutex> lock(mutex_);
    words_ += words;
    documents_++;
  }
  int words() {
    std::lock_guard<std::mutex> lock(mutex_);
    return words_;
  }
  int documents() {
    std::lock_guard<std::mutex> lock(mutex_);
    return documents_;
  }

 private:
  std::mutex mutex_;
  int words_ = 0;
  int documents_ = 0;
};

void read_documents(Cache& cache, const std::vector<std::string>& names, Report& report) {
  for (const std::string& name : names)
    if (Document* document = cache.find(name)) report.add(document->recount());
}

void load_documents(Cache& cache, int count) {
  for (int i = 0; i < count; i++)
    cache.put("page" + std::to_string(i), "one two three " + std::string(8, 'x'));
}

}  // namespace

int main() {
  Cache cache(60);
  Report report;
  cache.put("index", "alpha beta gamma delta");
  const std::vector<std::string> wanted = {"index"};
  std::thread reader(read_documents, std::ref(cache), std::cref(wanted), std::ref(report));
  std::thread loader(load_documents, std::ref(cache), 3);
  reader.join();
  loader.join();
  const int words = report.words();
  const int documents = report.documents();
  const Statistics statistics = cache.statistics();
  cache.clear();
  std::printf("%d words in %d documents, %d evictions\n", words, documents, statistics.evictions);
  return words == 4 * documents ? 0 : 1;
}
