// FLAGS: -O0 -g -mllvm -clew-yield=line
// One entry and one for each executed line.
class Queue {
 public:
  void enqueue(int elem);
  int head = 0, tail = 0, link[8] = {};
};

void Queue::enqueue(int elem) {
  link[elem] = 0;
  if (head == 0)
    head = elem;
  else
    link[3] = elem;
  tail = elem;
}

__attribute__((annotate("clew_no_yield"))) int main() {
  static Queue queue;
  queue.enqueue(1);
  queue.enqueue(2);
}
// TRACE: 9 Entry
// TRACE: 10 Store
// TRACE: 11 Load
// TRACE: 12 Store
// TRACE: 15 Store
// TRACE: 9 Entry
// TRACE: 10 Store
// TRACE: 11 Load
// TRACE: 14 Store
// TRACE: 15 Store
