// Switching to the runtime's own stack (own_stack.h), for x86-64 System V: the stubs of the hooks
// and of the interposed functions, and the handler of signals.
#include "runtime/fiber/clear_vectors_x86_64.inc"
#include "runtime/fiber/own_stack_layout.h"
#include "runtime/translate/return_to_program_x86_64.inc"

        .hidden clew_own_base
        .hidden clew_own_top
        .hidden clew_vectors_untouched

        .text
        .globl  clew_stubs_begin
        .hidden clew_stubs_begin
clew_stubs_begin:

// Pushes an Entry; r11 holds the stack pointer of the caller. The frame pointer and the return
// address in it form an ordinary frame.
        .macro  push_entry
        pushq   %r11
        pushq   (%r11)
        pushq   %rbp
        movq    %rsp, %rbp
        .cfi_escape 0x0f, 0x05, 0x76, 0x10, 0x06, 0x23, 0x08    // CFA: *(rbp + 16) + 8
        .cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00                // rbp: *rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        .endm

        .macro  return_to_program
        clear_vectors
        movq    16(%rbp), %r11
        movq    (%rbp), %rbp
        .cfi_restore %rbp
        movq    %r11, %rsp
        .cfi_def_cfa %rsp, 8
        ret_to_program clew_return_translated_or_native
        .endm

// A called function may change r10 and r11, and rax unless it is variadic.
        .macro  leave_program
        movq    %rsp, %r11
        .cfi_def_cfa_register %r11
        movq    %rsp, %r10
        subq    clew_own_base(%rip), %r10
        cmpq    $CLEW_OWN_STACK_SIZE, %r10
        jb      1f
        movq    clew_own_top(%rip), %r10
        testq   %r10, %r10
        cmovneq %r10, %rsp
1:      andq    $-16, %rsp
        push_entry
        .endm

// Clears the registers that a function may change, except for rax: nothing of the runtime is left
// in them. A program sees them where it uses a variable that it never set, and when libraries are
// bound lazily.
        .macro  clear_registers
        xorl    %ecx, %ecx
        xorl    %edx, %edx
        xorl    %esi, %esi
        xorl    %edi, %edi
        xorl    %r8d, %r8d
        xorl    %r9d, %r9d
        xorl    %r10d, %r10d
        .endm

        .macro  stub name, seven=0
        .globl  \name
        .type   \name, @function
        .hidden clew_own_\name
\name:
        .cfi_startproc
        leave_program
        .if \seven
        pushq   8(%r11)
        pushq   8(%r11)
        .endif
        call    clew_own_\name
        clear_registers
        return_to_program
        .cfi_endproc
        .size   \name, .-\name
        .endm

#define CLEW_INTERPOSED(name) stub name
#define CLEW_INTERPOSED_LABEL(name) stub name
#define CLEW_INTERPOSED_7(name) stub name, seven=1
#include "runtime/libc/interposed.def"

        .globl  clew_call_on_own_stack
        .hidden clew_call_on_own_stack
        .type   clew_call_on_own_stack, @function
clew_call_on_own_stack:
        .cfi_startproc
        leave_program
        call    *%rdi
        return_to_program
        .cfi_endproc
        .size   clew_call_on_own_stack, .-clew_call_on_own_stack

// The hooks are called with preserve_most: every general register but r11 survives. Here r11 does too:
// whether a point is looked at depends on what is due at it, which is another thing in a replay, and a
// program can show its registers (AddressSanitizer does when it crashes).
// The vector registers are the caller's business: what it needs of them it has saved. A hook with a result returns it in rax.
        .macro  hook name, target, result=0, size=0
        .globl  \name
        .type   \name, @function
        .hidden \target
\name:
        .cfi_startproc
        pushq   %r11
        .cfi_adjust_cfa_offset 8
        movq    %rsp, %r11
        subq    clew_own_base(%rip), %r11
        cmpq    $CLEW_OWN_STACK_SIZE, %r11
        jb      1f
        movq    clew_own_top(%rip), %r11
        testq   %r11, %r11
        je      1f
        xchgq   %r11, %rsp
        jmp     2f
1:      movq    %rsp, %r11
        andq    $-16, %rsp
2:      .cfi_def_cfa_register %r11
        addq    $8, %r11
        .cfi_adjust_cfa_offset -8
        push_entry
        pushq   -8(%r11)                // twice, for the alignment
        pushq   -8(%r11)
        pushq   %rax
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        .if \size
        movl    $\size, %edx
        .endif
        call    \target
        cmpb    $0, clew_vectors_untouched(%rip)
        jne     3f
        clear_vectors
3:      movb    $0, clew_vectors_untouched(%rip)
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        .if \result == 0
        popq    %rax
        .else
        leaq    8(%rsp), %rsp
        .endif
        movq    16(%rbp), %r11
        popq    -8(%r11)
        movq    (%rbp), %rbp
        .cfi_restore %rbp
        leaq    -8(%r11), %rsp
        .cfi_def_cfa %rsp, 16
        popq    %r11
        .cfi_def_cfa_offset 8
        ret_to_program clew_return_translated
        .cfi_endproc
        .size   \name, .-\name
        .endm

// Of most points: called by quick_points_x86_64.S, in which compiled code arrives.
        .macro  inner_hook name, target, size=0
        .hidden \name
        hook    \name, \target, size=\size
        .endm

        inner_hook clew_hook_yield, clew_yield_slow
        inner_hook clew_hook_access_1, clew_yield_access_slow, size=1
        inner_hook clew_hook_access_4, clew_yield_access_slow, size=4
        inner_hook clew_hook_access_8, clew_yield_access_slow, size=8
        inner_hook clew_hook_access_16, clew_yield_access_slow, size=16
        hook    __clew_yield_access, clew_yield_access_slow
        hook    __clew_yield_cas, clew_yield_cas_slow, result=1

// The same for code that has not counted the point.
        .globl  __clew_yield_access_next
        .type   __clew_yield_access_next, @function
__clew_yield_access_next:
        .cfi_startproc
        pushq   %r11
        .cfi_adjust_cfa_offset 8
        movq    __clew_countdown@gottpoff(%rip), %r11
        decq    %fs:(%r11)
        popq    %r11
        .cfi_adjust_cfa_offset -8
        js      __clew_yield_access
        ret_to_program clew_return_translated
        .cfi_endproc
        .size   __clew_yield_access_next, .-__clew_yield_access_next

        hook    __clew_string_size, clew_string_size_slow, result=1
        hook    __clew_spin, clew_spin_slow
        hook    __clew_random, clew_random_slow, result=1

// The program's allocator, while somebody listens (intercept/heap_hooks.h): calls come here first. The
// real functions run exactly where they would on the program's stack, so that what they leave there is
// the same; only their return address leads to clew_heap_return, and is put right there.
        .hidden clew_heap_done
        .hidden clew_heap_before_free
        .hidden clew_heap_before_realloc

// What a call was is kept below the top of the thread's own stack meanwhile.
        .macro  heap_entry name, number
        .globl  clew_heap_\name
        .hidden clew_heap_\name
        .hidden clew_heap_real_\name
        .type   clew_heap_\name, @function
clew_heap_\name:
        .cfi_startproc
        .if \number >= 8
        leave_program
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %rdx
        .if \number == 8
        call    clew_heap_before_free
        .else
        call    clew_heap_before_realloc
        .endif
        popq    %rdx
        popq    %rdx
        popq    %rsi
        popq    %rdi
        movq    16(%rbp), %r11
        movq    (%rbp), %rbp
        .cfi_restore %rbp
        movq    %r11, %rsp
        .cfi_def_cfa %rsp, 8
        .endif
        .if \number != 8
        movq    %rsp, %r11
        subq    clew_own_base(%rip), %r11
        cmpq    $CLEW_OWN_STACK_SIZE, %r11
        jb      8f
        movq    clew_own_top(%rip), %r11
        testq   %r11, %r11
        je      9f
        movq    (%rsp), %rax
        movq    %rax, -8(%r11)
        movq    %rdi, -16(%r11)
        movq    %rsi, -24(%r11)
        movq    %rdx, -32(%r11)
        movq    $\number, -40(%r11)
        subq    $64, %r11
        movq    %r11, clew_own_top(%rip)
        leaq    clew_heap_return(%rip), %rax
        movq    %rax, (%rsp)
        .endif
9:      jmp     *clew_heap_real_\name(%rip)
        .if \number != 8
// libc allocates in a call that the runtime makes for the program: the stack is the runtime's.
8:      pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        .cfi_adjust_cfa_offset 24
        call    *clew_heap_real_\name(%rip)
        popq    %r8
        popq    %rcx
        popq    %rdx
        pushq   %rax
        .cfi_adjust_cfa_offset -16
        movq    %rax, %rdi
        movl    $\number, %esi
        call    clew_heap_done
        popq    %rax
        .cfi_adjust_cfa_offset -8
        ret
        .endif
        .cfi_endproc
        .size   clew_heap_\name, .-clew_heap_\name
        .endm

        heap_entry malloc, 1
        heap_entry calloc, 2
        heap_entry memalign, 3
        heap_entry aligned_alloc, 4
        heap_entry posix_memalign, 5
        heap_entry free, 8
        heap_entry realloc, 9
        heap_entry reallocarray, 10

        .type   clew_heap_return, @function
clew_heap_return:
        .cfi_startproc
        subq    $8, %rsp
        movq    clew_own_top(%rip), %r11
        movq    56(%r11), %r10
        movq    %r10, (%rsp)
        leave_program
        pushq   %rax
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r9                     // twice, for the alignment
        movq    clew_own_top(%rip), %r10
        movq    %rax, %rdi
        movq    24(%r10), %rsi
        movq    48(%r10), %rdx
        movq    40(%r10), %rcx
        movq    32(%r10), %r8
        call    clew_heap_done
        addq    $64, clew_own_top(%rip)
        popq    %r9
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        popq    %rax
        return_to_program
        .cfi_endproc
        .size   clew_heap_return, .-clew_heap_return

        .globl  clew_stubs_end
        .hidden clew_stubs_end
clew_stubs_end:

// Called by the kernel: rdi has the signal, the stack begins with the frame.
        .hidden clew_move_frame
        .hidden clew_handle_signal
        .globl  clew_signal_entry
        .hidden clew_signal_entry
        .type   clew_signal_entry, @function
clew_signal_entry:
        .cfi_startproc
        movq    %rsp, %rcx
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        movq    %rcx, %rdi
        call    clew_move_frame
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        testq   %rax, %rax
        cmoveq  %rsp, %rax
        movq    %rax, %rsp
        leaq    312(%rax), %rsi
        leaq    8(%rax), %rdx
        jmp     clew_handle_signal
        .cfi_endproc
        .size   clew_signal_entry, .-clew_signal_entry

        .section .note.GNU-stack,"",@progbits
