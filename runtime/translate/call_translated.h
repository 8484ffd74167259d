// For assembler files that call the program (translate.h).
#ifndef CLEW_RUNTIME_TRANSLATE_CALL_TRANSLATED_H_
#define CLEW_RUNTIME_TRANSLATE_CALL_TRANSLATED_H_

// TranslationState::target (clew_abi/translation.h).
#define TRANSLATION_TARGET (0x43ff80000000 + 9 * 8)

        .hidden clew_translating
        .hidden clew_call_translated

// Calls the function whose address is in rax, translated if the run is. The return address is the same in
// either case.
        .macro  call_program_at_rax
        cmpb    $0, clew_translating(%rip)
        je      7f
        movabsq %rax, TRANSLATION_TARGET
        leaq    clew_call_translated(%rip), %rax
7:      call    *%rax
        .endm

#endif  // CLEW_RUNTIME_TRANSLATE_CALL_TRANSLATED_H_
