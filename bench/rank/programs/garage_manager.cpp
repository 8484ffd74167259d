// A garage: a manager gives each of his workers a task, the workers do them, and the manager waits until
// all have finished. The number of a task is computed from random values and may be negative; its remainder
// by 8 is then negative too, and no case of the switch is taken ("blocking critical section"): the worker
// does nothing and never reports that it has finished, and the manager waits for ever.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

// What everybody in the garage can see.
class GarageStatus {
 public:
  explicit GarageStatus(int workers) : workers_(workers) {}

  void ManagerArrived() {
    manager_here_ = true;
    changed_.notify_all();
  }
  bool IsManagerHere() const { return manager_here_; }
  void TaskAssigned() { ++assigned_; }
  void WorkerFinishedTask() {
    ++finished_;
    changed_.notify_all();
  }
  bool AllWorkersFinished() const { return finished_ >= workers_; }
  int Finished() const { return finished_; }
  int Assigned() const { return assigned_; }
  std::mutex& Lock() { return mutex_; }
  std::condition_variable& Changed() { return changed_; }

 private:
  const int workers_;
  bool manager_here_ = false;
  int assigned_ = 0;
  int finished_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

// What a worker has done, for the bill.
class WorkCard {
 public:
  void AddLine(const std::string& what, int minutes) {
    lines_.push_back(what);
    minutes_ += minutes;
  }
  int Minutes() const { return minutes_; }
  std::string Text(int worker) const {
    std::string text = "worker " + std::to_string(worker) + ":";
    for (const std::string& line : lines_) {
      text += ' ';
      text += line;
      text += ';';
    }
    return text;
  }

 private:
  std::vector<std::string> lines_;
  int minutes_ = 0;
};

// Spare parts, of which some tasks need a few.
class PartsStore {
 public:
  PartsStore() : parts_(8, 20) {}

  bool Take(int kind, int count) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (kind < 0 || kind >= static_cast<int>(parts_.size())) {
      return false;
    }
    if (parts_[kind] < count) {
      ++missed_;
      return false;
    }
    parts_[kind] -= count;
    return true;
  }
  void Restock(int kind, int count) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (kind < 0 || kind >= static_cast<int>(parts_.size())) {
      return;
    }
    parts_[kind] += count;
  }
  int Left() {
    std::lock_guard<std::mutex> lock(mutex_);
    int sum = 0;
    for (const int part : parts_) {
      sum += part;
    }
    return sum;
  }

 private:
  std::mutex mutex_;
  std::vector<int> parts_;
  int missed_ = 0;
};

class Worker {
 public:
  Worker(int number, GarageStatus& status, PartsStore& parts)
      : number_(number), status_(status), parts_(parts) {}

  void SetTask(int task) {
    task_number_ = task;
    has_task_ = true;
  }

  // The worker's thread.
  void run() {
    WaitForManager();
    GoToWork();
    PrintCard();
  }

  int Minutes() const { return card_.Minutes(); }
  const std::string& Card() const { return printed_; }

 private:
  void WaitForManager() {
    std::unique_lock<std::mutex> lock(status_.Lock());
    while (!status_.IsManagerHere() || !has_task_) {
      status_.Changed().wait(lock);
    }
  }

  // Does the task whose number it was given.
  void GoToWork() {
#ifdef FIXED
    const int task = (task_number_ % 8 + 8) % 8;
#else
    const int task = task_number_ % 8;
#endif
    switch (task) {
      case 0:
        FetchParts(0, 2);
        WorkingOn("fix gears", 200);
        break;
      case 1:
        FetchParts(1, 4);
        WorkingOn("change tires", 140);
        break;
      case 2:
        WorkingOn("adjust lights", 60);
        break;
      case 3:
        FetchParts(3, 1);
        WorkingOn("change oil", 40);
        break;
      case 4:
        WorkingOn("align wheels", 90);
        break;
      case 5:
        FetchParts(5, 1);
        WorkingOn("replace battery", 30);
        break;
      case 6:
        WorkingOn("check exhaust", 50);
        break;
      case 7:
        FetchParts(7, 2);
        WorkingOn("work on brakes", 220);
        break;
    }
  }

  void FetchParts(int kind, int count) {
    while (!parts_.Take(kind, count)) {
      parts_.Restock(kind, 10);
    }
  }

  // The work itself, step by step, and the report that it is done.
  void WorkingOn(const std::string& what, int minutes) {
    int left = minutes;
    int steps = 0;
    int breaks = 0;
    // In pieces of an hour at most, with a look at the others after every second one, and a break when
    // the work takes long.
    while (left > 0) {
      const int step = left > 60 ? 60 : left;
      left -= step;
      ++steps;
      if (steps % 2 == 0) {
        std::this_thread::yield();
      }
      if (steps % 3 == 0) {
        ++breaks;
      }
    }
    if (what.empty()) {
      card_.AddLine("nothing", 0);
    } else if (breaks > 0) {
      card_.AddLine(what + " with breaks", minutes + 10 * breaks);
    } else {
      card_.AddLine(what, minutes);
    }
    std::lock_guard<std::mutex> lock(status_.Lock());
    status_.WorkerFinishedTask();
  }

  void PrintCard() { printed_ = card_.Text(number_); }

  const int number_;
  GarageStatus& status_;
  PartsStore& parts_;
  WorkCard card_;
  std::string printed_;
  int task_number_ = 0;
  bool has_task_ = false;
};

// Customers, who decide what has to be done.
class Customers {
 public:
  explicit Customers(unsigned seed) : random_(seed) { random_.discard(5); }

  int NextWish() { return static_cast<int>(random_() % 200); }
  // A discount for those who come often; a large one makes the sum negative.
  int Discount() {
    const int percent = static_cast<int>(random_() % 100);
    if (percent < 94) {
      return 0;
    }
    return 150 + static_cast<int>(random_() % 50);
  }

 private:
  std::minstd_rand random_;
};

class Manager {
 public:
  Manager(int workers, unsigned seed)
      : status_(workers), customers_(seed), workers_count_(workers) {}

  // The manager's day. False: it did not come to an end.
  void run() {
    HireWorkers();
    OpenGarage();
    for (int i = 0; i < workers_count_; ++i) {
      SetTaskToWorker(i);
    }
    {
      std::lock_guard<std::mutex> lock(status_.Lock());
      status_.ManagerArrived();
    }
    bool tasks_not_finished = true;
    bool printed_output = false;
    while (tasks_not_finished) {
      printed_output = PrintOutput(printed_output);
      std::unique_lock<std::mutex> lock(status_.Lock());
      if (status_.AllWorkersFinished()) {
        tasks_not_finished = false;
      } else {
        lock.unlock();
        std::this_thread::yield();
      }
    }
    CloseGarage();
  }

 private:
  void HireWorkers() {
    for (int i = 0; i < workers_count_; ++i) {
      workers_.push_back(std::make_unique<Worker>(i, status_, parts_));
    }
  }

  void OpenGarage() {
    for (const auto& worker : workers_) {
      threads_.emplace_back(&Worker::run, worker.get());
    }
  }

  // What a customer wants, less the discount, is the number of the task.
  int CalculateTaskNumber(int worker) {
    const int wish = customers_.NextWish();
    const int discount = customers_.Discount();
    int number = wish - discount;
    if (worker % 2 == 1) {
      number += 1;
    }
    return number;
  }

  void SetTaskToWorker(int worker) {
    const int number = CalculateTaskNumber(worker);
    std::lock_guard<std::mutex> lock(status_.Lock());
    workers_[worker]->SetTask(number);
    status_.TaskAssigned();
  }

  bool PrintOutput(bool printed) {
    if (printed) {
      return true;
    }
    std::printf("%d workers have a task\n", status_.Assigned());
    return true;
  }

  void CloseGarage() {
    for (std::thread& thread : threads_) {
      thread.join();
    }
    int minutes = 0;
    for (const auto& worker : workers_) {
      minutes += worker->Minutes();
      std::printf("%s\n", worker->Card().c_str());
    }
    PrintBill(minutes);
  }

  void PrintBill(int minutes) {
    const int parts = 160 - parts_.Left();
    const int sum = minutes * 2 + (parts > 0 ? parts * 15 : 0);
    std::printf("%d minutes, %d parts: %d\n", minutes, parts, sum);
  }

  GarageStatus status_;
  PartsStore parts_;
  Customers customers_;
  const int workers_count_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

int main(int count, char** arguments) {
  const unsigned seed = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1;
  Manager manager(4, seed * 2654435761u % 2147483646u + 1);
  manager.run();
  return 0;
}
