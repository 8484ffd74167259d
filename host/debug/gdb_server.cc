#include "host/debug/gdb_server.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "host/debug/gdb_registers.h"
#include "host/target/slurp.h"

namespace clew::debug {
namespace {

constexpr char kOk[] = "OK";
constexpr char kError[] = "E01";
constexpr std::size_t kMostMemory = 1 << 16;
constexpr std::uint64_t kAllThreads = ~std::uint64_t{0};

// "p1.2", "2", "-1", "0": an index + 1.
std::uint64_t take_thread(std::string_view& text) {
  if (take(text, 'p')) {
    take_number(text);
    if (!take(text, '.')) return kAllThreads;
  }
  if (take(text, '-')) {
    take_number(text);
    return kAllThreads;
  }
  return take_number(text);
}

const char* state_word(abi::DebugThreadState state) {
  switch (state) {
    case abi::DebugThreadState::kRunning:
      return "running";
    case abi::DebugThreadState::kRunnable:
      return "runnable";
    case abi::DebugThreadState::kBlocked:
      return "blocked";
    case abi::DebugThreadState::kFinished:
      return "finished";
    case abi::DebugThreadState::kNotStarted:
      return "not started";
  }
  return "?";
}

bool is_there(const abi::DebugThread& thread) {
  return thread.id[0] != '\0' && thread.state != abi::DebugThreadState::kFinished;
}

}  // namespace

bool GdbServer::send(std::string_view data) {
  const std::string framed = frame(data);
  for (std::size_t at = 0; at < framed.size();) {
    const ssize_t sent = ::send(connection_, framed.data() + at, framed.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += static_cast<std::size_t>(sent);
  }
  return true;
}

// On gdb's console. Only while gdb waits for the program or for a command.
void GdbServer::tell(std::string_view text) {
  if (!text.empty()) send(fmt::format("O{}", to_hex(fmt::format("clew: {}\n", text))));
}

Result<void> GdbServer::begin() {
  CLEW_CHECK_OK(travel_.begin());
  last_stop_ = stop_reply({.kind = Arrival::Kind::kStep});
  return {};
}

void GdbServer::serve(int connection) {
  connection_ = connection;
  travel_.interrupt_by(connection);
  PacketReader reader;
  std::array<char, 4096> buffer;
  bool acknowledge = true;
  while (!leave_) {
    const ssize_t got = recv(connection_, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    reader.add({buffer.data(), static_cast<std::size_t>(got)});
    while (const auto packet = reader.next()) {
      if (*packet == "\x03") continue;  // it does not run
      if (acknowledge) ::send(connection_, "+", 1, MSG_NOSIGNAL);
      if (*packet == "QStartNoAckMode") acknowledge = false;
      if (!send(answer(*packet)) || leave_) return;
    }
  }
}

std::string GdbServer::answer(std::string_view packet) {
  std::string_view rest = packet.substr(packet.empty() ? 0 : 1);
  switch (packet.empty() ? '\0' : packet[0]) {
    case '?':
      return last_stop_;
    case 'g':
      return read_registers();
    case 'G':
      return write_registers(rest);
    case 'p':
      return read_register(rest);
    case 'P':
      return write_register(rest);
    case 'm':
      return read_memory(rest);
    case 'M':
    case 'X':
      return write_memory(packet);
    case 'Z':
    case 'z':
      return set_point(packet);
    case 'H':
      return select_thread(rest);
    case 'T': {
      const std::uint64_t id = take_thread(rest);
      const auto threads = travel_.threads();
      return id != 0 && id <= threads.size() && is_there(threads[id - 1]) ? kOk : kError;
    }
    case 'b':
      if (rest == "s") return stop_reply(travel_.step_back(thread_or_current(resumed_thread_)));
      return rest == "c" ? stop_reply(travel_.resume_back()) : "";
    case 'v':
      return answer_v(packet);
    case 'q':
    case 'Q':
      return answer_query(packet);
    case '!':
      return kOk;
    case 'D':
    case 'k':
      leave_ = true;
      return kOk;
    default:
      return "";
  }
}

// --- threads -------------------------------------------------------------------------------------

std::uint64_t GdbServer::thread_or_current(std::uint64_t id) {
  return id == 0 || id == kAllThreads ? travel_.current() : id - 1;
}

std::optional<abi::DebugThread> GdbServer::parked() {
  const std::uint64_t index = thread_or_current(general_thread_);
  if (index == travel_.current()) return std::nullopt;
  const auto threads = travel_.threads();
  if (index >= threads.size() || !is_there(threads[index])) return std::nullopt;
  return threads[index];
}

std::string GdbServer::select_thread(std::string_view packet) {
  if (packet.empty()) return kError;
  const char what = packet[0];
  packet.remove_prefix(1);
  (what == 'g' ? general_thread_ : resumed_thread_) = take_thread(packet);
  return kOk;
}

std::string GdbServer::list_threads() {
  std::string text = "m";
  const auto threads = travel_.threads();
  for (std::size_t i = 0; i < threads.size(); ++i)
    if (is_there(threads[i])) text += fmt::format("{}{:x}", text.size() > 1 ? "," : "", i + 1);
  return text;
}

std::string GdbServer::describe_threads() {
  std::string text = "<?xml version=\"1.0\"?><threads>";
  const auto threads = travel_.threads();
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (!is_there(threads[i])) continue;
    text += fmt::format("<thread id=\"{:x}\" name=\"{}\">{}</thread>", i + 1, threads[i].id,
                        i == travel_.current() ? "running" : state_word(threads[i].state));
  }
  return text + "</threads>";
}

// Where a thread-local variable is. The module's number is found by its link map: the program
// itself is the first, if it has such variables.
std::string GdbServer::local_address(std::string_view packet) {
  const std::uint64_t id = take_thread(packet);
  take(packet, ',');
  const std::uint64_t offset = take_number(packet);
  take(packet, ',');
  const std::uint64_t link_map = take_number(packet);
  constexpr std::uint64_t kPrevious = 32;  // l_prev of struct link_map
  if (link_map == 0 || travel_.tracee().read_number(link_map + kPrevious) != 0) return kError;
  general_thread_ = id;
  const auto thread = parked();
  const std::uint64_t base = thread ? thread->thread_pointer : travel_.tracee().registers().fs_base;
  const std::uint64_t vector = travel_.tracee().read_number(base + 8);
  const std::uint64_t block = travel_.tracee().read_number(vector + 16);
  if (block == 0 || block == ~std::uint64_t{0}) return kError;
  return fmt::format("{:x}", block + offset);
}

// --- registers and memory ------------------------------------------------------------------------

std::string GdbServer::read_registers() {
  if (const auto thread = parked()) return pack(*thread);
  return pack({travel_.tracee().registers(), travel_.tracee().float_registers()});
}

std::string GdbServer::read_register(std::string_view packet) {
  const Slice slice = slice_of(take_number(packet));
  if (slice.size == 0) return kError;
  return read_registers().substr(2 * slice.begin, 2 * slice.size);
}

std::string GdbServer::write_registers(std::string_view packet) {
  const auto bytes = from_hex(packet);
  Registers registers{travel_.tracee().registers(), travel_.tracee().float_registers()};
  if (!bytes || parked() || travel_.at_end() || !unpack(*bytes, registers)) return kError;
  travel_.tamper();
  travel_.tracee().set_registers(registers.general);
  travel_.tracee().set_float_registers(registers.floating);
  return kOk;
}

std::string GdbServer::write_register(std::string_view packet) {
  const Slice slice = slice_of(take_number(packet));
  take(packet, '=');
  if (slice.size == 0 || packet.size() != 2 * slice.size || parked()) return kError;
  std::string all = read_registers();
  all.replace(2 * slice.begin, 2 * slice.size, packet);
  return write_registers(all);
}

std::string GdbServer::read_memory(std::string_view packet) {
  const std::uint64_t address = take_number(packet);
  take(packet, ',');
  std::vector<std::uint8_t> bytes(std::min<std::uint64_t>(take_number(packet), kMostMemory));
  bytes.resize(travel_.tracee().read(address, bytes));
  return bytes.empty() ? kError : to_hex(bytes);
}

std::string GdbServer::write_memory(std::string_view packet) {
  const bool binary = take(packet, 'X');
  if (!binary) take(packet, 'M');
  const std::uint64_t address = take_number(packet);
  take(packet, ',');
  const std::uint64_t size = take_number(packet);
  take(packet, ':');
  std::vector<std::uint8_t> bytes;
  if (binary) {
    const std::string text = unescape(packet);
    bytes.assign(text.begin(), text.end());
  } else if (auto plain = from_hex(packet)) {
    bytes = std::move(*plain);
  }
  if (bytes.size() != size) return kError;
  if (size == 0) return kOk;  // gdb asks whether X is known
  travel_.tamper();
  return travel_.tracee().write(address, bytes) == size ? kOk : kError;
}

std::string GdbServer::set_point(std::string_view packet) {
  const bool add = packet[0] == 'Z';
  packet.remove_prefix(1);
  const std::uint64_t type = take_number(packet);
  take(packet, ',');
  const std::uint64_t address = take_number(packet);
  take(packet, ',');
  const std::uint64_t size = take_number(packet);
  if (type <= 1) {
    if (add)
      travel_.breakpoints.insert(address);
    else
      travel_.breakpoints.erase(address);
    return kOk;
  }
  if (type > 4) return "";
  // Pieces that the processor can watch.
  std::set<Watch> watches = travel_.watches;
  for (std::uint64_t at = address; at < address + size;) {
    std::uint64_t piece = 8;
    while (at % piece != 0 || at + piece > address + size) piece /= 2;
    const Watch watch{at, piece, static_cast<WatchKind>(type - 2)};
    if (add)
      watches.insert(watch);
    else
      watches.erase(watch);
    at += piece;
  }
  if (!travel_.tracee().set_watches(watches)) return kError;
  travel_.watches = std::move(watches);
  return kOk;
}

// --- running -------------------------------------------------------------------------------------

std::string GdbServer::stop_reply(const Arrival& arrival) {
  if (const std::string problem = travel_.take_problem(); !problem.empty()) tell(problem);
  int signal = SIGTRAP;
  std::string why;
  switch (arrival.kind) {
    case Arrival::Kind::kStep:
      break;
    case Arrival::Kind::kBreakpoint:
      why = "swbreak:;";
      break;
    case Arrival::Kind::kWatch: {
      static const char* const kNames[] = {"watch", "rwatch", "awatch"};
      why = fmt::format("{}:{:x};", kNames[static_cast<std::size_t>(arrival.watch.kind)],
                        arrival.watch.address);
      break;
    }
    case Arrival::Kind::kSignal:
      signal = arrival.signal;
      break;
    case Arrival::Kind::kInterrupted:
      signal = SIGINT;
      break;
    case Arrival::Kind::kBeginning:
      why = "replaylog:begin;";
      break;
    case Arrival::Kind::kEnd: {
      const std::string failure = travel_.failure();
      if (travel_.diverted())
        tell("the function that gdb called does what was not recorded, such as a system call");
      else
        tell(failure.empty() ? "the program ends here"
                             : fmt::format("the program ends here: {}", failure));
      why = "replaylog:end;";
      break;
    }
    case Arrival::Kind::kLost:
      if (travel_.tracee().ended()) {
        tell("the program is gone: clew goto CLOCK replays it");
        return last_stop_ = "X09";
      }
      why = "replaylog:end;";
      break;
  }
  const std::uint64_t thread = travel_.current() + 1;
  general_thread_ = resumed_thread_ = thread;
  return last_stop_ = fmt::format("T{:02x}{}thread:{:x};", signal_for_gdb(signal), why, thread);
}

// vCont: the first action that steps decides; without one, all continue.
std::string GdbServer::resume(std::string_view actions) {
  while (take(actions, ';')) {
    const char action = actions.empty() ? '\0' : actions[0];
    actions.remove_prefix(actions.empty() ? 0 : 1);
    TimeTravel::Range range;
    if (action == 'C' || action == 'S') take_number(actions);
    if (action == 'r') {
      range.begin = take_number(actions);
      take(actions, ',');
      range.end = take_number(actions);
    }
    const std::uint64_t id = take(actions, ':') ? take_thread(actions) : 0;
    if (action == 's' || action == 'S' || action == 'r')
      return stop_reply(travel_.step(thread_or_current(id), range));
  }
  return stop_reply(travel_.resume());
}

std::string GdbServer::answer_v(std::string_view packet) {
  if (packet == "vCont?") return "vCont;c;C;s;S;r";
  if (packet.starts_with("vCont")) return resume(packet.substr(5));
  if (packet.starts_with("vKill")) return kOk;
  if (packet.starts_with("vRun")) {
    travel_.tamper();
    if (const auto begun = travel_.begin(); !begun) return kError;
    return stop_reply({.kind = Arrival::Kind::kStep});
  }
  return "";
}

// --- questions -----------------------------------------------------------------------------------

std::string GdbServer::transfer(std::string_view packet) {
  std::string content;
  const auto object = [&](std::string_view name) {
    if (!packet.starts_with(name)) return false;
    packet.remove_prefix(name.size());
    packet.remove_prefix(std::min(packet.size(), packet.find(':') + 1));  // the annex
    return true;
  };
  const std::string proc = fmt::format("/proc/{}", travel_.tracee().pid());
  if (object("features:read:"))
    content = describe_registers();
  else if (object("threads:read:"))
    content = describe_threads();
  else if (object("auxv:read:"))
    content = slurp(proc + "/auxv");
  else if (object("exec-file:read:"))
    content = replay_.plan.program;
  else
    return "";
  const std::uint64_t offset = take_number(packet);
  take(packet, ',');
  const std::uint64_t size = take_number(packet);
  if (offset >= content.size()) return "l";
  const std::string part = content.substr(offset, size);
  return (offset + part.size() < content.size() ? "m" : "l") + part;
}

std::string GdbServer::answer_query(std::string_view packet) {
  const auto is = [&](std::string_view name) {
    if (!packet.starts_with(name)) return false;
    packet.remove_prefix(name.size());
    return true;
  };
  if (is("qSupported"))
    return "PacketSize=20000;QStartNoAckMode+;swbreak+;hwbreak-;vContSupported+;ReverseStep+;"
           "ReverseContinue+;QPassSignals+;qXfer:features:read+;qXfer:threads:read+;"
           "qXfer:auxv:read+;qXfer:exec-file:read+;multiprocess-";
  if (is("QStartNoAckMode")) return kOk;
  if (is("QPassSignals:")) {
    travel_.quiet_signals.clear();
    while (!packet.empty()) {
      travel_.quiet_signals.insert(signal_from_gdb(static_cast<int>(take_number(packet))));
      if (!take(packet, ';')) break;
    }
    return kOk;
  }
  if (is("qXfer:")) return transfer(packet);
  if (is("qfThreadInfo")) return list_threads();
  if (is("qsThreadInfo")) return "l";
  if (is("qC")) return fmt::format("QC{:x}", travel_.current() + 1);
  if (is("qAttached")) return "0";
  if (is("qSymbol")) return kOk;
  if (is("qGetTLSAddr:")) return local_address(packet);
  if (is("qRcmd,")) {
    const auto bytes = from_hex(packet);
    return bytes ? to_hex(command({reinterpret_cast<const char*>(bytes->data()), bytes->size()}))
                 : kError;
  }
  return "";
}

// --- gdb's `monitor` -----------------------------------------------------------------------------

std::string GdbServer::go_to(std::string_view word) {
  std::uint64_t clock = 0;
  std::string digits(word);
  std::erase(digits, ',');  // as clew prints them
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), clock);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return fmt::format("error: '{}' is not a clock: clocks are numbers, clew show lists them\n",
                       word);
  if (clock > travel_.last_clock())
    return fmt::format("error: clock {} is past the end of the run, {}\n", clock,
                       travel_.last_clock());
  const Arrival arrival = travel_.go_to(clock);
  stop_reply(arrival);
  if (arrival.kind == Arrival::Kind::kLost) return "error: the replay did not come to that clock\n";
  return fmt::format("thread {}\n", travel_.current() + 1);
}

std::string GdbServer::command(std::string_view words) {
  if (words.starts_with("goto ")) return go_to(words.substr(5));
  if (words == "clock")
    return fmt::format("clock {} of {}, {}\n", travel_.clock(), travel_.last_clock(),
                       travel_.threads()[travel_.current()].id);
  return "error: clew knows `goto CLOCK` and `clock`\n";
}

}  // namespace clew::debug
