// Members that are told messages under one lock and leave under another. The twin takes both.
// ROOT CAUSE: chat_room.cpp:39, chat_room.cpp:14; KIND: data-race or order-violation
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
class Member {
 public:
  Member(int id, std::string name) : id_(id), name_(std::move(name)) {}
  void deliver(const std::string& text) { inbox_.push_back(text); }
  std::size_t received() const { return inbox_.size(); }
  const std::string& name() const { return name_; }
  int id() const { return id_; }

 private:
  int id_;
  std::string name_;
  std::vector<std::string> inbox_;
};
class Room {
 public:
  void join(std::unique_ptr<Member> member) {
    std::lock_guard lock(members_mutex_);
    int id = member->id();
    members_[id] = std::move(member);
  }
  void leave(int id) {
#ifdef FIXED
    std::lock_guard members(members_mutex_);
#endif
    std::lock_guard lock(log_mutex_);
    auto found = members_.find(id);
    if (found == members_.end()) return;
    log_.push_back(found->second->name() + " has left");
    members_.erase(found);
  }
  int broadcast(const std::string& text) {
    std::lock_guard lock(members_mutex_);
    int reached = 0;
    for (auto& [id, member] : members_) {
      member->deliver(text);
      reached++;
    }
    return reached;
  }
  std::size_t logged() const { return log_.size(); }

 private:
  std::mutex members_mutex_, log_mutex_;
  std::map<int, std::unique_ptr<Member>> members_;
  std::vector<std::string> log_;
};
static void announcer(Room& room, int& reached) {
  for (int i = 0; i < 2; i++)
    reached += room.broadcast("message number " + std::to_string(i) + " of the day");
}
int main() {
  Room room;
  for (int i = 0; i < 3; i++)
    room.join(std::make_unique<Member>(i, "member with a long name " + std::to_string(i)));
  int reached = 0;
  std::thread a([&] { announcer(room, reached); });
  std::thread b([&] { room.leave(1); });
  a.join();
  b.join();
  std::printf("%d reached, %zu logged\n", reached, room.logged());
  return reached >= 4 ? 0 : 1;
}
