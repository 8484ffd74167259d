// Descriptors 0, 1 and 2 that clew was started without.
#ifndef CLEW_HOST_TARGET_STANDARD_DESCRIPTORS_H_
#define CLEW_HOST_TARGET_STANDARD_DESCRIPTORS_H_

namespace clew {

// Takes the numbers that are closed, so that no file of clew's own gets one of them and then what
// is meant for standard output. What is there cannot be read or written, as before.
// REQUIRES: nothing has been opened yet.
void hold_standard_descriptors();

// Whether the number was closed then: it is so for the program, too.
bool was_closed(int number);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_STANDARD_DESCRIPTORS_H_
