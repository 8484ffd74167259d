#include "host/debug/remote_protocol.h"

#include <fmt/format.h>
#include <signal.h>

#include <charconv>
#include <utility>

namespace clew::debug {
namespace {

// Those whose numbers differ. The others below SIGSYS are the same; real-time signals have ranges.
constexpr std::pair<int, int> kSignals[] = {
    {SIGBUS, 10},  {SIGUSR1, 30},    {SIGUSR2, 31}, {SIGCHLD, 20}, {SIGCONT, 19},
    {SIGSTOP, 17}, {SIGTSTP, 18},    {SIGURG, 16},  {SIGIO, 23},   {SIGPWR, 32},
    {SIGSYS, 12},  {SIGSTKFLT, 143}, {32, 77},      {64, 78}};
constexpr int kFirstRealTime = 33;
constexpr int kFirstRealTimeForGdb = 45;

std::uint8_t checksum(std::string_view data) {
  unsigned sum = 0;
  for (const char c : data) sum += static_cast<unsigned char>(c);
  return static_cast<std::uint8_t>(sum);
}

}  // namespace

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string result;
  result.reserve(bytes.size() * 2);
  constexpr char kDigits[] = "0123456789abcdef";
  for (const std::uint8_t byte : bytes) {
    result += kDigits[byte >> 4];
    result += kDigits[byte & 15];
  }
  return result;
}

std::string to_hex(std::string_view text) {
  return to_hex(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::uint8_t> result(text.size() / 2);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const char* begin = text.data() + 2 * i;
    if (std::from_chars(begin, begin + 2, result[i], 16).ptr != begin + 2) return std::nullopt;
  }
  return result;
}

std::uint64_t take_number(std::string_view& text) {
  std::uint64_t result = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result, 16);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return result;
}

bool take(std::string_view& text, char character) {
  if (!text.starts_with(character)) return false;
  text.remove_prefix(1);
  return true;
}

std::string frame(std::string_view data) {
  std::string escaped;
  for (const char c : data) {
    if (c == '$' || c == '#' || c == '}' || c == '*') {
      escaped += '}';
      escaped += static_cast<char>(c ^ 0x20);
    } else {
      escaped += c;
    }
  }
  return fmt::format("${}#{:02x}", escaped, checksum(escaped));
}

std::string unescape(std::string_view data) {
  std::string result;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data[i] == '}' && i + 1 < data.size())
      result += static_cast<char>(data[++i] ^ 0x20);
    else
      result += data[i];
  }
  return result;
}

std::optional<std::string> PacketReader::next() {
  for (;;) {
    const std::size_t begin = buffer_.find_first_of("$\x03");
    if (begin == std::string::npos) {
      buffer_.clear();
      return std::nullopt;
    }
    if (buffer_[begin] == '\x03') {
      buffer_.erase(0, begin + 1);
      return "\x03";
    }
    const std::size_t end = buffer_.find('#', begin);
    if (end == std::string::npos || end + 2 >= buffer_.size()) return std::nullopt;
    const std::string data = buffer_.substr(begin + 1, end - begin - 1);
    unsigned sum = 256;
    std::from_chars(buffer_.data() + end + 1, buffer_.data() + end + 3, sum, 16);
    buffer_.erase(0, end + 3);
    // A socket loses nothing: what is wrong is not for us.
    if (sum == checksum(data)) return data;
  }
}

int signal_for_gdb(int signal) {
  for (const auto& [own, gdb] : kSignals)
    if (own == signal) return gdb;
  return signal < kFirstRealTime ? signal : signal - kFirstRealTime + kFirstRealTimeForGdb;
}

int signal_from_gdb(int number) {
  for (const auto& [own, gdb] : kSignals)
    if (gdb == number) return own;
  return number < kFirstRealTimeForGdb ? number : number - kFirstRealTimeForGdb + kFirstRealTime;
}

}  // namespace clew::debug
