// The standard input of a program that is run many times: the same for every run.
#ifndef CLEW_HOST_SEARCH_HUNT_INPUT_H_
#define CLEW_HOST_SEARCH_HUNT_INPUT_H_

#include <string>

#include "host/error.h"
#include "host/recording/file.h"
#include "host/target/input_feed.h"

namespace clew {

class HuntInput {
 public:
  // From clew's own standard input: a pipe is read to its end; a terminal counts as empty.
  [[nodiscard]] static Result<HuntInput> from_here();

  // What the recorded run was given.
  [[nodiscard]] static Result<HuntInput> of_recording(const Recording& recording);

  [[nodiscard]] static Result<HuntInput> of_file(const std::string& path);

  // The input from its beginning, independent of others.
  [[nodiscard]] Result<FileDescriptor> open() const;
  // As open(), for a run that is recorded.
  [[nodiscard]] Result<InputFeed> feed(const Draft& draft) const;

 private:
  FileDescriptor file_;  // not valid: no input
  off_t offset_ = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_HUNT_INPUT_H_
