// A file is flushed on closing if it is dirty. Two writers share the flags of the file, and one puts back an old copy of them, so that the flush is left out.
// ROOT CAUSE: omitted_flush.cpp:24, omitted_flush.cpp:26 (flags copied, changed and put back); KIND: data-race
// OMITTED: omitted_flush.cpp:37
#include <cstdio>
#include <string>
#include <thread>  // clang-format off

struct File {
  unsigned flags = 0;
  std::string buffer;
  std::string disk;
};

enum : unsigned { kDirty = 1, kPinned = 2, kSeen = 4 };

class Writer {
 public:
  explicit Writer(File& file) : file_(file) {}
  void write(const std::string& text) {
    file_.buffer = text;
    mark(kDirty);
  }
  void mark(unsigned flag) {
    const unsigned before = file_.flags;
    // Another thread's flag may come in between.
    file_.flags = before | flag;
  }

 private:
  File& file_;
};

class Closer {
 public:
  static void close(File& file) {
    if ((file.flags & kDirty) != 0)
      file.disk = file.buffer;
    file.flags = 0;
  }
};

int main() {
  File file;
  Writer writer(file);
  std::thread first([&] { writer.write("line"); });
  std::thread second([&] { writer.mark(kSeen); });
  first.join();
  second.join();
  Closer::close(file);
  std::printf("on disk: '%s'\n", file.disk.c_str());
  return file.disk == "line" ? 0 : 1;
}
