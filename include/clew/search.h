/* Search algorithms of your own for clew pinpoint (docs/pinpoint.md, "Algorithms of your own").
 *
 * An algorithm is a shared library that defines clew_search(). It is given the program under test as
 * a Program: which points there are, and how often the program fails with noise at some of them. It
 * says which points it takes for the cause, and clew confirms them by running.
 *
 *   #include <clew/search.h>
 *   CLEW_SEARCH_ALGORITHM(program) {
 *     for (std::uint32_t point = 0; point < program.get_all_points().size(); ++point)
 *       if (program.run_iteration({{point}}, 20) > 10) return program.answer({{point}});
 *   }
 *
 * Build it with any C++20 compiler (-shared -fPIC) and run clew pinpoint --algorithm ./mine.so -- PROG.
 */
#ifndef CLEW_SEARCH_H_
#define CLEW_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace clew::search {

inline constexpr std::uint32_t kVersion = 2;

template <class T>
class List {
 public:
  List(const T* begin, std::size_t size) : begin_(begin), size_(size) {}
  /* A list in braces lives as long as the call that it is given to. */
  List(std::initializer_list<T> items) : begin_(items.begin()), size_(items.size()) {}
  /* A vector, an array, a span. */
  template <class Container>
    requires requires(const Container& c) { c.data(), c.size(); }
  List(const Container& container) : begin_(container.data()), size_(container.size()) {}

  const T* begin() const { return begin_; }
  const T* end() const { return begin_ + size_; }
  std::size_t size() const { return size_; }
  const T& operator[](std::size_t i) const { return begin_[i]; }

 private:
  const T* begin_;
  std::size_t size_;
};

/* A place in the program where noise can be made. Its number is its position in get_all_points(). */
struct Point {
  const char* file;     /* empty: not known */
  std::uint32_t line;   /* 0: not known */
  std::uint32_t column; /* 0: not known */
  const char* function; /* demangled */
  const char* kind;     /* "read", "write", "lock", "wait", ... */
  bool starts_thread;   /* it tells which thread matters, not where */
  bool races; /* a listener saw it unordered with a conflicting access of another thread */
  bool
      inverts; /* it takes a lock while holding another; a different thread took them the other way round */
};

struct Iteration {
  List<std::uint32_t> points; /* with noise */
  unsigned runs;
  unsigned failed = 0; /* filled in */
};

class Program {
 public:
  virtual List<Point> get_all_points() const = 0;

  /* Runs the program `runs` times with noise at these points alone; how many runs failed. The same
     numbers in the same order give the same result, whatever the number of cores. */
  virtual unsigned run_iteration(List<std::uint32_t> points, unsigned runs) = 0;
  /* Several at once: all cores are used even if each has few runs. */
  virtual void run_iterations(Iteration* iterations, std::size_t count) = 0;

  /* The user has interrupted the campaign, or its time is up: runs fail 0 times from now on, and the
     algorithm should return. */
  virtual bool stopped() const = 0;

  /* These points are the cause. May be called several times, once for each cause. */
  virtual void answer(List<std::uint32_t> points) = 0;

 protected:
  ~Program() = default;
};

}  // namespace clew::search

/* The body of the algorithm follows in braces. */
#define CLEW_SEARCH_ALGORITHM(program)                                                    \
  extern "C" __attribute__((visibility("default"))) std::uint32_t clew_search_version() { \
    return clew::search::kVersion;                                                        \
  }                                                                                       \
  extern "C" __attribute__((visibility("default"))) void clew_search(clew::search::Program& program)

#endif /* CLEW_SEARCH_H_ */
