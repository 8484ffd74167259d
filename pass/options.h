// How many yield points a program gets.
#ifndef CLEW_PASS_OPTIONS_H_
#define CLEW_PASS_OPTIONS_H_

namespace clew::pass {

// Each contains the one before.
enum class Granularity {
  kSync,    // atomics, fences, pause, listed synchronisation calls
  kShared,  // + accesses to memory that may be shared, loops, functions that call
  kLine,    // + every function entry and every executed source line
};

// From -mllvm -clew-yield=...
Granularity granularity_option();

// From -mllvm -clew-batch=0|1: whether points are counted together. The same points either way.
bool batch_option();

}  // namespace clew::pass

#endif  // CLEW_PASS_OPTIONS_H_
