// A server's access log with a buffer, in the manner of Apache's (bug 25520): worker threads format a line each and append it to the buffer, which is written
// out when it is full. Nothing guards the position in the buffer.
// ROOT CAUSE: access_log.cpp:45 (copied to where it ends), access_log.cpp:46 (the end moved afterwards); KIND: data-race
// SAYS: between two accesses
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Request {
  std::string client;
  std::string path;
  int status = 200;
  int bytes = 0;
};

class Sink {
 public:
  void write(const char* data, std::size_t size) { text_.append(data, size); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class BufferedLog {
 public:
  explicit BufferedLog(Sink& sink) : sink_(sink) {}

  void append(const std::string& line) {
#ifdef FIXED
    std::lock_guard lock(mutex_);
#endif
    if (used_ + line.size() > sizeof buffer_) flush();
    if (line.size() > sizeof buffer_) {
      sink_.write(line.data(), line.size());
      return;
    }
    std::memcpy(buffer_ + used_, line.data(), line.size());
    used_ += line.size();
  }

  void flush() {
    sink_.write(buffer_, used_);
    used_ = 0;
  }

 private:
  Sink& sink_;
#ifdef FIXED
  std::mutex mutex_;
#endif
  char buffer_[160];
  std::size_t used_ = 0;
};

class Formatter {
 public:
  explicit Formatter(std::string format) : format_(std::move(format)) {}

  std::string line(const Request& request) const {
    std::ostringstream out;
    for (std::size_t i = 0; i < format_.size(); i++) {
      if (format_[i] != '%' || i + 1 == format_.size()) {
        out << format_[i];
        continue;
      }
      switch (format_[++i]) {
        case 'h':
          out << request.client;
          break;
        case 'r':
          out << request.path;
          break;
        case 's':
          out << request.status;
          break;
        case 'b':
          out << request.bytes;
          break;
        default:
          out << '%' << format_[i];
      }
    }
    out << '\n';
    return out.str();
  }

 private:
  std::string format_;
};

class Worker {
 public:
  Worker(BufferedLog& log, const Formatter& formatter, std::vector<Request> requests)
      : log_(log), formatter_(formatter), requests_(std::move(requests)) {}
  void run() {
    for (Request& request : requests_) {
      serve(request);
      log_.append(formatter_.line(request));
    }
  }

 private:
  static void serve(Request& request) {
    request.bytes = static_cast<int>(request.path.size()) * 100;
    if (request.path.find("..") != std::string::npos) request.status = 403;
  }

  BufferedLog& log_;
  const Formatter& formatter_;
  std::vector<Request> requests_;
};

int count_lines(const std::string& text, const std::vector<std::string>& clients) {
  int good = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    for (const std::string& client : clients) good += line.rfind(client + " ", 0) == 0;
  return good;
}

}  // namespace

int main() {
  Sink sink;
  BufferedLog log(sink);
  const Formatter formatter("%h %r %s %b");
  Worker first(log, formatter, {{"10.1.1.1", "/index"}, {"10.1.1.1", "/logo"}});
  Worker second(log, formatter, {{"10.2.2.2", "/news"}, {"10.2.2.2", "/../etc"}});
  std::thread a([&] { first.run(); });
  std::thread b([&] { second.run(); });
  a.join();
  b.join();
  log.flush();
  const int lines = count_lines(sink.text(), {"10.1.1.1", "10.2.2.2"});
  std::printf("%d lines\n", lines);
  return lines == 4 ? 0 : 1;
}
