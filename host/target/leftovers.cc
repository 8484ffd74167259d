#include "host/target/leftovers.h"

#include <fcntl.h>
#include <mqueue.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ranges>

#include "host/recording/file.h"

namespace clew {
namespace {

// The names come from the memory of the program: only what is still the same object that it created
// is removed.
bool is_it(const struct stat& status, const CreatedName& name) {
  return status.st_dev == name.device && status.st_ino == name.inode;
}

void remove_queue(const CreatedName& name) {
  const std::string path = "/" + name.path;
  const FileDescriptor queue(mq_open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (queue.get() >= 0 && fstat(queue.get(), &status) == 0 && is_it(status, name))
    mq_unlink(path.c_str());
}

void remove_file(const CreatedName& name) {
  struct stat status{};
  if (lstat(name.path.c_str(), &status) != 0 || !is_it(status, name)) return;
  unlinkat(AT_FDCWD, name.path.c_str(), name.kind == abi::CreatedKind::kFolder ? AT_REMOVEDIR : 0);
}

}  // namespace

Leftovers::~Leftovers() {
  for (const CreatedName& name : std::views::reverse(names_)) {
    if (name.path.empty()) continue;
    if (name.kind == abi::CreatedKind::kQueue)
      remove_queue(name);
    else
      remove_file(name);
  }
}

}  // namespace clew
