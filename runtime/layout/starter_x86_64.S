// Where the starter (starter.cc) begins and ends.
        .text
        .globl  _start
_start:
        xorl    %ebp, %ebp
        movq    %rsp, %rdi              // what the kernel put there
        leaq    clew_own_stack_end(%rip), %rsp
        call    clew_begin
        hlt

// clew_leave(stack, entry): as the kernel leaves the registers at the start of a program.
        .globl  clew_leave
clew_leave:
        movq    %rdi, %rsp
        movq    %rsi, %r11
        xorl    %eax, %eax
        xorl    %ebx, %ebx
        xorl    %ecx, %ecx
        xorl    %edx, %edx
        xorl    %esi, %esi
        xorl    %edi, %edi
        xorl    %ebp, %ebp
        xorl    %r8d, %r8d
        xorl    %r9d, %r9d
        xorl    %r10d, %r10d
        xorl    %r12d, %r12d
        xorl    %r13d, %r13d
        xorl    %r14d, %r14d
        xorl    %r15d, %r15d
        jmp     *%r11

        .globl  clew_return_from_handler
clew_return_from_handler:
        movl    $15, %eax               // rt_sigreturn
        syscall
        hlt

        .bss
        .balign 64
        .skip   65536
clew_own_stack_end:

        .section .note.GNU-stack, "", @progbits
