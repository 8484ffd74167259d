// Calls whose effect clew does not know: they go to the kernel, and are named once. So are those that clew
// refuses as an older kernel would, for which programs have another way.
#ifndef CLEW_RUNTIME_OUTSIDE_UNRECORDED_H_
#define CLEW_RUNTIME_OUTSIDE_UNRECORDED_H_

namespace clew::rt {

bool is_known_request(unsigned long request);
// Whether it asks for something about a network interface, in a struct ifreq.
bool asks_about_interface(unsigned long request);
void note_request(unsigned long request, int fd);
void note_unknown_call(long number);
void note_refused_call(long number);
// Notes each of them in a line, at the end of the run.
void tell_unrecorded();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_UNRECORDED_H_
