// Context switch, for x86-64 System V.
//
// A parked stack, from the stack pointer up: what save_fp stores (8 bytes), r15, r14, r13, r12, rbx,
// rbp, return address. parked_frame() in context.cc relies on this order.

#include "runtime/fiber/clear_vectors_x86_64.inc"
#include "runtime/fiber/save_fp_x86_64.inc"
#include "runtime/translate/call_translated_x86_64.inc"

        .text

        .hidden clew_has_wrfsbase
        .globl  clew_context_switch
        .hidden clew_context_switch
        .type   clew_context_switch, @function
clew_context_switch:
        .cfi_startproc
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r15, 0
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        save_fp
        movl    4(%rsp), %r8d
        movq    %rsp, (%rdi)
        movq    (%rsi), %rsp
        movq    8(%rsi), %rax
        cmpb    $0, clew_has_wrfsbase(%rip)
        je      1f
        wrfsbase %rax
        jmp     2f
1:      movq    %rax, %rsi              // arch_prctl(ARCH_SET_FS, base)
        movl    $0x1002, %edi
        movl    $158, %eax
        syscall
2:      ldmxcsr (%rsp)
        xorl    4(%rsp), %r8d           // the x87's flags are in the upper half
        testl   $0x3f0000, %r8d
        jne     4f
        fldcw   4(%rsp)
3:      addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbp
        ret
// Other flags than those of the thread that was left: they are loaded with the whole environment of
// the x87 alone. They are cleared first, because with the new control word they might raise SIGFPE.
        .cfi_adjust_cfa_offset 56
        .cfi_rel_offset %rbp, 48
        .cfi_rel_offset %rbx, 40
        .cfi_rel_offset %r12, 32
        .cfi_rel_offset %r13, 24
        .cfi_rel_offset %r14, 16
        .cfi_rel_offset %r15, 8
4:      fnclex
        fldcw   4(%rsp)
        movb    6(%rsp), %al
        testb   $0x3f, %al
        je      3b
        subq    $32, %rsp
        .cfi_adjust_cfa_offset 32
        fnstenv (%rsp)
        movb    %al, 4(%rsp)
        fldenv  (%rsp)
        addq    $32, %rsp
        .cfi_adjust_cfa_offset -32
        jmp     3b
        .cfi_endproc
        .size   clew_context_switch, .-clew_context_switch

        .globl  clew_context_park_and_exit_thread
        .hidden clew_context_park_and_exit_thread
        .type   clew_context_park_and_exit_thread, @function
clew_context_park_and_exit_thread:
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
        movq    %fs:0x10, %rax          // the thread control block's pointer to itself
        movq    %rax, 8(%rdi)
        xorl    %edi, %edi              // exit(0): this kernel thread only. The kernel may not
        movl    $60, %eax               // touch this stack any more: nothing is pushed below.
        syscall
        ud2
        .cfi_endproc
        .size   clew_context_park_and_exit_thread, .-clew_context_park_and_exit_thread

// CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM | SETTLS | PARENT_SETTID | CHILD_CLEARTID
#define KERNEL_THREAD 0x3d0f00

        .globl  clew_context_run_on_kernel_thread
        .hidden clew_context_run_on_kernel_thread
        .type   clew_context_run_on_kernel_thread, @function
clew_context_run_on_kernel_thread:
        .cfi_startproc
        movq    8(%rdi), %r8            // its thread-local storage
        movq    (%rdi), %rax
        subq    $256, %rax
        andq    $-16, %rax
        movq    %rdx, (%rax)            // entry and argument: the new thread finds them there
        movq    %rcx, 8(%rax)
        movq    %rsi, %rdx              // where to store the id, and to clear it
        movq    %rsi, %r10
        movq    %rax, %rsi
        movl    $KERNEL_THREAD, %edi
        movl    $56, %eax               // clone
        syscall
        testq   %rax, %rax
        je      1f
        ret
1:      .cfi_undefined %rip
        xorl    %ebp, %ebp
        popq    %rax
        popq    %rdi
        call    *%rax
        ud2
        .cfi_endproc
        .size   clew_context_run_on_kernel_thread, .-clew_context_run_on_kernel_thread

// See call_program.h. The frame pointer stays, for who walks the stack.
        .globl  clew_call_program
        .hidden clew_call_program
        .type   clew_call_program, @function
clew_call_program:
        .cfi_startproc
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        pushq   %rbx
        .cfi_offset %rbx, -24
        pushq   %r12
        .cfi_offset %r12, -32
        pushq   %r13
        .cfi_offset %r13, -40
        pushq   %r14
        .cfi_offset %r14, -48
        pushq   %r15
        .cfi_offset %r15, -56
        subq    $8, %rsp
        movq    %rdi, %rax
        movq    %rsi, %rdi
        xorl    %ebx, %ebx
        xorl    %ecx, %ecx
        xorl    %edx, %edx
        xorl    %esi, %esi
        xorl    %r8d, %r8d
        xorl    %r9d, %r9d
        xorl    %r10d, %r10d
        xorl    %r11d, %r11d
        xorl    %r12d, %r12d
        xorl    %r13d, %r13d
        xorl    %r14d, %r14d
        xorl    %r15d, %r15d
        clear_vectors
        call_program_at_rax
        addq    $8, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   clew_call_program, .-clew_call_program

        .globl  clew_demangle_pointer
        .hidden clew_demangle_pointer
        .type   clew_demangle_pointer, @function
clew_demangle_pointer:
        .cfi_startproc
        movq    %rdi, %rax
        rorq    $17, %rax
        xorq    %fs:0x30, %rax
        ret
        .cfi_endproc
        .size   clew_demangle_pointer, .-clew_demangle_pointer

// void* clew_call_from(const void* ret, void* function, long a, long b): calls function(a, b), which
// finds the address `ret` where it would find that of the code that calls it.
        .globl  clew_call_from
        .hidden clew_call_from
        .type   clew_call_from, @function
clew_call_from:
        .cfi_startproc
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        subq    $8, %rsp
        leaq    1f(%rip), %rax
        pushq   %rax
        pushq   %rdi
        movq    %rsi, %rax
        movq    %rdx, %rdi
        movq    %rcx, %rsi
        jmp     *%rax
1:      leave
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   clew_call_from, .-clew_call_from

        .section .note.GNU-stack,"",@progbits
