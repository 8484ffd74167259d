// What gdb talks to: answers its remote protocol with a replay (TimeTravel). The program's threads
// are gdb's threads, and gdb's own commands go back in time.
#ifndef CLEW_HOST_DEBUG_GDB_SERVER_H_
#define CLEW_HOST_DEBUG_GDB_SERVER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/debug/remote_protocol.h"
#include "host/debug/time_travel.h"

namespace clew::debug {

class GdbServer {
 public:
  explicit GdbServer(const Replay& replay) : replay_(replay), travel_(replay) {}

  // Starts the program.
  [[nodiscard]] Result<void> begin();
  // Until gdb has left. `connection`: a socket.
  void serve(int connection);

 private:
  std::string answer(std::string_view packet);
  std::string answer_query(std::string_view packet);
  std::string answer_v(std::string_view packet);
  std::string set_point(std::string_view packet);
  std::string read_memory(std::string_view packet);
  std::string write_memory(std::string_view packet);
  std::string read_registers();
  std::string read_register(std::string_view packet);
  std::string write_registers(std::string_view packet);
  std::string write_register(std::string_view packet);
  std::string resume(std::string_view actions);
  std::string stop_reply(const Arrival& arrival);
  std::string select_thread(std::string_view packet);
  std::string list_threads();
  std::string describe_threads();
  std::string local_address(std::string_view packet);
  std::string transfer(std::string_view packet);
  std::string command(std::string_view words);
  std::string go_to(std::string_view word);

  bool send(std::string_view data);
  void tell(std::string_view text);
  std::uint64_t thread_or_current(std::uint64_t id);
  // The parked thread that gdb looks at; none: the one that runs.
  std::optional<abi::DebugThread> parked();

  int connection_ = -1;
  const Replay& replay_;
  TimeTravel travel_;
  bool leave_ = false;
  std::uint64_t general_thread_ = 0;  // of 'H' packets: index + 1; 0: any
  std::uint64_t resumed_thread_ = 0;
  std::string last_stop_;
};

}  // namespace clew::debug

#endif  // CLEW_HOST_DEBUG_GDB_SERVER_H_
