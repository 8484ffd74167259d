#include "value.h"

#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace engine {

long Value::number() const {
  if (const long* number = std::get_if<long>(&held_)) return *number;
  if (const std::string* text = std::get_if<std::string>(&held_))
    return std::strtol(text->c_str(), nullptr, 10);
  return 0;
}

std::string Value::text() const {
  if (const std::string* text = std::get_if<std::string>(&held_)) return *text;
  if (const long* number = std::get_if<long>(&held_)) return std::to_string(*number);
  return "null";
}

int Value::compare(const Value& other) const {
  if (held_.index() != other.held_.index()) return held_.index() < other.held_.index() ? -1 : 1;
  if (is_null()) return 0;
  if (is_number()) {
    const long a = number(), b = other.number();
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return std::get<std::string>(held_).compare(std::get<std::string>(other.held_));
}

void Value::pack(std::string& to) const {
  to.push_back(static_cast<char>(held_.index()));
  if (is_null()) return;
  if (is_number()) {
    const long value = number();
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
    return;
  }
  const std::string& text = std::get<std::string>(held_);
  const auto size = static_cast<unsigned short>(text.size());
  to.append(reinterpret_cast<const char*>(&size), sizeof size);
  to.append(text);
}

Value Value::unpack(const char*& at, const char* end) {
  const auto need = [&](std::size_t size) {
    if (static_cast<std::size_t>(end - at) < size) throw std::runtime_error("a row is cut off");
  };
  need(1);
  const char tag = *at++;
  if (tag == 0) return Value();
  if (tag == 1) {
    long number = 0;
    need(sizeof number);
    std::memcpy(&number, at, sizeof number);
    at += sizeof number;
    return Value(number);
  }
  unsigned short size = 0;
  need(sizeof size);
  std::memcpy(&size, at, sizeof size);
  at += sizeof size;
  need(size);
  std::string text(at, size);
  at += size;
  return Value(std::move(text));
}

std::string pack_row(const Row& row) {
  std::string bytes;
  bytes.push_back(static_cast<char>(row.size()));
  for (const Value& value : row) value.pack(bytes);
  return bytes;
}

Row unpack_row(const std::string& bytes) {
  if (bytes.empty()) throw std::runtime_error("a row without bytes");
  const char* at = bytes.data();
  const char* end = at + bytes.size();
  const std::size_t count = static_cast<unsigned char>(*at++);
  Row row;
  row.reserve(count);
  for (std::size_t i = 0; i < count; i++) row.push_back(Value::unpack(at, end));
  return row;
}

std::string to_text(const Row& row) {
  std::string text;
  for (const Value& value : row) text += (text.empty() ? "" : "|") + value.text();
  return text;
}

}  // namespace engine
