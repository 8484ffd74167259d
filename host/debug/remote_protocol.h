// The remote protocol of gdb: packets on a socket, `$data#checksum`, and numbers in hexadecimal.
// See "Remote Serial Protocol" in gdb's manual.
#ifndef CLEW_HOST_DEBUG_REMOTE_PROTOCOL_H_
#define CLEW_HOST_DEBUG_REMOTE_PROTOCOL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clew::debug {

std::string to_hex(std::span<const std::uint8_t> bytes);
std::string to_hex(std::string_view text);
// None: it is not hexadecimal.
std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text);
// Takes a hexadecimal number off the front; 0 if there is none.
std::uint64_t take_number(std::string_view& text);
// Takes a character off the front if it is there.
bool take(std::string_view& text, char character);

// A packet's data: framed, and with what may not be in it escaped.
std::string frame(std::string_view data);
std::string unescape(std::string_view data);

// Takes what was received apart.
class PacketReader {
 public:
  void add(std::string_view bytes) { buffer_ += bytes; }
  // The data of the next packet that is complete and right. "\x03": an interrupt.
  std::optional<std::string> next();

 private:
  std::string buffer_;
};

// gdb numbers signals in its own way.
int signal_for_gdb(int signal);
int signal_from_gdb(int number);

}  // namespace clew::debug

#endif  // CLEW_HOST_DEBUG_REMOTE_PROTOCOL_H_
