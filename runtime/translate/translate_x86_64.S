// Between translated code and the runtime, for x86-64 System V (translate.h).
//
// The memory of clew_abi/translation.h, by its absolute addresses.
#define STATE           0x43ff80000000
#define SCRATCH_7       (STATE + 7 * 8)
#define TARGET          (STATE + 9 * 8)
#define REQUEST         (STATE + 13 * 8 + 4)
#define REGISTERS       (STATE + 14 * 8)
#define IS_LAST_THREAD  (STATE + 35 * 8)
#define RETURN          3               // abi::TranslationRequest::kReturn

        .hidden clew_translating
        .hidden clew_serve_translated
        .hidden clew_translation_stack
        .hidden clew_enter_translated
        .hidden clew_native_begin
        .hidden clew_native_size

        .text

// Reached by a jump from translated code: all registers are the program's.
        .globl  clew_ask_host
        .hidden clew_ask_host
        .type   clew_ask_host, @function
clew_ask_host:
        .cfi_startproc
        .cfi_undefined %rip
        movabsq %rax, REGISTERS
        movabsq $REGISTERS, %rax
        movq    %rcx, 8(%rax)
        movq    %rdx, 16(%rax)
        movq    %rbx, 24(%rax)
        movq    %rsp, 32(%rax)
        movq    %rbp, 40(%rax)
        movq    %rsi, 48(%rax)
        movq    %rdi, 56(%rax)
        movq    %r8, 64(%rax)
        movq    %r9, 72(%rax)
        movq    %r10, 80(%rax)
        movq    %r11, 88(%rax)
        movq    %r12, 96(%rax)
        movq    %r13, 104(%rax)
        movq    %r14, 112(%rax)
        movq    %r15, 120(%rax)
        movq    clew_translation_stack(%rip), %rsp
        pushfq
        popq    128(%rax)
        cld
        xorl    %ebp, %ebp
        subq    $512, %rsp
        fxsave64 (%rsp)
        call    clew_serve_translated
        fxrstor64 (%rsp)
        addq    $512, %rsp
        movq    %rax, clew_jump(%rip)
        movabsq $REGISTERS, %rax
        pushq   128(%rax)
        popfq
        movq    8(%rax), %rcx
        movq    16(%rax), %rdx
        movq    24(%rax), %rbx
        movq    32(%rax), %rsp
        movq    40(%rax), %rbp
        movq    48(%rax), %rsi
        movq    56(%rax), %rdi
        movq    64(%rax), %r8
        movq    72(%rax), %r9
        movq    80(%rax), %r10
        movq    88(%rax), %r11
        movq    96(%rax), %r12
        movq    104(%rax), %r13
        movq    112(%rax), %r14
        movq    120(%rax), %r15
        movabsq REGISTERS, %rax
        jmp     *clew_jump(%rip)
        .cfi_endproc
        .size   clew_ask_host, .-clew_ask_host

// Instead of a return to the program: the stack pointer is at the return address. A counting run has
// nothing to say if the thread is the one that it last was.
        .globl  clew_return_translated
        .hidden clew_return_translated
        .type   clew_return_translated, @function
clew_return_translated:
        .cfi_startproc
        movabsq %rax, SCRATCH_7
        popq    %rax
        .cfi_adjust_cfa_offset -8
        movabsq %rax, TARGET
        movabsl IS_LAST_THREAD, %eax
        testl   %eax, %eax
        je      1f
        movabsq SCRATCH_7, %rax
        jmp     *clew_enter_translated(%rip)
1:      movl    $RETURN, %eax
        movabsl %eax, REQUEST
        movabsq SCRATCH_7, %rax
        jmp     clew_ask_host
        .cfi_endproc
        .size   clew_return_translated, .-clew_return_translated

// The same for a stub that the runtime itself may have called: then it returns as it is. A signal may
// have interrupted translated code, whose memory must not change. r11 is the stack pointer.
        .globl  clew_return_translated_or_native
        .hidden clew_return_translated_or_native
        .type   clew_return_translated_or_native, @function
clew_return_translated_or_native:
        .cfi_startproc
        movq    (%rsp), %r11
        subq    clew_native_begin(%rip), %r11
        cmpq    clew_native_size(%rip), %r11
        movq    %rsp, %r11
        jae     clew_return_translated
        ret
        .cfi_endproc
        .size   clew_return_translated_or_native, .-clew_return_translated_or_native

// The last thing that a function does which is no stub, because it calls the program back: returns 0.
        .globl  clew_return_zero
        .hidden clew_return_zero
        .type   clew_return_zero, @function
clew_return_zero:
        .cfi_startproc
        xorl    %eax, %eax
        cmpb    $0, clew_translating(%rip)
        jne     clew_return_translated
        ret
        .cfi_endproc
        .size   clew_return_zero, .-clew_return_zero

// Called like a function of the program, whose address is in TARGET: it is called, with all
// registers as they are but for rax, which has its address, as after a call by it.
        .globl  clew_call_translated
        .hidden clew_call_translated
        .type   clew_call_translated, @function
clew_call_translated:
        .cfi_startproc
        movl    $RETURN, %eax
        movabsl %eax, REQUEST
        movabsq TARGET, %rax
        jmp     clew_ask_host
        .cfi_endproc
        .size   clew_call_translated, .-clew_call_translated

        .globl  clew_call_function
        .hidden clew_call_function
        .type   clew_call_function, @function
clew_call_function:
        .cfi_startproc
        movq    %rdi, %rax
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        movq    %rcx, %rdx
        cmpb    $0, clew_translating(%rip)
        jne     1f
        jmp     *%rax
1:      movabsq %rax, TARGET
        jmp     clew_call_translated
        .cfi_endproc
        .size   clew_call_function, .-clew_call_function

        .bss
        .balign 8
clew_jump:
        .skip   8

        .section .note.GNU-stack,"",@progbits
