// Names of functions and types as a person would write them.
//
// A demangled name says what the linker needs: `std::__cxx11::basic_string<char,
// std::char_traits<char>, std::allocator<char> >` where the source has `std::string`. These
// functions take any text, since names come from the program under test: what is no name, or nested
// beyond reason, is only cut to a length.
#ifndef CLEW_HOST_REPORT_NAMES_H_
#define CLEW_HOST_REPORT_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace clew {

// Whether texts have short names, or everything that is known, as demangled. Set once, by the
// option --full, before any text is made.
enum class NameStyle : std::uint8_t { kShort, kFull };
void set_name_style(NameStyle style);
NameStyle name_style();

// A longer name loses its template arguments, then its outer scopes.
inline constexpr std::size_t kMostName = 60;

// Inline namespaces of the standard library, ABI tags, anonymous namespaces and default template
// arguments dropped: "std::map<std::string, int>".
std::string short_type(std::string_view demangled);

// Without return type and parameters: "Cache<int>::get", "operator<<", "lambda in main".
std::string short_function(std::string_view demangled);
// With parameters, for overloads that would read alike.
std::string short_signature(std::string_view demangled);

// "in Cache::get", "in a lambda in main"; of the style that is set.
std::string in_function(std::string_view demangled);
// The name alone, of the style that is set.
std::string function_text(std::string_view demangled);

// The function called in a lambda's body, as opposed to a named one.
bool is_lambda(std::string_view demangled);

// Code that only starts a thread or passes a call on: std::thread, std::async, std::invoke and the
// like, of libstdc++ and libc++, and what libc starts threads with.
bool is_plumbing(std::string_view demangled);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_NAMES_H_
