// FLAGS: -O0 -g
// A virtual call reads the object, and the table without a point.
struct Shape {
  virtual int area() const { return 0; }
};
struct Square : Shape {
  int area() const override { return 1; }
};

__attribute__((noinline)) int virtual_call(const Shape* shape) { return shape->area(); }

struct Table {
  int (*area)(const struct Object*);
};
struct Object {
  const Table* table;
};

int area(const Object*) { return 1; }

// By hand it may change: both are read with a point.
__attribute__((noinline)) int pointer_call(const Object* object) { return object->table->area(object); }

__attribute__((annotate("clew_no_yield"))) int main() {
  static const Square square;
  static const Table table = {&area};
  static const Object object = {&table};
  const Shape* shape = &square;
  const Object* by_hand = &object;
  __asm__("" : "+r"(shape), "+r"(by_hand));
  return virtual_call(shape) - pointer_call(by_hand);
}
// TRACE: 10 Load
// TRACE: 22 Load
// TRACE: 22 Load
