// The child processes of a recorded program that have the runtime in them, each with its own
// recording (abi/clew_abi/adoption.h): programs that were started, and copies made by fork() that
// have threads.
#ifndef CLEW_HOST_TARGET_DESCENDANTS_H_
#define CLEW_HOST_TARGET_DESCENDANTS_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "clew_abi/adoption.h"
#include "host/error.h"
#include "host/recording/file.h"
#include "host/recording/recording.h"
#include "host/target/launch_plan.h"
#include "host/target/run_result.h"

namespace clew {

class Intake;

// One that has ended, or was let go.
struct RecordedChild {
  pid_t pid = 0;
  std::string command;  // its arguments, for people
  std::uint64_t recording = 0;
  RunResult run;
};

class Descendants {
 public:
  // For the program of this plan and recording. New recordings are created in `store`, which must
  // outlive this object. Fails if no socket can be created.
  [[nodiscard]] static Result<Descendants> listen(const LaunchPlan& plan, std::uint64_t recording,
                                                  RecordingStore& store);
  Descendants(Descendants&&) noexcept;
  Descendants& operator=(Descendants&&) = delete;
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;
  ~Descendants();

  int descriptor() const { return socket_.get(); }  // readable: a process asks
  // Answers those that ask. `program` takes what the program itself reports, here and below.
  void answer(Intake& program);
  // Takes what they report, and concludes the recordings of those that have ended. Must be called
  // often enough that their rings do not fill up.
  void look_after();
  // The program itself has ended. Those that still run get a moment; then they end if clew has
  // ended the program; otherwise they continue while their recordings end.
  void parent_ended(Intake& program, bool by_clew);

  const std::vector<RecordedChild>& children() const { return children_; }
  // One line each, for people.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  class Descendant;

  Descendants(LaunchPlan plan, std::uint64_t recording, RecordingStore& store,
              FileDescriptor socket);
  // What a copy branches off.
  struct CopiedProcess {
    LaunchPlan plan;
    Reports reports;  // threads and modules
  };
  void hear(int connection, Intake& program);
  void adopt(int connection, pid_t pid, const std::string& started_as);
  void adopt_copy(int connection, pid_t pid, const abi::Branch& branch, Intake& program);
  bool may_adopt_another();
  void answer_with(int connection, Result<std::unique_ptr<Descendant>> made, pid_t pid,
                   const std::string& shown);
  [[nodiscard]] Result<CopiedProcess> origin_of(const abi::Branch& branch, Intake& program);
  [[nodiscard]] Result<std::unique_ptr<Descendant>> make_program(LaunchPlan plan, pid_t pid);
  [[nodiscard]] Result<std::unique_ptr<Descendant>> make_copy(pid_t pid, const abi::Branch& branch,
                                                              Intake& program);
  [[nodiscard]] Result<std::unique_ptr<Descendant>> make(LaunchPlan plan, pid_t pid);
  std::uint64_t seed_for(const std::vector<std::string>& arguments);
  void conclude(Descendant& descendant);
  void conclude_image_of(pid_t pid);

  LaunchPlan plan_;
  std::uint64_t recording_;
  RecordingStore& store_;
  FileDescriptor socket_;
  std::vector<std::unique_ptr<Descendant>> alive_;
  std::vector<RecordedChild> children_;
  std::vector<std::string> notes_;
  std::map<std::uint64_t, CopiedProcess> ended_;  // by recording
  std::map<std::string, std::uint64_t> started_;  // how often this command
  std::uint64_t adopted_ = 0;
  std::uint64_t declined_ = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_TARGET_DESCENDANTS_H_
