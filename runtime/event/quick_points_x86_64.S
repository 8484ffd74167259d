// The hooks of most points. Compiled code calls them at every point while somebody wants to hear of each
// access that does not repeat (stretch.h), or a strategy decides at every point (sharing.h). Here most
// points pass: accesses that repeat, or whose points are quiet, or both. The others, and whatever comes
// at other times, continue in the hooks proper (fiber/own_stack_x86_64.S).
//
// Nothing is left on the program's stack, and every register is as it was: only the general ones are
// used, and they are kept in variables, because nothing comes in between.
#include "runtime/event/stretch_layout.h"
#include "runtime/translate/return_to_program_x86_64.inc"

#define SLOT_SIZE CLEW_STRETCH_SLOT_SIZE
// The bits of an address, times two, that make the offset of its slot.
#define SLOT_MASK (((1 << CLEW_STRETCH_SLOT_BITS) - 1) << 3)
#define DUE_BYTE 7
#define DUE_BIT_IN_BYTE (1 << (CLEW_DUE_BIT - 8 * DUE_BYTE))

        .hidden clew_stretch
        .hidden clew_quiet

        .lcomm  saved_rax, 8
        .lcomm  saved_rcx, 8
        .lcomm  saved_rdx, 8
        .lcomm  saved_r11, 8

        .text

        .macro  begin name
        .p2align 6
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        movq    %r11, saved_r11(%rip)
        movq    __clew_countdown@gottpoff(%rip), %r11
        .endm

        .macro  end name
        .cfi_endproc
        .size   \name, .-\name
        .endm

// Counts the point; returns if its hook need not be called.
        .macro  count
        decq    %fs:(%r11)
        js      1f
        movq    saved_r11(%rip), %r11
        ret_to_program clew_return_translated
1:
        .endm

// r11 has the address of the countdown. Where something is due, or the countdown has merely run out,
// the hook looks at it.
        .macro  leave_if_due hook
        testb   $DUE_BIT_IN_BYTE, %fs:DUE_BYTE(%r11)
        jne     .L\hook\()_again
        .endm

// No run is translated in which the hooks pass points (Scheduler::set_window).
        .macro  leave
        movq    saved_r11(%rip), %r11
        ret
        .endm

        .macro  save_registers uses_rcx
        movq    %rax, saved_rax(%rip)
        .if \uses_rcx
        movq    %rcx, saved_rcx(%rip)
        .endif
        .endm

        .macro  restore_registers uses_rcx
        .if \uses_rcx
        movq    saved_rcx(%rip), %rcx
        .endif
        movq    saved_rax(%rip), %rax
        .endm

// To the hook, with the registers as they were.
        .macro  hook_again hook, target, uses_rcx=0
        .hidden \target
.L\hook\()_again_2:
        movq    saved_rdx(%rip), %rdx
.L\hook\()_again_1:
        restore_registers \uses_rcx
.L\hook\()_again:
        movq    saved_r11(%rip), %r11
        jmp     \target
        .endm

// A point that is no access: nobody need be told, unless it is a fence.
        .macro  quick_point name, counts
        begin   \name
        .if \counts
        count
        .endif
        leave_if_due \name
        movzbl  (%rdi), %r11d
        andl    $CLEW_POINT_KIND_MASK, %r11d
        cmpl    $CLEW_POINT_KIND_FENCE, %r11d
        je      .L\name\()_again
        leave
        hook_again \name, clew_hook_yield
        end     \name
        .endm

// --- accesses that repeat (stretch.h) -------------------------------------------------------------

// r11 = the slot of the address in rsi. Changes rax.
        .macro  find_slot
        movl    %esi, %eax
        andl    $SLOT_MASK, %eax
        movq    clew_stretch+CLEW_STRETCH_SLOTS(%rip), %r11
        leaq    (%r11,%rax,2), %r11
        .endm

// Of the whole of a granule, or of the next one, nothing may be missing that has a bit in `mask`.
        .macro  check_granule offset, mask, again
        .if \offset
        leaq    \offset(%rsi), %rax
        cmpq    %rax, SLOT_SIZE(%r11)
        jne     \again
        movq    SLOT_SIZE+8(%r11), %rax
        .else
        cmpq    %rsi, (%r11)
        jne     \again
        movq    8(%r11), %rax
        .endif
        xorq    clew_stretch+CLEW_STRETCH_NOW(%rip), %rax
        testq   $\mask, %rax
        jne     \again
        .endm

// Goes to `again` unless the access of one or two granules repeats.
        .macro  check_whole size, again
        testb   $7, %sil
        jne     \again
        find_slot
        cmpb    $CLEW_POINT_KIND_LOAD, (%rdi)
        jne     1f
        check_granule 0, 0xffffffffffff00ff, \again
        .if \size == 16
        check_granule 8, 0xffffffffffff00ff, \again
        .endif
        jmp     2f
1:      cmpb    $CLEW_POINT_KIND_STORE, (%rdi)
        jne     \again
        check_granule 0, 0xffffffffffffff00, \again
        .if \size == 16
        check_granule 8, 0xffffffffffffff00, \again
        .endif
2:
        .endm

// The same for a part of a granule. What is missing comes to lie at bit 0 of what was read, or at bit 8 of
// what was written.
        .macro  check_part size, again
        find_slot
        movq    %rsi, %rcx
        xorq    (%r11), %rcx
        cmpq    $(8 - \size), %rcx
        ja      \again
        movq    8(%r11), %rax
        xorq    clew_stretch+CLEW_STRETCH_NOW(%rip), %rax
        testq   $-65536, %rax
        jne     \again
        shrl    %cl, %eax
        cmpb    $CLEW_POINT_KIND_LOAD, (%rdi)
        jne     1f
        testb   $((1 << \size) - 1), %al
        jne     \again
        jmp     2f
1:      cmpb    $CLEW_POINT_KIND_STORE, (%rdi)
        jne     \again
        testb   $((1 << \size) - 1), %ah
        jne     \again
2:
        .endm

        .macro  check size, again
        .if \size < 8
        check_part \size, \again
        .else
        check_whole \size, \again
        .endif
        .endm

// --- points that are quiet (sharing.h) ------------------------------------------------------------

// rdx = where is counted how often the point was seen. Changes rax.
        .macro  check_quiet again
        movq    %rdi, %rax
        subq    clew_quiet+CLEW_QUIET_BEGIN(%rip), %rax
        cmpq    clew_quiet+CLEW_QUIET_SIZE(%rip), %rax
        jae     \again
        shlq    $2, %rax
        movq    clew_quiet+CLEW_QUIET_SEEN(%rip), %rdx
        leaq    (%rdx,%rax), %rdx
        movl    (%rdx), %eax
        subl    clew_quiet+CLEW_QUIET_FROM(%rip), %eax
        cmpl    $CLEW_QUIET_MORE, %eax
        ja      \again
        .endm

        .macro  quick_access name, size, counts
        begin   \name
        .if \counts
        count
        .endif
        leave_if_due \name
        save_registers (\size < 8)
        cmpb    $0, clew_quiet+CLEW_QUIET_PASS(%rip)
        jne     4f
        check   \size, .L\name\()_again_1
        restore_registers (\size < 8)
        leave
4:      movq    %rdx, saved_rdx(%rip)
        check_quiet .L\name\()_again_2
        cmpb    $CLEW_QUIET_PASS_YES, clew_quiet+CLEW_QUIET_PASS(%rip)
        je      5f
        check   \size, .L\name\()_again_2
5:      incl    (%rdx)
        movq    saved_rdx(%rip), %rdx
        restore_registers (\size < 8)
        leave
        hook_again \name, clew_hook_access_\size, (\size < 8)
        end     \name
        .endm

        quick_point __clew_yield, 0
        quick_point __clew_yield_next, 1
        quick_access __clew_yield_access_1, 1, 0
        quick_access __clew_yield_access_4, 4, 0
        quick_access __clew_yield_access_8, 8, 0
        quick_access __clew_yield_access_16, 16, 0
        quick_access __clew_yield_access_next_1, 1, 1
        quick_access __clew_yield_access_next_4, 4, 1
        quick_access __clew_yield_access_next_8, 8, 1
        quick_access __clew_yield_access_next_16, 16, 1

        .section .note.GNU-stack,"",@progbits
