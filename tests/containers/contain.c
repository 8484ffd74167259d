// contain PROFILE COMMAND...: runs a command under a seccomp filter that refuses what the default profile of a container
// engine refuses, as far as it concerns clew. PROFILE is one or more of these, with commas:
//
//   docker       personality() but for the values that its profile lists, and what needs a capability that containers do
//                not have (Podman's profile refuses the same)
//   old-docker   ... and ptrace() and reading the memory of others, as on kernels before 4.8
//   nspawn       systemd-nspawn without CAP_SYS_PTRACE: keys, ptrace(), process memory, bpf() and so on; personality() is allowed
//   no-dispatch  system call user dispatch, as kernels before 5.11 and gVisor
//   no-mm-map    prctl(PR_SET_MM), as kernels without CONFIG_CHECKPOINT_RESTORE
//   no-ptrace    ptrace()
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sock_filter code[256];
static unsigned short size;

static void add(struct sock_filter instruction) { code[size++] = instruction; }
static void load(size_t offset) {
  add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}
static void answer(unsigned how) { add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, how)); }

static void refuse(unsigned number, int error) {
  load(offsetof(struct seccomp_data, nr));
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
  answer(SECCOMP_RET_ERRNO | (unsigned)error);
}

// If the low half of the argument is `value`.
static void refuse_if(unsigned number, int argument, unsigned value, int error) {
  load(offsetof(struct seccomp_data, nr));
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3));
  load(offsetof(struct seccomp_data, args) + (size_t)argument * 8);
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
  answer(SECCOMP_RET_ERRNO | (unsigned)error);
}

// If the first argument has any of these bits.
static void refuse_bits(unsigned number, unsigned bits) {
  load(offsetof(struct seccomp_data, nr));
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3));
  load(offsetof(struct seccomp_data, args));
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
  answer(SECCOMP_RET_ERRNO | EPERM);
}

static void refuse_personality(void) {
  static const unsigned allowed[] = {0, 8, 0x20000, 0x20008, 0xffffffff};
  load(offsetof(struct seccomp_data, nr));
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_personality, 0, 7));
  load(offsetof(struct seccomp_data, args));
  for (unsigned i = 0; i < 5; ++i)
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], (unsigned char)(5 - i),
                                     0));
  answer(SECCOMP_RET_ERRNO | EPERM);
}

static void refuse_privileged(void) {
  static const unsigned calls[] = {
      SYS_acct,
      SYS_add_key,
      SYS_bpf,
      SYS_delete_module,
      SYS_fanotify_init,
      SYS_finit_module,
      SYS_fsconfig,
      SYS_fsmount,
      SYS_fsopen,
      SYS_fspick,
      SYS_init_module,
      SYS_io_uring_enter,
      SYS_io_uring_register,
      SYS_io_uring_setup,
      SYS_ioperm,
      SYS_iopl,
      SYS_kexec_file_load,
      SYS_kexec_load,
      SYS_keyctl,
      SYS_lookup_dcookie,
      SYS_mount,
      SYS_move_mount,
      SYS_open_by_handle_at,
      SYS_open_tree,
      SYS_perf_event_open,
      SYS_pivot_root,
      SYS_process_madvise,
      SYS_quotactl,
      SYS_reboot,
      SYS_request_key,
      SYS_setdomainname,
      SYS_sethostname,
      SYS_setns,
      SYS_settimeofday,
      SYS_swapoff,
      SYS_swapon,
      SYS_syslog,
      SYS_umount2,
      SYS_unshare,
      SYS_userfaultfd,
      SYS_vhangup,
  };
  for (unsigned i = 0; i < sizeof calls / sizeof *calls; ++i) refuse(calls[i], EPERM);
}

static void refuse_namespaces(void) {
  refuse_bits(SYS_clone, CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                             CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET);
  refuse(SYS_clone3, ENOSYS);  // its flags cannot be seen: libc uses clone instead
}

static int add_profile(const char* name) {
  if (strcmp(name, "docker") == 0 || strcmp(name, "old-docker") == 0) {
    refuse_personality();
    refuse_privileged();
    refuse_namespaces();
  }
  if (strcmp(name, "old-docker") == 0) {
    refuse(SYS_process_vm_readv, EPERM);
    refuse(SYS_process_vm_writev, EPERM);
    refuse(SYS_kcmp, EPERM);
  }
  if (strcmp(name, "old-docker") == 0 || strcmp(name, "no-ptrace") == 0) {
    refuse(SYS_ptrace, EPERM);
    return 1;
  }
  if (strcmp(name, "nspawn") == 0) {
    static const unsigned calls[] = {
        SYS_add_key,    SYS_bpf,         SYS_keyctl,           SYS_request_key,
        SYS_kexec_load, SYS_init_module, SYS_perf_event_open,  SYS_open_by_handle_at,
        SYS_pkey_alloc, SYS_ptrace,      SYS_process_vm_readv, SYS_process_vm_writev};
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; ++i) refuse(calls[i], EPERM);
    return 1;
  }
  if (strcmp(name, "no-dispatch") == 0) {
    refuse_if(SYS_prctl, 0, 59, EINVAL);  // PR_SET_SYSCALL_USER_DISPATCH
    return 1;
  }
  if (strcmp(name, "no-mm-map") == 0) {
    refuse_if(SYS_prctl, 0, PR_SET_MM, EINVAL);
    return 1;
  }
  return strcmp(name, "docker") == 0;
}

int main(int count, char** arguments) {
  if (count < 3) return fprintf(stderr, "usage: contain PROFILE COMMAND...\n"), 125;
  load(offsetof(struct seccomp_data, arch));
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
  answer(SECCOMP_RET_ERRNO | ENOSYS);
  for (char* name = strtok(arguments[1], ","); name != NULL; name = strtok(NULL, ","))
    if (!add_profile(name)) return fprintf(stderr, "contain: no profile %s\n", name), 125;
  answer(SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {size, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    return perror("contain: seccomp"), 77;
  execvp(arguments[2], arguments + 2);
  return perror(arguments[2]), 126;
}
