/* For programs under test. Everything here is optional, and means nothing when
 * the program is built by another compiler. */
#ifndef CLEW_CLEW_H_
#define CLEW_CLEW_H_

#ifdef __CLEW__

/* A function without yield points: nothing inside it can be preempted, and nothing
 * inside it moves the clock. Calls of synchronisation functions in it may block but do not
 * count. Functions it calls keep their own points. */
#define CLEW_NO_YIELD __attribute__((annotate("clew_no_yield"), noinline))

#ifdef __cplusplus
extern "C" {
#endif
/* A region without yield points, callees included. Regions nest. A thread that blocks inside a
 * region still lets others run. */
void clew_no_yield_begin(void);
void clew_no_yield_end(void);
#ifdef __cplusplus
}
#endif

#else

#define CLEW_NO_YIELD
static inline void clew_no_yield_begin(void) {}
static inline void clew_no_yield_end(void) {}

#endif /* __CLEW__ */

#ifdef __cplusplus
namespace clew {
/* The region of a scope. */
class NoYield {
 public:
  CLEW_NO_YIELD NoYield() { clew_no_yield_begin(); }
  CLEW_NO_YIELD ~NoYield() { clew_no_yield_end(); }
  NoYield(const NoYield&) = delete;
  NoYield& operator=(const NoYield&) = delete;
};
}  // namespace clew
#endif

#endif /* CLEW_CLEW_H_ */
