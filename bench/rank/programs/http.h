// What the server and the downloader have in common: texts, sockets, messages of HTTP/1.0.
#ifndef BENCH_RANK_HTTP_H_
#define BENCH_RANK_HTTP_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace text {

inline std::string lower(const std::string& value) {
  std::string result = value;
  for (char& c : result) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

inline std::string trim(const std::string& value) {
  const char* const blank = " \t\r\n";
  const std::size_t begin = value.find_first_not_of(blank);
  if (begin == std::string::npos) {
    return std::string();
  }
  return value.substr(begin, value.find_last_not_of(blank) - begin + 1);
}

inline bool starts_with(const std::string& value, const std::string& start) {
  return value.compare(0, start.size(), start) == 0;
}

inline bool ends_with(const std::string& value, const std::string& end) {
  if (value.size() < end.size()) {
    return false;
  }
  return value.compare(value.size() - end.size(), end.size(), end) == 0;
}

inline std::vector<std::string> split(const std::string& value, char by) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t at = value.find(by); at != std::string::npos; at = value.find(by, from)) {
    parts.push_back(value.substr(from, at - from));
    from = at + 1;
  }
  parts.push_back(value.substr(from));
  return parts;
}

inline int to_number(const std::string& value, int otherwise) {
  if (value.empty()) {
    return otherwise;
  }
  for (const char c : value) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      return otherwise;
    }
  }
  return std::atoi(value.c_str());
}

}  // namespace text

// A descriptor that is closed at the end.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { close(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  void close() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
      descriptor_ = -1;
    }
  }
  bool send_all(const std::string& data) {
    std::size_t sent = 0;
    while (sent < data.size()) {
      const ssize_t n = ::send(descriptor_, data.data() + sent, data.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) {
        return false;
      }
      sent += static_cast<std::size_t>(n);
    }
    return true;
  }
  bool wait_readable(int milliseconds) const {
    pollfd ready{descriptor_, POLLIN, 0};
    return ::poll(&ready, 1, milliseconds) > 0;
  }
  std::string receive_some() {
    char part[2048];
    const ssize_t n = ::recv(descriptor_, part, sizeof part, 0);
    if (n <= 0) {
      return std::string();
    }
    return std::string(part, static_cast<std::size_t>(n));
  }
  // All up to the end of the stream, or until nothing has come for a while.
  std::string receive_all(int patience) {
    std::string data;
    while (wait_readable(patience)) {
      const std::string part = receive_some();
      if (part.empty()) {
        break;
      }
      data += part;
    }
    return data;
  }
  // Up to the empty line behind the headers.
  std::string receive_head(int patience) {
    std::string data;
    while (data.find("\r\n\r\n") == std::string::npos) {
      if (!wait_readable(patience)) {
        break;
      }
      const std::string part = receive_some();
      if (part.empty()) {
        break;
      }
      data += part;
    }
    return data;
  }

 private:
  int descriptor_;
};

inline sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline std::unique_ptr<Socket> connect_to(int port) {
  auto socket = std::make_unique<Socket>(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = loopback(port);
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket->descriptor(), to, sizeof address) != 0) {
    socket->close();
  }
  return socket;
}

// A port that others connect to.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = loopback(0);
    auto* at = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_.descriptor(), at, sizeof address) != 0 ||
        ::listen(socket_.descriptor(), 128) != 0) {
      std::perror("listen");
      std::exit(2);
    }
    socklen_t size = sizeof address;
    ::getsockname(socket_.descriptor(), at, &size);
    port_ = ntohs(address.sin_port);
  }
  int port() const { return port_; }
  std::shared_ptr<Socket> accept() {
    return std::make_shared<Socket>(::accept(socket_.descriptor(), nullptr, nullptr));
  }

 private:
  Socket socket_;
  int port_ = 0;
};

class Headers {
 public:
  void set(const std::string& name, const std::string& value) {
    values_[text::lower(name)] = value;
  }
  std::string get(const std::string& name) const {
    const auto found = values_.find(text::lower(name));
    return found == values_.end() ? std::string() : found->second;
  }
  bool has(const std::string& name) const { return values_.count(text::lower(name)) > 0; }
  bool parse_line(const std::string& line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || colon == 0) {
      return false;
    }
    set(text::trim(line.substr(0, colon)), text::trim(line.substr(colon + 1)));
    return true;
  }
  bool parse_lines(const std::vector<std::string>& lines) {
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const std::string line = text::trim(lines[i]);
      if (!line.empty() && !parse_line(line)) {
        return false;
      }
    }
    return true;
  }
  std::string format() const {
    std::string lines;
    for (const auto& [name, value] : values_) {
      lines += name + ": " + value + "\r\n";
    }
    return lines;
  }

 private:
  std::map<std::string, std::string> values_;
};

class Request {
 public:
  Request() = default;
  Request(const std::string& method, const std::string& path) : method_(method), path_(path) {}

  const std::string& method() const { return method_; }
  const std::string& path() const { return path_; }
  Headers& headers() { return headers_; }
  const Headers& headers() const { return headers_; }
  std::string format() const {
    return method_ + " " + path_ + " HTTP/1.0\r\n" + headers_.format() + "\r\n";
  }
  // False: this is no request.
  bool parse(const std::string& data) {
    const std::vector<std::string> lines = text::split(data, '\n');
    const std::vector<std::string> words = text::split(text::trim(lines[0]), ' ');
    if (words.size() != 3 || !text::starts_with(words[2], "HTTP/")) {
      return false;
    }
    method_ = words[0];
    path_ = words[1];
    return headers_.parse_lines(lines);
  }

 private:
  std::string method_ = "GET";
  std::string path_ = "/";
  Headers headers_;
};

class Response {
 public:
  void set_status(int status) { status_ = status; }
  int status() const { return status_; }
  Headers& headers() { return headers_; }
  const Headers& headers() const { return headers_; }
  const std::string& body() const { return body_; }
  void set_body(const std::string& body, const std::string& type) {
    body_ = body;
    headers_.set("Content-Type", type);
    headers_.set("Content-Length", std::to_string(body.size()));
  }
  void drop_body() { body_.clear(); }
  static std::string reason(int status) {
    switch (status) {
      case 200:
        return "OK";
      case 301:
        return "Moved Permanently";
      case 400:
        return "Bad Request";
      case 404:
        return "Not Found";
      case 405:
        return "Method Not Allowed";
      default:
        return "Internal Server Error";
    }
  }
  std::string format() const {
    std::string data = "HTTP/1.0 " + std::to_string(status_) + " " + reason(status_) + "\r\n";
    data += headers_.format();
    data += "\r\n";
    data += body_;
    return data;
  }
  // False: this is no response, or not a whole one.
  bool parse(const std::string& data) {
    const std::size_t end = data.find("\r\n\r\n");
    if (end == std::string::npos || !text::starts_with(data, "HTTP/")) {
      return false;
    }
    const std::vector<std::string> lines = text::split(data.substr(0, end), '\n');
    const std::vector<std::string> words = text::split(lines[0], ' ');
    if (words.size() < 2 || !headers_.parse_lines(lines)) {
      return false;
    }
    status_ = text::to_number(words[1], 500);
    body_ = data.substr(end + 4);
    return static_cast<int>(body_.size()) == text::to_number(headers_.get("Content-Length"), 0);
  }

 private:
  int status_ = 200;
  Headers headers_;
  std::string body_;
};

#endif  // BENCH_RANK_HTTP_H_
