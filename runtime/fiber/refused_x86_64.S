// A stub for each function of libc/refused.def. It calls libc when clew is not in charge, with all
// argument registers as they came, and ends the run otherwise.

#define CLEW_REFUSED(name) refused name

        .hidden clew_in_charge
        .hidden clew_refuse
        .hidden clew_resolve_refused

        .macro  refused name
        .section .rodata.str1.1, "aMS", @progbits, 1
.Lname_\name:
        .asciz  "\name"
        .bss
        .balign 8
.Lreal_\name:
        .skip   8
        .text
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        cmpb    $0, clew_in_charge(%rip)
        jne     .Lrefuse_\name
        movq    .Lreal_\name(%rip), %r11
        testq   %r11, %r11
        je      .Lresolve_\name
        jmp     *%r11
.Lrefuse_\name:
        leaq    .Lname_\name(%rip), %rdi
        jmp     clew_refuse
.Lresolve_\name:
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %rcx
        pushq   %r8
        pushq   %r9
        pushq   %rax
        .cfi_adjust_cfa_offset 56
        leaq    .Lname_\name(%rip), %rdi
        call    clew_resolve_refused
        movq    %rax, .Lreal_\name(%rip)
        movq    %rax, %r11
        popq    %rax
        popq    %r9
        popq    %r8
        popq    %rcx
        popq    %rdx
        popq    %rsi
        popq    %rdi
        .cfi_adjust_cfa_offset -56
        jmp     *%r11
        .cfi_endproc
        .size   \name, .-\name
        .endm

#include "runtime/libc/refused.def"

        .section .note.GNU-stack,"",@progbits
