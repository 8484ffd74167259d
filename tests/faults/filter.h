// Makes system calls fail depending on their arguments, so that nothing else in the process is
// affected: a seccomp filter answers with the error that one of the arguments names. From then on a
// call fails with error `e` if
//
//   its first argument is the descriptor failing_descriptor(e, source), unless the call only
//     inspects the descriptor or closes it; those fail too with fully_failing_descriptor(e, source);
//   its first, second or fourth argument is an address in failing_address(e);
//   its first or second argument is the number failing_number(e);
//   it is mmap and maps a descriptor of the first kind.
//
// An mmap of kFailingSize bytes or a little more fails with ENOMEM. It does not matter by which of
// several equal calls a function of libc does its work, nor whether a scheduler makes it in another
// form.
#ifndef CLEW_TESTS_FAULTS_FILTER_H_
#define CLEW_TESTS_FAULTS_FILTER_H_

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../conformance/help.h"

enum {
  kMostErrors = 134,
  kDescriptors = 600,
  kFullyFailing = 800,
  kNumbers = 0x5e000000,
  kFailingSize = 0x5d000000,
  kSizeRange = 0x800000,
  kPageBits = 12,
};
#define FAILING_ADDRESSES 0x4f0000000000ul

struct Filter {
  struct sock_filter code[200];
  int size;
};

HELP void add(struct Filter* filter, struct sock_filter instruction) {
  filter->code[filter->size++] = instruction;
}

HELP void load(struct Filter* filter, size_t offset) {
  add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

HELP size_t low_half(int argument) {
  return offsetof(struct seccomp_data, args) + (size_t)argument * 8;
}

// If the loaded value is in [first, first + count), the call ends with the error
// (value - first) >> shift.
HELP void fail_if_within(struct Filter* filter, unsigned first, unsigned count, unsigned shift) {
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 5));
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first + count, 4, 0));
  add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, first));
  add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, shift));
  add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO));
  add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0));
}
enum { kFailInstructions = 6 };

HELP void fail_by_address(struct Filter* filter, int argument) {
  load(filter, low_half(argument) + 4);
  const unsigned high = FAILING_ADDRESSES >> 32;
  add(filter,
      (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high, 0, 1 + kFailInstructions));
  load(filter, low_half(argument));
  fail_if_within(filter, 0, kMostErrors << kPageBits, kPageBits);
}

HELP void fail_by_number(struct Filter* filter, int argument) {
  load(filter, low_half(argument));
  fail_if_within(filter, kNumbers, kMostErrors, 0);
}

HELP void allow_if(struct Filter* filter, unsigned number) {
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
  add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

HELP void fill_filter(struct Filter* filter) {
  const size_t number = offsetof(struct seccomp_data, nr);
  load(filter, number);
  allow_if(filter,
           SYS_rt_sigreturn);  // it has no arguments: their registers may hold anything
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0,
                                           6 + 2 * kFailInstructions));
  load(filter, low_half(1));
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFailingSize, 0, 2));
  add(filter,
      (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFailingSize + kSizeRange, 1, 0));
  add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM));
  load(filter, low_half(4));
  fail_if_within(filter, kDescriptors, kMostErrors, 0);
  fail_if_within(filter, kFullyFailing, kMostErrors, 0);
  add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  fail_by_address(filter, 0);
  fail_by_address(filter, 1);
  fail_by_address(filter, 3);
  fail_by_number(filter, 0);
  fail_by_number(filter, 1);
  load(filter, low_half(0));
  fail_if_within(filter, kFullyFailing, kMostErrors, 0);
  load(filter, number);
  allow_if(filter, SYS_fcntl);
  allow_if(filter, SYS_fstat);
  allow_if(filter, SYS_close);
  allow_if(filter, SYS_newfstatat);
  load(filter, low_half(0));
  fail_if_within(filter, kDescriptors, kMostErrors, 0);
  add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

__attribute__((constructor)) static void install_filter(void) {
  static struct Filter filter;
  void* const begin = (void*)FAILING_ADDRESSES;
  const size_t size = (size_t)kMostErrors << kPageBits;
  if (mmap(begin, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
           -1, 0) != begin) {
    perror("mmap");
    _exit(3);
  }
  fill_filter(&filter);
  const struct sock_fprog program = {(unsigned short)filter.size, filter.code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("seccomp");
    _exit(3);
  }
}

HELP int failing_descriptor(int error, int source) {
  const int made = dup2(source, kDescriptors + error);
  EXPECT_EQ(made, kDescriptors + error);
  return made;
}

// It stays open: closing it fails as well.
HELP int fully_failing_descriptor(int error, int source) {
  if (source >= 0) EXPECT_EQ(dup2(source, kFullyFailing + error), kFullyFailing + error);
  return kFullyFailing + error;
}

HELP void* failing_address(int error) {
  return (char*)FAILING_ADDRESSES + ((size_t)error << kPageBits);
}

HELP int failing_number(int error) { return kNumbers + error; }

// The name of an existing file, at such an address.
HELP char* failing_path(int error) { return strcpy((char*)failing_address(error), "/dev/null"); }

#endif  // CLEW_TESTS_FAULTS_FILTER_H_
