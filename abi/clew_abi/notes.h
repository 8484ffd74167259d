// Notes (MessageType::kNote) that the host understands.
#ifndef CLEW_ABI_NOTES_H_
#define CLEW_ABI_NOTES_H_

namespace clew::abi {

// A full replay starts no processes: what they wrote to standard output is missing in it.
inline constexpr char kNoteOtherProcesses[] =
    "the program started other processes: a replay of it starts none of them";

// Of a run that ended with an exec(): the host writes it, with the path after it.
inline constexpr char kNoteBecame[] = "this recording ends where the program became ";

}  // namespace clew::abi

#endif  // CLEW_ABI_NOTES_H_
