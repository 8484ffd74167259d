// What the server and the downloader have in common: texts, sockets, requests, responses, a site.
#ifndef BENCH_RANK_HTTP_COMMON_H_
#define BENCH_RANK_HTTP_COMMON_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace text {

inline std::string lower(std::string value) {
  for (char& c : value) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return value;
}

inline std::string trim(const std::string& value) {
  std::size_t begin = 0;
  std::size_t end = value.size();
  while (begin < end && std::isspace(static_cast<unsigned char>(value[begin])) != 0) {
    ++begin;
  }
  while (end > begin && std::isspace(static_cast<unsigned char>(value[end - 1])) != 0) {
    --end;
  }
  return value.substr(begin, end - begin);
}

inline bool starts_with(const std::string& value, const std::string& start) {
  return value.compare(0, start.size(), start) == 0;
}

inline bool ends_with(const std::string& value, const std::string& end) {
  return value.size() >= end.size() &&
         value.compare(value.size() - end.size(), end.size(), end) == 0;
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

inline int number(const std::string& value, int otherwise) {
  if (value.empty() || std::isdigit(static_cast<unsigned char>(value[0])) == 0) {
    return otherwise;
  }
  return std::atoi(value.c_str());
}

}  // namespace text

// A connected or listening socket, closed at the end.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { close(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
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
  // Whether something can be read within this time.
  bool wait_readable(int milliseconds) {
    pollfd ready{descriptor_, POLLIN, 0};
    return ::poll(&ready, 1, milliseconds) > 0;
  }
  std::string receive_some() {
    char part[1024];
    const ssize_t n = ::recv(descriptor_, part, sizeof part, 0);
    return n > 0 ? std::string(part, static_cast<std::size_t>(n)) : std::string();
  }
  std::shared_ptr<Socket> accept_one() {
    return std::make_shared<Socket>(::accept(descriptor_, nullptr, nullptr));
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

// Listens on a free port, which it returns.
inline int listen_somewhere(std::unique_ptr<Socket>& listener) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback(0);
  if (::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(descriptor, 128) != 0) {
    std::perror("listen");
    std::exit(2);
  }
  socklen_t size = sizeof address;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  listener = std::make_unique<Socket>(descriptor);
  return ntohs(address.sin_port);
}

inline std::unique_ptr<Socket> connect_to(int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback(port);
  if (::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ::close(descriptor);
    return nullptr;
  }
  return std::make_unique<Socket>(descriptor);
}

class Headers {
 public:
  void set(const std::string& name, const std::string& value) {
    values_[text::lower(name)] = value;
  }
  std::string get(const std::string& name) const {
    const auto found = values_.find(text::lower(name));
    return found == values_.end() ? std::string() : found->second;
  }
  bool has(const std::string& name) const { return !get(name).empty(); }
  // A line of a request or a response.
  bool parse_line(const std::string& line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      return false;
    }
    set(text::trim(line.substr(0, colon)), text::trim(line.substr(colon + 1)));
    return true;
  }
  std::string text() const {
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
  // False: it is none.
  bool parse(const std::string& data) {
    const std::vector<std::string> lines = text::split(data, '\n');
    if (!parse_first_line(text::trim(lines[0]))) {
      return false;
    }
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const std::string line = text::trim(lines[i]);
      if (!line.empty() && !headers_.parse_line(line)) {
        return false;
      }
    }
    return true;
  }
  const std::string& method() const { return method_; }
  const std::string& path() const { return path_; }
  const Headers& headers() const { return headers_; }
  static bool is_whole(const std::string& data) {
    return data.find("\r\n\r\n") != std::string::npos;
  }
  static std::string make(const std::string& path) {
    return "GET " + path + " HTTP/1.0\r\nHost: localhost\r\nUser-Agent: bench\r\n\r\n";
  }

 private:
  bool parse_first_line(const std::string& line) {
    const std::vector<std::string> words = text::split(line, ' ');
    if (words.size() != 3 || !text::starts_with(words[2], "HTTP/")) {
      return false;
    }
    method_ = words[0];
    path_ = words[1];
    return true;
  }

  std::string method_;
  std::string path_;
  Headers headers_;
};

class Response {
 public:
  void set_status(int status) { status_ = status; }
  void set_body(const std::string& body, const std::string& type) {
    body_ = body;
    headers_.set("Content-Type", type);
    headers_.set("Content-Length", std::to_string(body.size()));
  }
  int status() const { return status_; }
  const std::string& body() const { return body_; }
  static const char* reason(int status) {
    switch (status) {
      case 200:
        return "OK";
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
  std::string text() const {
    return "HTTP/1.0 " + std::to_string(status_) + " " + reason(status_) + "\r\n" +
           headers_.text() + "\r\n" + body_;
  }
  bool parse(const std::string& data) {
    const std::size_t head = data.find("\r\n\r\n");
    if (head == std::string::npos || !text::starts_with(data, "HTTP/")) {
      return false;
    }
    const std::vector<std::string> lines = text::split(data.substr(0, head), '\n');
    const std::vector<std::string> words = text::split(lines[0], ' ');
    status_ = words.size() > 1 ? text::number(words[1], 500) : 500;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      headers_.parse_line(text::trim(lines[i]));
    }
    body_ = data.substr(head + 4);
    return static_cast<int>(body_.size()) == text::number(headers_.get("Content-Length"), 0);
  }

 private:
  int status_ = 200;
  Headers headers_;
  std::string body_;
};

inline std::string mime_type(const std::string& path) {
  if (text::ends_with(path, ".html")) {
    return "text/html";
  }
  if (text::ends_with(path, ".css")) {
    return "text/css";
  }
  if (text::ends_with(path, ".txt")) {
    return "text/plain";
  }
  return "application/octet-stream";
}

// The documents of a site, by path.
class Site {
 public:
  void add(const std::string& path, const std::string& body) { documents_[path] = body; }
  const std::string* find(const std::string& path) const {
    const auto found = documents_.find(path == "/" ? "/index.html" : path);
    return found == documents_.end() ? nullptr : &found->second;
  }
  std::size_t size() const { return documents_.size(); }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [path, body] : documents_) {
      sum += body.size();
    }
    return sum;
  }
  std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const auto& [path, body] : documents_) {
      all.push_back(path);
    }
    return all;
  }

 private:
  std::map<std::string, std::string> documents_;
};

#endif  // BENCH_RANK_HTTP_COMMON_H_
