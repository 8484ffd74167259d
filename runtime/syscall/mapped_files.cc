#include "runtime/syscall/mapped_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "runtime/outside/descriptors.h"
#include "runtime/raw_syscall.h"

namespace clew::rt {
namespace {

// In a recording, which file it is; in a replay, what stands in for it. Its number is its position
// in the list, from 1.
struct MappedFile {
  dev_t device;
  ino_t inode;
  int memory;  // a descriptor, + 1
  std::int64_t size;
};
// Chosen, not measured: files that are mapped shared and writable are few.
constexpr unsigned kMost = 1024;
MappedFile g_files[kMost];
unsigned g_count = 0;

constexpr long kPage = 4096;

bool failed(long result) { return result < 0 && result > -4096; }

long map(std::size_t size, long protection, long flags, long fd, long offset, long hint = 0) {
  return raw_syscall(SYS_mmap, hint, static_cast<long>(size), protection, flags, fd, offset);
}

// --- recording -----------------------------------------------------------------------------------

bool status_of(long fd, struct stat& status) {
  return raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&status)) == 0 &&
         S_ISREG(status.st_mode);
}

// Where segments are kept, by their number: no device of files has this one.
constexpr dev_t kSegments = ~dev_t{0};

unsigned number_of(dev_t device, ino_t inode) {
  for (unsigned i = 0; i < g_count; ++i)
    if (g_files[i].inode == inode && g_files[i].device == device) return i + 1;
  return 0;
}

unsigned number_of(const struct stat& status) { return number_of(status.st_dev, status.st_ino); }

// 0: there are too many.
unsigned number_of_mapped(dev_t device, ino_t inode) {
  const unsigned number = number_of(device, inode);
  if (number != 0 || g_count == kMost) return number;
  g_files[g_count] = {device, inode, 0, 0};
  return ++g_count;
}

// A file in which a call has changed something.
struct Changed {
  unsigned number = 0;  // 0: it is not mapped, or there are too many
  std::int64_t size = 0;
  long fd = -1;

  void put(const void* content, std::size_t length, std::int64_t offset) const {
    if (number != 0) g_files[number - 1].size = size;
    g_inputs.put_file(
        {number, static_cast<std::uint64_t>(size), static_cast<std::uint64_t>(offset)}, content,
        length);
  }
  void put_size() const {
    if (g_files[number - 1].size != size) put(nullptr, 0, 0);
  }
};

Changed changed_by_descriptor(long fd) {
  struct stat status;
  if (fd < 0 || descriptor(static_cast<int>(fd)).leads != Leads::kFile || !status_of(fd, status))
    return {};
  return {number_of(status), status.st_size, fd};
}

Changed changed_by_name(long path) {
  struct stat status;
  if (raw_syscall(SYS_stat, path, reinterpret_cast<long>(&status)) != 0) return {};
  return {number_of(status), status.st_size, -1};
}

// What the file holds there. A second descriptor is opened only where the program's cannot read:
// closing it would give up the program's locks on the file.
void put_read_back(const Changed& file, std::int64_t offset, std::int64_t length) {
  static char buffer[1 << 16];
  long fd = file.fd;
  const bool can_read = (raw_syscall(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) != O_WRONLY;
  if (!can_read) {
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%ld", file.fd);
    fd = raw_syscall(SYS_open, reinterpret_cast<long>(name), O_RDONLY | O_CLOEXEC, 0);
  }
  const std::int64_t end = offset + length < file.size ? offset + length : file.size;
  file.put_size();
  while (fd >= 0 && offset < end) {
    const std::int64_t left = end - offset;
    const long n =
        raw_syscall(SYS_pread64, fd, reinterpret_cast<long>(buffer),
                    left < std::int64_t{sizeof buffer} ? left : long{sizeof buffer}, offset);
    if (n <= 0) break;
    file.put(buffer, static_cast<std::size_t>(n), offset);
    offset += n;
  }
  if (!can_read && fd >= 0) raw_syscall(SYS_close, fd);
}

std::int64_t position_of(long fd) { return raw_syscall(SYS_lseek, fd, 0, SEEK_CUR); }

// `written` bytes of the parts went to the file, to the given offset or, negative, to its position.
void put_written(long fd, const iovec* parts, std::size_t written, std::int64_t offset) {
  const Changed file = changed_by_descriptor(fd);
  if (file.number == 0) return;
  const auto length = static_cast<std::int64_t>(written);
  if (offset < 0) {
    offset = position_of(fd) - length;
  } else if ((raw_syscall(SYS_fcntl, fd, F_GETFL) & O_APPEND) != 0) {
    offset = file.size - length;  // whatever the call says
  }
  for (; written > 0; ++parts) {
    const std::size_t n = parts->iov_len < written ? parts->iov_len : written;
    if (n > 0) file.put(parts->iov_base, n, offset);
    offset += static_cast<std::int64_t>(n);
    written -= n;
  }
}

// Data came from another descriptor. `end` is where it ends in the file; null: at the file's
// position.
void put_moved(long fd, long moved, const std::int64_t* end) {
  const Changed file = changed_by_descriptor(fd);
  if (file.number == 0) return;
  put_read_back(file, (end != nullptr ? *end : position_of(fd)) - moved, moved);
}

void put_allocated(const Call& call) {
  const Changed file = changed_by_descriptor(call.a[0]);
  if (file.number == 0) return;
  const bool moves = (call.a[1] & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) != 0;
  if ((call.a[1] & ~FALLOC_FL_KEEP_SIZE) == 0) return file.put_size();
  put_read_back(file, call.a[2], moves ? file.size : call.a[3]);
}

// Which file is mapped at an address, and where the view begins in it.
struct View {
  unsigned long begin = 0, end = 0, offset = 0, inode = 0;
  char rights[5] = {};
  bool find(unsigned long address) {
    static char text[1 << 14];
    const long fd = raw_syscall(SYS_open, reinterpret_cast<long>("/proc/self/maps"), O_RDONLY, 0);
    std::size_t have = 0;
    bool found = false;
    while (fd >= 0 && !found) {
      const long n = raw_syscall(SYS_read, fd, reinterpret_cast<long>(text + have),
                                 static_cast<long>(sizeof text - 1 - have));
      if (n <= 0) break;
      have += static_cast<std::size_t>(n);
      text[have] = 0;
      char* line = text;
      for (char* next; !found && (next = strchr(line, '\n')) != nullptr; line = next + 1)
        found =
            sscanf(line, "%lx-%lx %4s %lx %*s %lu", &begin, &end, rights, &offset, &inode) == 5 &&
            address >= begin && address < end;
      have -= static_cast<std::size_t>(line - text);
      memmove(text, line, have);
    }
    if (fd >= 0) raw_syscall(SYS_close, fd);
    return found;
  }
};

// A view has become longer and shows more of its file. Some file systems name another device in the
// list of mappings.
void put_grown(const Call& call, long address) {
  const auto old_size = static_cast<unsigned long>(call.a[1]);
  const auto new_size = static_cast<unsigned long>(call.a[2]);
  const unsigned long begin = static_cast<unsigned long>(address) + old_size;
  View view;
  if (new_size <= old_size || !view.find(begin) || view.inode == 0 || view.rights[0] != 'r') return;
  for (unsigned i = 0; i < g_count; ++i) {
    if (g_files[i].inode != view.inode) continue;
    const std::int64_t size = g_files[i].size;
    const auto offset = static_cast<std::int64_t>(view.offset + (begin - view.begin));
    const auto length = static_cast<std::int64_t>(new_size - old_size);
    const std::int64_t left = size > offset ? size - offset : 0;
    const Changed file{i + 1, size, -1};
    file.put(reinterpret_cast<const void*>(begin),
             static_cast<std::size_t>(left < length ? left : length), offset);
    return;
  }
}

void record_change(const Call& call, long result) {
  const auto& a = call.a;
  const auto written = static_cast<std::size_t>(result);
  const iovec only{reinterpret_cast<void*>(a[1]), written};
  const auto* parts = reinterpret_cast<const iovec*>(a[1]);
  Changed file;
  switch (call.number) {
    case SYS_write:
      return put_written(a[0], &only, written, -1);
    case SYS_pwrite64:
      return put_written(a[0], &only, written, a[3]);
    case SYS_writev:
      return put_written(a[0], parts, written, -1);
    case SYS_pwritev:
    case SYS_pwritev2:
      return put_written(a[0], parts, written, a[3]);
    case SYS_sendfile:
      return put_moved(a[0], result, nullptr);
    case SYS_splice:
    case SYS_copy_file_range:
      return put_moved(a[2], result, reinterpret_cast<const std::int64_t*>(a[3]));
    case SYS_fallocate:
      return put_allocated(call);
    case SYS_mremap:
      return put_grown(call, result);
    case SYS_ftruncate:
      file = changed_by_descriptor(a[0]);
      break;
    case SYS_truncate:
      file = changed_by_name(a[0]);
      break;
    case SYS_open:
    case SYS_creat:
    case SYS_openat:
    case SYS_openat2:
      file = changed_by_descriptor(result);
      break;
    default:
      return;
  }
  if (file.number != 0) file.put_size();
}

// --- replaying -----------------------------------------------------------------------------------

// A descriptor of what stands in for the file; negative: there is none.
long memory_of(std::uint64_t number) {
  if (number == 0 || number > kMost) return -1;
  MappedFile& file = g_files[number - 1];
  if (file.memory == 0) {
    const long fd =
        raw_syscall(SYS_memfd_create, reinterpret_cast<long>("clew mapped file"), MFD_CLOEXEC);
    if (fd >= 0) file.memory = static_cast<int>(fd) + 1;
  }
  return file.memory - 1;
}

bool apply(const FilePart& part, const std::uint8_t* content, std::size_t size) {
  const long fd = memory_of(part.file);
  if (fd < 0) return false;
  MappedFile& file = g_files[part.file - 1];
  const auto file_size = static_cast<std::int64_t>(part.file_size);
  if (file.size != file_size && raw_syscall(SYS_ftruncate, fd, file_size) != 0) return false;
  file.size = file_size;
  auto offset = static_cast<long>(part.offset);
  while (size > 0) {
    const long n = raw_syscall(SYS_pwrite64, fd, reinterpret_cast<long>(content),
                               static_cast<long>(size), offset);
    if (n <= 0) return false;
    content += n;
    offset += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

bool record_mapped_file(const Call& call, long address) {
  struct stat status;
  if (!status_of(call.a[4], status)) return false;
  const Changed file{number_of_mapped(status.st_dev, status.st_ino), status.st_size, call.a[4]};
  const std::int64_t left = status.st_size > call.a[5] ? status.st_size - call.a[5] : 0;
  const std::int64_t length = (call.a[1] + kPage - 1) / kPage * kPage;  // of whole pages
  const auto size = static_cast<std::size_t>(left < length ? left : length);
  if ((call.a[2] & PROT_READ) != 0 || size == 0) {
    file.put(reinterpret_cast<const void*>(address), size, call.a[5]);
    return true;
  }
  // Not readable where it is.
  const long copy = map(size, PROT_READ, MAP_PRIVATE, call.a[4], call.a[5]);
  file.put(reinterpret_cast<const void*>(copy), failed(copy) ? 0 : size, call.a[5]);
  if (!failed(copy)) raw_syscall(SYS_munmap, copy, static_cast<long>(size));
  return true;
}

long replay_mapped_file(const Call& call, long recorded_address) {
  FilePart part;
  const std::uint8_t* content = nullptr;
  std::size_t size = 0;
  if (!g_inputs.take_file(part, content, size)) return 0;
  const auto length = static_cast<std::size_t>(call.a[1]);
  const long hint = call.a[0] != 0 ? call.a[0] : recorded_address;
  const bool is_private = (call.a[3] & MAP_TYPE) == MAP_PRIVATE;
  const long flags = (call.a[3] & ~(MAP_TYPE | MAP_SYNC)) | (is_private ? MAP_PRIVATE : MAP_SHARED);
  if (apply(part, content, size))
    return map(length, call.a[2], flags, memory_of(part.file), call.a[5], hint);
  // Without a stand-in (no more descriptors, for example) the mapping gets a copy of its own.
  const long address = map(length, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0, hint);
  if (failed(address)) return address;
  const std::size_t room = (length + kPage - 1) / kPage * kPage;
  memcpy(reinterpret_cast<void*>(address), content, size < room ? size : room);
  raw_syscall(SYS_mprotect, address, call.a[1], call.a[2]);
  return address;
}

void record_attached(const Call& call, long address, std::size_t size) {
  const Changed segment{number_of_mapped(kSegments, static_cast<ino_t>(call.a[0])),
                        static_cast<std::int64_t>(size)};
  segment.put(reinterpret_cast<const void*>(address), size, 0);
}

long replay_attached(const Call& call, long recorded_address, std::size_t& size) {
  FilePart part;
  const std::uint8_t* content = nullptr;
  if (!g_inputs.take_file(part, content, size)) return -EINVAL;
  const long protection = (call.a[2] & SHM_RDONLY) != 0 ? PROT_READ : PROT_READ | PROT_WRITE;
  const long flags = MAP_SHARED | ((call.a[2] & SHM_REMAP) != 0 ? MAP_FIXED : 0);
  if (size == 0 || !apply(part, content, size)) return -ENOMEM;
  return map(size, protection, flags, memory_of(part.file), 0, recorded_address);
}

void follow_change_of_files(const Call& call, long result) {
  if (g_inputs.replaying()) {
    FilePart part;
    const std::uint8_t* content = nullptr;
    std::size_t size = 0;
    while (g_inputs.take_file(part, content, size)) apply(part, content, size);
  } else if (g_count > 0 && result >= 0 && g_inputs.recording()) {
    record_change(call, result);
  }
}

}  // namespace clew::rt
