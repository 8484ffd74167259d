// An asynchronous task fulfils its promise before it has written the last field of the report. A
// thread that waits for the promise may read the report without it.
// ROOT CAUSE: future_race.cpp:17; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <cstdio>
#include <cstdlib>
#include <future>

struct Report {
  int lines = 0;
  int checksum = 0;
};

static void write_report(int lines, Report* report, std::promise<void>* ready) {
  report->lines = lines;
  ready->set_value();
  report->checksum = lines * 31;
}

int main(int argc, char** argv) {
  int lines = argc > 1 ? std::atoi(argv[1]) : 5;
  Report report;
  std::promise<void> ready;
  std::future<void> task = std::async(std::launch::async, write_report, lines, &report, &ready);
  ready.get_future().wait();
  int checksum = report.checksum;
  task.wait();
  std::printf("checksum %d\n", checksum);
  return checksum == lines * 31 ? 0 : 1;
}
