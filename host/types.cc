#include "host/types.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include "host/quote.h"

namespace clew {
namespace {

std::unexpected<Error> bad_thread(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kUsage, fmt::format("{} is not a thread id: {}", quote(text), why),
              "thread ids look like T0 (main), T0.2 (the second thread that main created), T0.2.1");
}

}  // namespace

Result<ThreadId> ThreadId::parse(std::string_view text) {
  constexpr std::string_view kRoot = "T0";
  if (!text.starts_with(kRoot)) return bad_thread(text, "it does not begin with T0");
  ThreadId id;
  std::string_view rest = text.substr(kRoot.size());
  while (!rest.empty()) {
    if (rest.front() != '.') return bad_thread(text, "a dot is missing");
    rest.remove_prefix(1);
    std::uint32_t ordinal = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), ordinal);
    if (error == std::errc::result_out_of_range) return bad_thread(text, "a number is too large");
    if (error != std::errc{}) return bad_thread(text, "a number is missing after a dot");
    if (rest.front() == '0') return bad_thread(text, "numbers begin at 1, without leading zeros");
    id.path_.push_back(ordinal);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  return id;
}

std::string ThreadId::text() const {
  std::string text = "T0";
  for (const std::uint32_t ordinal : path_)
    fmt::format_to(std::back_inserter(text), ".{}", ordinal);
  return text;
}

ThreadId ThreadId::child(std::uint32_t ordinal) const {
  if (ordinal == 0) throw std::logic_error("ThreadId::child: ordinals begin at 1");
  ThreadId id = *this;
  id.path_.push_back(ordinal);
  return id;
}

std::size_t ThreadId::hash() const {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a over ordinals
  for (const std::uint32_t ordinal : path_) hash = (hash ^ ordinal) * 0x100000001b3;
  return hash;
}

}  // namespace clew
