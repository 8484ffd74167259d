// Prints where things are: two runs under clew print the same. With an argument it starts itself again as a child
// process.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

int g_variable = 1;
thread_local int t_variable = 1;

void print(const char* what, const void* place) { std::printf("%s %p\n", what, place); }

std::string own_file() {
  char name[4096];
  const ssize_t size = readlink("/proc/self/exe", name, sizeof name);
  return {name, size > 0 ? static_cast<std::size_t>(size) : 0};
}

}  // namespace

int main(int count, char** arguments) {
  int local = 0;
  print("code", reinterpret_cast<const void*>(&own_file));
  print("variable", &g_variable);
  print("library", reinterpret_cast<const void*>(&std::puts));
  print("stack", &local);
  print("argument", arguments[0]);
  print("environment", std::getenv("PATH"));
  print("break", sbrk(0));
  print("small", std::malloc(10));
  print("large", std::malloc(10 << 20));
  print("mapped", mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::thread([] {
    int own = 0;
    print("stack of a thread", &own);
    print("thread-local variable", &t_variable);
    print("memory of a thread", std::malloc(10));
  }).join();
  std::printf("file %s\n", own_file().c_str());
  std::printf("arguments %d %s\n", count, arguments[0]);
  std::fflush(stdout);
  if (count > 1) return std::system((own_file() + " >child.txt").c_str()) == 0 ? 0 : 1;
}
