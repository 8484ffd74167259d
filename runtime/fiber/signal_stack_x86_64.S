// Signals and caught system calls, for x86-64 System V. See signal_stack.h.
//
// Places in ucontext_t's array of registers, 8 bytes each.
#define R8   0
#define R9   8
#define R10  16
#define R12  32
#define R13  40
#define R14  48
#define R15  56
#define RDI  64
#define RSI  72
#define RBP  80
#define RBX  88
#define RDX  96
#define RSP  120
#define RIP  128

#include "runtime/fiber/clear_vectors_x86_64.inc"
#include "runtime/fiber/own_stack_layout.h"
#include "runtime/fiber/save_fp_x86_64.inc"
#include "runtime/translate/call_translated_x86_64.inc"

        .hidden clew_own_base
        .hidden clew_own_top

        .text

        .globl  __restore_rt
        .hidden __restore_rt
        .type   __restore_rt, @function
// The unwinder recognises a signal frame by these two instructions, and gdb by libc's name for them.
// Nothing but a nop may precede them, as the unwinder looks at the byte before a return address.
        nop
__restore_rt:
        movq    $15, %rax               // rt_sigreturn
        syscall
        .size   __restore_rt, .-__restore_rt

        .globl  clew_call_on_stack
        .hidden clew_call_on_stack
        .type   clew_call_on_stack, @function
clew_call_on_stack:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        pushq   %rbx
        .cfi_def_cfa_offset 24
        .cfi_offset %rbx, -24
        pushq   %r12
        .cfi_def_cfa_offset 32
        .cfi_offset %r12, -32
        pushq   %r13
        .cfi_def_cfa_offset 40
        .cfi_offset %r13, -40
        pushq   %r14
        .cfi_def_cfa_offset 48
        .cfi_offset %r14, -48
        pushq   %r15
        .cfi_def_cfa_offset 56
        .cfi_offset %r15, -56
        movq    clew_own_top(%rip), %r10
        pushq   %r10
        .cfi_def_cfa_offset 64
        movq    %rdi, %rax
        movl    %esi, %edi
        movq    %rdx, %rsi
        movq    %rcx, %rdx
        andq    $-16, %r8
        movq    %rsp, -16(%r8)          // the way back
        movq    %rsp, %r9
        subq    clew_own_base(%rip), %r9
        cmpq    $CLEW_OWN_STACK_SIZE, %r9
        jae     1f
        // The runtime's own stack is free below this. The registers are those of the program (Entry).
        xorl    %ecx, %ecx
        cmpq    $CLEW_OWN_STACK_RESERVE, %r9
        cmovaeq %rsp, %rcx
        movq    %rcx, clew_own_top(%rip)
        movq    -64(%r10), %r15
        movq    -56(%r10), %r14
        movq    -48(%r10), %r13
        movq    -40(%r10), %r12
        movq    -32(%r10), %rbx
        movq    -24(%r10), %rbp
1:      leaq    -16(%r8), %rsp
        .cfi_remember_state
        .cfi_escape 0x0f, 0x05, 0x77, 0x00, 0x06, 0x23, 0x40    // CFA: *rsp + 64
        xorl    %ecx, %ecx
        xorl    %r8d, %r8d
        xorl    %r9d, %r9d
        xorl    %r10d, %r10d
        xorl    %r11d, %r11d
        clear_vectors
        call_program_at_rax
        movq    (%rsp), %rcx
        movq    $0, (%rsp)
        movq    %rcx, %rsp              // before the pop: what is above is in use again afterwards
        .cfi_restore_state
        popq    clew_own_top(%rip)
        .cfi_def_cfa_offset 56
        popq    %r15
        .cfi_def_cfa_offset 48
        .cfi_restore %r15
        popq    %r14
        .cfi_def_cfa_offset 40
        .cfi_restore %r14
        popq    %r13
        .cfi_def_cfa_offset 32
        .cfi_restore %r13
        popq    %r12
        .cfi_def_cfa_offset 24
        .cfi_restore %r12
        popq    %rbx
        .cfi_def_cfa_offset 16
        .cfi_restore %rbx
        popq    %rbp
        .cfi_def_cfa_offset 8
        .cfi_restore %rbp
        ret
        .cfi_endproc
        .size   clew_call_on_stack, .-clew_call_on_stack

        .globl  clew_fill_context
        .hidden clew_fill_context
        .type   clew_fill_context, @function
clew_fill_context:
        .cfi_startproc
        movq    %r12, R12(%rdi)
        movq    %r13, R13(%rdi)
        movq    %r14, R14(%rdi)
        movq    %r15, R15(%rdi)
        movq    %rbp, RBP(%rdi)
        movq    %rbx, RBX(%rdi)
        leaq    8(%rsp), %rax
        movq    %rax, RSP(%rdi)
        movq    (%rsp), %rax
        movq    %rax, RIP(%rdi)
        ret
        .cfi_endproc
        .size   clew_fill_context, .-clew_fill_context

        .globl  clew_clone_at
        .hidden clew_clone_at
        .type   clew_clone_at, @function
clew_clone_at:
        .cfi_startproc
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r12, 0
        movq    %rdx, %r12
        movq    %rdi, %rax
        movq    %rsi, %r11
        movq    0(%r11), %rdi
        movq    8(%r11), %rsi
        movq    16(%r11), %rdx
        movq    24(%r11), %r10
        movq    32(%r11), %r8
        syscall
        testq   %rax, %rax
        jz      resume          # the child, on its own stack
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r12
        ret
        .cfi_endproc
        .size   clew_clone_at, .-clew_clone_at

        .globl  clew_resume_at
        .hidden clew_resume_at
        .type   clew_resume_at, @function
clew_resume_at:
        .cfi_startproc
        movq    %rdi, %r12
        movq    RSP(%r12), %rsp
resume: movq    R8(%r12), %r8
        movq    R9(%r12), %r9
        movq    R10(%r12), %r10
        movq    R13(%r12), %r13
        movq    R14(%r12), %r14
        movq    R15(%r12), %r15
        movq    RDI(%r12), %rdi
        movq    RSI(%r12), %rsi
        movq    RBP(%r12), %rbp
        movq    RBX(%r12), %rbx
        movq    RDX(%r12), %rdx
        movq    RIP(%r12), %r11
        movq    R12(%r12), %r12
        xorl    %eax, %eax
        jmp     *%r11
        .cfi_endproc
        .size   clew_resume_at, .-clew_resume_at

        .hidden clew_has_wrfsbase
        .globl  clew_context_resume_at
        .hidden clew_context_resume_at
        .type   clew_context_resume_at, @function
clew_context_resume_at:
        .cfi_startproc
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 56
        save_fp
        movq    %rsp, (%rdi)
        movq    %fs:0x10, %rax
        movq    %rax, 8(%rdi)
        movq    %rsi, %r12              // arch_prctl keeps it
        cmpb    $0, clew_has_wrfsbase(%rip)
        je      1f
        wrfsbase %rdx
        jmp     2f
1:      movq    %rdx, %rsi              // arch_prctl(ARCH_SET_FS, base)
        movl    $0x1002, %edi
        movl    $158, %eax
        syscall
2:      movq    %r12, %rdi
        jmp     clew_resume_at
        .cfi_endproc
        .size   clew_context_resume_at, .-clew_context_resume_at

        .section .note.GNU-stack,"",@progbits
