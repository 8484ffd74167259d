// The words for what an address is called.
#ifndef CLEW_HOST_REPORT_OBJECT_WORDS_H_
#define CLEW_HOST_REPORT_OBJECT_WORDS_H_

#include <string>
#include <string_view>

#include "host/names/object_name.h"

namespace clew {

// "`queue.items_[3]`"; "`done` (a variable of main in T0)"; "`Entry::next` (allocated at
// cache.cpp:41 by T0.2)"; "the control block of a `shared_ptr<Session>` (...)". `by`: the
// thread that is spoken of, which is not named again. Empty: it has no name.
std::string object_words(const ObjectName& name, std::string_view by);

// The same without what is in brackets.
std::string object_words_again(const ObjectName& name);

// As in a table: "queue.items_[3]", "control block of Session".
std::string short_object_words(const ObjectName& name);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_OBJECT_WORDS_H_
