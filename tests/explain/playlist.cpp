// A player that keeps the length of its list in a local variable while another thread removes songs, each access locked.
// ROOT CAUSE: playlist.cpp:54 (the length is read once), playlist.cpp:55 (used with it later), playlist.cpp:26 (a song is removed between); KIND: atomicity-violation
// SAYS: All three hold `list.mutex_`, but it is released in between
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Song {
  std::string title;
  int seconds = 0;
};

class Playlist {
 public:
  void add(const std::string& title, int seconds) {
    std::lock_guard lock(mutex_);
    songs_.push_back({title, seconds});
  }
  void remove_last() {
    std::lock_guard lock(mutex_);
    if (!songs_.empty()) songs_.pop_back();
  }
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return songs_.size();
  }
  Song at(std::size_t index) const {
    std::lock_guard lock(mutex_);
    return songs_.at(index);
  }
  std::vector<Song> all() const {
    std::lock_guard lock(mutex_);
    return songs_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Song> songs_;
};

class Player {
 public:
  explicit Player(const Playlist& list) : list_(list) {}
  int play() {
    int seconds = 0;
#ifdef FIXED
    for (const Song& song : list_.all()) seconds += listen(song);
#else
    const std::size_t count = list_.size();
    for (std::size_t i = 0; i < count; i++) seconds += listen(list_.at(i));
#endif
    return seconds;
  }

 private:
  static int listen(const Song& song) { return song.seconds; }
  const Playlist& list_;
};

}  // namespace

int main() {
  Playlist list;
  list.add("Morning", 200);
  list.add("Noon", 180);
  list.add("Evening", 240);
  int seconds = 0;
  std::thread player([&] { seconds = Player(list).play(); });
  std::thread editor([&] { list.remove_last(); });
  player.join();
  editor.join();
  std::printf("%d seconds\n", seconds);
  return 0;
}
