// A print spooler: users submit documents, printers take them by priority, and every user has a number of pages. A
// document that is cancelled while it waits is dropped, but its pages stay reserved: whoever cancels a lot can print
// nothing more in the end. The defect is in ordinary code; whether it shows depends on the documents (the seed).
// Exits with 1 if a document that there were pages for was refused.
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

struct Document {
  int number = 0;
  std::string user;
  int pages = 0;
  int priority = 0;
  bool cancelled = false;
};

// How many pages users may still print.
class Quota {
 public:
  void give(const std::string& user, int pages) { left_[user] += pages; }
  bool reserve(const std::string& user, int pages) {
    int& left = left_[user];
    if (left < pages) {
      ++refused_;
      return false;
    }
    left -= pages;
    return true;
  }
  void release(const std::string& user, int pages) { left_[user] += pages; }
  int left(const std::string& user) const {
    const auto found = left_.find(user);
    return found == left_.end() ? 0 : found->second;
  }
  int refused() const { return refused_; }

 private:
  std::map<std::string, int> left_;
  int refused_ = 0;
};

class Spooler {
 public:
  explicit Spooler(int printers) : printers_(printers) {}
  void admit(const std::string& user, int pages);
  bool submit(const Document& document);
  bool cancel(int number);
  void start();
  void finish();
  int printed_pages();
  int refused();
  void summary();

 private:
  bool insert(const Document& document);
  bool take(Document& document);
  void print(const Document& document);
  void run();

  const int printers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Document> waiting_;
  Quota quota_;
  std::vector<std::thread> threads_;
  bool closed_ = false;
  int printed_ = 0;
  int pages_ = 0;
  int cancelled_ = 0;
};

void Spooler::admit(const std::string& user, int pages) {
  std::lock_guard<std::mutex> lock(mutex_);
  quota_.give(user, pages);
}

// By priority, then in the order in which they came.
bool Spooler::insert(const Document& document) {
  auto at = waiting_.begin();
  while (at != waiting_.end() && at->priority >= document.priority) {
    ++at;
  }
  waiting_.insert(at, document);
  return true;
}

bool Spooler::submit(const Document& document) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (document.pages <= 0) {
    return false;
  }
  if (!quota_.reserve(document.user, document.pages)) {
    return false;
  }
  const bool done = insert(document);
  changed_.notify_one();
  return done;
}

// False: it is being printed, or there is none.
bool Spooler::cancel(int number) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    if (at->number != number) {
      continue;
    }
#ifdef FIXED
    quota_.release(at->user, at->pages);
#endif
    waiting_.erase(at);
    ++cancelled_;
    return true;
  }
  return false;
}

bool Spooler::take(Document& document) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (waiting_.empty() && !closed_) {
    changed_.wait(lock);
  }
  if (waiting_.empty()) {
    return false;
  }
  document = waiting_.front();
  waiting_.erase(waiting_.begin());
  return true;
}

void Spooler::print(const Document& document) {
  int sheets = 0;
  for (int page = 0; page < document.pages; page += 2) {
    ++sheets;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  ++printed_;
  pages_ += document.pages;
  if (sheets > 20) {
    quota_.release(document.user, 1);  // a discount
  }
}

// A printer.
void Spooler::run() {
  Document document;
  while (take(document)) {
    print(document);
  }
}

void Spooler::start() {
  for (int i = 0; i < printers_; ++i) {
    threads_.emplace_back(&Spooler::run, this);
  }
}

void Spooler::finish() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

int Spooler::printed_pages() {
  std::lock_guard<std::mutex> lock(mutex_);
  return pages_;
}

int Spooler::refused() {
  std::lock_guard<std::mutex> lock(mutex_);
  return quota_.refused();
}

void Spooler::summary() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::printf("%d documents of %d pages printed, %d cancelled, %d refused\n", printed_, pages_,
              cancelled_, quota_.refused());
}

std::vector<Document> make_documents(unsigned seed) {
  std::minstd_rand random(seed * 16807u + 3u);
  random.discard(3);
  std::vector<Document> documents;
  for (int i = 0; i < 12; ++i) {
    Document document;
    document.number = i;
    document.user = random() % 3 == 0 ? "ann" : "bob";
    document.pages = 1 + static_cast<int>(random() % 30);
    document.priority = static_cast<int>(random() % 4);
    document.cancelled = random() % 4 == 0;
    documents.push_back(document);
  }
  return documents;
}

int main(int count, char** arguments) {
  const unsigned seed = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1;
  Spooler spooler(3);
  const std::vector<Document> documents = make_documents(seed);
  // Enough for all that is not cancelled, and for the largest document besides.
  std::map<std::string, int> needed;
  for (const Document& document : documents) {
    if (!document.cancelled) {
      needed[document.user] += document.pages;
    }
  }
  for (const auto& [user, pages] : needed) {
    spooler.admit(user, pages + 30);
  }
  for (const Document& document : documents) {
    spooler.submit(document);
    if (document.cancelled) {
      spooler.cancel(document.number);
    }
  }
  spooler.start();
  spooler.finish();
  spooler.summary();
  return spooler.refused() == 0 ? 0 : 1;
}
