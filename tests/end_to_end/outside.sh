#!/usr/bin/env bash
# What comes from outside the program is recorded, and a replay needs none of it.
. "$(dirname "$0")/lib.sh"
cat >signals.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t n;
static void on_signal(int number) { (void)number; n++; }
static volatile int stop;
static long work;
static void* count(void* unused) { while (!stop) work++; return unused; }
int main(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, 0);
  sigaction(SIGTERM, &action, 0);
  pthread_t thread;
  pthread_create(&thread, 0, count, 0);
  printf("%d\n", getpid());
  fflush(stdout);
  while (n < 2) if (n == 0) pause();
  stop = 1;
  pthread_join(thread, 0);
  printf("%ld\n", work);
  return 0;
}
C
"$clew" cc -O1 -g signals.c -o signals -pthread || exit 1
"$clew" run -- ./signals >first.txt 2>err.txt &
run=$!
until [ -s first.txt ]; do sleep 0.1; done
pid=$(head -n 1 first.txt)
kill -USR1 "$pid"
for _ in $(seq 100); do kill -TERM "$pid" 2>/dev/null || break; sleep 0.1; done
check "signals from outside are handled" wait $run
check "... and replayed" run 0 replay
check "... with the same output" cmp first.txt out.txt
check "... every time" run 0 replay --times 10

cat >reads.c <<'C'
#include <dirent.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
int main(int count, char** arguments) {
  char line[100];
  FILE* file = fopen(arguments[1], "r");
  if (count < 2 || file == NULL || fgets(line, sizeof line, file) == NULL) return 3;
  printf("file: %s", line);
  struct stat status;
  if (stat(arguments[1], &status) == 0) printf("time: %ld.%09ld\n", status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  DIR* folder = opendir("folder");
  for (struct dirent* entry; folder != NULL && (entry = readdir(folder)) != NULL;) printf("name: %s\n", entry->d_name);
  while (fgets(line, sizeof line, stdin) != NULL) printf("input: %s", line);
  FILE* other = popen("cat other.txt", "r");
  if (other != NULL && fgets(line, sizeof line, other) != NULL) printf("child: %s", line);
  if (other != NULL) pclose(other);
  printf("process %d of %d\n", getpid(), getppid());
  ioctl(fileno(file), 0x1234, 0);
  return 0;
}
C
"$clew" cc -O1 -g reads.c -o reads || exit 1
mkdir folder && touch folder/a folder/b && echo hello >file.txt && echo there >other.txt
check "what a program reads" bash -c "printf 'one\ntwo\n' | '$clew' run --json out.json -- ./reads file.txt >first.txt 2>err.txt"
check "... what is not recorded is named" says err.txt "not recorded: ioctl 0x1234"
check "... in JSON too" says out.json "not recorded: ioctl 0x1234"
rm -r folder file.txt other.txt
check "... replays when all of it is gone" run 0 replay
check "... with the same output" cmp first.txt out.txt

cat >loaded.c <<'C'
void meet(void);
__attribute__((constructor)) static void begin(void) { meet(); }
C
cat >loads.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
static pthread_t thread;
static void* nothing(void* unused) { return unused; }
void meet(void) { pthread_join(thread, 0); }
int main(void) {
  pthread_create(&thread, 0, nothing, 0);
  return dlopen("./loaded.so", RTLD_NOW) == 0;
}
C
"$clew" cc -shared -fPIC loaded.c -o loaded.so && "$clew" cc -O1 -g loads.c -o loads -pthread -rdynamic || exit 1
check "a thread ends while another loads a library" run 0 run -- ./loads

cat >limited.c <<'C'
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
int main(void) {
  struct rlimit limit = {1 << 28, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  int n = 0;
  while (n < 1000 && mmap(0, 1 << 24, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) n++;
  printf("%d\n", n);
  return n == 0 || n > 16;
}
C
"$clew" cc -O1 -g limited.c -o limited || exit 1
check "the runtime's memory does not count for a limit" run 0 run -- ./limited
check "... nor what is reserved to fix addresses" env CLEW_LOAD_AGAIN=1 "$clew" run -- ./limited >/dev/null 2>&1 </dev/null
cp out.txt first.txt
check "... which holds in a replay" run 0 replay
check "... to the page" cmp first.txt out.txt

cat >ticks.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
static volatile sig_atomic_t ticks;
static volatile long work, seen[20];
static void on_tick(int number) { (void)number; if (ticks < 20) seen[ticks] = work; ticks++; }
static void* count(void* unused) {
  struct timespec now;
  while (ticks < 20) {
    for (int i = 0; i < 3000; i++) work++;
    for (int i = 0; i < 7; i++) clock_gettime(CLOCK_MONOTONIC, &now);
  }
  return unused;
}
int main(void) {
  signal(SIGALRM, on_tick);
  struct itimerval often = {{0, 1300}, {0, 1300}};
  setitimer(ITIMER_REAL, &often, 0);
  pthread_t one, other;
  pthread_create(&one, 0, count, 0);
  pthread_create(&other, 0, count, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  for (int i = 0; i < 20; i++) printf("%ld\n", seen[i]);
  return 0;
}
C
"$clew" cc -O1 -g ticks.c -o ticks -pthread || exit 1
check "timers in a program that looks at the clock" run 0 run --seed 4 -- ./ticks
check "... are due where they were, wherever the replay is asked" run 0 where $(seq 5000 5000 400000)

# The kernel would end the program in the middle of the call, before its answer is recorded.
cat >ended.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
static int ends[2];
static void* write_to_nobody(void* unused) { return write(ends[1], "x", 1) == 1 ? &ends : unused; }
static void past_the_limit(void) {
  struct rlimit limit = {100, 100};
  setrlimit(RLIMIT_FSIZE, &limit);
  char bytes[150] = "";
  struct iovec part = {bytes, sizeof bytes};
  int file = open("limited.txt", O_CREAT | O_TRUNC | O_WRONLY, 0600);
  if (writev(file, &part, 1) == 100) puts("a part is written"), fflush(stdout);
  writev(file, &part, 1);
}
int main(int count, char** arguments) {
  const char* how = count > 1 ? arguments[1] : "";
  struct sigaction action;
  if (sigaction(SIGPIPE, 0, &action) != 0 || action.sa_handler != SIG_DFL) return 3;
  if (strcmp(how, "socket") == 0) {
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    close(ends[0]);
    if (send(ends[1], "x", 1, MSG_NOSIGNAL) < 0) puts("no signal"), fflush(stdout);
    send(ends[1], "x", 1, 0);
  }
  if (strcmp(how, "limit") == 0) past_the_limit();
  if (pipe(ends) != 0 || close(ends[0]) != 0) return 4;
  if (strcmp(how, "ignored") == 0) signal(SIGPIPE, SIG_IGN);
  pthread_t thread;
  pthread_create(&thread, 0, write_to_nobody, 0);
  pthread_join(thread, 0);
  if (strcmp(how, "ignored") != 0) return 5;
  signal(SIGPIPE, SIG_DFL);
  int status = 0;
  if (fork() == 0) write_to_nobody(0), _exit(6);
  wait(&status);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  sigprocmask(SIG_BLOCK, &set, 0);
  write_to_nobody(0);
  printf("child: %d, pending: %d\n", status, sigpending(&set) == 0 && sigismember(&set, SIGPIPE));
  return 0;
}
C
"$clew" cc -O1 -g ended.c -o ended -pthread || exit 1
for how in thread:141:SIGPIPE socket:141:SIGPIPE limit:153:SIGXFSZ; do
  IFS=: read -r how status name <<<"$how"
  check "a call that ends the program ($how)" run "$status" run -- ./ended "$how"
  check "... by $name" says err.txt "fail (signal): $name"
  check "... in a place" says err.txt "ended.c:"
  check "... replays" run "$status" replay --times 3
done
check "one that is ignored does not" run 0 run -- ./ended ignored
check "... but the child dies of it" grep -qx "child: 13, pending: 1" out.txt
check "... and replays" run 0 replay --times 3
cat >endless.c <<'C'
#include <stdio.h>
#include <unistd.h>
int main(void) { printf("%d\n", getpid()); fflush(stdout); for (volatile long i = 0;; i = i + 1) {} }
C
"$clew" cc -O1 endless.c -o endless || exit 1
rm -f first.txt  # the shell in the background may not have emptied it yet when it is looked at
"$clew" run --budget 900000000000 -- ./endless >first.txt 2>err.txt </dev/null &
run=$!
until [ -s first.txt ]; do sleep 0.1; done
kill -PIPE "$(cat first.txt)"
wait $run; status=$?
check "one that somebody sends ends it at once" [ "$status" = 141 ]

cat >random.c <<'C'
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
__attribute__((target("rdrnd"))) int main(void) {
  unsigned long long a = 0, b = 0;
  if (!__builtin_cpu_supports("rdrnd")) return 0;
  const int ok = _rdrand64_step(&a) + _rdrand64_step(&b);
  const unsigned long* given = (const unsigned long*)getauxval(AT_RANDOM);
  printf("%d %llx %llx, %lx %lx\n", ok, a, b, given[0], given[1]);
  for (const char* names[] = {"QT_NO_CPU_FEATURE", "OPENSSL_ia32cap", "KMP_BLOCKTIME", 0}, **name = names; *name; name++)
    printf("%s=%s\n", *name, getenv(*name));
  return 0;
}
C
"$clew" cc -O1 -g random.c -o random || exit 1
if grep -qw rdrand /proc/cpuinfo; then
  check "the processor's random numbers" run 0 run --seed 1 -- ./random
  cp out.txt first.txt
  check "... replay" run 0 replay --times 2
  check "... are the same for the same seed" run 0 run --seed 1 -- ./random
  check "... to the bit" cmp out.txt first.txt
  check "... others for another" run 0 run --seed 2 -- ./random
  check "... indeed" bash -c '! cmp -s out.txt first.txt'
  check "... and libraries are asked not to use them" grep -qx "QT_NO_CPU_FEATURE=rdrnd rdseed" out.txt
  check "... without clew they are the processor's" bash -c '! cmp -s <(./random) <(./random)'
  own() { OPENSSL_ia32cap=1 KMP_BLOCKTIME=7 run 0 run -- ./random; }
  check "what the user asks them" own
  check "... stays" bash -c 'grep -qx "OPENSSL_ia32cap=1" out.txt && grep -qx "KMP_BLOCKTIME=7" out.txt'
else
  echo "skipped: the processor has no random numbers"
fi

cat >threads.cpp <<'C'
#include <fcntl.h>
#include <unistd.h>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>
static int in_status(const char* name) {
  std::ifstream file(name);
  for (std::string line; std::getline(file, line);)
    if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
  return -1;
}
static int in_stat(const char* name) {
  char text[2048] = {};
  const int fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || read(fd, text, sizeof text - 1) < 0) return -1;
  close(fd);
  const char* at = std::strrchr(text, ')');
  for (int field = 2; field < 20; field++) at = std::strchr(at + 1, ' ');
  return std::atoi(at);
}
static void print() {
  char by_number[64], of_main[64];
  std::snprintf(by_number, sizeof by_number, "/proc/%d/status", getpid());
  std::snprintf(of_main, sizeof of_main, "/proc/self/task/%d/stat", getpid());
  std::printf("%d %d %d %d %d\n", in_status("/proc/self/status"), in_status(by_number), in_status("/proc/thread-self/status"),
              in_stat("/proc/self/stat"), in_stat(of_main));
}
int main() {
  std::counting_semaphore<> go(0);
  print();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back([&] { go.acquire(); });
  print();
  go.release(3);
  for (auto& thread : threads) thread.join();
  print();
}
C
"$clew" c++ -std=c++20 -O1 -g threads.cpp -o threads -pthread || exit 1
./threads >native.txt || exit 1
check "/proc tells the number of threads" run 0 run -- ./threads
check "... as natively" cmp out.txt native.txt
check "... and replays" run 0 replay --times 2

# The schedule of a recording with current input.
cat >reads.c <<'C'
#include <pthread.h>
#include <stdio.h>
static char line[64], order[64];
static int n;
static void* note(void* name) {
  for (int i = 0; i < 8; i++) order[n++] = *(char*)name;
  return 0;
}
int main(void) {
  FILE* file = fopen("content.txt", "r");
  if (!file || !fgets(line, sizeof line, file)) return 3;
  pthread_t a, b;
  pthread_create(&a, 0, note, "a");
  pthread_create(&b, 0, note, "b");
  pthread_join(a, 0);
  pthread_join(b, 0);
  printf("%s%s\n", line, order);
  if (fgets(line, sizeof line, stdin)) printf("%s", line);
  return 0;
}
C
"$clew" cc -O1 -g reads.c -o reads -pthread || exit 1
echo before >content.txt
check "a run with other switches than usual" run 0 run --schedule 10:T0.2,14:T0.1,17:T0.2 -- ./reads
cp out.txt first.txt
echo after >content.txt
check "... is replayed with what it has read" run 0 replay
check "... to the letter" cmp out.txt first.txt
check "... and live" bash -c 'echo typed | "$0" replay --live --json out.json >out.txt 2>err.txt' "$clew"
check "... with what there is now" bash -c 'cmp out.txt <(echo after; tail -n 1 first.txt; echo typed)'
live=$(field recording)
check "... which has its own recording" bash -c 'rm content.txt; "$0" replay "$1" >out.txt 2>err.txt </dev/null && grep -q typed out.txt' "$clew" "$live"
check "... and not for several times" run 124 replay --live --times 2

# What is not recorded is told before the program runs.
printf '#include <sys/ptrace.h>\n#include <sys/mman.h>\nint main(int n, char** a) { return n > 9 ? (int)ptrace(PTRACE_TRACEME, 0, 0, 0) + shm_open(a[0], 0, 0) : 0; }\n' >traces.c
"$clew" cc traces.c -o traces || exit 1
check "a program with ptrace" run 0 run ./traces
check "... is told" says err.txt "calls of ptrace"
check "... and memory shared with others" says err.txt "calls of shm_open"
objcopy --add-section .go.buildinfo=traces.c traces go
check "a Go program" run 0 run ./go
check "... is told" says err.txt "a Go program"

# What the device gives is recorded, what getrandom() gives is computed again: neither disturbs the other.
cat >random.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>
static void show(const unsigned char* bytes) {
  for (int i = 0; i < 16; i++) printf("%02x", bytes[i]);
  puts("");
}
int main(void) {
  unsigned char bytes[16];
  for (int i = 0; i < 3; i++) {
    int device = open("/dev/urandom", O_RDONLY);
    if (read(device, bytes, sizeof bytes) != sizeof bytes) return 3;
    show(bytes);
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return 4;
    show(bytes);
    close(device);
  }
  return 0;
}
C
"$clew" cc -O1 -g random.c -o random || exit 1
check "random numbers of the device and of the call" run 0 run --seed 5 ./random
cp out.txt first.txt
check "... are replayed" run 0 replay --times 3
check "... are those of the seed" bash -c '"$0" run --seed 5 ./random 2>err.txt | cmp - first.txt' "$clew"
check "... and differ from each other" bash -c '[ "$(sort -u first.txt | wc -l)" = 6 ]'

cat >threads.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
static _Thread_local int own = 7;
static pthread_key_t key;
static int count, wrong;
static void* work(void* x) {
  wrong += own != 7 || errno != 0 || pthread_getspecific(key) != 0;
  own = errno = 3;
  pthread_setspecific(key, &count);
  wrong += *strerror(200 + count % 7) == 0;
  free(malloc(100));
  count++;
  return x;
}
int main(void) {
  pthread_key_create(&key, 0);
  for (int i = 0; i < 5000; i++) {
    pthread_t t;
    void* result;
    if (pthread_create(&t, 0, work, &t) != 0 || pthread_join(t, &result) != 0 || result != &t) return 3;
  }
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  fprintf(stderr, "%ld switches\n", used.ru_nvcsw);
  printf("%d %d\n", count, wrong);
  return used.ru_nvcsw > 1000;
}
C
"$clew" cc -O1 -g threads.c -o threads -pthread || exit 1
# Each thread took two switches of the kernel once.
check "5,000 threads one after another do not switch kernel threads" run 0 run --seed 2 ./threads
check "... and each begins anew" says out.txt "5000 0"
check "... are replayed" run 0 replay

# Times of files and of System V objects are those of the program's clock.
cat >file_times.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
static int wrong;
#define IS(condition) ((condition) || (wrong = 1, printf("line %d: %s\n", __LINE__, #condition)))
#define NEAR(a, b) IS((long)(a) - (long)(b) >= -1 && (long)(a) - (long)(b) <= 1)
static struct stat put(const char* name) {
  struct stat status;
  FILE* file = fopen(name, "w");
  fputs("x", file);
  fclose(file);
  stat(name, &status);
  return status;
}
static struct stat look(const char* name) {
  struct stat status;
  stat(name, &status);
  return status;
}
static double when(struct stat status) { return status.st_mtim.tv_sec + status.st_mtim.tv_nsec / 1e9; }
static void files(time_t began) {
  struct stat a = put("a");
  NEAR(a.st_mtime, began);
  sleep(2);
  struct stat b = put("b");
  NEAR(b.st_mtime, time(0));
  IS(when(b) > when(a) + 1);
  sleep(3600);
  NEAR(put("c").st_mtime, time(0));
  IS(when(look("a")) == when(a) && when(look("b")) == when(b));
  IS(when(look("fixture")) < began && when(look("/etc/passwd")) < when(look("fixture")));
  struct statx extended;
  statx(AT_FDCWD, "b", 0, STATX_ALL, &extended);
  IS(extended.stx_mtime.tv_sec == b.st_mtim.tv_sec && extended.stx_mtime.tv_nsec == b.st_mtim.tv_nsec);
}
static void set_times(time_t began) {
  struct utimbuf seconds = {began - 100, 1000000000};
  utime("a", &seconds);
  IS(look("a").st_atime == began - 100 && look("a").st_mtime == 1000000000);
  struct timespec exact[2] = {{began + 5, 123456789}, {began + 7, 987654321}};
  utimensat(AT_FDCWD, "b", exact, 0);
  IS(look("b").st_mtim.tv_sec == began + 7 && look("b").st_mtim.tv_nsec == 987654321);
  struct timeval micro[2] = {{began, 5}, {began + 1, 999999}};
  utimes("c", micro);
  IS(look("c").st_mtim.tv_sec == began + 1 && look("c").st_mtim.tv_nsec == 999999000);
  sleep(5);
  struct timespec now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  utimensat(AT_FDCWD, "c", now, 0);
  IS(look("c").st_atime == began);
  NEAR(look("c").st_mtime, time(0));
  struct stat fixture = look("fixture");
  struct timespec copied[2] = {fixture.st_atim, fixture.st_mtim};
  put("copy");
  utimensat(AT_FDCWD, "copy", copied, 0);
  IS(when(look("copy")) == when(fixture));
}
static void objects(void) {
  struct {
    long type;
    char text[4];
  } message = {1, "abc"};
  struct sembuf up = {0, 1, 0};
  struct msqid_ds queue;
  struct semid_ds set;
  struct shmid_ds memory;
  int q = msgget(IPC_PRIVATE, 0600), s = semget(IPC_PRIVATE, 1, 0600), m = shmget(IPC_PRIVATE, 100, 0600);
  msgctl(q, IPC_STAT, &queue);
  IS(queue.msg_stime == 0);
  NEAR(queue.msg_ctime, time(0));
  sleep(10);
  msgsnd(q, &message, sizeof message.text, 0);
  msgctl(q, IPC_STAT, &queue);
  NEAR(queue.msg_stime, time(0));
  semop(s, &up, 1);
  semctl(s, 0, IPC_STAT, &set);
  NEAR(set.sem_otime, time(0));
  shmdt(shmat(m, 0, 0));
  shmctl(m, IPC_STAT, &memory);
  NEAR(memory.shm_dtime, time(0));
  msgctl(q, IPC_RMID, 0);
  semctl(s, 0, IPC_RMID);
  shmctl(m, IPC_RMID, 0);
}
int main(void) {
  time_t began = time(0);
  files(began);
  set_times(began);
  objects();
  printf("%ld\n", (long)look("fixture").st_mtim.tv_nsec);
  return wrong;
}
C
"$clew" cc -O1 -g file_times.c -o file_times || exit 1
touch fixture
check "times of files and of System V objects follow virtual time" run 0 run ./file_times
check "... and are replayed" run 0 replay --times 2
check "... and what a program copies is right on the disk" bash -c '[ "$(stat -c %Y fixture)" = "$(stat -c %Y copy)" ]'
check "... as is a time of its own" bash -c '[ "$(stat -c %Y a)" = 1000000000 ]'

cat >pending.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &set, 0);
  int sent = 0, wrong = 0;
  for (union sigval value = {0}; sent < 90000 && sigqueue(getpid(), SIGRTMIN, value) == 0; value.sival_int = ++sent);
  siginfo_t info;
  for (int i = 0; i < sent; i++) wrong += sigwaitinfo(&set, &info) != SIGRTMIN || info.si_value.sival_int != i;
  printf("%d\n", wrong);
  return wrong != 0 || sent < 1000;
}
C
"$clew" cc -O1 -g pending.c -o pending || exit 1
# 20 s when each of them was looked for among all of them.
check "as many pending signals as there may be, each in its turn" timeout 15 "$clew" run ./pending

# Handlers that do not end in the reverse order of their beginning.
cat >preempt.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
static ucontext_t first, second;
static volatile int ticks, most, sum;
static char stack[65536];
static void tick(int signal) {
  (void)signal;
  if (++ticks & 1) swapcontext(&first, &second);
  else swapcontext(&second, &first);
}
static void work(void) {
  for (;;) raise(SIGUSR1), sum++;
}
int main(int argc, char** argv) {
  most = argc > 1 ? atoi(argv[1]) : 1;
  struct sigaction action = {.sa_handler = tick, .sa_flags = SA_NODEFER};
  sigaction(SIGUSR1, &action, 0);
  getcontext(&second);
  second.uc_stack.ss_sp = stack;
  second.uc_stack.ss_size = sizeof stack;
  makecontext(&second, work, 0);
  for (int i = 0; i < most; i++) raise(SIGUSR1);
  printf("%d\n", sum);
  return 0;
}
C
"$clew" cc -O1 -g preempt.c -o preempt || exit 1
check "natively they end" bash -c '[ "$(./preempt 3)" = 2 ]'
check "a handler that is left for good" run 0 run -- ./preempt 1
check "handlers in another order than that of their beginning" run 122 run -- ./preempt 3
check "... are told" says err.txt 'a signal handler that is left by swapcontext'

# What clew refuses, and what it does not record, has a name.
cat >refused.c <<'C'
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
  static char parameters[128];
  if (syscall(SYS_io_uring_setup, 8, parameters) != -1 || errno != ENOSYS) return 1;
  if (syscall(449, 0, 0, 0, 0, 0) != -1 || errno != ENOSYS) return 2;  // futex_waitv
  return syscall(SYS_userfaultfd, -1) != -1;
}
C
"$clew" cc -g refused.c -o refused || exit 1
check "calls that are refused" run 0 run -- ./refused
check "... are named" says err.txt 'answered as by a kernel that does not have it: io_uring_setup'
check "... each" says err.txt 'answered as by a kernel that does not have it: futex_waitv'
check "... and a call that is not recorded" says err.txt 'not recorded: userfaultfd'
finish
