// The functions of refused.def.
#ifndef CLEW_RUNTIME_LIBC_REFUSED_H_
#define CLEW_RUNTIME_LIBC_REFUSED_H_

extern "C" {
// Whether a call of one ends the run. Otherwise it goes to libc. Read by the stubs.
extern unsigned char clew_in_charge;
}

#endif  // CLEW_RUNTIME_LIBC_REFUSED_H_
