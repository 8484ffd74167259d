// Works off the Steps at rdi (steps.h). Uses no stack.
        .text
        .globl  clew_steps_begin
        .hidden clew_steps_begin
        .globl  clew_steps_end
        .hidden clew_steps_end

        .set    COUNT, 6144

clew_steps_begin:
        movq    %rdi, %rbp              // Steps
        movq    %rdi, %rbx              // the next one
        movq    COUNT(%rbp), %r12       // how many are left
        movq    COUNT + 8(%rbp), %r13   // kept here because the last step unmaps the Steps
        movq    COUNT + 16(%rbp), %r14
        cld
1:      testq   %r12, %r12
        jz      6f
        movq    (%rbx), %rax
        movq    8(%rbx), %rdi
        movq    16(%rbx), %rsi
        movq    24(%rbx), %rdx
        cmpq    $-1, %rax
        je      3f
        cmpq    $-2, %rax
        je      4f
        movq    32(%rbx), %r10
        movq    40(%rbx), %r8
        movq    48(%rbx), %r9
        syscall
        cmpq    $-4095, %rax
        jae     5f
2:      addq    $64, %rbx
        decq    %r12
        jmp     1b
3:      movq    %rsi, %rcx
        xorl    %eax, %eax
        rep stosb
        jmp     2b
4:      movq    %rdx, %rcx
        rep movsb
        jmp     2b
5:      movl    $1, %eax                // write(2, message, message_size)
        movl    $2, %edi
        leaq    COUNT + 32(%rbp), %rsi
        movq    COUNT + 24(%rbp), %rdx
        syscall
        movl    $231, %eax              // exit_group(127)
        movl    $127, %edi
        syscall
        hlt
// As the kernel leaves the registers at the start of a program.
6:      movq    %r13, %rsp
        movq    %r14, %r11
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
clew_steps_end:

        .section .note.GNU-stack, "", @progbits
