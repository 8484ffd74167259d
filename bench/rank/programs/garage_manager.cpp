// A garage for a day: a manager hires workers, gives each a task, and closes when all have finished. The number of a
// task is computed from what the customer wants and what it may cost, and is negative in rare cases; its remainder by 8 is
// negative then, and the switch that hands out the work has no case for it ("blocking critical section"). That worker does
// nothing and never says that it has finished, and the manager waits for it for ever.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

// What all in the garage share.
class Status {
 public:
  explicit Status(int workers) : workers_(workers) {}
  void ManagerArrived();
  bool IsManagerHere();
  void WorkerFinishedTask(int worker);
  bool AllWorkersFinished();
  std::string Describe();

 private:
  const int workers_;
  std::mutex mutex_;
  bool manager_here_ = false;
  int finished_ = 0;
  std::vector<int> order_;
};

void Status::ManagerArrived() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (manager_here_) {
    std::fprintf(stderr, "the manager is here already\n");
    return;
  }
  manager_here_ = true;
  finished_ = 0;
  order_.clear();
}

bool Status::IsManagerHere() {
  std::lock_guard<std::mutex> lock(mutex_);
  return manager_here_;
}

void Status::WorkerFinishedTask(int worker) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const int other : order_) {
    if (other == worker) {
      std::fprintf(stderr, "worker %d has finished twice\n", worker);
      return;
    }
  }
  order_.push_back(worker);
  ++finished_;
}

bool Status::AllWorkersFinished() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (finished_ > workers_) {
    std::fprintf(stderr, "%d of %d workers have finished\n", finished_, workers_);
    std::abort();
  }
  return finished_ == workers_;
}

std::string Status::Describe() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string text;
  if (!manager_here_) {
    text += "the manager is not here, ";
  }
  text += std::to_string(finished_);
  text += " of ";
  text += std::to_string(workers_);
  text += workers_ == 1 ? " worker" : " workers";
  text += finished_ == 1 ? " has" : " have";
  text += " finished";
  if (!order_.empty()) {
    text += ", in the order";
    for (const int worker : order_) {
      text += ' ';
      text += std::to_string(worker);
    }
  }
  return text;
}

// Spare parts by kind.
class PartsStore {
 public:
  static constexpr int kKinds = 8;
  PartsStore();
  int Take(int kind, int wanted);
  void Deliver(int kind, int count);
  int Missing();

 private:
  std::mutex mutex_;
  std::array<int, kKinds> parts_{};
  std::array<int, kKinds> least_{};
};

PartsStore::PartsStore() {
  for (int kind = 0; kind < kKinds; ++kind) {
    const std::size_t at = static_cast<std::size_t>(kind);
    least_[at] = 2 + kind % 3;
    parts_[at] = 5 * least_[at];
    if (kind == 1) {
      parts_[at] += 12;  // tires are taken by fours
    }
  }
}

// As many as there are.
int PartsStore::Take(int kind, int wanted) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (kind < 0 || kind >= kKinds || wanted <= 0) {
    return 0;
  }
  int& there = parts_[static_cast<std::size_t>(kind)];
  const int taken = there < wanted ? there : wanted;
  there -= taken;
  return taken;
}

void PartsStore::Deliver(int kind, int count) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (kind < 0 || kind >= kKinds) {
    std::fprintf(stderr, "parts of kind %d are not kept\n", kind);
    return;
  }
  if (count > 0) {
    parts_[static_cast<std::size_t>(kind)] += count;
  }
}

int PartsStore::Missing() {
  std::lock_guard<std::mutex> lock(mutex_);
  int missing = 0;
  for (int kind = 0; kind < kKinds; ++kind) {
    const std::size_t at = static_cast<std::size_t>(kind);
    if (parts_[at] < least_[at]) {
      missing += least_[at] - parts_[at];
    }
  }
  return missing;
}

// What customers come with.
struct Order {
  std::string customer;
  int mileage = 0;
  int wish = 0;
  int budget = 0;
};

class Customers {
 public:
  explicit Customers(unsigned seed);
  Order NextOrder();

 private:
  std::string Name();
  std::minstd_rand random_;
};

Customers::Customers(unsigned seed) : random_(seed * 2654435761u % 2147483645u + 1u) {
  random_.discard(7);
}

std::string Customers::Name() {
  static const char* const kFirst[] = {"Ada", "Ben", "Cleo", "Dora", "Emil", "Fred"};
  static const char* const kLast[] = {"Adler", "Brandt", "Clausen", "Dietz", "Ebert"};
  std::string name = kFirst[random_() % 6];
  name += ' ';
  name += kLast[random_() % 5];
  return name;
}

Order Customers::NextOrder() {
  Order order;
  order.customer = Name();
  // Most cars are a few years old, some are new and some are very old.
  const unsigned age = random_() % 10;
  if (age == 0) {
    order.mileage = static_cast<int>(random_() % 500);
  } else if (age == 9) {
    order.mileage = 150000 + static_cast<int>(random_() % 100000);
  } else {
    order.mileage = 5000 + static_cast<int>(random_() % 120000);
  }
  order.wish = static_cast<int>(random_() % 200);
  order.budget = 100 + static_cast<int>(random_() % 900);
  if (order.mileage > 150000) {
    order.budget /= 2;
  }
  return order;
}

// What a worker has done, for the bill.
class Card {
 public:
  void AddLine(const std::string& what, int minutes, int parts);
  int Total() const;
  std::string Text() const;

 private:
  struct Line {
    std::string what;
    int minutes = 0;
    int parts = 0;
  };
  std::vector<Line> lines_;
};

void Card::AddLine(const std::string& what, int minutes, int parts) {
  for (Line& line : lines_) {
    if (line.what == what) {
      line.minutes += minutes;
      line.parts += parts;
      return;
    }
  }
  Line line;
  line.what = what;
  line.minutes = minutes;
  line.parts = parts;
  lines_.push_back(line);
}

int Card::Total() const {
  int cents = 0;
  for (const Line& line : lines_) {
    int quarters = line.minutes / 15;
    if (line.minutes % 15 != 0) {
      ++quarters;
    }
    cents += quarters * 1950;
    cents += line.parts * 2300;
  }
  return cents;
}

std::string Card::Text() const {
  std::string text;
  for (const Line& line : lines_) {
    if (!text.empty()) {
      text += ", ";
    }
    text += line.what;
    text += " (";
    text += std::to_string(line.minutes);
    text += " minutes";
    if (line.parts > 0) {
      text += ", ";
      text += std::to_string(line.parts);
      text += line.parts == 1 ? " part" : " parts";
    }
    text += ")";
  }
  return text.empty() ? "nothing" : text;
}

class Worker {
 public:
  Worker(int number, Status& status, PartsStore& parts)
      : number_(number), status_(status), parts_(parts) {}
  void SetTask(const Order& order, int task_number);
  void run();
  int Bill() const;

 private:
  void WaitForManager();
  void GoToWork();
  int FetchParts(int kind, int wanted);
  void WorkingOn(const std::string& what, int minutes, int kind, int parts);
  void PrintCard();

  const int number_;
  Status& status_;
  PartsStore& parts_;
  std::mutex mutex_;
  std::condition_variable has_task_;
  bool task_is_set_ = false;
  Order order_;
  int task_number_ = 0;
  Card card_;
};

void Worker::SetTask(const Order& order, int task_number) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (task_is_set_) {
    std::fprintf(stderr, "worker %d has a task already\n", number_);
    return;
  }
  order_ = order;
  task_number_ = task_number;
  task_is_set_ = true;
  has_task_.notify_one();
}

// The worker's thread.
void Worker::run() {
  WaitForManager();
  GoToWork();
  PrintCard();
}

int Worker::Bill() const {
  int total = card_.Total();
  const int limit = order_.budget * 100;
  if (order_.mileage < 500) {
    total -= total / 10;  // under warranty
  } else if (order_.mileage > 200000) {
    total += 2500;  // disposal of what was replaced
  }
  if (total % 100 >= 50) {
    total += 100 - total % 100;
  } else {
    total -= total % 100;
  }
  if (total > limit) {
    std::printf("worker %d: the customer pays %d instead of %d\n", number_, limit, total);
    return limit;
  }
  return total;
}

void Worker::WaitForManager() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!task_is_set_) {
    has_task_.wait(lock);
  }
  lock.unlock();
  while (!status_.IsManagerHere()) {
    std::this_thread::yield();
  }
}

// Does what the task's number stands for.
void Worker::GoToWork() {
#ifdef FIXED
  const int task = (task_number_ % 8 + 8) % 8;
#else
  const int task = task_number_ % 8;
#endif
  switch (task) {
    case 0:
      WorkingOn("fix gears", 200, 0, 2);
      break;
    case 1:
      WorkingOn("change tires", 140, 1, 4);
      break;
    case 2:
      WorkingOn("adjust lights", 60, 2, 0);
      break;
    case 3:
      WorkingOn("change oil", 40, 3, 1);
      break;
    case 4:
      WorkingOn("align wheels", 90, 4, 0);
      break;
    case 5:
      WorkingOn("replace battery", 30, 5, 1);
      break;
    case 6:
      WorkingOn("check exhaust", 50, 6, 0);
      break;
    case 7:
      WorkingOn("work on brakes", 220, 7, 2);
      break;
  }
}

// Until there are enough of them: what is missing is delivered.
int Worker::FetchParts(int kind, int wanted) {
  int fetched = 0;
  while (fetched < wanted) {
    const int taken = parts_.Take(kind, wanted - fetched);
    if (taken == 0) {
      parts_.Deliver(kind, wanted);
    }
    fetched += taken;
  }
  return fetched;
}

void Worker::WorkingOn(const std::string& what, int minutes, int kind, int parts) {
  const int used = FetchParts(kind, parts);
  int left = minutes;
  if (order_.mileage > 150000) {
    left += minutes / 10;  // everything is rusty
  }
  int worked = 0;
  while (left > 0) {
    const int now = left > 60 ? 60 : left;
    worked += now;
    left -= now;
    std::this_thread::yield();
  }
  card_.AddLine(what, worked, used);
  if (worked > 120) {
    card_.AddLine("test drive", 15, 0);
  }
  status_.WorkerFinishedTask(number_);
}

void Worker::PrintCard() {
  const std::string text = card_.Text();
  std::string line = "worker " + std::to_string(number_);
  if (order_.mileage > 150000) {
    line += " (rusty)";
  } else if (order_.mileage < 500) {
    line += " (new)";
  }
  line += " for ";
  line += order_.customer;
  line += ": ";
  line += text;
  std::printf("%s\n", line.c_str());
}

class Manager {
 public:
  Manager(int workers, unsigned seed) : status_(workers), customers_(seed), count_(workers) {}
  void run();

 private:
  void OpenGarage();
  int CalculateTaskNumber(const Order& order) const;
  void SetTaskToWorker(int worker);
  void GiveTasksToWorkers();
  bool PrintOutput(bool printed);
  void CloseGarage();
  void PrintBalance(int income);

  Status status_;
  PartsStore parts_;
  Customers customers_;
  const int count_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

void Manager::OpenGarage() {
  for (int i = 0; i < count_; ++i) {
    workers_.push_back(std::make_unique<Worker>(i + 1, status_, parts_));
  }
  for (const auto& worker : workers_) {
    threads_.emplace_back(&Worker::run, worker.get());
  }
  std::printf("the garage is open, %d workers are here\n", count_);
}

// What is to be done comes from the wish and the car; who cannot pay gets something simpler.
int Manager::CalculateTaskNumber(const Order& order) const {
  int number = order.wish;
  if (order.mileage > 100000) {
    number += 5;
  } else if (order.mileage < 500) {
    number += 2;
  }
  if (order.budget < 150) {
    number -= 2 * (150 - order.budget);
  }
  return number;
}

void Manager::SetTaskToWorker(int worker) {
  const Order order = customers_.NextOrder();
  const int number = CalculateTaskNumber(order);
  if (order.wish < 0 || order.budget < 0) {
    std::fprintf(stderr, "%s has no sensible wish\n", order.customer.c_str());
    std::abort();
  }
  workers_[static_cast<std::size_t>(worker)]->SetTask(order, number);
}

void Manager::GiveTasksToWorkers() {
  int given = 0;
  for (int i = 0; i < count_; ++i) {
    SetTaskToWorker(i);
    ++given;
  }
  if (given != count_) {
    std::fprintf(stderr, "%d workers are without a task\n", count_ - given);
  }
}

bool Manager::PrintOutput(bool printed) {
  if (printed) {
    return true;
  }
  const std::string text = status_.Describe();
  std::printf("%s\n", text.c_str());
  return true;
}

// The manager's day.
void Manager::run() {
  OpenGarage();
  GiveTasksToWorkers();
  status_.ManagerArrived();
  bool tasks_not_finished = true;
  bool printed_output = false;
  while (tasks_not_finished) {
    printed_output = PrintOutput(printed_output);
    if (status_.AllWorkersFinished()) {
      tasks_not_finished = false;
    } else {
      std::this_thread::yield();
    }
  }
  CloseGarage();
}

void Manager::CloseGarage() {
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
  int income = 0;
  int most = 0;
  int least = 0;
  for (const auto& worker : workers_) {
    const int bill = worker->Bill();
    income += bill;
    if (bill > most) {
      most = bill;
    }
    if (least == 0 || bill < least) {
      least = bill;
    }
  }
  std::printf("bills from %d.%02d to %d.%02d\n", least / 100, least % 100, most / 100, most % 100);
  PrintBalance(income);
  workers_.clear();
}

void Manager::PrintBalance(int income) {
  const int missing = parts_.Missing();
  int price = 1700;
  if (missing > 10) {
    price = 1500;
  } else if (missing > 5) {
    price = 1600;
  }
  const int cost = missing * price;
  const int wages = count_ * 9500;
  std::printf("wages %d.%02d\n", wages / 100, wages % 100);
  std::printf("%s\n", status_.Describe().c_str());
  std::printf("income %d.%02d", income / 100, income % 100);
  if (cost > 0) {
    std::printf(", parts to buy %d.%02d", cost / 100, cost % 100);
  }
  if (income < cost) {
    std::printf(": a bad day");
  }
  std::printf("\n");
}

bool ParseArguments(int count, char** arguments, unsigned& seed, int& workers) {
  seed = 1;
  workers = 4;
  if (count > 1) {
    seed = static_cast<unsigned>(std::atoi(arguments[1]));
  }
  if (count > 2) {
    workers = std::atoi(arguments[2]);
  }
  if (workers < 1 || workers > 64) {
    std::fprintf(stderr, "usage: garage_manager [SEED [WORKERS]]\n");
    return false;
  }
  return true;
}

int main(int count, char** arguments) {
  unsigned seed = 0;
  int workers = 0;
  if (!ParseArguments(count, arguments, seed, workers)) {
    return 2;
  }
  Manager manager(workers, seed);
  manager.run();
  return 0;
}
