// The program that served_program_test runs: the first argument selects what it does. Each mode
// ends in stir(), so that schedules differ, and prints what it found, so that leftovers of an
// earlier run show.
#include <dlfcn.h>
#include <fcntl.h>
#include <locale.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <locale>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

std::mutex g_mutex;
volatile int g_shared = 0;
std::string g_order;
thread_local int t_own = 7;
FILE* g_opened_before_main = fopen("data.txt", "r");

// Some threads race and lock; the result depends on the schedule.
int stir(int threads = 3, int rounds = 6) {
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([=] {
      for (int i = 0; i < rounds; ++i) {
        g_shared = g_shared * 3 + t;
        const std::lock_guard lock(g_mutex);
        g_order += static_cast<char>('a' + t % 26);
        ++t_own;
      }
    });
  for (std::thread& t : all) t.join();
  printf("%s %d %d\n", g_order.c_str(), static_cast<int>(g_shared), t_own);
  unsigned sum = static_cast<unsigned>(g_shared);
  for (std::size_t i = 0; i < g_order.size(); ++i)
    sum = sum * 31 + static_cast<unsigned char>(g_order[i]);
  return static_cast<int>(sum >> 7 & 1);
}

int& counted() {
  static int calls = [] {
    puts("first call");
    return 100;
  }();
  return ++calls;
}

__attribute__((noinline)) int recurse(int depth) {
  volatile char room[1024];
  room[0] = static_cast<char>(depth);
  return depth == 0 ? room[0] : recurse(depth - 1) + room[0];
}

volatile sig_atomic_t g_signals = 0;

std::string slurp(const char* path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

using Mode = int (*)();

int plain() { return stir(); }

int uses_thread_local() {
  ++t_own;
  std::thread([] { printf("%d\n", ++t_own); }).join();
  return stir() + (t_own == 8 ? 0 : 50);
}

int static_locals() {
  counted();
  std::thread([] { counted(); }).join();
  printf("%d\n", counted());
  return stir();
}

int allocates() {
  std::vector<void*> kept;
  for (std::size_t size = 16; size <= std::size_t{8} << 20; size *= 2) {
    void* p = malloc(size);
    memset(p, 1, size);
    if (size % 3 == 0)
      free(p);
    else
      kept.push_back(p);
  }
  stir();
  char* grown = static_cast<char*>(malloc(10));
  for (std::size_t size = 20; size <= std::size_t{4} << 20; size *= 3)
    grown = static_cast<char*>(realloc(grown, size));
  for (std::size_t i = 0; i < kept.size(); i += 2) free(kept[i]);
  printf("%p %p\n", static_cast<void*>(grown), kept.back());
  std::thread([] { printf("%p\n", malloc(100)); }).join();
  return 0;
}

int streams() {
  std::cout << "not flushed, ";
  std::cerr << "flushed";
  const int result = stir();
  std::cout << "at the end";
  fputs("stdio too", stderr);
  return result;
}

int file_left_open() {
  char text[8] = {};
  if (g_opened_before_main == nullptr || fread(text, 1, 4, g_opened_before_main) != 4) return 40;
  const int fd = open("data.txt", O_RDONLY);
  char more[8] = {};
  if (read(fd, more, 6) != 6) return 41;
  printf("%s %s %d %ld\n", text, more, fd, ftell(g_opened_before_main));
  return stir();
}

int reads_input() {
  std::string line;
  int lines = 0;
  std::size_t size = 0;
  while (std::getline(std::cin, line)) ++lines, size += line.size();
  char c;
  printf("%d %zu %zd\n", lines, size, read(0, &c, 1));
  return stir();
}

int closes_standard() {
  close(0);
  close(2);
  const int fd = open("data.txt", O_RDONLY);
  stir();
  printf("%d\n", fd);
  fflush(stdout);
  close(1);
  return open("data.txt", O_RDONLY);
}

int handles_signals() {
  struct sigaction before{}, action{};
  sigaction(SIGUSR1, nullptr, &before);
  action.sa_handler = [](int) { g_signals = g_signals + 1; };
  sigaction(SIGUSR1, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigset_t old;
  pthread_sigmask(SIG_BLOCK, &set, &old);
  raise(SIGUSR1);
  printf("%d %d %d\n", static_cast<int>(g_signals), before.sa_handler == SIG_DFL,
         sigismember(&old, SIGUSR2));
  return stir();
}

int loads_library() {
  void* before = dlopen("libanl.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* library = dlopen("libanl.so.1", RTLD_NOW);
  printf("%d %d\n", before == nullptr, library != nullptr);
  return stir();
}

int throws() {
  try {
    throw std::runtime_error("one");
  } catch (const std::exception& e) {
    puts(e.what());
  }
  std::thread([] {
    try {
      stir(2, 3);
      throw 5;
    } catch (int) {
      puts("five");
    }
  }).join();
  return 0;
}

int uncaught() {
  if (stir() == 0) throw std::logic_error("nobody catches this");
  return 0;
}

int many_threads() { return stir(200, 2); }

// What it writes itself stays far below.
int limits_files() {
  const rlimit limit{128 << 10, 128 << 10};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 70;
  return many_threads();
}

int more_than_pool() { return stir(12, 2); }

int detached() {
  static std::atomic<int> done{0};
  for (int i = 0; i < 5; ++i) std::thread([] { stir(1, 1), ++done; }).detach();
  while (done < 5) std::this_thread::yield();
  return 0;
}

int at_exit() {
  atexit([] { puts("first registered"); });
  atexit([] { stir(2, 2); });
  return stir();
}

int leaves_by_underscore() {
  printf("lost");
  const int result = stir();
  _exit(10 + result);
}

int aborts() {
  if (stir() == 1) abort();
  return 0;
}

int exit_from_thread() {
  std::thread([] {
    stir();
    exit(21);
  }).join();
  return 0;
}

int main_returns() {
  for (int i = 0; i < 3; ++i)
    std::thread([] {
      for (int j = 0; j < 50; ++j) g_shared = g_shared + 1;
    }).detach();
  stir(2, 2);
  return 3;
}

int deadlock() {
  static std::mutex a, b;
  std::thread one([] {
    const std::lock_guard first(a);
    g_shared = g_shared + 1;
    const std::lock_guard second(b);
  });
  std::thread two([] {
    const std::lock_guard first(b);
    g_shared = g_shared + 1;
    const std::lock_guard second(a);
  });
  one.join();
  two.join();
  return stir();
}

int endless() {
  stir();
  for (;;) g_shared = g_shared + 1;
}

int once() {
  static std::once_flag flag;
  std::vector<std::thread> all;
  for (int i = 0; i < 3; ++i) all.emplace_back([] { std::call_once(flag, [] { puts("once"); }); });
  for (std::thread& t : all) t.join();
  return stir();
}

int locales() {
  printf("%s\n", setlocale(LC_ALL, nullptr));
  printf("%d\n", setlocale(LC_ALL, "C.UTF-8") != nullptr);
  std::ostringstream text;
  text.imbue(std::locale("C.UTF-8"));
  text << 1234567;
  std::locale::global(std::locale::classic());
  puts(text.str().c_str());
  return stir();
}

int environment() {
  const char* before = getenv("SERVED_TEST");
  printf("%s\n", before != nullptr ? before : "none");
  setenv("SERVED_TEST", "set", 1);
  setenv("PATH", "/nowhere", 1);
  unsetenv("HOME");
  printf("%s\n", getenv("SERVED_TEST"));
  return stir();
}

int deep_main() { return recurse(1024) == 1 ? 1 : stir(); }
int deep_thread() {
  std::thread([] { printf("%d\n", recurse(2048)); }).join();
  return stir();
}

int crashes() {
  if (stir() == 1) *reinterpret_cast<volatile int*>(8) = 1;
  return 0;
}

int kills_itself() {
  if (stir() == 1) kill(getpid(), SIGKILL);
  return 0;
}

int overflows() { return stir() == 1 ? recurse(1 << 30) : 0; }

int own_pipe() {
  int ends[2];
  if (pipe(ends) != 0) return 44;
  char c;
  return static_cast<int>(read(ends[0], &c, 1));
}

// Waits for outside input that never comes, in a direct system call.
int raw_read() {
  if (stir() == 0) return 0;
  const int from = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(from, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return 44;
  char c;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_read), "D"(from), "S"(&c), "d"(1)
               : "rcx", "r11", "memory");
  return 45;
}

int writes_files() {
  printf("%d %d\n", access("made.txt", F_OK), access("folder", F_OK));
  std::ofstream("made.txt") << "text";
  mkdir("folder", 0777);
  FILE* inner = fopen("folder/inner", "w");
  fputs("x", inner);
  fclose(inner);
  close(open("second", O_CREAT | O_EXCL | O_RDWR, 0644));
  if (rename("second", "folder/third") != 0) return 60;
  if (rename("folder", "renamed") != 0) return 61;
  char name[] = "temporary_XXXXXX";
  const int fd = mkstemp(name);
  char folder[] = "folder_XXXXXX";
  const char* made = mkdtemp(folder);
  printf("%d %s %s\n", fd >= 0, name, made != nullptr ? made : "none");
  printf("%s\n", slurp("made.txt").c_str());
  unlink("made.txt");
  std::ofstream("made.txt") << "again";
  const int result = stir();
  if (result == 1 && getenv("SERVED_CRASH") != nullptr) *reinterpret_cast<volatile int*>(8) = 1;
  return result;
}

int changes_files() {
  std::ofstream("kept.txt", std::ios::app) << "more\n";
  return stir();
}

int removes_files() {
  std::ofstream("new.txt") << "new";
  rename("new.txt", "kept.txt");
  return stir();
}

int writes_then_stirs() {
  std::ofstream("early.txt") << "early";
  puts("before");
  fflush(stdout);
  const int result = stir();
  printf("%s\n", slurp("early.txt").c_str());
  std::ofstream("late.txt") << "late";
  return result;
}

// --- what outlasts a run in the same process

// The child tells through a pipe what it has, and its parent how it ended.
void fork_and_print() {
  int ends[2];
  if (pipe(ends) != 0) abort();
  const pid_t pid = fork();
  if (pid == 0) {
    const std::string text = g_order + "!";
    if (write(ends[1], text.data(), text.size()) < 0) abort();
    _exit(5);
  }
  close(ends[1]);
  char text[256] = {};
  ssize_t size = 0;
  for (ssize_t n = 1; n > 0; size += n)
    n = read(ends[0], text + size, sizeof text - 1 - static_cast<std::size_t>(size));
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) abort();
  printf("%s %d\n", text, WEXITSTATUS(status));
}

int forks() {
  const int result = stir();
  fork_and_print();
  return result;
}

int forks_sometimes() {
  const int result = stir();
  if (result == 1) fork_and_print();
  return result;
}

int spawns_sometimes() {
  const int result = stir();
  if (result == 1) printf("%d\n", system("exit 3"));
  return result;
}

int changes_folder_sometimes() {
  char folder[4096] = {};
  printf("%s\n", strrchr(getcwd(folder, sizeof folder), '/'));
  const int result = stir();
  if (result == 1 && chdir("/") != 0) abort();
  return result;
}

alignas(4096) char g_page[8192];

int protects_memory_sometimes() {
  g_page[0] = 'x';
  const int result = stir();
  if (result == 1 && mprotect(g_page, 4096, PROT_READ) != 0) abort();
  return result;
}

char* const g_mapped_before_main = static_cast<char*>(
    mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

// As much memory as before, at another address.
int replaces_mapping_sometimes() {
  *g_mapped_before_main = 'x';
  const int result = stir();
  if (result == 1) {
    void* other = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (other == MAP_FAILED || munmap(g_mapped_before_main, 4096) != 0) abort();
  }
  return result;
}

int shares_memory_sometimes() {
  const int result = stir();
  if (result == 0) return result;
  auto* shared = static_cast<char*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  printf("%d\n", *shared);
  *shared = 1;
  return result;
}

const std::map<std::string, Mode> kModes{
    {"plain", plain},
    {"thread_local", uses_thread_local},
    {"static_locals", static_locals},
    {"allocates", allocates},
    {"streams", streams},
    {"file_left_open", file_left_open},
    {"reads_input", reads_input},
    {"closes_standard", closes_standard},
    {"handles_signals", handles_signals},
    {"loads_library", loads_library},
    {"throws", throws},
    {"uncaught", uncaught},
    {"many_threads", many_threads},
    {"limits_files", limits_files},
    {"more_than_pool", more_than_pool},
    {"detached", detached},
    {"at_exit", at_exit},
    {"leaves_by_underscore", leaves_by_underscore},
    {"aborts", aborts},
    {"exit_from_thread", exit_from_thread},
    {"main_returns", main_returns},
    {"deadlock", deadlock},
    {"endless", endless},
    {"once", once},
    {"locales", locales},
    {"environment", environment},
    {"deep_main", deep_main},
    {"deep_thread", deep_thread},
    {"crashes", crashes},
    {"overflows", overflows},
    {"kills_itself", kills_itself},
    {"own_pipe", own_pipe},
    {"raw_read", raw_read},
    {"writes_files", writes_files},
    {"changes_files", changes_files},
    {"removes_files", removes_files},
    {"writes_then_stirs", writes_then_stirs},
    {"forks", forks},
    {"forks_sometimes", forks_sometimes},
    {"spawns_sometimes", spawns_sometimes},
    {"changes_folder_sometimes", changes_folder_sometimes},
    {"protects_memory_sometimes", protects_memory_sometimes},
    {"replaces_mapping_sometimes", replaces_mapping_sometimes},
    {"shares_memory_sometimes", shares_memory_sometimes},
};

}  // namespace

int main(int count, char** arguments) {
  const auto mode = kModes.find(count > 1 ? arguments[1] : "plain");
  return mode != kModes.end() ? mode->second() : 99;
}
