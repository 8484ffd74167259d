// Text in pictures.
#ifndef CLEW_HOST_REPORT_MARKUP_H_
#define CLEW_HOST_REPORT_MARKUP_H_

#include <string>
#include <string_view>

namespace clew {

// As XML has it; what is no printable character becomes '?', since names are the program's.
std::string escaped_markup(std::string_view text);
// As Graphviz has it, which reads what follows a backslash.
std::string escaped_label(std::string_view text);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_MARKUP_H_
