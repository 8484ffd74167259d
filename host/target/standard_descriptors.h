// Descriptors 0, 1 and 2 that clew was started without.
#ifndef CLEW_HOST_TARGET_STANDARD_DESCRIPTORS_H_
#define CLEW_HOST_TARGET_STANDARD_DESCRIPTORS_H_

namespace clew {

// Occupies the numbers that are closed, so that none of clew's own files gets one of them and then
// receives what is meant for standard output. They cannot be read or written, as before.
// REQUIRES: nothing has been opened yet.
void hold_standard_descriptors();

// Whether the number was closed then: it is closed for the program, too.
bool was_closed(int number);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_STANDARD_DESCRIPTORS_H_
