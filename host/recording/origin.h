// Where a recording comes from. meta.json has it as one line for people; only this file knows the
// words of that line, everybody else asks for the kind.
#ifndef CLEW_HOST_RECORDING_ORIGIN_H_
#define CLEW_HOST_RECORDING_ORIGIN_H_

#include <cstdint>
#include <string>

namespace clew {

class Origin {
 public:
  enum class Kind : std::uint8_t {
    kOther,      // `clew run`, or a line that means nothing to this version
    kHunt,       // a schedule of a hunt
    kIsolation,  // one side of an isolation
    kProcess,    // another process of a recorded run
  };

  Origin() = default;  // `clew run`: an empty line
  [[nodiscard]] static Origin hunt(std::uint64_t schedule, const std::string& strategy,
                                   std::uint64_t seed);
  [[nodiscard]] static Origin isolation(std::uint64_t recording);
  [[nodiscard]] static Origin isolation();  // of a schedule that was given
  enum class Start : std::uint8_t { kStarted, kForked };
  [[nodiscard]] static Origin process(int pid, std::uint64_t recording, Start start);

  // Any line is an origin: recordings are also made by other versions.
  [[nodiscard]] static Origin from_line(std::string line);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const std::string& line() const { return line_; }

  bool operator==(const Origin&) const = default;

 private:
  Kind kind_ = Kind::kOther;
  std::string line_;
};

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_ORIGIN_H_
