// A dictionary is read when it is first needed: the pointer that is looked at without the lock is set before the words are in.
// ROOT CAUSE: lazy_dictionary.cpp:40 (published too early), lazy_dictionary.cpp:41 (filled only then); KIND: order-violation or data-race
// SAYS: and after T0\.\d has let it come there at lazy_dictionary\.cpp:40
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Dictionary {
 public:
  void read(const std::vector<std::pair<std::string, std::string>>& entries) {
    for (const auto& [word, meaning] : entries) {
      order_.push_back(word);
      meanings_[word] = meaning;
    }
    ready_ = true;
  }
  const std::string& look_up(const std::string& word) const { return meanings_.at(word); }
  std::size_t size() const { return order_.size(); }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::string> meanings_;
  bool ready_ = false;
};

class Dictionaries {
 public:
  static Dictionary* english() {
#ifdef FIXED
    std::lock_guard<std::mutex> guard(mutex_);
    if (english_ != nullptr) return english_;
#else
    if (english_ != nullptr) return english_;
    std::lock_guard<std::mutex> guard(mutex_);
    if (english_ != nullptr) return english_;
#endif
    english_ = new Dictionary;
    english_->read({{"clew", "ball of thread"}, {"maze", "labyrinth"}});
    return english_;
  }
  static void drop() {
    delete english_;
    english_ = nullptr;
  }

 private:
  static std::mutex mutex_;
  static Dictionary* english_;
};

std::mutex Dictionaries::mutex_;
Dictionary* Dictionaries::english_ = nullptr;

class Translator {
 public:
  explicit Translator(std::string text) : text_(std::move(text)) {}
  void run() {
    std::string word;
    for (char c : text_ + " ") {
      if (c != ' ') {
        word += c;
      } else if (!word.empty()) {
        translate(word);
        word.clear();
      }
    }
  }
  std::size_t length() const { return out_.size(); }

 private:
  void translate(const std::string& word) {
    const Dictionary* dictionary = Dictionaries::english();
    out_ += dictionary->look_up(word);
    out_ += ' ';
  }
  std::string text_;
  std::string out_;
};

int main() {
  Translator one("clew maze");
  Translator two("maze");
  std::thread first([&] { one.run(); });
  std::thread second([&] { two.run(); });
  first.join();
  second.join();
  std::printf("%zu %zu\n", one.length(), two.length());
  Dictionaries::drop();
}
