// Writes messages of protocol buffers: the wire format has numbers (LEB128) and strings of bytes, each
// behind the number of its field.
#ifndef CLEW_HOST_REPORT_PROTOBUF_H_
#define CLEW_HOST_REPORT_PROTOBUF_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace clew {

class ProtobufMessage {
 public:
  ProtobufMessage& number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  ProtobufMessage& text(std::uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtobufMessage& message(std::uint32_t field, const ProtobufMessage& value) {
    return text(field, value.bytes_);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace clew

#endif  // CLEW_HOST_REPORT_PROTOBUF_H_
